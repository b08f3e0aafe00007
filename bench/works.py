# SPDX-License-Identifier: BSL-1.0
"""What is compared: inputs, the result in double, and our kernel on them."""
import ctypes
import math

import numpy

from interleave import Candidate


def aligned(values, type=numpy.float32):
    """A copy at a 64-byte boundary, where frameworks put their tensors."""
    size = numpy.dtype(type).itemsize
    memory = numpy.zeros(values.size + 64 // size, type)
    start = -memory.ctypes.data % 64 // size
    array = memory[start:start + values.size].reshape(values.shape)
    array[...] = values
    return array


def normalised(x, epsilon):
    return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


class Work:
    """`inputs` are arrays by name, in the order in which frameworks take them."""
    type = "float"
    variant = ""
    scratch = {}  # what our kernel writes beside its result
    epsilon = 0

    def name(self):
        return f"{self.kernel}/{self.type}/{self.rows}x{self.columns}"

    def ours(self, library):
        result = aligned(numpy.zeros((self.rows, self.columns)))
        addresses = [array.ctypes.data for array in (*self.inputs.values(), *self.scratch.values(), result)]
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)

        def seconds(count):
            taken = library.bench_kernel(self.kernel.encode(), pointers, self.rows, self.columns, self.epsilon, count)
            if taken < 0:
                raise ValueError(f"{self.name()}: the kernel refused its arguments")
            return taken

        return Candidate("fuse", "", seconds, lambda: result)


class Norm(Work):
    epsilon = 1e-5

    def __init__(self, kernel, rows, columns):
        self.kernel, self.rows, self.columns = kernel, rows, columns
        normal = numpy.random.default_rng(1).standard_normal
        self.inputs = {"x": aligned(normal((rows, columns)))}
        if kernel.startswith("skip_"):
            self.inputs["residual"] = aligned(normal((rows, columns)))
            self.scratch = {"sum": aligned(numpy.zeros((rows, columns)))}
        self.inputs["scale"] = aligned(1 + normal(columns) / 10)
        if kernel.endswith("layer_norm"):
            self.inputs["bias"] = aligned(normal(columns) / 10)

    def expected(self):
        x = sum(self.inputs[name].astype(numpy.float64) for name in ("x", "residual") if name in self.inputs)
        if "bias" in self.inputs:
            return normalised(x - x.mean(-1, keepdims=True), self.epsilon) * self.inputs["scale"] + self.inputs["bias"]
        return normalised(x, self.epsilon) * self.inputs["scale"]


class Embed(Work):
    """Tables of BERT's size; sequences of 128 tokens."""
    kernel = "embed_layer_norm"
    epsilon, columns, length = 1e-12, 768, 128

    def __init__(self, tokens):
        self.rows = tokens
        self.random = numpy.random.default_rng(1)
        shape = (tokens // self.length, self.length)
        self.inputs = {"input_ids": aligned(self.random.integers(0, 30522, shape), numpy.int32),
                       "segment_ids": aligned(self.random.integers(0, 2, shape), numpy.int32)}
        for name, size in {"word": (30522, self.columns), "position": (512, self.columns), "segment": (2, self.columns),
                           "gamma": self.columns, "beta": self.columns}.items():
            self.inputs[name] = self.table(size)

    def table(self, size):
        return aligned(self.random.standard_normal(size))

    def real(self, table):
        """What a table stands for."""
        return table

    def expected(self):
        tables = {name: self.real(self.inputs[name].astype(numpy.float64)) for name in list(self.inputs)[2:]}
        x = (tables["word"][self.inputs["input_ids"]] + tables["position"][:self.length] +
             tables["segment"][self.inputs["segment_ids"]]).reshape(self.rows, self.columns)
        return normalised(x - x.mean(-1, keepdims=True), self.epsilon) * tables["gamma"] + tables["beta"]


class QEmbed(Embed):
    """The same of bytes."""
    kernel, type = "qembed_layer_norm", "uint8"
    SCALE, ZERO_POINT = 0.02, 128

    def table(self, size):
        return aligned(self.random.integers(0, 256, size), numpy.uint8)

    def real(self, table):
        return (table - self.ZERO_POINT) * self.SCALE


def softmax(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def gelu(x):
    return x * (1 + numpy.vectorize(math.erf, otypes=[numpy.float64])(x * math.sqrt(0.5))) / 2


def gelu_by_tanh(x):
    return x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2


def swiglu(x, up):
    return x / (1 + numpy.exp(-x)) * up


ACTIVATIONS = {"softmax": softmax, "gelu": gelu, "gelu_by_tanh": gelu_by_tanh, "swiglu": swiglu}


class Activation(Work):
    """Our kernel is made of the formula."""
    variant = "of an expression"

    def __init__(self, kernel, rows, columns):
        self.kernel, self.rows, self.columns = kernel, rows, columns
        normal = numpy.random.default_rng(1).standard_normal
        self.inputs = {"x": aligned(normal((rows, columns)))}
        if kernel == "swiglu":
            self.inputs["up"] = aligned(1 + normal((rows, columns)) / 10)

    def expected(self):
        return ACTIVATIONS[self.kernel](*(array.astype(numpy.float64) for array in self.inputs.values()))


SHAPES = [(1, 768), (128, 768), (512, 1024), (128, 4096), (4096, 4096), (8, 16384)]


def all_works():
    """Names, and what makes them."""
    for kernel in ("layer_norm", "rms_norm", "skip_layer_norm", "skip_rms_norm"):
        for shape in SHAPES:
            yield f"{kernel}/float/{shape[0]}x{shape[1]}", lambda kernel=kernel, shape=shape: Norm(kernel, *shape)
    for kernel in ACTIVATIONS:
        for shape in SHAPES:
            yield (f"{kernel}/float/{shape[0]}x{shape[1]}/{Activation.variant}",
                   lambda kernel=kernel, shape=shape: Activation(kernel, *shape))
    for work in (Embed, QEmbed):
        for tokens in (128, 1024, 4096, 16384):
            yield f"{work.kernel}/{work.type}/{tokens}x768", lambda work=work, tokens=tokens: work(tokens)
