# SPDX-License-Identifier: BSL-1.0
"""What the operators that fuse writes for onnxruntime cost there, against the primitives that they stand for.

Each is a small model of primitives. onnxruntime runs it as it is, at its default level and so with its own fusions, and as fuse-onnx leaves it,
in shuffled turns on one thread. A call of a session is part of both times: what that is, a model of one Relu of one number shows.
"""
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

import latency
import outcomes
from real_size_models import END, Graph

HIDDEN, HEADS, SIZE = 768, 12, 64


class Case:
    """A model in the making: inputs are added where they are needed."""

    def __init__(self, opset=17):
        self.g, self.opset, self.inputs, self.feeds = Graph(1), opset, [], {}

    def input(self, name, *shape, array=None, extents=None):
        """A float input of some extents, or any array. What optimisers know of the extents is all but the first, unless told."""
        array = self.g.random.standard_normal(shape, numpy.float32) if array is None else array
        self.feeds[name] = array
        self.inputs.append((name, helper.np_dtype_to_tensor_dtype(array.dtype), extents or ["batch", *array.shape[1:]]))
        return name

    def row(self, name, count=HIDDEN):
        return self.g.scale(name, count)

    def written(self, path, outputs):
        outputs = [(name, TensorProto.FLOAT, None) for name in outputs]
        model = self.g.model(self.inputs, outputs, self.opset, 10 if self.opset > 20 else 8)
        onnx.save(SymbolicShapeInference.infer_shapes(model, auto_merge=True), path)
        folder = path.with_suffix(".io")
        folder.mkdir()
        for count, (name, array) in enumerate(self.feeds.items()):
            (folder / f"input_{count}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())


def layer_norm(c, x, as_operator=False):
    g, scale, bias = c.g, c.row("scale"), c.row("bias")
    if as_operator:
        return g("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)
    centred = g("Sub", x, g("ReduceMean", x, axes=[-1]))
    variance = g("ReduceMean", g("Pow", centred, g.number(2)), axes=[-1])
    return g("Add", g("Mul", g("Div", centred, g("Sqrt", g("Add", variance, g.number(1e-5)))), scale), bias)


def rms_norm(c, x):
    g = c.g
    variance = g("ReduceMean", g("Pow", x, g.number(2)), axes=[-1])
    return g("Mul", g("Mul", x, g("Reciprocal", g("Sqrt", g("Add", variance, g.number(1e-5))))), c.row("scale"))


def gelu(c, x):
    g = c.g
    return g("Mul", x, g("Mul", g.number(0.5), g("Add", g("Erf", g("Div", x, g.number(math.sqrt(2)))), g.number(1))))


def gelu_by_tanh(c, x):
    g = c.g
    inner = g("Mul", g.number(math.sqrt(2 / math.pi)), g("Add", x, g("Mul", g.number(0.044715), g("Pow", x, g.number(3)))))
    return g("Mul", g("Mul", g.number(0.5), x), g("Add", g.number(1), g("Tanh", inner)))


def biased(c, x, count):
    return c.g("Add", x, c.row("bias", count))


def swish(c, x, alpha):
    g = c.g
    return g("Mul", x, g("Sigmoid", x if alpha == 1 else g("Mul", x, g.number(alpha))))


def embeddings(c, tokens):
    g, positions = c.g, 512
    ids = c.input("ids", array=g.random.integers(0, 8000, (1, tokens)))
    kinds = c.input("kinds", array=g.random.integers(0, 2, (1, tokens)))
    x = g("Add", g("Gather", g.matrix("words", 8000, HIDDEN), ids, axis=0), g("Gather", g.matrix("types", 2, HIDDEN), kinds, axis=0))
    x = g("Add", x, g("Gather", g.matrix("places", positions, HIDDEN), g.constant(numpy.arange(tokens)[None]), axis=0))
    return layer_norm(c, x, as_operator=True)


def rotary(c, tokens, interleaved=False):
    g = c.g
    x = c.input("x", 1, HEADS, tokens, SIZE)
    angles = numpy.arange(tokens)[:, None] * 10000.0 ** -(numpy.arange(0, SIZE, 2) / SIZE)
    if interleaved:
        cos, sin = (g.weight(f.__name__, f(angles)[None, None]) for f in (numpy.cos, numpy.sin))
        even, odd = (g("Slice", x, g.constant([first]), g.constant([END]), g.constant([3]), g.constant([2])) for first in (0, 1))
        a = g("Sub", g("Mul", even, cos), g("Mul", odd, sin))
        b = g("Add", g("Mul", odd, cos), g("Mul", even, sin))
        pairs = g("Concat", g("Unsqueeze", a, g.constant([4])), g("Unsqueeze", b, g.constant([4])), axis=-1)
        return g("Reshape", pairs, g.constant([0, HEADS, tokens, SIZE]))
    angles = numpy.concatenate([angles, angles], axis=-1)
    cos, sin = (g.weight(f.__name__, f(angles)[None, None]) for f in (numpy.cos, numpy.sin))
    first, second = (g("Slice", x, g.constant([begin]), g.constant([end]), g.constant([3]), g.constant([1])) for begin, end in ((0, SIZE // 2), (SIZE // 2, END)))
    return g("Add", g("Mul", x, cos), g("Mul", g("Concat", g("Neg", second), first, axis=-1), sin))


def attention(c, queries, keys, key_heads=HEADS, of_heads=False, mask=True):
    """Heads of what projections give, or heads as a cache has them. Side by side behind it."""
    g = c.g

    def split(x, heads):
        return g("Transpose", g("Reshape", x, g.constant([0, 0, heads, SIZE])), perm=[0, 2, 1, 3])

    if of_heads:
        q, k, v = c.input("q", 1, HEADS, queries, SIZE), c.input("k", 1, key_heads, keys, SIZE), c.input("v", 1, key_heads, keys, SIZE)
    else:
        q = split(c.input("q", 1, queries, HIDDEN), HEADS)
        k, v = (split(c.input(name, 1, keys, key_heads * SIZE), key_heads) for name in "kv")
    if key_heads != HEADS:
        shape = g.constant([1, key_heads, HEADS // key_heads, keys, SIZE])
        k, v = (g("Reshape", g("Expand", g("Unsqueeze", x, g.constant([2])), shape), g.constant([0, HEADS, keys, SIZE])) for x in (k, v))
    scores = g("Mul", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])), g.number(1 / math.sqrt(SIZE)))
    if mask:
        scores = g("Add", scores, c.input("mask", array=numpy.where(numpy.arange(keys) < keys * 7 // 8, 0, -1e9).astype(numpy.float32)[None, None, None]))
    y = g("Transpose", g("MatMul", g("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return g("Reshape", y, g.constant([0, 0, HIDDEN]))


def projected_attention(c, tokens):
    """Queries, keys and values are projected of one x."""
    g, x = c.g, c.input("x", 1, tokens, HIDDEN)
    q, k, v = (g("Add", g("MatMul", x, g.matrix(f"{name}.weight", HIDDEN, HIDDEN)), c.row(f"{name}.bias")) for name in "qkv")
    q, k, v = (g("Transpose", g("Reshape", y, g.constant([0, 0, HEADS, SIZE])), perm=[0, 2, 1, 3]) for y in (q, k, v))
    scores = g("Mul", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])), g.number(1 / math.sqrt(SIZE)))
    scores = g("Add", scores, c.input("mask", array=numpy.where(numpy.arange(tokens) < tokens * 7 // 8, 0, -1e9).astype(numpy.float32)[None, None, None]))
    y = g("Transpose", g("MatMul", g("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return g("Reshape", y, g.constant([0, 0, HIDDEN]))


def instance_norm(c, channels, extent):
    g, x = c.g, c.input("x", 1, channels, extent, extent)
    scale, bias = (g.weight(name, g.random.uniform(0.8, 1.2, (channels, 1, 1))) for name in ("scale", "bias"))
    centred = g("Sub", x, g("ReduceMean", x, axes=[2, 3]))
    variance = g("ReduceMean", g("Pow", centred, g.number(2)), axes=[2, 3])
    return g("Add", g("Mul", g("Div", centred, g("Sqrt", g("Add", variance, g.number(1e-5)))), scale), bias)


def convolution(c, x, inner, outer, **attributes):
    g = c.g
    weight = g.random.standard_normal((outer, inner, 3, 3), numpy.float32) / math.sqrt(9 * inner)
    return g("Conv", x, g.weight("weight", weight), kernel_shape=[3, 3], **attributes)


def batch_norm_behind(c, channels, extent):
    y = convolution(c, c.input("x", 1, channels, extent, extent), channels, channels, pads=[1, 1, 1, 1])
    statistics = [c.row(name, channels) for name in ("scale", "bias", "mean", "variance")]
    return c.g("BatchNormalization", y, *statistics, epsilon=1e-5)


def padded(c, channels, extent):
    x = c.g("Pad", c.input("x", 1, channels, extent, extent), c.g.constant([0, 0, 1, 1, 0, 0, 1, 1]))
    return convolution(c, x, channels, channels)


def scaled_product(c, tokens):
    g, x = c.g, c.input("x", 1, tokens, HIDDEN)
    return g("Add", g("Mul", g("MatMul", x, g.matrix("weight", HIDDEN, HIDDEN)), c.row("scale")), c.row("bias"))


def matrix_and_row(c, tokens):
    g, x = c.g, c.input("x", tokens, HIDDEN)
    return g("Add", g("MatMul", x, g.matrix("weight", HIDDEN, HIDDEN)), c.row("bias"))


def cached_attention(c, past, key_heads):
    """A query, a key and a value of one token, these behind those of a cache, as a decoder has them: no length is known to optimisers."""
    g = c.g

    def split(name, heads):
        x = c.input(name, 1, 1, heads * SIZE, extents=["batch", "sequence", heads * SIZE])
        return g("Transpose", g("Reshape", x, g.constant([0, 0, heads, SIZE])), perm=[0, 2, 1, 3])

    def cache(name):
        return c.input(f"past_{name}", 1, key_heads, past, SIZE, extents=["batch", key_heads, "past", SIZE])

    q = split("q", HEADS)
    present = [g("Concat", cache(name), split(name, key_heads), axis=-2) for name in "kv"]
    k, v = present
    if key_heads != HEADS:
        batch, length = (g("Shape", k, start=axis, end=axis + 1) for axis in (0, 2))
        repeated = g("Concat", batch, g.constant([key_heads]), g.constant([HEADS // key_heads]), length, g.constant([SIZE]), axis=0)
        merged = g("Concat", batch, g.constant([HEADS]), length, g.constant([SIZE]), axis=0)
        k, v = (g("Reshape", g("Expand", g("Unsqueeze", x, g.constant([2])), repeated), merged) for x in (k, v))
    scores = g("Mul", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])), g.number(1 / math.sqrt(SIZE)))
    y = g("Transpose", g("MatMul", g("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return [g("Reshape", y, g.constant([0, 0, HIDDEN])), *present]


def biased_operator(c, tokens):
    """The GELU is an operator already, as at operator set 20."""
    return c.g("Gelu", biased(c, tokens_of(c, tokens, INNER), INNER))


def softmax(c, x, logarithm=False):
    g = c.g
    shifted = g("Sub", x, g("ReduceMax", x, axes=[-1]))
    powers = g("Exp", shifted)
    total = g("ReduceSum", powers, g.constant([-1]))
    return g("Sub", shifted, g("Log", total)) if logarithm else g("Div", powers, total)


def tokens_of(c, tokens, count=HIDDEN, name="x"):
    return c.input(name, 1, tokens, count)


def with_sum(c, norm, tokens):
    x = c.g("Add", tokens_of(c, tokens), tokens_of(c, tokens, name="skip"))
    return [norm(c, x), x]


INNER = 4 * HIDDEN
# The operator that is expected, what else names the case, shapes, and what makes the primitives of each; an operator set where 17 is not it.
CASES = [
    ("LayerNormalization", "", (1, 128), lambda c, n: layer_norm(c, tokens_of(c, n))),
    ("SimplifiedLayerNormalization", "", (1, 128), lambda c, n: rms_norm(c, tokens_of(c, n))),
    ("SkipLayerNormalization", "behind LayerNormalization", (1, 128), lambda c, n: layer_norm(c, c.g("Add", tokens_of(c, n), tokens_of(c, n, name="skip")), True)),
    ("SkipLayerNormalization", "with the sum", (1, 128), lambda c, n: with_sum(c, lambda c, x: layer_norm(c, x, True), n)),
    ("SkipSimplifiedLayerNormalization", "with the sum", (1, 128), lambda c, n: with_sum(c, rms_norm, n)),
    ("EmbedLayerNormalization", "behind LayerNormalization", (1, 128), embeddings),
    ("Gelu", "", (1, 128), lambda c, n: gelu(c, tokens_of(c, n, INNER))),
    ("BiasGelu", "", (1, 128), lambda c, n: gelu(c, biased(c, tokens_of(c, n, INNER), INNER))),
    ("BiasGelu", "behind Gelu", (1, 128), biased_operator, 20),
    ("FastGelu", "", (1, 128), lambda c, n: gelu_by_tanh(c, tokens_of(c, n, INNER))),
    ("FastGelu", "with a bias", (1, 128), lambda c, n: gelu_by_tanh(c, biased(c, tokens_of(c, n, INNER), INNER))),
    ("QuickGelu", "alpha 1", (1, 128), lambda c, n: swish(c, tokens_of(c, n, INNER), 1)),
    ("QuickGelu", "alpha 1.702", (1, 128), lambda c, n: swish(c, tokens_of(c, n, INNER), 1.702)),
    ("Mish", "", (1, 128), lambda c, n: c.g("Mul", tokens_of(c, n, INNER), c.g("Tanh", c.g("Softplus", "x"))), 18),
    ("HardSwish", "", (1, 128), lambda c, n: c.g("Div", c.g("Mul", tokens_of(c, n, INNER), c.g("Clip", c.g("Add", "x", c.g.number(3)), c.g.number(0), c.g.number(6))), c.g.number(6))),
    ("Softmax", "", (1, 128), lambda c, n: softmax(c, tokens_of(c, n))),
    ("LogSoftmax", "", (1, 128), lambda c, n: softmax(c, tokens_of(c, n), logarithm=True)),
    ("RotaryEmbedding", "halves", (1, 128), rotary),
    ("RotaryEmbedding", "interleaved", (1, 128), lambda c, n: rotary(c, n, interleaved=True)),
    ("MultiHeadAttention", "of tokens, as many keys", (16, 128, 512), lambda c, n: attention(c, n, n)),
    ("MultiHeadAttention", "of tokens, no mask", (128,), lambda c, n: attention(c, n, n, mask=False)),
    ("MultiHeadAttention", "behind projections of one x", (16, 128), projected_attention),
    ("MultiHeadAttention", "one query, of heads, this many keys", (128, 1024), lambda c, n: attention(c, 1, n, of_heads=True)),
    ("MultiHeadAttention", "one query, of 4 heads that are repeated, this many keys", (128, 1024), lambda c, n: attention(c, 1, n, 4, of_heads=True)),
    ("MultiHeadAttention", "one query, 12 heads behind a cache of this many keys", (128, 1024), lambda c, n: cached_attention(c, n, HEADS)),
    ("MultiHeadAttention", "one query, 4 heads behind a cache of this many keys, repeated", (128, 1024), lambda c, n: cached_attention(c, n, 4)),
    ("Attention", "of 4 heads that are repeated, as many keys", (128,), lambda c, n: attention(c, n, n, 4, mask=False), 23),
    ("InstanceNormalization", "64 channels, this many rows and columns", (28, 56), lambda c, n: instance_norm(c, 64, n)),
    ("Conv", "with a batch norm, 64 channels", (28,), lambda c, n: batch_norm_behind(c, 64, n)),
    ("Conv", "behind a padding, 64 channels", (28,), lambda c, n: padded(c, 64, n)),
    ("MatMul", "with a scale and a bias", (1, 128), scaled_product),
    ("Gemm", "of MatMul and Add", (1, 128), matrix_and_row),
]


def call():
    """A model that does next to nothing."""
    c = Case()
    return c, [c.g("Relu", c.input("x", 1, 1))]


def made_of(path, folder):
    """What onnxruntime runs for a model, in words."""
    written = folder / "as_run.onnx"
    outcomes.session(path, "default", written)
    nodes = list(outcomes.operators(onnx.load(written)))
    names = sorted({name for name in map(outcomes.fused_name, nodes) if name})
    return f"{len(nodes)} node{'s' if len(nodes) > 1 else ''}" + (": " + ", ".join(names) if names else "")


def measured(repetitions, processes, cases=CASES):
    """A row for a call, and one for each case and size."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="operators-") as name:
        folder = pathlib.Path(name)
        c, outputs = call()
        c.written(folder / "call.onnx", outputs)
        rows.append({"operator": "", "what": "a call", "shape": "",
                     "microseconds": 1e6 * statistics.median(latency.measured([folder / "call.onnx"], folder / "call.onnx", 1, repetitions, processes)[0])})
        for number, (operator, what, sizes, make, *opset) in enumerate(cases):
            for size in sizes:
                c = Case(*opset)
                outputs = make(c, size)
                before, after = folder / f"{number}_{size}.onnx", folder / f"{number}_{size}_fused.onnx"
                c.written(before, outputs if isinstance(outputs, list) else [outputs])
                subprocess.run([os.environ["FUSE_ONNX"], "optimize", before, "-o", after, "--target", "onnxruntime"], check=True, stdout=subprocess.DEVNULL)
                row = {"operator": operator, "what": what, "shape": str(size)}
                rows.append(row)
                found = {node.op_type for node in outcomes.operators(onnx.load(after))}
                if operator not in found or before.read_bytes() == after.read_bytes():
                    row["problem"] = "not written"
                    continue
                judged = outcomes.told(before, after, 60)
                if "failed" in judged or max(judged["default"].get("excess", [2])) > 1:
                    row["problem"] = f"wrong: {judged}"[:300]
                    continue
                turns = latency.measured([before, after], before, 1, repetitions, processes)
                row["primitives microseconds"], row["fused microseconds"] = (1e6 * statistics.median(seconds) for seconds in turns)
                row["ratio"] = statistics.median(b / a for a, b in zip(*turns))
                row["made"], row["nodes"] = made_of(before, folder), outcomes.counted(after)["nodes"]
                print(f"{operator} {what} {size}: {row['primitives microseconds']:.1f} us, fused {row['fused microseconds']:.1f} us, {row['ratio']:.2f}", flush=True)
    return rows
