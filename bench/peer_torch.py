# SPDX-License-Identifier: BSL-1.0
"""torch, eager and compiled by inductor."""
import ctypes
import functools
import time

import torch
import torch.nn.functional as F
from torch._inductor.codecache import PyCodeCache

from interleave import Candidate

torch.set_num_threads(1)


def layer_norm(work, x, scale, bias):
    return F.layer_norm(x, (work.columns,), scale, bias, work.epsilon)


def layer_norm_decomposed(work, x, scale, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + work.epsilon) * scale + bias


def rms_norm(work, x, scale, bias):
    return F.rms_norm(x, (work.columns,), scale, work.epsilon)


def rms_norm_decomposed(work, x, scale, bias):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + work.epsilon) * scale


FORMS = {
    "layer_norm": {"F.layer_norm": layer_norm, "decomposed": layer_norm_decomposed},
    "rms_norm": {"F.rms_norm": rms_norm, "decomposed": rms_norm_decomposed},
}


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

    return Candidate(peer, torch.__version__, seconds, lambda: last[0].numpy(), form)


@torch.inference_mode()
def kernel_alone(compiled, module, inputs, library, form):
    """The compiled loops without the framework's call around them: what inductor's code generation is worth. None where
    they are not one function of at most six tensors."""
    calls = []
    functions = {name: function for name, function in vars(module).items() if name.startswith("cpp_fused")}
    for name, function in functions.items():
        setattr(module, name, lambda *tensors, function=function: (calls.append((function, tensors)), function(*tensors)))
    result = compiled(*inputs)
    for name, function in functions.items():
        setattr(module, name, function)
    if len(calls) != 1 or len(calls[0][1]) > 6:
        return None
    function, tensors = calls[0]
    kernel = ctypes.CDLL(function.__self__.__file__).kernel
    pointers = (ctypes.c_void_p * 6)(*[tensor.data_ptr() for tensor in tensors])

    def seconds(count, kept=tensors):  # kept: the pointers point into them
        return library.bench_pointers(kernel, pointers, count)

    return Candidate("torch.compile", torch.__version__, seconds, result.numpy, form)


@torch.inference_mode()
def candidates(work, library):
    """torch eager; the compiled forms, called from Python; and their kernels alone."""
    inputs = [torch.from_numpy(array) for array in (work.x, work.scale, work.bias)]
    found = []
    for form, function in FORMS.get(work.kernel, {}).items():
        bound = functools.partial(function, work)
        if not found:
            found.append(called(bound, inputs, "torch eager", form))
        torch._dynamo.reset()
        known = len(PyCodeCache.modules)
        compiled = torch.compile(lambda *tensors: bound(*tensors), dynamic=False)
        compiled(*inputs)
        found.append(called(compiled, inputs, "torch.compile, its call", form))
        modules = [module for module in PyCodeCache.modules[known:] if hasattr(module, "call")]
        alone = kernel_alone(compiled, modules[0], inputs, library, form) if len(modules) == 1 else None
        found.extend([alone] if alone else [])
    return found


def overhead():
    """Seconds of one call that does next to nothing."""
    x = torch.zeros(1, 768)
    return called(torch.relu, [x], "torch eager", "relu")
