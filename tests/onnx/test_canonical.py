# SPDX-License-Identifier: BSL-1.0
"""Models with operators between that do nothing, or that others undo: only what computes is left. FUSE_SEED and FUSE_CANONICAL change where they start and how many there are."""

import os
import unittest

import numpy as np
from onnx.reference import ReferenceEvaluator

import judge
from build import DOUBLE, FLOAT, HALF, Model
from spellings import Draw
from test_batch_norm import of_the_input

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_CANONICAL", 60 // judge.ONE_CASE_IN))


class Padded:
    """Three operators, with something before, between and behind them that changes nothing, by the choices of a seed."""

    def __init__(self, seed):
        self.draw = draw = Draw(seed)
        self.dtype = {"float": FLOAT, "half": HALF, "double": DOUBLE}[draw("type", *["float"] * 3, "half", "double")]
        self.m = m = Model(draw("opset", 17, *range(13, 24)), 8)
        self.shape = draw("shape", (2, 3, 4), (4, 4, 4), (1, 3, 1))
        rows = draw("rows", "fixed", "symbolic") == "symbolic"
        self.feeds = {"x": np.random.default_rng(seed).normal(0, 1, self.shape).astype(self.dtype)}
        y, self.core = m.input("x", self.dtype, ["batch", *self.shape[1:]] if rows else self.shape), []
        for _ in range(3):
            y = self.pad(y)
            operator = draw("operator", "Tanh", "Sigmoid", "Exp", "Sin")
            y = m.op(operator, y)
            self.core.append(operator)
        self.m.output(self.pad(y), self.dtype, ["batch", *self.shape[1:]] if rows else self.shape)
        self.model = m.proto()

    def ways(self):
        """What runs a model. onnxruntime computes several operators on halves in float and rounds once."""
        if self.dtype == HALF:
            return [lambda model: ReferenceEvaluator(model).run(None, self.feeds)[0].tobytes()]
        return [lambda model, level=level: [v.tobytes() for v in judge.execute(model, self.feeds, level).values()] for level in judge.LEVELS.values()]

    def number(self, value):
        shape = self.draw("shape of a number", (), (1,), self.shape[-1:], (1, *self.shape[1:]))
        return self.m.constant(np.full(shape, value, self.dtype), self.draw("constant", "initializer", "node"))

    def pad(self, y):
        for _ in range(self.draw("how many", 1, 2, 3, 4)):
            y = getattr(self, self.draw("padding", *PADDINGS))(y)
        return y

    def identity(self, y):
        return self.m.op("Identity", y)

    def dropout(self, y):
        how = self.draw("Dropout", "alone", "ratio", "told")
        ratio = [] if how == "alone" else [self.m.constant(np.float32(0.5))]
        return self.m.op("Dropout", y, *ratio, *([self.m.constant(np.bool_(False))] if how == "told" else []))

    def cast(self, y):
        wide = self.draw("between", "same", "wider")
        return self.m.cast(self.m.cast(y, self.dtype if wide == "same" or self.dtype == DOUBLE else {HALF: FLOAT, FLOAT: DOUBLE}[self.dtype]), self.dtype)

    def transpose(self, y):
        order = self.draw("order", (0, 2, 1), (1, 2, 0), (2, 1, 0), (0, 1, 2))
        return self.m.op("Transpose", self.m.op("Transpose", y, perm=order), perm=np.argsort(order).tolist())

    def reshape(self, y):
        if self.draw("way", "there and back", "in place") == "in place":
            return self.m.op("Reshape", y, self.m.integers(0, *self.shape[1:]))
        flat = self.m.op("Flatten", y) if self.draw("flat", "Flatten", "Reshape") == "Flatten" else self.m.op("Reshape", y, self.m.integers(0, -1))
        return self.m.op("Reshape", flat, self.m.integers(self.draw("rows again", -1, -1), *self.shape[1:]))

    def unsqueeze(self, y):
        axis = self.draw("axis", 0, 1, 3)
        return self.m.op("Squeeze", self.m.unsqueeze(y, [axis]), self.m.integers(axis))

    def expand(self, y):
        return self.m.op(*self.draw("repeat", ("Expand",), ("Tile",)), y, self.m.integers(1, 1, 1))

    def taken_whole(self, y):
        axis = self.draw("axis of a part", 1, 2)
        if self.draw("taken by", "Slice", "Split") == "Split":
            if self.m.opset >= 18:
                return self.m.op("Split", y, axis=axis, num_outputs=1)
            return self.m.op("Split", y, self.m.integers(self.shape[axis]), axis=axis)
        begin, end = self.draw("begin", 0, -100, -self.shape[axis]), self.draw("end", 2**63 - 1, 100, self.shape[axis])
        return self.m.op("Slice", y, *(self.m.integers(each) for each in (begin, end, axis, 1)[: self.draw("steps", 3, 4)]))

    def padded_by_nothing(self, y):
        return self.m.op("Pad", y, self.m.integers(0, 0, 0, 0, 0, 0), mode=self.draw("mode", "constant", "edge", "reflect"))

    def chosen(self, y):
        condition, first = self.draw("condition of shape", (), (1,), self.shape[-1:]), self.draw("chosen", "first", "second") == "first"
        other = self.number(3)
        return self.m.op("Where", self.m.constant(np.full(condition, first)), *((y, other) if first else (other, y)))

    def times_one(self, y):
        one, how = self.number(1), self.draw("factor", "Mul", "swapped", "Div", "Pow")
        return self.m.op("Mul", one, y) if how == "swapped" else self.m.op(how, y, one)

    def plus_nothing(self, y):
        if self.draw("addend", "Sub", "Add") == "Sub":
            return self.m.op("Sub", y, self.number(0))
        return self.m.op("Add", *(lambda zero: (y, zero) if self.draw("zero", "behind", "before") == "behind" else (zero, y))(self.number(-0.0)))

    def negated(self, y):
        return self.m.op("Neg", self.m.op("Neg", y))


PADDINGS = ("identity", "dropout", "cast", "transpose", "reshape", "unsqueeze", "expand", "taken_whole", "padded_by_nothing", "chosen", "times_one", "plus_nothing", "negated")


class Masks:
    """A condition with axes added one by one, beside conditions that decide nothing."""

    def __init__(self, seed):
        self.draw = draw = Draw(seed)
        self.m = m = Model(draw("opset", 17, *range(11, 25)), 8)
        shape = draw("shape", (2, 3), (1, 4), (3, 1))
        self.feeds = {"x": np.random.default_rng(seed).normal(0, 1, shape).astype(FLOAT)}
        x = m.input("x", FLOAT, draw("extents", list(shape), ["batch", "length"]))
        kept = self.beside_nothing(m.op("Greater", x, m.constant(np.zeros((), FLOAT))))
        self.added = draw("axes", 1, 2, 3, 4)
        for rank in range(2, 2 + self.added):
            kept = self.beside_nothing(m.unsqueeze(kept, [draw("axis", *range(-rank - 1, rank + 1))]))
        m.output(m.op("Not", kept), bool, [None] * (2 + self.added))
        self.model = m.proto()

    def beside_nothing(self, kept):
        how = self.draw("beside", "nothing", "nothing", "And", "Or")
        if how == "nothing":
            return kept
        decides_nothing = self.m.constant(np.full(self.draw("shape of a condition", (), (1,), (1, 1)), how == "And"))
        return self.m.op(how, *((kept, decides_nothing) if self.draw("condition", "first", "last") == "first" else (decides_nothing, kept)))


class Cuts:
    """Slices of one axis after the other, as exporters write `x[a:, b:-1, ::2]`, each axis once."""

    FAR = (2**63 - 1, 2**31 - 1, 100)

    def __init__(self, seed):
        self.draw = draw = Draw(seed)
        self.m = m = Model(draw("opset", 17, *range(9, 24)), 8)
        shape = draw("shape", (5, 6, 7), (4, 9), (3, 5, 4, 6))
        self.feeds = {"x": np.random.default_rng(seed).normal(0, 1, shape).astype(FLOAT)}
        self.known = draw("extents", "known", "known", "symbols") == "known"
        y = m.op("Tanh", m.input("x", FLOAT, list(shape) if self.known else [f"d{i}" for i in range(len(shape))]))
        self.steps = m.opset >= 10 and draw("steps", True, False)
        self.left = set()  # what is left to be done
        axes = np.random.default_rng(seed).permutation(len(shape))[: draw("axes", 2, 3, 4)]
        for axis in axes:
            y = self.cut(y, int(axis), shape[axis])
        m.output(y, FLOAT, [None] * len(shape))
        self.model = m.proto()

    def cut(self, y, axis, extent):
        m, draw = self.m, self.draw
        begin, end = draw("begin", 0, 1, -2, 1 - extent, -100), draw("end", *self.FAR, extent, extent - 1, -1)
        step = draw("step", 1, 2) if self.steps else 1
        if step == 1 and draw("backwards", *[False] * 3, self.steps):
            begin, end, step = draw("last", -1, *self.FAR), draw("first", -(2**63) + 1, -100, 0), -1
        if range(extent)[begin:end:step] != range(extent):
            self.left.add("Slice")
        if m.opset < 10:
            return m.op("Slice", y, starts=[begin], ends=[end], axes=[axis])
        if draw("axis counted", "from the first", "from the last") == "from the last":
            axis -= len(self.feeds["x"].shape)
        return m.op("Slice", y, m.integers(begin), m.integers(end), m.integers(axis), *([m.integers(step)] if self.steps else []))


class CanonicalTest(unittest.TestCase):
    def test_cuts(self):
        for seed in range(SEED, SEED + COUNT):
            cuts = Cuts(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(cuts.draw.chosen)):
                    result = judge.optimize(cuts.model, target)
                    if cuts.known:  # else how much is left of an axis is not
                        self.assertEqual([n.op_type for n in judge.walk(result.model.graph) if n.op_type != "Constant"], ["Tanh", *cuts.left], result.refusals())
                    for level in judge.LEVELS.values():
                        before, after = (judge.execute(model, cuts.feeds, level) for model in (cuts.model, result.model))
                        for value in before:
                            np.testing.assert_array_equal(before[value], after[value])
                    self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")

    def test_masks(self):
        for seed in range(SEED, SEED + COUNT):
            masks = Masks(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(masks.draw.chosen)):
                    result = judge.optimize(masks.model, target)
                    left = [n.op_type for n in judge.walk(result.model.graph)]
                    self.assertEqual((left.count("And"), left.count("Or"), left.count("Unsqueeze")), (0, 0, 1), result.refusals())
                    self.assertEqual(list(judge.Original(masks.model, masks.feeds, exact=False).differences(result.model)), [])
                    self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")

    def test_only_what_computes_is_left(self):
        print(f"seed {SEED}, {COUNT} models")
        for seed in range(SEED, SEED + COUNT):
            padded = Padded(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(padded.draw.chosen)):
                    result = judge.optimize(padded.model, target)
                    self.assertEqual(of_the_input(result.model.graph), padded.core, result.refusals())
                    self.assertEqual(result.miscounted(), [])
                    self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
                    for run in padded.ways():
                        self.assertEqual(run(padded.model), run(result.model), "not a bit is another")


if __name__ == "__main__":
    unittest.main()
