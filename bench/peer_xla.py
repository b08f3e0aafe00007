# SPDX-License-Identifier: BSL-1.0
"""XLA through jax: its call costs as much as many kernels, so 16 of them stand in a row."""
import time

import jax
import jax.numpy as jnp
import numpy

from interleave import Candidate

jax.config.update("jax_platforms", "cpu")
CHAINED = 16


def result(work, x, *weights):
    if work.kernel == "softmax":
        return jax.nn.softmax(x)
    scale, *bias = weights
    if bias:
        x = x - x.mean(-1, keepdims=True)
    y = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + work.epsilon) * scale
    return y + bias[0] if bias else y


def executed(function, inputs, chained, output):
    compiled = jax.jit(function).lower(*inputs).compile()

    def seconds(count):
        before = time.process_time()
        for _ in range(count):
            compiled(*inputs).block_until_ready()
        return time.process_time() - before

    return Candidate("XLA", jax.__version__, seconds, output, calls_in_one=chained)


def candidates(work, library):
    # Not of functions of single elements: 16 in a row are one loop to a compiler.
    if work.kernel not in ("layer_norm", "rms_norm", "softmax"):
        return []
    inputs = [jnp.asarray(array) for array in work.inputs.values()]

    def chain(x, *weights):
        for _ in range(CHAINED):
            x = result(work, x, *weights)
        return x

    return [executed(chain, inputs, CHAINED, lambda: numpy.asarray(result(work, *inputs)))]


def overhead():
    x = jnp.zeros((1, 768), jnp.float32)
    return executed(jax.nn.relu, [x], 1, lambda: numpy.zeros((1, 768)))
