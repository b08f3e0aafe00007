# SPDX-License-Identifier: BSL-1.0
"""Bounds one after the other, as maxima, minima, Relus and Clips, with elements that are infinite or no numbers. FUSE_SEED and FUSE_CLIPPINGS change where they start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, HALF, Model, check
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_CLIPPINGS", 200 // judge.ONE_CASE_IN))
TYPES = {"float": FLOAT, "half": HALF, "double": DOUBLE, "int32": np.dtype("int32"), "int8": np.dtype("int8"), "int64": np.dtype("int64"), "uint8": np.dtype("uint8")}


class Bounded:
    """Two to four bounds of x by the choices of a seed."""

    def __init__(self, seed):
        self.draw = draw = Draw(seed)
        self.dtype = TYPES[draw("type", *["float"] * 4, *TYPES)]
        self.integers = self.dtype.kind in "iu"
        first = 14 if self.integers else 13 if self.dtype == HALF else 12 if self.dtype == DOUBLE else 8
        self.m = m = Model(draw("opset", 17, 13, 21, *range(8, 24)), 8)
        m.opset = max(m.opset, first)
        shape = (4, 9)
        numbers = np.random.default_rng(seed).uniform(-9, 9, shape)
        x = numbers.astype(self.dtype) if self.dtype.kind != "u" else np.abs(numbers).astype(self.dtype)
        if not self.integers:
            x[0, :4] = np.inf, -np.inf, np.nan, -0.0
        self.feeds = {"x": x}
        y, self.steps = m.input("x", self.dtype, ["rows", 9]), []
        self.loads = True  # whatever level onnxruntime optimises at
        for _ in range(draw("how many", 2, 2, 3, 4)):
            y = self.bound(y)
        m.output(y, self.dtype, ["rows", 9])
        self.model = m.proto()

    def number(self, name):
        value = self.draw(name, -2, 0, 1, 3, 6, -0.5, 2.5)
        if self.integers:
            value = int(abs(value) if self.dtype.kind == "u" else value)
        return value

    def constant(self, value, *shapes):
        return self.m.constant(np.full(self.draw("shape", *shapes), value, self.dtype), self.draw("constant", "initializer", "node"))

    def bound(self, y):
        m, draw = self.m, self.draw
        # (onnxruntime's own fusion of Relu and Clip does not load them for other types.)
        kinds = ["Max", "Min", "Clip", "Clip"] + (["Relu"] if self.dtype in (FLOAT, HALF) else [])
        kind = draw("kind", *kinds)
        self.steps.append(kind)
        if kind == "Relu":
            return m.op("Relu", y)
        if kind in ("Max", "Min"):
            c = self.constant(self.number("bound"), (), (1,), (1, 1))
            return m.op(kind, *((y, c) if draw("operands", "written", "swapped") == "written" else (c, y)))
        has = draw("Clip has", "both", "both", "min", "max")
        self.steps[-1] += {"both": "", "min": " from below", "max": " from above"}[has]
        low, high = self.number("least"), self.number("most")
        if m.opset < 11:  # where onnxruntime does not load what has no number between them
            low, high = sorted((low, high)) if has == "both" else (low, high)
            # Of a Relu and a Clip below 0, its optimiser makes such a one.
            self.loads = self.loads and (has == "min" or high >= 0 or self.steps[-2:-1] != ["Relu"])
            return m.op("Clip", y, **({"min": float(low)} if has != "max" else {}), **({"max": float(high)} if has != "min" else {}))
        operands = [self.constant(low, ()) if has != "max" else "", *([self.constant(high, ())] if has != "min" else [])]
        return m.op("Clip", y, *operands)

    def one(self):
        """Whether two bounds are one Clip whatever they are: one is a Clip of both, and the other anything; or one is from below and the other from above."""
        below, above = ("Max", "Relu", "Clip", "Clip from below"), ("Min", "Clip", "Clip from above")
        a, b = self.steps if len(self.steps) == 2 else ("", "")
        return (a in below and b in above) or (a in above and b in below)


class ClippingTest(unittest.TestCase):
    def test_bounds_are_one_clip(self):
        print(f"seed {SEED}, {COUNT} chains")
        found = 0
        for seed in range(SEED, SEED + COUNT):
            case = Bounded(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, steps=case.steps, choices=dict(case.draw.chosen)):
                    result = judge.optimize(case.model, target)
                    if target == "onnx":
                        check(result.model)
                    self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
                    left = [n.op_type for n in result.model.graph.node if n.op_type != "Constant"]
                    if case.one():
                        self.assertEqual(left, ["Clip"], result.refusals())
                        found += 1
                    self.assertLessEqual(len(left), len(case.steps))
                    self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
                    for level in judge.LEVELS.values():
                        before = judge.execute(case.model, case.feeds, level if case.loads else judge.OFF)
                        after = judge.execute(result.model, case.feeds, level)
                        np.testing.assert_array_equal(*(list(outputs.values())[0] for outputs in (before, after)))
        self.assertGreater(found, COUNT // 2)


if __name__ == "__main__":
    unittest.main()
