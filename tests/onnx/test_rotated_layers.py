# SPDX-License-Identifier: BSL-1.0
"""Turns of what layers make, in random spellings, each for both targets: they go into the weights. FUSE_SEED and FUSE_ROTARY change where
the spellings start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, Model, check
from spellings import Draw
from test_rotary import B, D, H, S, Rotary

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_ROTARY", 80 // judge.ONE_CASE_IN))
WIDTH = 6


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class Turned(Rotary):
    """A layer whose result is turned, by the choices of a seed; `wrong` names what keeps it."""

    def __init__(self, seed, wrong=None):
        self.draw = draw = Draw(seed)
        self.wrong, self.pairs, self.feeds = wrong, "halves", {}
        self.dtype = {"float": FLOAT, "double": DOUBLE}[draw("type", *["float"] * 4, "double")]
        self.m = m = Model(draw("opset", 17, 13, 21, *range(12, 24)), 8)
        self.random = np.random.default_rng(seed)
        self.gemm = draw("layer", "MatMul", "Gemm") == "Gemm"
        self.heads = draw("heads", "one", "apart", "of tokens")
        batch = B if self.gemm else draw("batch", B, "batch")
        self.columns = D if self.heads == "one" else H * D
        y = self.as_heads(self.layer(batch), batch)
        if wrong == "others use it":
            m.output(m.op("ReduceMax", m.op("Abs", y), keepdims=0), self.dtype, [])
        y = self.quarter(y) if draw("turn", "quarter", "angles") == "quarter" and wrong != "angles of each token" else self.by_angles(y)
        m.output(y, self.dtype, ["a", "b", "c", "d"] if self.heads != "one" else ["a", "b"] if self.gemm else ["a", "b", "c"])
        self.model = m.proto()

    def numbers(self, *shape):
        return self.m.constant(self.random.uniform(0.5, 2, shape).astype(self.dtype) * self.random.choice([1, -1], shape).astype(self.dtype))

    def layer(self, batch):
        m, draw = self.m, self.draw
        columns = self.columns
        if not self.gemm:
            x = self.given("x", [batch, S, WIDTH])
            y = m.op("MatMul", x, self.numbers(WIDTH, columns))
            return self.with_bias(y) if draw("bias", "there", "none") == "there" else y
        turned = draw("transB", 0, 1)
        operands = [self.given("x", [B * S, WIDTH]), self.numbers(*((columns, WIDTH) if turned else (WIDTH, columns)))]
        bias = draw("bias", "there", "none", "a number", "behind")
        if bias in ("there", "a number"):
            operands.append(self.numbers(columns) if bias == "there" else self.numbers(1))
        y = m.op("Gemm", *operands, transB=turned, alpha=draw("alpha", 1.0, 0.5), beta=draw("beta", 1.0, 2.0))
        return self.with_bias(y) if bias == "behind" else y

    def with_bias(self, y):
        return self.swapped("Add", y, self.numbers(*self.draw("bias of", [self.columns], [1, self.columns])))

    def as_heads(self, y, batch):
        m = self.m
        if self.heads == "one":
            return y
        y = m.op("Reshape", y, m.integers(-1, S, H, D) if self.gemm or self.draw("shape", "told", "kept") == "told" else m.integers(0, 0, H, D))
        return y if self.heads == "of tokens" else m.op("Transpose", y, perm=[0, 2, 1, 3])

    def cut(self, x):
        if self.heads != "one":
            return super().cut(x)
        end = self.draw("end", D, 1 << 40)  # (the last axis is another one)
        return [self.m.op("Slice", x, self.m.integers(a), self.m.integers(b), self.m.integers(-1)) for a, b in ((0, D // 2), (D // 2, end))]

    def joined(self, a, b):
        if self.heads == "one":
            return self.m.op("Concat", *((b, a) if self.wrong == "halves not swapped" else (a, b)), axis=-1)
        return super().joined(a, b)

    def quarter(self, y):
        m = self.m
        form = self.draw("minus", "the half", "the whole", "the other half")
        if form == "the whole" and self.wrong != "no sign":  # (what is cut may leave a part that nobody reads, and keeps the layer)
            first, second = (m.op("Slice", v, m.integers(a), m.integers(a + D // 2), m.integers(-1)) for v, a in ((y, 0), (m.op("Neg", y), D // 2)))
            return self.joined(second, first)
        first, second = self.cut(y)
        if form == "the half" or self.wrong == "no sign":
            return self.joined(self.minus(second), first)
        return m.op("Neg", self.joined(second, self.minus(first)))

    def by_angles(self, y):
        m, per_token = self.m, self.wrong == "angles of each token"
        rows = [S if not self.gemm or self.heads != "one" else B * S, D] if per_token else self.draw("angles of", [D], [1, D], [1])
        if per_token and self.heads == "of tokens":
            rows = [S, 1, D]
        c, s = self.numbers(*rows), self.numbers(*rows)
        mul = lambda a, b: self.swapped("Mul", a, b)
        if self.draw("sine", "added", "subtracted") == "added" or self.wrong == "no sign":
            return self.swapped("Add", mul(y, c), mul(self.quarter(y), s))
        first, second = self.cut(y)
        return m.op("Sub", mul(y, c), mul(self.joined(second, self.minus(first)), s))


class RotatedLayersTest(unittest.TestCase):
    def rewritten(self, case, target):
        result = judge.optimize(case.model, target)
        check(result.model)
        self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
        self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
        return result

    @staticmethod
    def left(result):
        return [n.op_type for n in judge.walk(result.model.graph)]

    def test_spellings(self):
        for seed in range(SEED, SEED + COUNT):
            case = Turned(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices={k: str(v[0]) for k, v in case.draw.chosen.items()}):
                    result = self.rewritten(case, target)
                    left = self.left(result)
                    self.assertLessEqual(set(left), {"MatMul", "Gemm", "Add", "Reshape", "Transpose"}, result.refusals())
                    self.assertEqual(left.count("MatMul") + left.count("Gemm"), 1, "the layer is there twice")

    def test_what_is_none_stays(self):
        for wrong in ("no sign", "halves not swapped", "others use it", "angles of each token"):
            for seed in range(SEED, SEED + 8):
                case = Turned(seed, wrong)
                with self.subTest(wrong=wrong, seed=seed):
                    result = self.rewritten(case, judge.TARGETS[seed % 2])
                    applied = [r["name"] for r in result.report["rules"] if r["applied"] and r["name"].startswith("rotation-")]
                    self.assertEqual(applied, [])


if __name__ == "__main__":
    unittest.main()
