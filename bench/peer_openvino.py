# SPDX-License-Identifier: BSL-1.0
"""OpenVINO: its call costs as much as many kernels, so 16 of them stand in a row."""
import time

import numpy
import openvino
from openvino import opset13 as op

from interleave import Candidate

CHAINED = 16


def compiled(model):
    return openvino.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1,
                                                        "INFERENCE_PRECISION_HINT": "f32"})


def executed(model, x, chained, output=None):
    request = compiled(model).create_infer_request()
    request.set_input_tensor(openvino.Tensor(x, shared_memory=True))

    def seconds(count, kept=x):  # kept: the tensor is a view of it
        before = time.process_time()
        for _ in range(count):
            request.infer()
        return time.process_time() - before

    return Candidate("OpenVINO", openvino.__version__.split("-")[0], seconds,
                     output or (lambda: request.get_output_tensor().data), calls_in_one=chained)


def result(work, x):
    if work.kernel == "softmax":
        return op.softmax(x, -1)
    if work.kernel == "layer_norm":
        y = op.mvn(x, op.constant(numpy.array([-1])), True, work.epsilon, "inside_sqrt")
        return op.add(op.multiply(y, op.constant(work.inputs["scale"])), op.constant(work.inputs["bias"]))
    square = op.reduce_mean(op.multiply(x, x), op.constant(numpy.array([-1])), True)
    inverse = op.divide(op.constant(numpy.float32(1)), op.sqrt(op.add(square, op.constant(numpy.float32(work.epsilon)))))
    return op.multiply(op.multiply(x, inverse), op.constant(work.inputs["scale"]))


def candidates(work, library):
    # Not of functions of single elements: 16 in a row are one loop to a compiler.
    if work.kernel not in ("layer_norm", "rms_norm", "softmax"):
        return []
    x = op.parameter(list(work.inputs["x"].shape), numpy.float32)
    y = x
    for _ in range(CHAINED):
        y = result(work, y)
    one = openvino.Model([result(work, x)], [x])
    return [executed(openvino.Model([y], [x]), work.inputs["x"], CHAINED, lambda: compiled(one)(work.inputs["x"])[0].copy())]


def overhead():
    x = op.parameter([1, 768], numpy.float32)
    return executed(openvino.Model([op.relu(x)], [x]), numpy.zeros((1, 768), numpy.float32), 1)
