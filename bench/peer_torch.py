# SPDX-License-Identifier: BSL-1.0
"""torch, eager and compiled by inductor."""
import ctypes
import functools
import math
import time

import torch
import torch.nn.functional as F
from torch._inductor.codecache import PyCodeCache

from interleave import Candidate

torch.set_num_threads(1)
POINTERS = 12  # as bench_pointers takes


def layer_norm(work, x, scale, bias):
    return F.layer_norm(x, (work.columns,), scale, bias, work.epsilon)


def layer_norm_decomposed(work, x, scale, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + work.epsilon) * scale + bias


def rms_norm(work, x, scale):
    return F.rms_norm(x, (work.columns,), scale, work.epsilon)


def rms_norm_decomposed(work, x, scale):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + work.epsilon) * scale


def skip(norm):
    def function(work, x, residual, *weights):
        x = x + residual
        return norm(work, x, *weights), x

    return function


def embed(norm):
    def function(work, input_ids, segment_ids, word, position, segment, gamma, beta):
        x = word[input_ids] + position[:work.length] + segment[segment_ids]
        return norm(work, x, gamma, beta)

    return function


def qembed(norm):
    def function(work, input_ids, segment_ids, word, position, segment, gamma, beta):
        def real(table):
            return work.real(table.to(torch.float32))

        x = real(word[input_ids]) + real(position[:work.length]) + real(segment[segment_ids])
        return norm(work, x, real(gamma), real(beta))

    return function


NORMS = {"layer_norm": {"F.layer_norm": layer_norm, "decomposed": layer_norm_decomposed},
         "rms_norm": {"F.rms_norm": rms_norm, "decomposed": rms_norm_decomposed}}


def softmax_decomposed(x):
    powers = torch.exp(x - x.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def gelu_decomposed(x):
    return x * 0.5 * (1 + torch.erf(x * math.sqrt(0.5)))


def gelu_by_tanh_decomposed(x):
    return x * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


ACTIVATIONS = {"softmax": {"F.softmax": lambda x: F.softmax(x, -1), "decomposed": softmax_decomposed},
               "gelu": {"F.gelu": F.gelu, "decomposed": gelu_decomposed},
               "gelu_by_tanh": {"F.gelu": lambda x: F.gelu(x, approximate="tanh"), "decomposed": gelu_by_tanh_decomposed},
               "swiglu": {"F.silu": lambda x, up: F.silu(x) * up, "decomposed": lambda x, up: x * torch.sigmoid(x) * up}}


def forms(kernel):
    """The ways to write a kernel in torch."""
    if kernel in NORMS:
        return NORMS[kernel]
    if kernel in ACTIVATIONS:
        return {form: lambda work, *inputs, function=function: function(*inputs)
                for form, function in ACTIVATIONS[kernel].items()}
    around = {"skip_": skip, "embed_": embed, "qembed_": qembed}
    for prefix, function in around.items():
        if kernel.startswith(prefix):
            return {form: function(norm) for form, norm in NORMS[kernel.removeprefix(prefix)].items()}
    return {}


def first(results):
    result = results if isinstance(results, torch.Tensor) else results[0]
    return result.reshape(-1, result.shape[-1]).numpy()


def called(function, inputs, peer, form):
    """A call as a user writes it, from Python."""
    last = []

    @torch.inference_mode()
    def seconds(count):
        before = time.process_time()
        for _ in range(count):
            result = function(*inputs)
        after = time.process_time()
        last[:] = [result]
        return after - before

    return Candidate(peer, torch.__version__, seconds, lambda: first(last[0]), form)


@torch.inference_mode()
def kernels_alone(compiled, module, inputs, library, form):
    """The compiled loops without the framework's calls around them: what inductor's code generation is worth."""
    calls = []
    functions = {name: function for name, function in vars(module).items() if name.startswith("cpp_fused")}
    for name, function in functions.items():
        setattr(module, name, lambda *tensors, function=function: (calls.append((function, tensors)), function(*tensors)))
    result = compiled(*inputs)
    for name, function in functions.items():
        setattr(module, name, function)
    kernels = []
    for function, tensors in calls:
        if len(tensors) > POINTERS:
            return None
        addresses = (ctypes.c_void_p * POINTERS)(*[tensor.data_ptr() for tensor in tensors])
        kernels.append((ctypes.CDLL(function.__self__.__file__).kernel, addresses))

    def seconds(count, kept=calls):  # kept: the addresses are of its tensors
        return sum(library.bench_pointers(kernel, addresses, count) for kernel, addresses in kernels)

    return Candidate("torch.compile", torch.__version__, seconds, lambda: first(result), form)


@torch.inference_mode()
def candidates(work, library):
    """torch eager; the compiled forms, called from Python; and their kernels alone."""
    inputs = [torch.from_numpy(array) for array in work.inputs.values()]
    found = []
    for form, function in forms(work.kernel).items():
        bound = functools.partial(function, work)
        if not found:
            found.append(called(bound, inputs, "torch eager", form))
        torch._dynamo.reset()
        known = len(PyCodeCache.modules)
        compiled = torch.compile(lambda *tensors: bound(*tensors), dynamic=False)
        compiled(*inputs)
        found.append(called(compiled, inputs, "torch.compile, its call", form))
        modules = [module for module in PyCodeCache.modules[known:] if hasattr(module, "call")]
        alone = kernels_alone(compiled, modules[0], inputs, library, form) if len(modules) == 1 else None
        found.extend([alone] if alone else [])
    return found


def overhead():
    """A call that does next to nothing."""
    return called(torch.relu, [torch.zeros(1, 768)], "torch eager", "relu")
