# SPDX-License-Identifier: BSL-1.0
"""Layers of rows that tokens are joined to, before a GELU or a norm of a sum: their bias goes into that operator, and rows are needed no
more. FUSE_SEED and FUSE_TOKENS change where the spellings start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import FLOAT, HALF, Model
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 19))
COUNT = int(os.environ.get("FUSE_TOKENS", 160 // judge.ONE_CASE_IN))
B, S, K, N = 2, 3, 4, 8
WRONG = ("a factor of the product", "a factor of the bias", "weights that lie across", "a bias of columns", "tokens in another order",
         "rows used elsewhere", "tokens used elsewhere", "no bias")


def setUpModule():
    print(f"seed {SEED}, {COUNT} layers")


class Layer:
    def __init__(self, seed, wrong=""):
        self.draw = draw = Draw(seed)
        self.wrong = wrong
        self.dtype = {"float": FLOAT, "half": HALF}[draw("type", *["float"] * 3, "half")]
        self.m = m = Model(draw("opset", 17, *range(11, 24)), 8)
        named = draw("dimensions", "fixed", "batch", "both")
        self.tokens = ["batch" if named != "fixed" else B, "length" if named == "both" else S]
        self.feeds = {}
        y = self.behind(self.layer(self.given("x", K)))
        m.output(y, self.dtype, [*self.tokens, N])
        self.model = m.proto()

    def given(self, name, size):
        self.feeds[name] = self.draw.array(name, (B, S, size)).astype(self.dtype)
        return self.m.input(name, self.dtype, [*self.tokens, size])

    def constant(self, name, *shape):
        return self.m.constant(self.draw.array(name, shape).astype(self.dtype))

    def joined(self, x):
        m = self.m
        how = self.draw("joined by", "Reshape", "Flatten", "Shape")
        if how == "Flatten":
            return m.op("Flatten", x, axis=2)
        if how == "Shape":
            rows = m.op("Mul", *(m.op("Gather", m.op("Shape", x), m.integers(i)) for i in range(2)))
            return m.op("Reshape", x, m.op("Concat", rows, m.integers(K), axis=0))
        return m.op("Reshape", x, m.integers(-1, K))

    def apart(self, rows, x):
        m, known = self.m, [each if isinstance(each, int) else -1 for each in self.tokens]
        if self.wrong == "tokens in another order":
            return m.op("Transpose", m.op("Reshape", rows, m.integers(S, -1, N)), perm=[1, 0, 2])
        if known.count(-1) < 2 and self.draw("apart by", "numbers", "Shape") == "numbers":
            return m.op("Reshape", rows, m.integers(*known, N))
        sizes = [m.op("Gather", m.op("Shape", x), m.integers(i)) for i in range(2)]
        return m.op("Reshape", rows, m.op("Concat", *sizes, m.integers(N), axis=0))

    def layer(self, x):
        m, wrong = self.m, self.wrong
        rows = self.joined(x)
        shapes = [(B * S, 1)] if wrong == "a bias of columns" else [(N,), (1, N)]
        across = wrong == "weights that lie across"
        weights, bias = self.constant("weights", *((N, K) if across else (K, N))), self.constant("bias", *self.draw("bias", *shapes))
        if self.draw("layer", "Gemm", "MatMul") == "MatMul" and not (across or "factor" in wrong):
            y = m.op("MatMul", rows, weights)
            if wrong != "no bias":
                y = m.op("Add", *((y, bias) if self.draw("operands", "written", "swapped") == "written" else (bias, y)))
        else:
            said = {"alpha": 0.5} if wrong == "a factor of the product" else {"beta": 0.5} if wrong == "a factor of the bias" else {}
            y = m.op("Gemm", rows, weights, *([bias] if wrong != "no bias" or m.opset < 11 else []), **said, **({"transB": 1} if across else {}))
        if wrong == "rows used elsewhere":
            m.output(y, self.dtype, ["rows", N])
        y = self.apart(y, x)
        if wrong == "tokens used elsewhere":
            m.output(m.op("Relu", y), self.dtype, [*self.tokens, N])
        return y

    def behind(self, y):
        m, number = self.m, lambda of: self.m.constant(np.array(of, self.dtype))
        self.is_norm = self.draw("behind", "norm", "GELU") == "norm"
        if not self.is_norm:
            if self.draw("curve", "erf", "tanh") == "erf":
                gate = m.op("Erf", m.op("Div", y, number(2**0.5)))
            else:
                cube = m.op("Mul", number(0.044715), m.op("Pow", y, number(3)))
                gate = m.op("Tanh", m.op("Mul", number((2 / np.pi) ** 0.5), m.op("Add", y, cube)))
            return m.op("Mul", m.op("Mul", y, m.op("Add", gate, number(1))), number(0.5))
        skip = self.given("skip", N)
        total = m.op("Add", *((y, skip) if self.draw("order", "written", "swapped") == "written" else (skip, y)))
        layer = self.draw("norm", "layer", "rms") == "layer"
        d = m.op("Sub", total, m.reduce_mean(total, [-1])) if layer else total
        root = m.op("Sqrt", m.op("Add", m.reduce_mean(m.op("Mul", d, d), [-1]), number(1e-5)))
        normed = m.op("Mul", m.op("Div", d, root), self.constant("scale", N))
        return m.op("Add", normed, total) if self.draw("sum used", "no", "yes") == "yes" else normed


class LayerTest(unittest.TestCase):
    def rewritten(self, case, target, *options):
        result = judge.optimize(case.model, target, *options)
        self.assertEqual(result.miscounted(), [])
        self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        return result

    def test_layers(self):
        for seed in range(SEED, SEED + COUNT):
            case = Layer(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(case.draw.chosen)):
                    result = self.rewritten(case, target, "--clean")
                    left = judge.primitives(result.model)
                    self.assertEqual(bool(left["Reshape"] or left["Flatten"]), target == "onnx", result.refusals())
                    if target == "onnxruntime":
                        self.assertEqual((left["Gemm"], left["MatMul"]), (0, 1))
                        fused = {"SkipLayerNormalization": 5, "SkipSimplifiedLayerNormalization": 4, "BiasGelu": 2, "FastGelu": 2}
                        biased = [n for n in result.model.graph.node if n.op_type in fused and len(n.input) == fused[n.op_type]]
                        self.assertEqual(len(biased), 1)

    def test_what_is_no_bias_of_rows_stays(self):
        for wrong in WRONG:
            for seed in judge.sampled(range(SEED, SEED + 8)):
                case = Layer(seed, wrong)
                with self.subTest(wrong=wrong, seed=seed, choices=dict(case.draw.chosen)):
                    result = self.rewritten(case, "onnxruntime")
                    self.assertTrue(any(n.op_type in ("Reshape", "Flatten") for n in result.model.graph.node))


if __name__ == "__main__":
    unittest.main()
