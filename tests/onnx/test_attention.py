# SPDX-License-Identifier: BSL-1.0
"""Attention in random spellings, each for both targets, and graphs that only look like it. FUSE_SEED and FUSE_ATTENTIONS change
where the spellings start and how many there are."""

import os
import unittest

import numpy as np
import onnx

import judge
from build import FLOAT, HALF, Model, check
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 11))
COUNT = int(os.environ.get("FUSE_ATTENTIONS", 200 // judge.ONE_CASE_IN))
B, H, S, T, D = 2, 4, 3, 5, 6
PAST = 3  # of the keys, where there is a cache
MASKS = {"keys of each batch": [B, 1, 1, T], "keys": [1, 1, 1, T], "queries and keys": [S, T], "of each batch": [B, 1, S, T],
         "of each head": [H, S, T], "of all": [B, H, S, T], "of a batch": [1, 1, S, T]}


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class Attention:
    """By the choices of a seed, or by those that are `fixed`; `wrong` names what is not as it should be."""

    def __init__(self, seed, fixed=None, wrong=None):
        self.draw = draw = Draw(seed, fixed)
        self.rng = np.random.default_rng(seed)
        self.wrong = wrong
        self.m = m = Model(draw("opset", 17, 23, 13, 14, 18, 20, 23, 24, *range(11, 25)), 10)
        self.dtype = {"float": FLOAT, "half": HALF}[draw("type", "float", "float", "float", "half")]
        self.form = draw("heads", "an axis", "an axis", "an axis", "in the first axis")
        self.size = D if wrong else draw("size of values", D, D, 4)
        self.shared = 1
        if self.form == "an axis" and not wrong:
            self.shared = draw("heads share", 1, 1, 1, 2, 2, H)
        if wrong == "repeated in turn":
            self.shared = 2
        self.symbolic = draw("extents", "fixed", "fixed", "batch", "all")
        self.extents = {"b": B, "s": S, "t": T, "past": PAST, "new": T - PAST}
        cached = self.form == "an axis" and not wrong and self.symbolic != "all"
        self.cache = draw("cache", "none", "none", "read", "returned") if cached else "none"
        if self.symbolic != "fixed":
            self.extents["b"] = "batch"
        if self.symbolic == "all":
            self.extents |= {"s": "queries", "t": "keys", "columns": "columns"}
        # Joined for a product alone, by Reshapes in front and behind.
        # (A product of one head of keys and many of queries broadcasts it, which no axis of both can.)
        self.joined = "none" if wrong or self.form != "an axis" or self.shared == H else draw("products of joined heads", "none", "none", "none", "the first", "the second", "both")
        self.feeds, self.lengths, self.returned, self.has_heads = {}, {}, {}, False
        # As many as keys, or one for all, which the product with the values alone tells.
        # (How many matrices a Reshape then makes of joined heads, nothing tells.)
        names = self.symbolic == "all" and self.joined == "none"
        self.columns = draw("columns of masks", T, T, 1) if names else T
        # (A product whose Shape is read besides is another's, too: it is only found where nothing takes it apart.)
        self.lengths_of = "inputs" if self.symbolic != "all" or self.form == "an axis" else draw("lengths of", "inputs", "what is reshaped")
        self.names_columns = names and draw("their name", "keys", "their own") == "their own"
        self.merges = self.form != "an axis" or draw("behind", "tokens", "tokens", "heads") == "tokens"
        y = self.merged(self.attended())
        dims = [self.extents["b"], self.extents["s"], H * self.size] if self.merges else [self.extents["b"], H, self.extents["s"], self.size]
        m.output(y, self.dtype, dims)
        for name, shape in self.returned.items():
            m.output(name, self.dtype, shape)
        if wrong == "scores used elsewhere":
            m.output(self.scores_elsewhere, self.dtype, [self.extents["b"], H, self.extents["s"], self.extents["t"]])
        if wrong == "weights used elsewhere":
            m.output(self.weights, self.dtype, [self.extents["b"], H, self.extents["s"], self.extents["t"]])
        self.model = m.proto()

    def input(self, name, shape, dtype=None):
        """`shape` in letters, or numbers."""
        numbers = [{"b": B, "s": S, "t": T, "past": PAST, "new": T - PAST, "columns": self.columns}.get(e, e) for e in shape]
        dtype = dtype or self.dtype
        self.feeds[name] = (self.rng.random(numbers) < 0.7) if dtype == bool else self.rng.normal(0, 0.7, numbers).astype(dtype)
        made = self.m.input(name, dtype, [self.extents.get(e, e) if isinstance(e, str) else e for e in shape])
        for letter in set(shape) & {"s", "t"}:
            self.lengths.setdefault(letter, (made, shape.index(letter)))
        return made

    def zeros(self):
        return onnx.numpy_helper.from_array(np.zeros(1, self.dtype))

    def number(self, value, shape=()):
        return self.m.constant(np.full(shape, value, self.dtype))

    # ---- queries, keys, values

    def heads(self, name, length, size, turned=False):
        """(b, h, length, size), or with the last two axes exchanged; or with b and h as one."""
        m, draw = self.m, self.draw
        count = H // self.shared if name != "q" else H
        order = [0, 1, 3, 2] if turned else [0, 1, 2, 3]
        cached = name != "q" and self.cache != "none"
        taken = "new" if cached else length
        origin = draw(f"{name} is", "tokens", "tokens", "heads", "parts of tokens")
        if origin == "heads":
            self.has_heads = True
            v = self.input(name, ["b", count, taken, size])
            v = self.repeated(self.behind_the_past(name, v, count, size) if cached else v, count, length, size)
            v = m.op("Transpose", v, perm=order) if turned else v
        else:
            if origin == "parts of tokens":
                whole = self.input(name, ["b", taken, 2 * count * size])
                if m.opset < 13:
                    v = m.op("Split", whole, outputs=2, axis=2)[0]
                else:
                    v = m.op("Split", whole, m.integers(count * size, count * size), outputs=2, axis=2)[0]
            else:
                v = self.input(name, ["b", taken, count * size])
            v = m.op("Reshape", v, m.integers(0, 0, count, size) if self.symbolic != "fixed" or draw("by", "zeros", "numbers") == "zeros" else m.integers(B, self.extents[taken], count, size))
            if cached or (self.shared > 1 and name != "q"):
                v = m.op("Transpose", v, perm=[0, 2, 1, 3])
                v = self.repeated(self.behind_the_past(name, v, count, size) if cached else v, count, length, size)
                v = m.op("Transpose", v, perm=order) if turned else v
            elif turned and draw(f"{name} turned", "at once", "later") == "at once":
                v = m.op("Transpose", v, perm=[0, 2, 3, 1])
            else:
                v = m.op("Transpose", v, perm=[0, 2, 1, 3])
                v = m.op("Transpose", v, perm=order) if turned else v
        if self.form == "in the first axis":
            v = self.in_the_first_axis(v, *((size, length) if turned else (length, size)))
        return v

    def behind_the_past(self, name, v, count, size):
        whole = f"all {name}"
        v = self.m.op("Concat", self.input(f"past {name}", ["b", count, "past", size]), v, axis=self.draw("axis of the cache", 2, -2), into=whole)
        if self.cache == "returned":
            self.returned[whole] = [self.extents["b"], count, T, size]
        return v

    def in_the_first_axis(self, v, *last):
        """(b * h, ...) of (b, h, ...)."""
        return self.reshaped(v, [-1], last, 2)

    def apart(self, v, *last):
        return self.reshaped(v, [-1, H], last, 1)

    def reshaped(self, v, first, last, at):
        """Lengths are those of the inputs that have them, or of what is reshaped, from its axis `at` on."""
        m = self.m
        if self.symbolic != "all":
            return m.op("Reshape", v, m.integers(*first, *({"s": S, "t": T}.get(e, e) for e in last)))
        if self.lengths_of == "what is reshaped":
            lengths = [m.op("Gather", m.op("Shape", v), m.integers(at, at + 1), axis=0)]
        else:
            lengths = [self.length(e) if e in self.lengths else m.integers(e) for e in last]
        return m.op("Reshape", v, m.op("Concat", m.integers(*first), *lengths, axis=0))

    def length(self, letter):
        of, axis = self.lengths[letter]
        return self.m.op("Gather", self.m.op("Shape", of), self.m.integers(axis), axis=0)

    def repeated(self, v, count, length, size):
        if self.shared == 1 or count in (1, H):  # (one is broadcast)
            return v
        m = self.m
        if self.wrong == "repeated in turn":
            return m.op("Tile", v, m.integers(1, 2, 1, 1))
        v = m.unsqueeze(v, [2])
        v = m.op("Expand", v, m.integers(1, 1, self.shared, 1, 1))
        if self.symbolic == "all":
            whole = m.op("Shape", v)
            return m.op("Reshape", v, m.op("Concat", m.op("Gather", whole, m.integers(0), axis=0), m.integers(H), m.op("Gather", whole, m.integers(3, 4), axis=0), axis=0))
        return m.op("Reshape", v, m.integers(-1, H, {"s": S, "t": T}[length], size))

    # ---- scores

    def scaled(self, v, by):
        if self.draw("scaled by", "Mul", "Div", "Mul") == "Mul":
            return self.m.op("Mul", v, self.number(by, self.draw("shape of a number", (), (1,))))
        return self.m.op("Div", v, self.number(1 / by))

    def attended(self):
        m, draw = self.m, self.draw
        q, k, v = self.heads("q", "s", D), self.heads("k", "t", D, turned=True), self.heads("v", "t", self.size)
        where = draw("scale", "scores", "scores", "queries", "keys", "both", "none")
        scale = draw("its value", D ** -0.5, 0.3)
        if self.wrong == "a scale of each head":
            q = m.op("Mul", q, m.constant(np.linspace(0.2, 0.6, H).reshape(H, 1, 1).astype(self.dtype)))
            where = "none"
        if where in ("queries", "both"):
            q = self.scaled(q, scale if where == "queries" else scale ** 0.5)
        if where in ("keys", "both"):
            k = self.scaled(k, scale if where == "keys" else scale ** 0.5)
        first, second = self.joined in ("the first", "both"), self.joined in ("the second", "both")
        if first:
            q, k = self.in_the_first_axis(q, "s", D), self.in_the_first_axis(k, D, "t")
        scores = m.op("MatMul", q, k)
        if where == "scores":
            scores = self.scaled(scores, scale)
        if first:
            added = draw("added to joined scores", "nothing", "zeros", "what each has")
            if added == "zeros":
                shape = m.op("Concat", m.op("Gather", m.op("Shape", q), m.integers(0, 1), axis=0), m.op("Gather", m.op("Shape", k), m.integers(2), axis=0), axis=0)
                scores = self.summed(m.op("ConstantOfShape", shape, value=self.zeros()), scores)
            if added == "what each has":
                each = self.in_the_first_axis(self.input("slopes", ["b", H, 1, "t"]), 1, "t")
                scores = self.summed(scores, each)
            scores = self.apart(scores, "s", "t")
        self.scores_elsewhere = scores
        if self.form == "in the first axis" and draw("masked", "as they are", "apart") == "apart" and self.symbolic != "all":
            scores = self.in_the_first_axis(self.masked(self.apart(scores, "s", "t"), MASKS), "s", "t")
        elif self.form == "in the first axis":
            scores = self.masked(scores, {"queries and keys": [S, T], "of all": [B * H, S, T]} if self.symbolic == "fixed" else {"queries and keys": [S, T]})
        else:
            scores = self.masked(scores, MASKS)
        if second and draw("joined", "scores", "weights") == "scores" and self.dtype != HALF:
            self.form = "in the first axis"
            weights = self.softmax(self.in_the_first_axis(scores, "s", "t"))
            self.form = "an axis"
        else:
            weights = self.softmax(scores)
            if second:
                weights = self.in_the_first_axis(weights, "s", "t")
        self.weights = weights
        if second:
            return self.apart(m.op("MatMul", weights, self.in_the_first_axis(v, "t", self.size)), "s", self.size)
        if self.wrong == "weights scaled":
            weights = m.op("Mul", weights, self.number(0.5))
        if self.wrong == "weights of another thing":
            weights = m.op("Sigmoid", scores)
        if self.wrong == "values first":
            v = m.op("Transpose", v, perm=[0, 1, 3, 2])
            return m.op("Transpose", m.op("MatMul", v, m.op("Transpose", m.op("Transpose", weights, perm=[0, 1, 3, 2]), perm=[0, 1, 3, 2]) if S == T else m.op("Transpose", weights, perm=[0, 1, 3, 2])), perm=[0, 1, 3, 2])
        return m.op("MatMul", weights, v)

    def softmax(self, scores):
        m, draw = self.m, self.draw
        rank = 4 if self.form == "an axis" else 3
        axis = draw("axis", -1, rank - 1)
        if self.wrong == "another axis":
            axis = rank - 2
        between = self.dtype == HALF and draw("softmax in", "half", "float", "float") == "float"
        if between:
            scores = m.cast(scores, FLOAT)
        kind = draw("softmax", "operator", "operator", "operator", "formula")
        if self.wrong == "another axis" and m.opset < 13:
            kind = "formula"
        if kind == "formula":
            e = m.op("Exp", m.op("Sub", scores, m.op("ReduceMax", scores, axes=[axis]) if m.opset < 18 else m.op("ReduceMax", scores, m.integers(axis))))
            total = m.op("ReduceSum", e, axes=[axis]) if m.opset < 13 else m.op("ReduceSum", e, m.integers(axis))
            made = m.op("Div", e, total)
        else:
            made = m.op("Softmax", scores, axis=axis)
        if not between and self.form == "an axis" and not self.wrong and "condition" not in self.feeds and draw("blind queries", "no number", "no number", "zero") == "zero":
            made = m.op("Where", m.op("IsNaN", made), m.constant(np.zeros((), self.dtype)), made)
        return m.cast(made, HALF) if between else made

    def masked(self, scores, masks):
        m, draw = self.m, self.draw
        how = draw("mask", "none", "added", "added", "two added", "where kept", "where left out")
        if self.wrong == "a small number where left out":
            how = draw("polarity", "where kept", "where left out")
        if self.wrong == "a mask that multiplies":
            return m.op("Mul", scores, self.mask("mask", [S, T]))
        if self.wrong == "a mask that enlarges":
            return m.op("Add", scores, self.mask("mask", [3, 1, H, S, T]))
        if how in ("added", "two added"):
            scores = self.summed(scores, self.mask("mask", draw("mask of", *masks.values())))
        if how == "two added":
            scores = self.summed(scores, self.mask("other mask", draw("other mask of", *masks.values())))
        if how == "added" and self.dtype != HALF and not self.wrong and draw("at least", "anything", "anything", "the lowest number") == "the lowest number":
            scores = m.op("Max", scores, self.number(np.finfo(self.dtype).min))
        if how.startswith("where"):
            if not self.wrong and draw("mask in front", "none", "none", "added") == "added":
                scores = self.summed(scores, self.mask("mask in front", draw("mask in front of", *masks.values())))
            keeps = self.mask("condition", draw("condition of", *masks.values()), bool)
            if self.m.opset >= 23:  # (onnxruntime's Attention is not the standard's where a query may look at nothing)
                self.feeds["condition"][..., 0] = how == "where kept"
            number = -np.inf if self.dtype == HALF else draw("fill", -np.inf, np.finfo(self.dtype).min, -1e30)
            if self.wrong:
                number = -3.0
            fill = self.number(number, draw("shape of fill", (), (1,)))
            scores = m.op("Where", keeps, *((scores, fill) if how == "where kept" else (fill, scores)))
            if draw("mask behind", "none", "none", "added") == "added":
                scores = self.summed(scores, self.mask("mask", draw("mask of", *masks.values())))
        return scores

    def mask(self, name, shape, dtype=None):
        """What is added is often the lowest number of its type: keys that are left out, but for the first, or (which onnxruntime's
        Attention takes otherwise than the standard) for the second where a query may look at nothing then."""
        given, shape = list(shape), list(shape)
        for letter, at in (("t", -1), ("s", -2)):
            if shape[at] != 1:
                shape[at] = letter
        if shape[-1] == "t" and (self.names_columns or self.columns == 1):
            shape[-1] = "columns"
            given[-1] = self.columns
        if len(shape) == 4 and shape[0] == B:
            shape[0] = "b"
        made = self.input(name, shape, dtype)
        if dtype is None and self.dtype != HALF and given[-1] == T and not self.wrong and self.draw("left out", "by no mask", "by the mask") == "by the mask":
            left_out = self.rng.random(given) < 0.5
            left_out[..., 0 if self.m.opset >= 23 else 1] = False
            self.feeds[name][left_out] = np.finfo(self.dtype).min
        return made

    def summed(self, a, b):
        return self.m.op("Add", *((a, b) if self.draw("operands", "as written", "swapped") == "as written" else (b, a)))

    # ---- behind

    def merged(self, y):
        m = self.m
        if not self.merges or self.wrong == "a mask that enlarges":
            return y
        if self.form == "in the first axis":
            y = self.apart(y, "s", self.size)
        return m.op("Reshape", m.op("Transpose", y, perm=[0, 2, 1, 3]), m.integers(0, 0, H * self.size))


def appends(model):
    """Whether it takes the past itself."""
    return any(len(n.input) > {"Attention": 4, "MultiHeadAttention": 6}.get(n.op_type, 99) for n in judge.walk(model.graph))


def found(model):
    return sum(n.op_type in ("Attention", "MultiHeadAttention") for n in judge.walk(model.graph))


class AttentionTest(unittest.TestCase):
    def rewritten(self, case, target):
        result = judge.optimize(case.model, target)
        if target == "onnx":
            check(result.model)
        self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
        self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
        return result

    def test_attentions(self):
        missed = 0
        for seed in range(SEED, SEED + COUNT):
            case = Attention(seed)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices={k: str(v[0]) for k, v in case.draw.chosen.items()}):
                    result = self.rewritten(case, target)
                    has = target == "onnxruntime" or case.m.opset >= 23
                    if has and not found(result.model) and (case.has_heads or not case.merges or case.joined != "none"):
                        # Transposes around the operator may cost more than such small heads save, and lists of extents more than
                        # Reshapes do.
                        self.assertIn("cost", [r["condition"] for r in result.refusals()], result.refusals())
                        missed += 1
                        continue
                    self.assertEqual(found(result.model), int(has), result.refusals())
                    if has:
                        self.assertNotIn("Softmax", judge.primitives(result.model))
                        joined = case.shared > 1 and case.joined == "both"  # (attention of joined heads has its way)
                        if case.cache != "none" and not joined and (target == "onnx" or case.size == D):
                            self.assertTrue(appends(result.model), result.refusals())
                        # Queries of all heads are one behind the other: how many, a Reshape is told when the model runs, where
                        # lengths may be 0 by an attribute that it has from operator set 14 on.
                        told = case.symbolic != "all" or case.m.opset >= 14 or target == "onnx"
                        if case.shared > 1 and not joined and told:
                            self.assertNotIn("Expand", [n.op_type for n in judge.walk(result.model.graph) if n.input[0].startswith("unsqueeze")])
        self.assertLessEqual(missed, 1 + COUNT // 50)

    def test_what_is_none_stays(self):
        for wrong in ("another axis", "a scale of each head", "a small number where left out", "scores used elsewhere", "weights used elsewhere",
                      "weights scaled", "weights of another thing", "repeated in turn", "a mask that multiplies"):
            for seed in judge.sampled(range(SEED, SEED + 8)):
                case = Attention(seed, {"opset": 23, "type": "float", "heads": "an axis", "softmax": "operator"}, wrong)
                for target in judge.TARGETS:
                    with self.subTest(wrong=wrong, seed=seed, target=target):
                        result = self.rewritten(case, target)
                        model = result.model
                        if wrong == "repeated in turn":  # (which is one of as many heads of each all the same)
                            self.assertEqual([n for n in judge.walk(model.graph) if judge.attribute(n, "kv_num_heads", H) != H], [])
                        elif wrong == "a scale of each head":  # (which is one of queries that are scaled)
                            self.assertIn("Mul", judge.primitives(model))
                        else:
                            self.assertEqual(found(model), 0)


if __name__ == "__main__":
    unittest.main()
