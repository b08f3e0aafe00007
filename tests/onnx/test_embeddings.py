# SPDX-License-Identifier: BSL-1.0
"""Norms of embeddings in random spellings, for onnxruntime, and graphs that only look like one. FUSE_SEED and FUSE_EMBEDDINGS change where
the spellings start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import FLOAT, HALF, Model, check
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_EMBEDDINGS", 160 // judge.ONE_CASE_IN))
B, S, H, WORDS, PLACES, KINDS = 2, 5, 8, 13, 9, 3


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class Embeddings:
    """Embeddings and a norm by the choices of a seed, or by those that are `fixed`; `wrong` names what is not as it should be."""

    def __init__(self, seed, fixed=None, wrong=None):
        self.draw = draw = Draw(seed, fixed)
        self.wrong = wrong
        self.m = m = Model(draw("opset", 14, 17, *range(11, 24)), 8)
        self.dtype = {"float": FLOAT, "half": HALF}[draw("type", *["float"] * 5, "half")]
        self.bytes = {"no": None, "unsigned": np.uint8, "signed": np.int8}[draw("quantised", *["no"] * 3, "unsigned", "signed")]
        if self.bytes:
            self.dtype = FLOAT
        self.integer = np.dtype({"64": np.int64, "32": np.int32}[draw("ids", "64", "64", "32")])
        self.symbolic = draw("extents", "symbolic", "symbolic", "fixed") == "symbolic"
        self.shape = ["batch", "sequence"] if self.symbolic else [B, S]
        self.random = np.random.default_rng(seed)
        self.feeds = {}
        self.ids = self.rows("ids", WORDS)
        words = self.looked_up(self.table("words", WORDS, H), self.ids)
        if wrong == "scaled words":
            words = m.op("Mul", words, m.constant(np.array(2, self.dtype)))
        terms = [words]
        self.segmented = draw("segments", "given", "none", "given", "constant") if wrong != "segments of one batch" else "given"
        if self.segmented != "none":
            terms.append(self.looked_up(self.table("kinds", KINDS, H), self.segments()))
        terms.append(self.rows_of_places())
        y = self.norm(self.added(terms))
        m.output(y, self.dtype, [*self.shape, H])
        self.model = m.proto()

    def rows(self, name, count, shape=None):
        sizes = {"batch": B, "sequence": S}
        shape = shape or self.shape
        self.feeds[name] = self.random.integers(0, count, [sizes.get(n, n) for n in shape]).astype(self.integer)
        return self.m.input(name, self.integer, shape)

    def table(self, name, *shape):
        """A constant, or its elements of 8 bits with what makes numbers of them."""
        if not self.bytes:
            return self.m.constant(self.random.normal(0, 1, shape).astype(self.dtype), stem=name)
        limits = np.iinfo(self.bytes)
        one = self.draw("number", (), (1,))
        zero = [self.m.constant(np.full(one, self.random.integers(limits.min, limits.max + 1)).astype(self.bytes))] if self.draw("zero point", "there", "there", "none") == "there" else []
        return self.m.constant(self.random.integers(limits.min, limits.max + 1, shape).astype(self.bytes), stem=name), self.m.constant(np.full(one, self.random.uniform(0.01, 0.05), np.float32)), *zero

    def dequantised(self, table):
        return self.m.op("DequantizeLinear", *table) if self.bytes else table

    def looked_up(self, table, rows):
        m = self.m
        if self.bytes and self.draw("dequantised", "the table", "the rows") == "the rows" and self.wrong != "columns":
            return m.op("DequantizeLinear", m.op("Gather", table[0], rows, axis=0), *table[1:])
        table = self.dequantised(table)
        axis = {} if self.draw("axis", "left out", "told") == "left out" else {"axis": 0}
        if self.wrong == "columns" and rows == self.ids:
            return m.op("Gather", m.op("Transpose", m.op("Gather", m.op("Transpose", table), rows, axis=1), perm=[1, 2, 0]), m.constant(np.arange(H)), axis=2)
        value = m.op("Gather", table, rows, **axis)
        return m.op("Identity", value) if self.draw("through", *["nothing"] * 5, "Identity") == "Identity" else value

    def extent(self, axis, of=None):
        """In a list."""
        m = self.m
        shape = m.op("Shape", of or self.ids)
        return m.op("Slice", shape, m.integers(axis), m.integers(axis + 1), m.integers(0)) if self.draw("extent", "Gather", "Slice") == "Slice" else (
            m.unsqueeze(m.op("Gather", shape, m.constant(np.array(axis, np.int64)), axis=0), [0]))

    def segments(self):
        m = self.m
        if self.wrong == "segments of one batch":
            return self.rows("segments", KINDS, [1, self.shape[1]])
        if self.segmented == "given":
            return self.rows("segments", KINDS)
        zeros = m.constant(np.zeros((1, PLACES), np.int64))
        one = m.op("Slice", zeros, m.integers(0), self.extent(1), m.integers(1))
        return m.op("Expand", one, m.op("Shape", self.ids))

    def positions(self):
        m = self.m
        how = self.draw("positions", "Slice", "Range", "given", "constant", "later")
        if how == "constant" and self.symbolic:
            how = "Slice"
        self.in_order = how in ("constant", "Slice", "Range")
        if how == "given":
            of = self.draw("given", "for each batch", "for all", "without a batch")
            return self.rows("positions", PLACES, {"for each batch": self.shape, "for all": [1, self.shape[1]], "without a batch": self.shape[1:]}[of])
        if how == "constant":
            at = m.constant(np.arange(S).reshape(self.draw("batch", (1, S), (S,))))
        elif how == "Slice":
            at = m.constant(np.arange(PLACES).reshape(1, PLACES))
            at = m.op("Slice", at, m.integers(0), self.extent(1), m.integers(self.draw("slice along", 1, -1)))
        else:
            length = self.extent(1)
            length = m.op("Squeeze", length, *([m.integers(0)] if m.opset >= 13 else []), **({} if m.opset >= 13 else {"axes": [0]}))
            at = m.op("Range", m.constant(np.array(0, np.int64)), length, m.constant(np.array(1, np.int64)))
            if how == "later":
                at = m.op("Add", at, m.constant(np.array(2, np.int64)))
            at = m.unsqueeze(at, [0])
        if self.draw("for each batch", "no", "no", "yes") == "yes" and how != "later":
            at = m.op("Expand", at if how != "constant" else m.op("Identity", at), m.op("Shape", self.ids))
        return at

    def rows_of_places(self):
        """By positions; or rows that stand there already, as many as the ids or more."""
        m = self.m
        taken = "no" if self.bytes else self.draw("rows of places", "looked up", "looked up", "a constant", "cut from one")
        if self.wrong == "rows from the second one on":
            taken = "cut from one"
        if taken == "a constant" and self.symbolic:
            taken = "cut from one"
        if taken not in ("a constant", "cut from one"):
            return self.looked_up(self.table("places", PLACES, H), self.positions())
        self.in_order = self.wrong is None
        batch = self.draw("batch of rows", (1,), ())
        if taken == "a constant":
            return self.table("places", *batch, S, H)
        first = 1 if self.wrong == "rows from the second one on" else 0
        table, axis = self.table("places", *batch, PLACES, H), self.draw("axis of rows", len(batch), -2)
        end = self.extent(1) if first == 0 else m.op("Add", self.extent(1), m.integers(1))
        return m.op("Slice", table, m.integers(first), end, m.integers(axis))

    def added(self, terms):
        m = self.m
        order = self.draw("order", *range(6))
        terms = [terms[i] for i in self.random.permutation(len(terms))] if order else terms
        if len(terms) == 3 and self.draw("bracket", "first", "first", "last", "Sum") == "Sum":
            return m.op("Sum", *terms)
        while len(terms) > 1:
            terms = [m.op("Add", terms[0], terms[1]), *terms[2:]] if self.draw("pair", "first", "last") == "first" else [*terms[:-2], m.op("Add", terms[-2], terms[-1])]
        return terms[0]

    def norm(self, x):
        m = self.m
        scale, bias = (self.dequantised(self.table(name, H)) for name in ("scale", "bias"))
        axes = [1] if self.wrong == "a norm along another axis" else [-1]
        if self.wrong != "a norm along another axis" and self.draw("norm", "primitives", "operator") == "operator" and m.opset >= 17:
            return m.op("LayerNormalization", x, scale, *([bias] if self.bytes or self.draw("bias", "there", "none") == "there" else []), axis=-1, epsilon=1e-12)
        d = m.op("Sub", x, m.reduce_mean(x, axes))
        v = m.reduce_mean(m.op("Mul", d, d), axes)
        n = m.op("Div", d, m.op("Sqrt", m.op("Add", v, m.constant(np.array(1e-5, self.dtype)))))
        return m.op("Add", m.op("Mul", n, scale), bias)


def embedding_nodes(model):
    return [n for n in judge.walk(model.graph) if n.op_type in ("EmbedLayerNormalization", "QEmbedLayerNormalization")]


class EmbeddingsTest(unittest.TestCase):
    def rewritten(self, case, target):
        result = judge.optimize(case.model, target, "--check")
        if target == "onnx":
            check(result.model)
        self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
        self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
        return result

    def test_spellings(self):
        for seed in range(SEED, SEED + COUNT):
            case = Embeddings(seed)
            with self.subTest(seed=seed, choices={k: str(v[0]) for k, v in case.draw.chosen.items()}):
                result = self.rewritten(case, "onnxruntime")
                if case.bytes and not case.in_order:  # the operator of 8 bits has no operand for positions
                    self.assertEqual(len(embedding_nodes(result.model)), 0)
                    continue
                self.assertEqual(len(embedding_nodes(result.model)), 1, result.refusals())
                left = {n.op_type for n in judge.walk(result.model.graph)}
                self.assertNotIn("LayerNormalization", left)
                if case.bytes:
                    self.assertIn("QEmbedLayerNormalization", left)
                    self.assertNotIn("DequantizeLinear", left)

    def test_the_standard_has_no_operator(self):
        for seed in range(SEED, SEED + 4):
            case = Embeddings(seed)
            self.assertEqual(embedding_nodes(self.rewritten(case, "onnx").model), [])

    def test_tables_that_are_quantised(self):
        """What comes out differs from what came out by no more than rounding tables, scale and bias explains."""
        for seed in range(SEED, SEED + 30):
            case = Embeddings(seed, {"quantised": "no", "type": "float"})
            with self.subTest(seed=seed):
                result = judge.optimize(case.model, "onnxruntime", "--quantise-embeddings")
                self.assertEqual([n.op_type for n in embedding_nodes(result.model)], ["QEmbedLayerNormalization" if case.in_order else "EmbedLayerNormalization"])
                notes = [n for n in result.report["notes"] if "8 bits" in n]
                if not case.in_order:
                    self.assertEqual([n for n in notes if "is of 8 bits" in n], [])
                    continue
                self.assertEqual(len(notes), 4 if case.segmented == "none" else 5)
                self.assertNotIn(1, {t.data_type for t in result.model.graph.initializer if len(t.dims) == 2})
                before, after = (judge.execute(m, case.feeds) for m in (case.model, result.model))
                for name, expected in before.items():
                    self.assertLess(np.abs(after[name] - expected).max(), 0.15)
                    self.assertGreater(np.abs(after[name] - expected).max(), 0)

    def test_what_is_none_stays(self):
        for wrong in ("scaled words", "columns", "segments of one batch", "a norm along another axis", "rows from the second one on"):
            for seed in range(SEED, SEED + 6):
                fixed = {"quantised": "no"} if wrong == "rows from the second one on" else {}
                case = Embeddings(seed, {"positions": "Range", "for each batch": "no"} | fixed, wrong)
                with self.subTest(wrong=wrong, seed=seed):
                    self.assertEqual(embedding_nodes(self.rewritten(case, "onnxruntime").model), [])


if __name__ == "__main__":
    unittest.main()
