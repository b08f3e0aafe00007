# SPDX-License-Identifier: BSL-1.0
"""Real exports, cleaned: the same outputs from fewer nodes."""

import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, Model, check
from test_models import NOT_RUN, TOLERANCE, model_of, names, tensors

CLEANED = judge.sampled(name for name in names() if name in {"bert-op14", "bert-op17", "gpt2-op11", "bert-dynamo18", "llama-op14", "resnet-op14"})


class CleanTest(unittest.TestCase):
    def test_models(self):
        self.assertGreater(len(CLEANED), 0)
        for name in CLEANED:
            for target in judge.TARGETS:
                with self.subTest(name, target=target):
                    result = judge.optimize(model_of(name), target, "--clean")
                    self.assertLessEqual(len(result.model.graph.node), len(judge.optimize(model_of(name), target).model.graph.node))
                    self.assertEqual(judge.interface(result.model), judge.interface(model_of(name)))
                    self.assertTrue(result.bytes == judge.optimize(result.bytes, target, "--clean").bytes, "a second run changes the result")
                    if target == "onnx":
                        check(result.model)
                    for level in judge.LEVELS if name not in NOT_RUN else ():
                        outputs = judge.execute(result.model, tensors(name, "input"), judge.LEVELS[level])
                        for value, expected in tensors(name, "output").items():
                            wide = expected.astype(np.float64)
                            error = np.abs(outputs[value].astype(np.float64) - wide).max() / np.ptp(wide)
                            self.assertLessEqual(error, TOLERANCE[expected.dtype.name], f"{value} at {level}")

    def test_what_a_model_asks_of_shapes_is_asked_once(self):
        result = judge.optimize(model_of("gpt2-op11"), "onnx", "--clean")
        self.assertLess(len(result.model.graph.node), len(model_of("gpt2-op11").graph.node) // 2)

    def test_what_rules_make_is_shared_with_what_was_there(self):
        m = Model()
        x = m.input("x", FLOAT, [3, 4])
        m.output(m.op("Tanh", m.cast(x, DOUBLE)), DOUBLE, [3, 4])
        m.output(m.op("Exp", m.cast(m.cast(x, FLOAT), DOUBLE)), DOUBLE, [3, 4])
        result = judge.optimize(m.proto(), "onnx", "--clean")
        self.assertEqual([n.op_type for n in result.model.graph.node].count("Cast"), 1)

    def test_it_is_said(self):
        result = judge.optimize(model_of("gpt2-op11"), "onnx", "--clean")
        self.assertTrue(any("nodes became constants" in note for note in result.report["notes"]))
        self.assertFalse(any("nodes became constants" in note for note in judge.optimize(model_of("gpt2-op11")).report["notes"]))


if __name__ == "__main__":
    unittest.main()
