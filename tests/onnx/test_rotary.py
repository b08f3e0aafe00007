# SPDX-License-Identifier: BSL-1.0
"""Rotary embeddings in random spellings, each for both targets, and graphs that only look like one. FUSE_SEED and FUSE_ROTARY change where
the spellings start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import FLOAT, HALF, Model, check
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_ROTARY", 160 // judge.ONE_CASE_IN))
B, H, S, D = 2, 3, 5, 8


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class Rotary:
    """A rotary embedding by the choices of a seed, or by those that are `fixed`; `wrong` names what is not as it should be."""

    def __init__(self, seed, fixed=None, wrong=None):
        self.draw = draw = Draw(seed, fixed)
        self.wrong = wrong
        self.pairs = draw("pairs", "halves", "halves", "neighbours")
        self.by_pairs = draw("tables", "of elements", "of elements", "of pairs") == "of pairs"
        self.tokens = draw("order", "heads", "heads", "tokens") == "tokens"
        self.dtype = {"float": FLOAT, "half": HALF}[draw("type", *["float"] * 4, "half")]
        self.m = m = Model(draw("opset", 14, 17, 18, 23, *range(12, 24)), 8)
        self.batches = draw("batches of tables", "one", "one", "all")
        self.symbolic = draw("extents", "fixed", "symbolic") == "symbolic"
        batch, sequence = ("batch", "sequence") if self.symbolic else (B, S)
        self.extents = (batch, sequence)
        self.feeds = {}
        dims = [batch, sequence, H, D] if self.tokens else [batch, H, sequence, D]
        given = draw("x", "input", "heads of a projection")
        if given == "input":
            x = self.given("x", dims)
        else:
            x = self.given("x", [batch, sequence, H * D])
            x = m.op("Reshape", x, m.integers(0, 0, H, D))
            x = x if self.tokens else m.op("Transpose", x, perm=[0, 2, 1, 3])
        if self.draw("through", "nothing", "nothing", "Identity") == "Identity":
            x = m.op("Identity", x)
        y = self.turn(x)
        m.output(y, self.dtype, dims)
        self.model = m.proto()

    def given(self, name, dims):
        sizes = {"batch": B, "sequence": S}
        self.feeds[name] = np.random.default_rng(len(self.feeds)).normal(0, 1, [sizes.get(n, n) for n in dims]).astype(self.dtype)
        return self.m.input(name, self.dtype, dims)

    # ---- tables

    def tables(self):
        """Cosines and sines of one column for each pair, or each element, as they broadcast with what is turned."""
        m = self.m
        batch, sequence = self.extents
        rows = [1 if self.batches == "one" else batch, sequence, D // 2]
        origin = self.draw("tables are", "inputs", "constants", "computed", "computed", "gathered")
        if origin == "constants" and (self.symbolic or self.batches == "all") or origin == "gathered" and self.symbolic:
            origin = "computed"
        if origin in ("inputs", "computed"):
            first = self.given("frequencies", rows)
        elif origin == "constants":
            first = m.constant(np.random.default_rng(9).normal(0, 1, (1, S, D // 2)).astype(self.dtype))
        else:
            cache = m.constant(np.random.default_rng(9).normal(0, 1, (16, D // 2)).astype(self.dtype))
            self.feeds["positions"] = np.random.default_rng(5).integers(0, 16, (1 if self.batches == "one" else B, S))
            first = m.op("Gather", cache, m.input("positions", np.int64, self.feeds["positions"].shape), axis=0)
        if origin == "inputs":
            second = self.given("others", rows)
            return [self.spread(first), self.spread(second)]
        wide_first = self.draw("spread", "frequencies", "tables") == "frequencies"
        if wide_first:
            first = self.spread(first)
        both = [m.op("Cos", first), m.op("Sin", first)]
        if self.draw("scaled", "no", "no", "yes") == "yes":
            both = [m.op("Mul", t, m.constant(np.array(1.25, self.dtype))) for t in both]
        return both if wide_first else [self.spread(t) for t in both]

    def spread(self, table):
        """One column for each element, where they are so."""
        m = self.m
        if self.by_pairs:
            return table
        if self.wrong == "tables of another period":
            return m.op("Concat", *([table] * 2), axis=-1) if self.pairs == "neighbours" else self.repeated(table)
        if self.pairs == "halves":
            if self.wrong == "halves differ":
                return m.op("Concat", table, m.op("Neg", table), axis=-1)
            how = self.draw("doubled", "Concat", "Concat", "Tile")
            return m.op("Concat", table, table, axis=-1) if how == "Concat" else m.op("Tile", table, m.integers(1, 1, 2))
        return self.repeated(table)

    def repeated(self, table):
        """Each column twice."""
        m = self.m
        wide = m.unsqueeze(table, [3])
        wide = self.draw("repeated", lambda: m.op("Concat", wide, wide, axis=-1), lambda: m.op("Tile", wide, m.integers(1, 1, 1, 2)))()
        return m.op("Reshape", wide, m.integers(0, 0, D))

    def at_heads(self, table):
        """With an axis for heads, or without where it broadcasts so."""
        rank = self.draw("axis of heads", "there", "there", "left out")
        if self.tokens or self.batches == "all" or rank == "there":
            return self.m.unsqueeze(table, [2 if self.tokens else 1])
        return table

    # ---- what is turned

    def cut(self, x):
        m = self.m
        if self.pairs == "halves":
            how = self.draw("cut", "Slice", "Slice", "Split", "Gather")
            if self.wrong == "a cut elsewhere":
                return [m.op("Slice", x, m.integers(a), m.integers(a + D // 2), m.integers(-1)) for a in (0, 3)]
            if how == "Split":
                return m.op("Split", x, m.integers(D // 2, D // 2), axis=-1, outputs=2) if m.opset >= 13 else m.op("Split", x, axis=-1, outputs=2)
            if how == "Gather":
                by_two = m.op("Reshape", x, m.integers(0, 0, 0, 2, D // 2))
                return [m.op("Gather", by_two, m.constant(np.array(i, np.int64)), axis=3) for i in (0, 1)]
            end = self.draw("end", D, 1 << 40)
            return [m.op("Slice", x, m.integers(a), m.integers(b), m.integers(-1)) for a, b in ((0, D // 2), (D // 2, end))]
        if self.draw("cut", "Slice", "Gather") == "Gather":
            by_two = m.op("Reshape", x, m.integers(0, 0, 0, D // 2, 2))
            return [m.op("Gather", by_two, m.constant(np.array(i, np.int64)), axis=self.draw("axis", 4, -1)) for i in (0, 1)]
        return [m.op("Slice", x, m.integers(i), m.integers(1 << 40), m.integers(3), m.integers(2)) for i in (0, 1)]

    def joined(self, a, b):
        m = self.m
        if self.wrong == "halves not swapped":
            a, b = b, a
        if self.pairs == "halves":
            return m.op("Concat", a, b, axis=self.draw("axis of Concat", -1, 3))
        wide = m.op("Concat", *(m.unsqueeze(v, [4]) for v in (a, b)), axis=-1)
        return m.op("Reshape", wide, m.integers(0, 0, 0, D))

    def swapped(self, operator, a, b):
        return self.m.op(operator, *((a, b) if self.draw("operands", "as written", "swapped") == "as written" else (b, a)))

    def minus(self, v):
        if self.wrong == "no sign":
            return v
        return self.draw("minus", lambda: self.m.op("Neg", v), lambda: self.m.op("Neg", v), lambda: self.swapped("Mul", v, self.m.constant(np.array(-1, self.dtype))))()

    def turn(self, x):
        m = self.m
        c, s = (self.at_heads(t) for t in self.tables())
        if self.wrong == "sine and cosine exchanged":
            c, s = s, c
        other = m.op("Abs", x) if self.wrong == "halves of another value" else x
        mul, add = (lambda a, b: self.swapped("Mul", a, b)), (lambda a, b: self.swapped("Add", a, b))
        if not self.by_pairs:
            form = self.draw("minus", "the half", "the half", "the whole", "the other half", "a constant", "the table")
            if form in ("a constant", "the table") and self.wrong != "no sign":
                return self.turned_by_signs(x, other, c, s, mul, add, form)
            if form == "the other half" and self.wrong != "no sign":
                first, second = self.cut(other)
                return m.op("Sub", mul(x, c), mul(self.joined(second, self.minus(first)), s))
            if form != "the whole" or self.wrong == "no sign":
                first, second = self.cut(other)
                second = self.minus(second)
            else:
                first, second = self.cut(other)[0], self.cut(m.op("Neg", other))[1]
            return add(mul(x, c), mul(self.joined(second, first), s))
        first, second = self.cut(other)
        sign = "Add" if self.wrong == "no sign" else "Sub"
        return self.joined(m.op(sign, mul(first, c), mul(second, s)), add(mul(second, c), mul(first, s)))


    def exchanged(self, x):
        """Each element in the place of the other one of its pair."""
        m = self.m
        how = self.draw("exchanged", "parts", "parts", "indices", "indices of parts", "backwards")
        if how == "parts":
            first, second = self.cut(x)
            return self.joined(second, first)
        halves = self.pairs == "halves"
        if self.wrong == "halves not swapped":
            return m.op("Identity", x)
        if how == "indices":
            indices = [(i + D // 2) % D for i in range(D)] if halves else [i ^ 1 for i in range(D)]
            if self.wrong == "a cut elsewhere":
                indices = indices[1:] + indices[:1]
            indices = [i - (D if self.draw("counted", "from the front", "from the end") == "from the end" else 0) for i in indices]
            return m.op("Gather", x, m.integers(*indices), axis=self.draw("axis of Gather", 3, -1))
        if self.wrong == "a cut elsewhere":
            halves = not halves
        axis = 3 if halves else 4
        by_two = m.op("Reshape", x, m.integers(0, 0, 0, *((2, D // 2) if halves else (D // 2, 2))))
        if how == "backwards":
            turned = m.op("Slice", by_two, m.integers(self.draw("from", -1, 1, 1 << 40)), m.integers(self.draw("to", -3, -(1 << 40))), m.integers(axis), m.integers(-1))
        else:
            turned = m.op("Gather", by_two, m.integers(1, self.draw("first", 0, -2)), axis=axis)
        return m.op("Reshape", turned, m.integers(0, 0, 0, D))

    def turned_by_signs(self, x, other, c, s, mul, add, form):
        """The pairs exchanged; a constant of signs at them, or at the sines, which are then perhaps of two numbers in one table."""
        m = self.m
        swapped = self.exchanged(other)
        signs = [-1] * (D // 2) + [1] * (D // 2) if self.pairs == "halves" else [-1, 1] * (D // 2)
        if self.wrong == "signs of others":
            signs = [1, *signs[1:]]
        signs = np.array(signs, self.dtype)
        if form == "the table":
            return add(mul(x, c), mul(swapped, mul(s, m.constant(signs.reshape(self.draw("shape of signs", (1, D), (D,), (1, 1, D)))))))
        signs = m.constant(signs)
        if self.draw("signs at", "the pairs", "the sines") == "the pairs":
            return add(mul(x, c), mul(mul(swapped, signs), s))
        return add(mul(x, c), mul(mul(swapped, s), signs))


# What only tables for each element can be, and only halves.
OF_ELEMENTS = ("signs of others", "halves differ", "tables of another period", "halves of another value", "a cut elsewhere")
OF_HALVES = ("halves differ", "a cut elsewhere")


def rotary_nodes(model):
    return [n for n in judge.walk(model.graph) if n.op_type.startswith("RotaryEmbedding")]


class RotaryTest(unittest.TestCase):
    def rewritten(self, case, target):
        result = judge.optimize(case.model, target)
        check(result.model)
        self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
        self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
        return result

    def test_spellings(self):
        for seed in range(SEED, SEED + COUNT):
            case = Rotary(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices={k: str(v[0]) for k, v in case.draw.chosen.items()}):
                    result = self.rewritten(case, target)
                    self.assertEqual(len(rotary_nodes(result.model)), 1, result.refusals())

    def test_calls_become_operators(self):
        for fixed in ({}, {"pairs": "neighbours"}, {"order": "tokens"}, {"order": "tokens", "pairs": "neighbours"}):
            fixed |= {"opset": 22, "batches of tables": "all", "type": "float"}
            with self.subTest(fixed):
                case = Rotary(SEED, fixed)
                model = self.rewritten(case, "onnx").model
                self.assertEqual([n.domain for n in rotary_nodes(model)], ["fuse"])
                for imported in [*model.opset_import, *model.functions[0].opset_import]:
                    imported.version = 23 if imported.domain == "" else imported.version
                again = judge.optimize(model, "onnx")
                self.assertEqual([(n.domain, n.op_type) for n in rotary_nodes(again.model)], [("", "RotaryEmbedding")])
                self.assertEqual(len(again.model.functions), 0)
                case.model = model
                self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(again.model)), [])

    def test_what_is_none_stays(self):
        for wrong in ("no sign", "signs of others", "halves not swapped", "halves of another value", "a cut elsewhere", "halves differ", "tables of another period"):
            for seed in range(SEED, SEED + 10):
                fixed = {"tables": "of elements"} if wrong in OF_ELEMENTS else {}
                fixed |= {"minus": ("a constant", "the table")[seed % 2]} if wrong == "signs of others" else {}
                fixed |= {"pairs": "halves"} if wrong in OF_HALVES else {}
                case = Rotary(seed, fixed, wrong)
                with self.subTest(wrong=wrong, seed=seed):
                    self.assertEqual(rotary_nodes(self.rewritten(case, judge.TARGETS[seed % 2]).model), [])


if __name__ == "__main__":
    unittest.main()
