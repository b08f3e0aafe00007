# SPDX-License-Identifier: BSL-1.0
"""Real exports, cleaned: the same outputs from fewer nodes; and weights that models compute. FUSE_SEED and FUSE_CLEANED change where these start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, Model, check
from spellings import Draw
from test_models import NOT_RUN, TOLERANCE, model_of, names, tensors

CLEANED = judge.sampled(name for name in names() if name in {"bert-op14", "bert-op17", "gpt2-op11", "bert-dynamo18", "llama-op14", "resnet-op14"})
SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_CLEANED", 60 // judge.ONE_CASE_IN))


class ComputedWeights:
    """Products of one input with parts of one matrix, which the model standardises, turns and takes apart."""

    def __init__(self, seed):
        self.draw = draw = Draw(seed)
        self.m = m = Model(draw("opset", 17, *range(11, 22)), 8)
        self.parts = draw("parts", 1, 2, 4)
        random = np.random.default_rng(seed)
        self.feeds = {"x": random.normal(0, 1, (2, 24)).astype(FLOAT)}
        x = m.input("x", FLOAT, ["batch", 24])
        weights = m.constant(random.normal(0, 1, (24, 32)).astype(FLOAT))
        turned = draw("turned", True, False)
        if turned:
            weights = m.op("Transpose", weights, perm=[1, 0])
        if draw("standardised", True, False):
            weights = self.standardised(weights)
        if turned:
            weights = m.op("Transpose", weights, perm=[1, 0])
        for part in self.apart(weights):
            m.output(m.op("MatMul", x, part), FLOAT, ["batch", 32 // self.parts])
        self.model = m.proto()

    def number(self, value):
        return self.m.constant(np.float32(value), self.draw("constant", "initializer", "node"))

    def standardised(self, w):
        m, draw = self.m, self.draw
        axes = draw("axes", [0], [1], [0, 1])
        centred = m.op("Sub", w, m.reduce_mean(w, axes))
        if draw("square", "Mul", "Pow") == "Mul":
            square = m.op("Mul", centred, centred)
        else:
            square = m.op("Pow", m.op("Sub", w, m.reduce_mean(w, axes)), self.number(2))
        root = m.op("Sqrt", m.op("Add", m.reduce_mean(square, axes), self.number(1e-5)))
        if draw("divided", "Div", "Mul") == "Div":
            w = m.op("Div", centred, root)
        else:
            w = m.op("Mul", centred, m.op("Reciprocal", root))
        return m.op("Mul", w, self.number(0.75)) if draw("gain", True, False) else w

    def apart(self, w):
        m, size = self.m, 32 // self.parts
        if self.parts == 1:
            return [w]
        match self.draw("apart", "Split", "Slice", "Gather"):
            case "Split":
                lengths = [size] * self.parts
                return m.op("Split", w, m.integers(*lengths), axis=1, outputs=self.parts) if m.opset >= 13 else m.op("Split", w, axis=1, split=lengths, outputs=self.parts)
            case "Slice":
                return [m.op("Slice", w, m.integers(size * i), m.integers(size * (i + 1)), m.integers(1)) for i in range(self.parts)]
            case "Gather":
                return [m.op("Gather", w, m.integers(*range(size * i, size * (i + 1))), axis=1) for i in range(self.parts)]


def of_constants(graph):
    """Operators that compute of constants alone."""
    computed, found = {v.name for v in graph.input}, []
    for n in graph.node:
        if computed.intersection(n.input):
            computed.update(n.output)
        elif n.op_type != "Constant":
            found.append(n.op_type)
    return found


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

    def test_weights_that_a_model_computes_are_constants(self):
        for seed in range(SEED, SEED + COUNT):
            weights = ComputedWeights(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(weights.draw.chosen)):
                    result = judge.optimize(weights.model, target, "--clean")
                    self.assertEqual(of_constants(result.model.graph), [])
                    self.assertLess(len(result.bytes), len(weights.model.SerializeToString()) + 1024)
                    self.assertEqual(list(judge.Original(weights.model, weights.feeds, exact=False).differences(result.model)), [])
                    self.assertEqual(result.bytes, judge.optimize(result.bytes, target, "--clean").bytes, "a second run changes the result")

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
