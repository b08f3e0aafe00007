# SPDX-License-Identifier: BSL-1.0
"""The standard's own function bodies of LayerNormalization and RMSNormalization, as the onnx package expands them in its tests."""

import unittest

import numpy as np
import onnx.backend.test.case.node
import onnx.backend.test.case.node.layernormalization
import onnx.backend.test.case.node.rmsnormalization

import judge
from build import check

PRIMITIVES = {"ReduceMean", "Mul", "Add", "Sqrt", "Div", "Reciprocal", "Pow"}


def cases():
    found = {case.name: case for case in onnx.backend.test.case.node._NodeTestCases}
    return [case for name, case in sorted(found.items()) if name.startswith(("test_layer_normalization", "test_rms_normalization"))]


class FunctionBodyTest(unittest.TestCase):
    def test_there_are_cases(self):
        self.assertGreater(sum("expanded" in case.name for case in cases()), 50)

    def test_every_body_becomes_one_operator(self):
        for case in cases():
            kind = "rms" if "rms" in case.name else "layer"
            for target in judge.TARGETS:
                with self.subTest(case.name, target=target):
                    result = judge.optimize(case.model, target)
                    self.assertEqual(judge.norms(result.model), {kind: 1}, result.refusals()[:3])
                    self.assertEqual(PRIMITIVES & set(judge.primitives(result.model)), set(), "left over")
                    self.assertEqual(list(judge.foreign_norms(result.model, target)), [])
                    self.assertEqual(judge.interface(result.model), judge.interface(case.model))
                    if target == "onnx":
                        check(result.model)
                    for inputs, expected in case.data_sets:
                        feeds = dict(zip([i.name for i in case.model.graph.input], inputs))
                        for level in judge.LEVELS:
                            outputs = judge.execute(result.model, feeds, judge.LEVELS[level])
                            for name, wanted in zip([o.name for o in case.model.graph.output], expected):
                                self.assertEqual(outputs[name].shape, wanted.shape)
                                np.testing.assert_allclose(outputs[name], wanted, rtol=1e-4, atol=1e-5, err_msg=f"{name} at {level}")


if __name__ == "__main__":
    unittest.main()
