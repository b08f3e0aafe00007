# SPDX-License-Identifier: BSL-1.0
"""What fuse knows of shapes and element types, against the results of ONNX's own node tests.

Each case is studied twice: with its inputs as constants, whose contents fuse may use, and as inputs. What the case declares of its
results is taken out first.
"""

import functools
import unittest
import warnings

import numpy
import onnx
from onnx import numpy_helper

from test_shapes import shapes_of_all, type_name

# The operators of language models must be known to the last dimension where their inputs are constants.
KNOWN = {"Add", "Cast", "Concat", "ConstantOfShape", "Conv", "Div", "Einsum", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Gemm",
         "LayerNormalization", "MatMul", "Mul", "OneHot", "Pad", "Pow", "RMSNormalization", "Range", "ReduceMean", "ReduceSum", "Reshape",
         "Shape", "Size", "Slice", "Softmax", "Split", "Squeeze", "Sub", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where"}
UNKNOWN_ON_PURPOSE = {"test_einsum_batch_diagonal"}  # an ellipsis in the equation


def tensors(values):
    """As TensorProtos; None where one is no tensor."""
    found = []
    for value in values:
        if isinstance(value, onnx.TensorProto):
            found.append(value)
        elif isinstance(value, (numpy.ndarray, numpy.generic)):
            found.append(numpy_helper.from_array(numpy.asarray(value)))
        else:
            return None
    return found


@functools.cache
def all_cases():
    """Each case and data set: its name, its model, its inputs, its outputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        listed = collect_testcases("")
    return [(case.name, case.model, inputs, outputs) for case in listed for inputs, outputs in case.data_sets or []]


def cases():
    for name, model, inputs, outputs in all_cases():
        inputs, outputs = tensors(inputs), tensors(outputs)
        if inputs is not None and outputs is not None:
            yield name, model, inputs, outputs


def studies():
    """Each case twice: its name, whether its inputs are constants, its model without what it declares, its results."""
    for name, original, inputs, outputs in cases():
        for constant in (True, False):
            model = onnx.ModelProto()
            model.CopyFrom(original)
            graph = model.graph
            if constant:
                for declared, tensor in zip(graph.input, inputs):
                    graph.initializer.append(tensor)
                    graph.initializer[-1].name = declared.name
                del graph.input[:]
                model.ir_version = max(model.ir_version, 4)
            for declared in graph.output:
                declared.ClearField("type")
            del graph.value_info[:]
            yield name, constant, model, outputs


class NodeShapeTest(unittest.TestCase):
    def test_against_results(self):
        studied, whole = 0, 0
        every, together = list(studies()), 200
        for first in range(0, len(every), together):
            some = every[first:first + together]
            for (name, constant, model, outputs), known in zip(some, shapes_of_all([model for _, _, model, _ in some]), strict=True):
                graph = model.graph
                with self.subTest(name, constant=constant):
                    for declared, tensor in zip(graph.output, outputs):
                        mine = known[declared.name]
                        # Types above bfloat16 have no name in fuse.
                        self.assertIn(mine["type"], (type_name(tensor.data_type) if tensor.data_type <= onnx.TensorProto.BFLOAT16 else "other", None))
                        must = constant and {n.op_type for n in graph.node} <= KNOWN and name not in UNKNOWN_ON_PURPOSE
                        if must:
                            self.assertIsNotNone(mine["dims"])
                        if mine["dims"] is None:
                            continue
                        studied += 1
                        self.assertEqual(len(mine["dims"]), len(tensor.dims))
                        for dim, size in zip(mine["dims"], tensor.dims):
                            if must or isinstance(dim, int):
                                self.assertEqual(dim, size)
                        whole += all(isinstance(dim, int) for dim in mine["dims"])
        self.assertGreater(studied, 3000)
        self.assertGreater(whole, 2500)


if __name__ == "__main__":
    unittest.main()
