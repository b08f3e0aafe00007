# SPDX-License-Identifier: BSL-1.0
"""Models whose named dimensions are 0: what ran does so still, with results of the same shapes. FUSE_SEED and FUSE_EMPTY change where
the models start and how many there are of each kind."""

import os
import unittest

import numpy as np

import judge
from build import FLOAT, Model
from spellings import Draw
from test_attention import Attention
from test_embeddings import Embeddings
from test_projected_attention import Projected
from test_rotary import Rotary
from test_skip_norms import Residual

SEED = int(os.environ.get("FUSE_SEED", 31))
COUNT = int(os.environ.get("FUSE_EMPTY", 60 // judge.ONE_CASE_IN))


def setUpModule():
    print(f"seed {SEED}, {COUNT} models of each kind")


class Moved:
    """Operators in a row that only move the elements of (batch, sequence, 8)."""

    def __init__(self, seed):
        self.draw = draw = Draw(seed)
        self.m = m = Model(draw("opset", 13, 14, 17, 21), 8)
        self.feeds = {"x": np.arange(48, dtype=FLOAT).reshape(2, 3, 8)}
        self.known = [None, None, 8]  # extents; None: a name
        v = m.op("Abs", m.input("x", FLOAT, ["batch", "sequence", 8]))
        for step in range(draw("operators", 2, 3, 4, 5, 6)):
            v = self.move(v, step)
        m.output(m.op("Neg", v), FLOAT, None)
        self.model = m.proto()

    def move(self, v, step):
        m, known, rank = self.m, self.known, len(self.known)
        how = self.draw(f"operator {step}", "Transpose", "Transpose", "Unsqueeze", "Flatten", "apart", "together")
        if how == "Transpose":
            order = [int(i) for i in np.random.default_rng(self.draw(f"order {step}", *range(99))).permutation(rank)]
            self.known = [known[i] for i in order]
            return m.op("Transpose", v, perm=order)
        if how == "Unsqueeze" and rank < 5:
            axis = self.draw(f"axis {step}", *range(rank + 1))
            self.known = known[:axis] + [1] + known[axis:]
            return m.op("Unsqueeze", v, m.integers(axis))
        if how == "Flatten":
            axis = self.draw(f"axis {step}", *range(rank + 1))
            self.known = [None if None in part else int(np.prod(part)) for part in (known[:axis], known[axis:])]
            return m.op("Flatten", v, axis=axis)
        last = [i for i, e in enumerate(known) if e in (4, 8)]
        if how == "apart" and last and None not in known[last[-1] + 1:]:
            at = last[-1]
            self.known = known[:at] + [2, known[at] // 2] + known[at + 1:]
            return m.op("Reshape", v, m.integers(*[0] * at, *self.known[at:]))
        if rank > 1 and known[-2:] != [None, None] and None in known[-2:] and None not in known[:-2]:
            self.known = known[:-2] + [None]
            return m.op("Reshape", v, m.integers(*[0] * (rank - 2), -1))
        return v


def emptied(case):
    """The inputs of a case, once for each named dimension, which is 0 then."""
    places = {}
    for given in case.model.graph.input:
        for axis, dim in enumerate(given.type.tensor_type.shape.dim):
            if dim.dim_param and given.name in case.feeds:
                places.setdefault(dim.dim_param, []).append((given.name, axis))
    for name, where in places.items():
        feeds = dict(case.feeds)
        for given, axis in where:
            feeds[given] = np.take(feeds[given], [], axis=axis)
        yield name, feeds


class EmptyTest(unittest.TestCase):
    def run_emptied(self, kind, targets=judge.TARGETS):
        runs = 0
        for seed in range(SEED, SEED + COUNT):
            case = kind(seed)
            for name, feeds in emptied(case):
                try:
                    wanted = judge.execute(case.model, feeds)
                except Exception:  # the original fails
                    continue
                for target in targets:
                    with self.subTest(seed=seed, name=name, target=target):
                        runs += 1
                        made = judge.execute(judge.optimize(case.model, target, "--clean").model, feeds)
                        self.assertEqual({n: v.shape for n, v in made.items()}, {n: v.shape for n, v in wanted.items()})
        self.assertGreater(runs, 0)

    def test_chains(self):
        self.run_emptied(Moved)

    # (onnxruntime's standard Attention takes no batch and no length of 0, whatever the model; its own operators do.)
    def test_attention(self):
        self.run_emptied(Attention, ["onnxruntime"])

    def test_projected_attention(self):
        self.run_emptied(Projected, ["onnxruntime"])

    def test_rotary(self):
        self.run_emptied(Rotary)

    def test_embeddings(self):
        self.run_emptied(Embeddings)

    def test_residuals(self):
        self.run_emptied(Residual)


if __name__ == "__main__":
    unittest.main()
