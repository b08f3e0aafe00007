# SPDX-License-Identifier: BSL-1.0
"""Norms of sums in random spellings, and graphs that onnxruntime's operators do not take. FUSE_SEED and FUSE_SKIP_NORMS change where the
spellings start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, HALF, Model
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_SKIP_NORMS", 200 // judge.ONE_CASE_IN))
H = 8


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class Residual:
    """A residual connection before a norm, by the choices of a seed or by those that are `fixed`."""

    def __init__(self, seed, fixed=None):
        self.draw = draw = Draw(seed, fixed)
        self.kind = draw("kind", "layer", "rms")
        self.dtype = {"float": FLOAT, "half": HALF, "double": DOUBLE}[draw("type", *["float"] * 3, "half")]
        self.m = m = Model(draw("opset", 17, *range(11, 24)), 8)
        self.shape = draw("shape", (2, 3, H), (4, H), (1, 3, H))
        self.dynamic = draw("dimensions", "fixed", "symbolic") == "symbolic" and len(self.shape) == 3
        names = (["batch", "sequence"] if self.dynamic else list(self.shape[:-1])) + [H]
        skips = [self.shape] + [(1, *self.shape[1:]), self.shape[1:]] * (len(self.shape) == 3 and not self.dynamic)
        self.skip_shape = draw("skip shape", *skips)
        self.feeds = {}
        self.input = self.given("input", self.shape, names)
        self.skip = self.given("skip", self.skip_shape, names if self.dynamic else self.skip_shape)
        total = self.sum()
        y = self.norm(total)
        use = draw("sum used", "no", "no", "by an Add", "as an output", "by both")
        if use in ("by an Add", "by both"):
            y = m.op("Add", m.op("Relu", y), total)
        if use in ("as an output", "by both"):
            m.output(m.op("Identity", total) if use == "by both" else total, self.dtype, names)
        m.output(y, self.dtype, names)
        self.model = m.proto()

    def given(self, name, shape, names):
        self.feeds[name] = np.random.default_rng(len(self.feeds)).normal(0, 2, shape).astype(self.dtype)
        return self.m.input(name, self.dtype, names)

    def row(self, name):
        numbers = self.draw.array(name, (H,)).astype(self.dtype)
        shape = self.draw("row shape", (H,), (1, H)) if len(self.shape) > 1 else (H,)
        return self.m.constant(numbers.reshape(shape))

    def add(self, a, b):
        return self.m.op("Add", b, a) if self.draw("operand order", "written", "swapped") == "swapped" else self.m.op("Add", a, b)

    def sum(self):
        bias = self.draw("bias", "none", "at the input", "at the skip", "last")
        a, b = self.input, self.skip
        if bias == "at the input":
            a = self.add(a, self.row("bias"))
        if bias == "at the skip":
            b = self.add(b, self.row("bias"))
        total = self.add(a, b)
        return self.add(total, self.row("bias")) if bias == "last" else total

    def norm(self, x):
        m, wide = self.m, self.draw("axis written", "-1", "positive")
        axis = -1 if wide == "-1" else len(self.shape) - 1
        if self.kind == "layer" and self.m.opset >= 17 and self.draw("norm", "operator", "primitives") == "operator":
            rows = [self.row("scale")] + [self.row("beta")] * (self.draw("beta", "there", "none") == "there")
            return m.op("LayerNormalization", x, *rows, axis=axis, epsilon=1e-5)
        d = m.op("Sub", x, m.reduce_mean(x, [axis])) if self.kind == "layer" else x
        root = m.op("Sqrt", m.op("Add", m.reduce_mean(m.op("Mul", d, d), [axis]), m.constant(np.array(1e-5, self.dtype))))
        y = m.op("Mul", m.op("Div", d, root), self.row("scale"))
        return m.op("Add", y, self.row("beta")) if self.kind == "layer" and self.draw("beta", "there", "none") == "there" else y


class SkipNormTest(unittest.TestCase):
    def test_every_spelling_becomes_one_operator(self):
        for seed in range(SEED, SEED + COUNT):
            residual = Residual(seed)
            original = judge.Original(residual.model, residual.feeds, len(residual.shape) - 1, exact=False)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(residual.draw.chosen)):
                    result = judge.optimize(residual.model, target)
                    self.assertEqual(dict(judge.norms(result.model)), {residual.kind: 1})
                    self.assertEqual(judge.skip_norms(result.model), int(target == "onnxruntime"), result.refusals())
                    if target == "onnxruntime":
                        self.assertNotIn("Sqrt", judge.primitives(result.model))
                        self.assertLessEqual(judge.primitives(result.model)["Add"], 1)
                    self.assertEqual(result.miscounted(), [])
                    self.assertEqual(list(original.differences(result.model)), [])
                    self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes)

    def refused(self, model, feeds, words):
        result = judge.optimize(model, "onnxruntime")
        self.assertEqual(judge.skip_norms(result.model), 0)
        self.assertTrue(any(words in r["condition"] + r["reason"] for r in result.refusals()), result.refusals())
        self.assertEqual(list(judge.Original(model, feeds, exact=False).differences(result.model)), [])

    def test_what_the_operators_do_not_take(self):
        cases = {
            "a skip that is a row": ((2, 3, H), (1, 1, H), FLOAT, -1, "shape of the input"),
            "a skip that repeats along the sequence": ((2, 3, H), (2, 1, H), FLOAT, -1, "shape of the input"),
            "a column": ((2, 3, H), (2, 3, 1), FLOAT, -1, "shape of the input"),
            "four axes": ((2, 2, 3, H), (2, 2, 3, H), FLOAT, -1, "shape of the input"),
            "two axes that are normed": ((2, 3, H), (2, 3, H), FLOAT, -2, "last axis"),
            "doubles": ((2, 3, H), (2, 3, H), DOUBLE, -1, "float64"),
        }
        for name, (shape, skip, dtype, axis, words) in cases.items():
            with self.subTest(name):
                m = Model(17)
                total = m.op("Add", m.input("input", dtype, shape), m.input("skip", dtype, skip))
                scale = m.constant(np.linspace(0.5, 2, int(np.prod(shape[axis:]))).reshape(shape[axis:]).astype(dtype))
                m.output(m.op("LayerNormalization", total, scale, axis=axis), dtype, shape)
                feeds = {k: np.random.default_rng(1).normal(0, 2, s).astype(dtype) for k, s in (("input", shape), ("skip", skip))}
                self.refused(m.proto(), feeds, words)

    def test_a_difference_is_no_sum(self):
        m = Model(17)
        total = m.op("Sub", m.input("input", FLOAT, (2, 3, H)), m.input("skip", FLOAT, (2, 3, H)))
        m.output(m.op("LayerNormalization", total, m.constant(np.linspace(0.5, 2, H).astype(FLOAT))), FLOAT, (2, 3, H))
        self.assertEqual(judge.skip_norms(judge.optimize(m.proto(), "onnxruntime").model), 0)


if __name__ == "__main__":
    unittest.main()
