# SPDX-License-Identifier: BSL-1.0
"""onnxruntime's own kernels, each in a model of as few nodes as it takes, on bound memory."""
import time

import numpy
import onnxruntime
from onnx import helper, numpy_helper

import works
from interleave import Candidate


def candidate(nodes, inputs, initializers, shape):
    """A model of these nodes, whose first output, that of the last one, has this shape."""
    def value(name, array):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    y = numpy.zeros(shape, numpy.float32)
    result = nodes[-1].output[0]
    graph = helper.make_graph(nodes, "one", [value(*one) for one in inputs.items()], [value(result, y)],
                              [numpy_helper.from_array(array, name) for name, array in initializers.items()])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    binding.bind_output(result, "cpu", 0, y.dtype, y.shape, y.ctypes.data)

    def seconds(count, kept=inputs):  # kept: the binding has addresses only
        before = time.process_time()
        for _ in range(count):
            session.run_with_iobinding(binding)
        return time.process_time() - before

    return Candidate("onnxruntime", onnxruntime.__version__, seconds, lambda: y.reshape(-1, y.shape[-1]))


def embedding(work):
    ids, tables = list(work.inputs)[:2], list(work.inputs)[2:]
    constants = {name: work.inputs[name] for name in tables}  # as a model has them
    operator, inputs = "EmbedLayerNormalization", list(work.inputs)
    if work.kernel.startswith("q"):
        scales = {f"{name}.scale": numpy.array(work.SCALE, numpy.float32) for name in tables}
        points = {f"{name}.zero_point": numpy.array(work.ZERO_POINT, numpy.uint8) for name in tables}
        constants |= scales | points
        operator, inputs = "QEmbedLayerNormalization", [*inputs, "", *scales, *points]
    node = helper.make_node(operator, inputs, ["y", "mask_index"], domain="com.microsoft", epsilon=work.epsilon)
    shape = (*work.inputs["input_ids"].shape, work.columns)
    return candidate([node], {name: work.inputs[name] for name in ids}, constants, shape)


def activation(kernel):
    """Its nodes, as models have them: of those of a SwiGLU, onnxruntime makes QuickGelu and Mul."""
    def node(operator, inputs, output, **attributes):
        return helper.make_node(operator, inputs, [output], **attributes)

    if kernel == "softmax":
        return [node("Softmax", ["x"], "y", axis=-1)]
    if kernel == "gelu":
        return [node("Gelu", ["x"], "y")]
    if kernel == "gelu_by_tanh":
        return [node("Gelu", ["x"], "y", approximate="tanh")]
    return [node("Sigmoid", ["x"], "gate"), node("Mul", ["x", "gate"], "silu"), node("Mul", ["silu", "up"], "y")]


def candidates(work, library):
    epsilon = {"epsilon": work.epsilon}
    inputs = list(work.inputs)
    if work.kernel == "layer_norm":
        node = helper.make_node("LayerNormalization", inputs, ["y"], axis=-1, **epsilon)
    elif work.kernel == "rms_norm":
        # Of the default domain to onnxruntime, though ONNX knows no such operator.
        node = helper.make_node("SimplifiedLayerNormalization", inputs, ["y"], axis=-1, **epsilon)
    elif work.kernel in ("skip_layer_norm", "skip_rms_norm"):
        operator = {"skip_layer_norm": "SkipLayerNormalization", "skip_rms_norm": "SkipSimplifiedLayerNormalization"}
        node = helper.make_node(operator[work.kernel], inputs, ["y", "", "", "sum"], domain="com.microsoft", **epsilon)
    elif work.kernel in ("embed_layer_norm", "qembed_layer_norm"):
        return [embedding(work)]
    elif work.kernel in works.ACTIVATIONS:
        return [candidate(activation(work.kernel), work.inputs, {}, (work.rows, work.columns))]
    else:
        return []
    return [candidate([node], work.inputs, {}, (work.rows, work.columns))]


def overhead():
    x = numpy.zeros((1, 768), numpy.float32)
    return candidate([helper.make_node("Relu", ["x"], ["y"])], {"x": x}, {}, x.shape)
