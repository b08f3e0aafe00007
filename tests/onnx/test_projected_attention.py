# SPDX-License-Identifier: BSL-1.0
"""Attention with its projections in random spellings, for onnxruntime, and graphs that only look like it. FUSE_SEED and
FUSE_PROJECTIONS change where the spellings start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import FLOAT, HALF, Model
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 31))
COUNT = int(os.environ.get("FUSE_PROJECTIONS", 120 // judge.ONE_CASE_IN))
B, S, H, D = 2, 5, 3, 4
SIZE, WIDTH = 7, H * D  # of what is projected, and of queries, keys and values
MASKS = {"keys of each batch": [B, 1, 1, S], "keys": [1, 1, 1, S], "queries and keys": [S, S], "of all": [B, H, S, S], "of a batch": [1, 1, S, S]}


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class Projected:
    """By the choices of a seed, or by those that are `fixed`; `wrong` names what is not as it should be."""

    def __init__(self, seed, fixed=None, wrong=None):
        self.draw = draw = Draw(seed, fixed)
        self.rng = np.random.default_rng(seed)
        self.wrong = wrong
        self.m = m = Model(draw("opset", 17, 13, 14, 18, 20, 21, *range(11, 23)), 10)
        self.dtype = {"float": FLOAT, "half": HALF}[draw("type", "float", "float", "float", "half")]
        symbolic = draw("extents", "fixed", "batch", "all")
        self.batch = B if symbolic == "fixed" else "batch"
        self.length = "length" if symbolic == "all" else S
        self.x = m.input("x", self.dtype, [self.batch, self.length, SIZE])
        self.feeds = {"x": self.rng.normal(0, 0.7, [B, S, SIZE]).astype(self.dtype)}
        if draw("before", "an input", "computed") == "computed":
            self.x = m.op("Tanh", self.x)
        q, k, v = self.heads()
        scores = self.scaled(m.op("MatMul", q, k))
        weights = m.op("Softmax", self.masked(scores), axis=-1) if m.opset >= 13 else m.op("Softmax", self.masked(scores), axis=3)
        y = m.op("Transpose", m.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        m.output(m.op("Reshape", y, m.integers(0, 0, WIDTH)), self.dtype, [self.batch, self.length, WIDTH])
        self.model = m.proto()

    def constant(self, shape, spread=0.5):
        return self.m.constant(self.rng.normal(0, spread, shape).astype(self.dtype))

    # ---- projections

    def tokens(self, x):
        return self.m.op("Reshape", x, self.m.integers(-1, SIZE))

    def apart(self, y, width):
        """(batch, length, width) of (batch * length, width)."""
        m = self.m
        if self.length == S:
            return m.op("Reshape", y, m.integers(-1, S, width))
        shape = m.op("Concat", m.op("Slice", m.op("Shape", self.x), m.integers(0), m.integers(2)), m.integers(width), axis=0)
        return m.op("Reshape", y, shape)

    def projection(self, x, width, name, weights=None):
        m, draw = self.m, self.draw
        w = self.constant([SIZE, width]) if weights is None else weights
        biased = draw(f"bias of {name}", "a row", "a row", "none", "of three axes", "in front")
        if self.by == "Gemm":
            operands = [self.tokens(x), w] + ([] if biased == "none" else [self.constant([width])])
            return self.apart(m.op("Gemm", *operands), width)
        y = m.op("MatMul", x, w)
        if biased == "none":
            return y
        b = self.constant([1, 1, width] if biased == "of three axes" else [width])
        return m.op("Add", *((b, y) if biased == "in front" else (y, b)))

    def heads(self):
        m, draw, wrong = self.m, self.draw, self.wrong
        self.by = draw("projected by", "MatMul", "MatMul", "Gemm") if m.opset >= 11 else "MatMul"
        how = draw("projections", "three", "three", "Split", "Slices", "an axis", "an axis and Split")
        if wrong in ("keys of another value", "weights used twice"):
            how = "three"
        if wrong in ("a part used elsewhere", "parts in another order", "all used elsewhere"):
            how = "Split" if wrong == "a part used elsewhere" else draw("parts by", "Split", "Slices")
        if how == "three":
            shared = self.constant([SIZE, WIDTH]) if wrong == "weights used twice" else None
            other = m.op("Sigmoid", self.x) if wrong == "keys of another value" else self.x
            parts = [self.projection(self.x, WIDTH, "q", shared), self.projection(other, WIDTH, "k", shared), self.projection(self.x, WIDTH, "v")]
        else:
            y = self.projection(self.x, 3 * WIDTH, "all")
            if wrong == "all used elsewhere":
                m.output(y, self.dtype, [self.batch, self.length, 3 * WIDTH])
            if how in ("an axis", "an axis and Split"):
                return self.by_axis(y, how)
            if how == "Split":
                parts = m.op("Split", y, outputs=3, axis=2) if m.opset < 13 else m.op("Split", y, m.integers(WIDTH, WIDTH, WIDTH), outputs=3, axis=-1)
            else:
                parts = [m.op("Slice", y, m.integers(i * WIDTH), m.integers((i + 1) * WIDTH), m.integers(2)) for i in range(3)]
        if wrong == "parts in another order":
            parts = [parts[1], parts[0], parts[2]]
        if wrong == "a part used elsewhere":
            m.output(parts[1], self.dtype, [self.batch, self.length, WIDTH])
        cut = [m.op("Reshape", p, m.integers(0, 0, H, D)) for p in parts]
        if draw("keys turned", "at once", "later") == "at once":
            return m.op("Transpose", cut[0], perm=[0, 2, 1, 3]), m.op("Transpose", cut[1], perm=[0, 2, 3, 1]), m.op("Transpose", cut[2], perm=[0, 2, 1, 3])
        q, k, v = (m.op("Transpose", p, perm=[0, 2, 1, 3]) for p in cut)
        return q, m.op("Transpose", k, perm=[0, 1, 3, 2]), v

    def by_axis(self, y, how):
        m = self.m
        turned = m.op("Transpose", m.op("Reshape", y, m.integers(0, 0, 3, H, D)), perm=[2, 0, 3, 1, 4])
        if how == "an axis":
            q, k, v = (m.op("Gather", turned, m.constant(np.array(i, np.int64)), axis=0) for i in range(3))
        else:
            each = m.op("Split", turned, outputs=3, axis=0) if m.opset < 13 else m.op("Split", turned, m.integers(1, 1, 1), outputs=3, axis=0)
            q, k, v = (m.op("Squeeze", p, axes=[0]) if m.opset < 13 else m.op("Squeeze", p, m.integers(0)) for p in each)
        return q, m.op("Transpose", k, perm=[0, 1, 3, 2]), v

    # ---- scores

    def scaled(self, scores):
        how, by = self.draw("scaled by", "Mul", "Div", "nothing"), D ** -0.5
        if how == "nothing":
            return scores
        return self.m.op(how, scores, self.m.constant(np.array(by if how == "Mul" else 1 / by, self.dtype)))

    def masked(self, scores):
        if self.draw("mask", "none", "added") == "none":
            return scores
        shape = self.draw("mask of", *MASKS.values())
        given = [self.batch if e == B and i == 0 and len(shape) == 4 else self.length if e == S else e for i, e in enumerate(shape)]
        self.feeds["mask"] = np.where(self.rng.random(shape) < 0.7, 0, -9.0).astype(self.dtype)
        return self.m.op("Add", scores, self.m.input("mask", self.dtype, given))


def projects(model):
    return sum(n.op_type == "Attention" and n.domain == "com.microsoft" for n in judge.walk(model.graph))


class ProjectedAttentionTest(unittest.TestCase):
    def rewritten(self, case):
        result = judge.optimize(case.model, "onnxruntime")
        self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
        self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        self.assertEqual(result.bytes, judge.optimize(result.bytes, "onnxruntime").bytes, "a second run changes the result")
        return result

    def test_projections(self):
        for seed in range(SEED, SEED + COUNT):
            case = Projected(seed)
            with self.subTest(seed=seed, choices={k: str(v[0]) for k, v in case.draw.chosen.items()}):
                result = self.rewritten(case)
                self.assertEqual(projects(result.model), 1, result.refusals())
                self.assertEqual([n for n in judge.primitives(result.model) if n in ("MatMul", "Gemm", "Softmax")], [])

    def test_what_is_none_stays(self):
        for wrong in ("keys of another value", "weights used twice", "a part used elsewhere", "parts in another order", "all used elsewhere"):
            for seed in range(SEED, SEED + 8):
                with self.subTest(wrong=wrong, seed=seed):
                    case = Projected(seed, {"type": "float"}, wrong)
                    self.assertEqual(projects(self.rewritten(case).model), 0)


if __name__ == "__main__":
    unittest.main()
