# SPDX-License-Identifier: BSL-1.0
"""Writes models of real size, as exporters write them, with random weights and inputs that they run on.

    real_size_models.py FOLDER [NAME...]

Each becomes FOLDER/NAME.onnx, with what it is run on in FOLDER/NAME.io/input_K.pb, as beside the models in tests/models. A model that is
there already, written by this very file, stays.

encoder       BERT's: embeddings, 12 layers of 768 with 12 heads, GELU by Erf, norms behind residuals; 128 tokens, 16 of them padding.
encoder-op14  The same in another spelling.
decoder       Llama's: 12 layers of 768 with 12 heads of queries and 4 of keys and values, rotary embeddings, RMS norms, SiLU, a cache; one
              token behind 128.
decoder-long  The same; one token behind 1,024.
vision        ResNet-50: 53 convolutions with a batch norm each; one image of 224x224.

encoder and both decoders are spelled, and their values described, as PyTorch's torch.export based exporter does it with Hugging Face's
models at operator set 18; the others as its TorchScript exporter at 14, which was told to keep the batch norms. Weights are drawn so that values stay
near 1; scales and biases are random, so that none can be left out. Needs onnxruntime and sympy, which tell the shapes of all values.
"""
import argparse
import hashlib
import math
import pathlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

VOCABULARY, POSITIONS = 8000, 512
LAYERS, HIDDEN, HEADS, KEY_HEADS = 12, 768, 12, 4
SIZE = HIDDEN // HEADS  # of a head
END = numpy.iinfo(numpy.int64).max
LOWEST = numpy.finfo(numpy.float32).min


class Graph:
    """Nodes and weights in the order in which they are written."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.initializers, self.constants = [], [], {}

    def __call__(self, operator, *operands, result=None, **attributes):
        result = result or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands, [result], f"node_{result}", **attributes))
        return result

    def weight(self, name, array):
        self.initializers.append(numpy_helper.from_array(numpy.asarray(array, numpy.float32), name))
        return name

    def matrix(self, name, *shape):
        """Weights that keep the size of what they are multiplied with; the first extent is the one that is summed over."""
        return self.weight(name, self.random.standard_normal(shape, numpy.float32) / math.sqrt(shape[0]))

    def scale(self, name, count):
        return self.weight(name, self.random.uniform(0.8, 1.2, count))

    def bias(self, name, count):
        return self.weight(name, self.random.uniform(-0.2, 0.2, count))

    def constant(self, value, type=numpy.int64):
        """One initializer for each value, however often it is used."""
        array = numpy.asarray(value, type)
        key = array.dtype, array.shape, array.tobytes()
        if key not in self.constants:
            self.constants[key] = f"val_{len(self.constants)}"
            self.initializers.append(numpy_helper.from_array(array, self.constants[key]))
        return self.constants[key]

    def number(self, value):
        return self.constant(value, numpy.float32)

    def model(self, inputs, outputs, opset, ir_version, described_values=False):
        def described(values):
            return [helper.make_tensor_value_info(name, type, shape) for name, type, shape in values]

        graph = helper.make_graph(self.nodes, "main_graph", described(inputs), described(outputs), self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version, producer_name="pytorch")
        return SymbolicShapeInference.infer_shapes(made, auto_merge=True) if described_values else made


# ---- what encoder and decoder share

def linear(g, x, name, inner, outer, bias=True):
    y = g("MatMul", x, g.matrix(f"{name}.weight", inner, outer))
    return g("Add", y, g.bias(f"{name}.bias", outer)) if bias else y


def heads(g, x, shape):
    return g("Transpose", g("Reshape", x, shape, allowzero=1), perm=[0, 2, 1, 3])


def mask_of(g, batch, queries, keys, attention_mask, causal):
    """What is added to scores, (batch, 1, queries, keys), of numbers of batches, positions of queries and of keys and a mask of keys."""
    batch = g("Unsqueeze", g("Unsqueeze", batch, g.constant([1, 2])), g.constant([3]))
    rows = g("Unsqueeze", g("Unsqueeze", queries, g.constant([0, 1])), g.constant([3]))
    columns = g("Unsqueeze", g("Unsqueeze", keys, g.constant([0, 1])), g.constant([2]))
    seen = g("LessOrEqual", columns, rows) if causal else g("GreaterOrEqual", rows, g.constant(0))
    seen = g("And", g.constant(True, bool), seen)
    shape = g("Shape", g("Max", batch, columns), start=0)
    pairs = [g("Unsqueeze", g("Expand", index, shape), g.constant([-1])) for index in (batch, columns)]
    kept = g("GatherND", g("Cast", attention_mask, to=TensorProto.BOOL), g("Concat", *pairs, axis=-1), batch_dims=0)
    return g("Where", g("And", seen, kept), g.number(0), g.number(LOWEST))


def attention(g, q, k, v, mask, shape):
    """Of heads of queries, keys (their last axes turned) and values; side by side again."""
    scores = g("Mul", g("MatMul", q, k), g.number(1 / math.sqrt(SIZE)))
    weights = g("Softmax", g("Add", scores, mask), axis=-1)
    return g("Reshape", g("Transpose", g("MatMul", weights, v), perm=[0, 2, 1, 3]), shape, allowzero=1)


def extents(g, value):
    """The first two of a value's extents, as vectors of one element and as numbers."""
    vectors = [g("Shape", value, start=axis, end=axis + 1) for axis in (0, 1)]
    return vectors, [g("Squeeze", vector) for vector in vectors]


def arange(g, start, limit):
    return g("Range", start, limit, g.constant(1))


# ---- encoder

def encoder():
    g = Graph(1)
    inner = 4 * HIDDEN

    def norm(x, name, result=None):
        return g("LayerNormalization", x, g.scale(f"{name}.weight", HIDDEN), g.bias(f"{name}.bias", HIDDEN), axis=-1, epsilon=1e-12,
                 stash_type=1, result=result)

    (batch, length), (batch_number, length_number) = extents(g, "token_type_ids")
    positions = g.constant(numpy.arange(POSITIONS)[None])
    positions = g("Slice", positions, g.constant([0]), length, g.constant([1]), g.constant([1]))
    x = g("Add", g("Gather", g.matrix("embeddings.words", VOCABULARY, HIDDEN), "input_ids", axis=0),
          g("Gather", g.matrix("embeddings.types", 2, HIDDEN), "token_type_ids", axis=0))
    x = norm(g("Add", x, g("Gather", g.matrix("embeddings.positions", POSITIONS, HIDDEN), positions, axis=0)), "embeddings.norm")
    tokens = arange(g, g.constant(0), length_number)
    mask = mask_of(g, arange(g, g.constant(0), batch_number), tokens, tokens, "attention_mask", causal=False)
    for layer in range(LAYERS):
        name = f"layer.{layer}"
        shape = g("Concat", batch, length, g.constant([-1]), g.constant([SIZE]), axis=0)
        q = heads(g, linear(g, x, f"{name}.query", HIDDEN, HIDDEN), shape)
        k = g("Reshape", linear(g, x, f"{name}.key", HIDDEN, HIDDEN), shape, allowzero=1)
        v = heads(g, linear(g, x, f"{name}.value", HIDDEN, HIDDEN), shape)
        k = g("Transpose", k, perm=[0, 2, 3, 1])
        y = attention(g, q, k, v, mask, g("Concat", batch, length, g.constant([-1]), axis=0))
        x = norm(g("Add", linear(g, y, f"{name}.attention", HIDDEN, HIDDEN), x), f"{name}.attention.norm")
        y = linear(g, x, f"{name}.intermediate", HIDDEN, inner)
        half = g("Mul", g.number(0.5), g("Add", g("Erf", g("Div", y, g.number(math.sqrt(2)))), g.number(1)))
        y = linear(g, g("Mul", y, half), f"{name}.output", inner, HIDDEN)
        x = norm(g("Add", y, x), f"{name}.output.norm", result="last_hidden_state" if layer == LAYERS - 1 else None)
    return encoder_model(g, opset=18, ir_version=10, described_values=True)


def encoder_model(g, **how):
    tokens = ["batch", "sequence"]
    inputs = [(name, TensorProto.INT64, tokens) for name in ("input_ids", "attention_mask", "token_type_ids")]
    model = g.model(inputs, [("last_hidden_state", TensorProto.FLOAT, [*tokens, HIDDEN])], **how)
    ids = g.random.integers(0, VOCABULARY, (1, 128))
    return model, {"input_ids": ids, "attention_mask": (numpy.arange(128) < 112)[None].astype(numpy.int64),
                   "token_type_ids": (numpy.arange(128) >= 64)[None].astype(numpy.int64)}


class ScriptGraph(Graph):
    """Nodes as the TorchScript exporter writes them: each constant is a node of its own."""

    def constant(self, value, type=numpy.int64):
        return self("Constant", value=numpy_helper.from_array(numpy.asarray(value, type)))

    def extent(self, value, axis):
        number = self("Gather", self("Shape", value), self.constant(axis), axis=0)
        return self("Unsqueeze", number, self.constant([0]))


def encoder_op14():
    g = ScriptGraph(1)
    inner = 4 * HIDDEN

    def norm(x, name, result=None):
        centred = g("Sub", x, g("ReduceMean", x, axes=[-1]))
        variance = g("ReduceMean", g("Pow", centred, g.number(2)), axes=[-1])
        y = g("Div", centred, g("Sqrt", g("Add", variance, g.number(1e-12))))
        y = g("Mul", y, g.scale(f"{name}.weight", HIDDEN))
        return g("Add", y, g.bias(f"{name}.bias", HIDDEN), result=result)

    def linear(x, name, inner, outer):
        return g("Add", g.bias(f"{name}.bias", outer), g("MatMul", x, g.matrix(f"{name}.weight", inner, outer)))

    def regrouped(x, *last):
        shape = g("Concat", g.extent(x, 0), g.extent(x, 1), *(g.constant([extent]) for extent in last), axis=0)
        return g("Reshape", x, shape, allowzero=0)

    x = g("Add", g("Gather", g.matrix("embeddings.words", VOCABULARY, HIDDEN), "input_ids", axis=0),
          g("Gather", g.matrix("embeddings.types", 2, HIDDEN), "token_type_ids", axis=0))
    positions = g("Slice", g.constant(numpy.arange(POSITIONS)[None]), g.constant([0]), g.extent("input_ids", 1), g.constant([1]),
                  g.constant([1]))
    x = norm(g("Add", x, g("Gather", g.matrix("embeddings.positions", POSITIONS, HIDDEN), positions, axis=0)), "embeddings.norm")
    mask = g("Unsqueeze", g("Unsqueeze", "attention_mask", g.constant([1])), g.constant([2]))
    mask = g("Mul", g("Sub", g.number(1), g("Cast", mask, to=TensorProto.FLOAT)), g.number(LOWEST))
    for layer in range(LAYERS):
        name = f"layer.{layer}"
        q = linear(x, f"{name}.query", HIDDEN, HIDDEN)
        k = regrouped(linear(x, f"{name}.key", HIDDEN, HIDDEN), HEADS, SIZE)
        v = g("Transpose", regrouped(linear(x, f"{name}.value", HIDDEN, HIDDEN), HEADS, SIZE), perm=[0, 2, 1, 3])
        q = g("Transpose", regrouped(q, HEADS, SIZE), perm=[0, 2, 1, 3])
        scores = g("Div", g("MatMul", q, g("Transpose", k, perm=[0, 2, 3, 1])), g.number(math.sqrt(SIZE)))
        weights = g("Softmax", g("Add", scores, mask), axis=-1)
        y = regrouped(g("Transpose", g("MatMul", weights, v), perm=[0, 2, 1, 3]), HIDDEN)
        x = norm(g("Add", linear(y, f"{name}.attention", HIDDEN, HIDDEN), x), f"{name}.attention.norm")
        y = linear(x, f"{name}.intermediate", HIDDEN, inner)
        gate = g("Add", g("Erf", g("Div", y, g.number(math.sqrt(2)))), g.number(1))
        y = linear(g("Mul", g("Mul", y, gate), g.number(0.5)), f"{name}.output", inner, HIDDEN)
        x = norm(g("Add", y, x), f"{name}.output.norm", result="last_hidden_state" if layer == LAYERS - 1 else None)
    return encoder_model(g, opset=14, ir_version=7)


# ---- decoder

def decoder(past_length=128):
    g = Graph(2)
    inner = 2048
    keys_hidden, repeats = KEY_HEADS * SIZE, HEADS // KEY_HEADS

    def norm(x, name):
        variance = g("ReduceMean", g("Pow", x, g.number(2)), g.constant([-1]), keepdims=1, noop_with_empty_axes=0)
        root = g("Reciprocal", g("Sqrt", g("Add", variance, g.number(1e-6))))
        return g("Mul", g.scale(f"{name}.weight", HIDDEN), g("Mul", x, root))

    def rotated(x):
        first = g("Slice", x, g.constant([0]), g.constant([SIZE // 2]), g.constant([3]), g.constant([1]))
        second = g("Slice", x, g.constant([SIZE // 2]), g.constant([END]), g.constant([3]), g.constant([1]))
        turned = g("Concat", g("Neg", second), first, axis=-1)
        return g("Add", g("Mul", x, cos), g("Mul", turned, sin))

    def repeated(x):
        """Each head of keys or values once for each head of queries that it belongs to."""
        shape = g("Concat", batch, g.constant([KEY_HEADS]), g.constant([repeats]), total, g.constant([SIZE]), axis=0)
        x = g("Expand", g("Unsqueeze", x, g.constant([2])), shape)
        return g("Reshape", x, g("Concat", batch, g.constant([HEADS]), total, g.constant([SIZE]), axis=0), allowzero=1)

    (batch, length), (batch_number, length_number) = extents(g, "input_ids")
    past = g("Shape", "past_key_values.0.key", start=2, end=3)
    past_number, total = g("Squeeze", past), g("Add", past, length)
    total_number = g("Add", past_number, length_number)
    x = g("Gather", g.matrix("embed_tokens.weight", VOCABULARY, HIDDEN), "input_ids", axis=0)
    positions = arange(g, past_number, total_number)
    mask = mask_of(g, arange(g, g.constant(0), batch_number), positions, arange(g, g.constant(0), total_number), "attention_mask", causal=True)
    frequencies = g.weight("rotary_emb.inv_freq", 10000.0 ** -(numpy.arange(0, SIZE, 2) / SIZE))
    angles = g("Mul", g("Cast", g("Unsqueeze", positions, g.constant([0, 2])), to=TensorProto.FLOAT), frequencies)
    angles = g("Concat", angles, angles, axis=-1)
    cos, sin = (g("Unsqueeze", g(function, angles), g.constant([1])) for function in ("Cos", "Sin"))
    present = []
    for layer in range(LAYERS):
        name = f"layers.{layer}"
        y = norm(x, f"{name}.input_norm")
        shape = g("Concat", batch, length, g.constant([-1]), g.constant([SIZE]), axis=0)
        q = rotated(heads(g, linear(g, y, f"{name}.q_proj", HIDDEN, HIDDEN, bias=False), shape))
        k = rotated(heads(g, linear(g, y, f"{name}.k_proj", HIDDEN, keys_hidden, bias=False), shape))
        v = heads(g, linear(g, y, f"{name}.v_proj", HIDDEN, keys_hidden, bias=False), shape)
        k = g("Concat", f"past_key_values.{layer}.key", k, axis=-2, result=f"present.{layer}.key")
        v = g("Concat", f"past_key_values.{layer}.value", v, axis=-2, result=f"present.{layer}.value")
        present += [k, v]
        k, v = g("Transpose", repeated(k), perm=[0, 1, 3, 2]), repeated(v)
        y = attention(g, q, k, v, mask, g("Concat", batch, length, g.constant([-1]), axis=0))
        x = g("Add", x, linear(g, y, f"{name}.o_proj", HIDDEN, HIDDEN, bias=False))
        y = norm(x, f"{name}.post_attention_norm")
        gate = linear(g, y, f"{name}.gate_proj", HIDDEN, inner, bias=False)
        gate = g("Mul", gate, g("Sigmoid", gate))
        y = g("Mul", gate, linear(g, y, f"{name}.up_proj", HIDDEN, inner, bias=False))
        x = g("Add", x, linear(g, y, f"{name}.down_proj", inner, HIDDEN, bias=False))
    g("MatMul", norm(x, "norm"), g.matrix("lm_head.weight", HIDDEN, VOCABULARY), result="logits")

    def caches(prefix, extent):
        return [(f"{prefix}.{layer}.{what}", TensorProto.FLOAT, ["batch", KEY_HEADS, extent, SIZE])
                for layer in range(LAYERS) for what in ("key", "value")]

    inputs = [("input_ids", TensorProto.INT64, ["batch", "sequence"]), ("attention_mask", TensorProto.INT64, ["batch", "past + sequence"]),
              *caches("past_key_values", "past")]
    outputs = [("logits", TensorProto.FLOAT, ["batch", "sequence", VOCABULARY]), *caches("present", "past + sequence")]
    model = g.model(inputs, outputs, opset=18, ir_version=10, described_values=True)
    feeds = {"input_ids": g.random.integers(0, VOCABULARY, (1, 1)), "attention_mask": numpy.ones((1, past_length + 1), numpy.int64)}
    for name, _, _ in caches("past_key_values", "past"):
        feeds[name] = g.random.standard_normal((1, KEY_HEADS, past_length, SIZE), numpy.float32)
    return model, feeds


# ---- vision

def vision():
    g = Graph(3)
    stages = [(64, 3), (128, 4), (256, 6), (512, 3)]  # channels, blocks

    def layer(x, name, inner, outer, kernel, stride=1, relu=True):
        weight = g.random.standard_normal((outer, inner, kernel, kernel), numpy.float32) * math.sqrt(2 / (inner * kernel * kernel))
        x = g("Conv", x, g.weight(f"{name}.conv.weight", weight), dilations=[1, 1], group=1, kernel_shape=[kernel, kernel],
              pads=[kernel // 2] * 4, strides=[stride, stride])
        statistics = [g.scale(f"{name}.bn.weight", outer), g.bias(f"{name}.bn.bias", outer), g.bias(f"{name}.bn.running_mean", outer),
                      g.weight(f"{name}.bn.running_var", g.random.uniform(1, 2, outer))]
        x = g("BatchNormalization", x, *statistics, epsilon=1e-5, momentum=0.9, training_mode=0)
        return g("Relu", x) if relu else x

    x = layer("pixel_values", "stem", 3, 64, 7, 2)
    x = g("MaxPool", x, ceil_mode=0, dilations=[1, 1], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    inner = 64
    for number, (channels, blocks) in enumerate(stages):
        for block in range(blocks):
            name, stride = f"layer{number + 1}.{block}", 2 if number > 0 and block == 0 else 1
            y = layer(x, f"{name}.1", inner, channels, 1)
            y = layer(y, f"{name}.2", channels, channels, 3, stride)
            y = layer(y, f"{name}.3", channels, 4 * channels, 1, relu=False)
            if block == 0:
                x = layer(x, f"{name}.downsample", inner, 4 * channels, 1, stride, relu=False)
            inner = 4 * channels
            x = g("Relu", g("Add", y, x))
    x = g("Flatten", g("GlobalAveragePool", x), axis=1)
    weight = g.weight("fc.weight", g.random.standard_normal((1000, inner), numpy.float32) / math.sqrt(inner))
    g("Gemm", x, weight, g.bias("fc.bias", 1000), alpha=1.0, beta=1.0, transB=1, result="logits")
    model = g.model([("pixel_values", TensorProto.FLOAT, ["batch", 3, 224, 224])], [("logits", TensorProto.FLOAT, ["batch", 1000])],
                    opset=14, ir_version=7)
    return model, {"pixel_values": g.random.standard_normal((1, 3, 224, 224), numpy.float32)}


MODELS = {"encoder": encoder, "encoder-op14": encoder_op14, "decoder": decoder, "decoder-long": lambda: decoder(1024), "vision": vision}


def written(folder, name):
    """The path of a model in a folder; made where it is missing, or was made by another version of this file."""
    path, inputs = folder / f"{name}.onnx", folder / f"{name}.io"
    origin, recorded = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest(), inputs / "made_by"
    if path.is_file() and recorded.is_file() and recorded.read_text(encoding="utf-8") == origin:
        return path
    inputs.mkdir(parents=True, exist_ok=True)
    model, feeds = MODELS[name]()
    onnx.save(model, path)
    for count, (input_name, array) in enumerate(feeds.items()):
        (inputs / f"input_{count}.pb").write_bytes(numpy_helper.from_array(array, input_name).SerializeToString())
    recorded.write_text(origin, encoding="utf-8")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", choices=[*MODELS, []], metavar="NAME")
    options = parser.parse_args()
    for name in options.names or MODELS:
        print(written(options.folder, name))


if __name__ == "__main__":
    main()
