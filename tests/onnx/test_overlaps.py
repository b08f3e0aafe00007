# SPDX-License-Identifier: BSL-1.0
"""Rules that share nodes: whichever two are there, neither takes from the other what that would have made smaller.

On each real model, and for each target, all pairs of the rules that do something there, alone or together with all others."""

import itertools
import json
import unittest

import onnx

import judge

LARGEST = 400  # nodes: larger models have the same blocks, only more often


class OverlapTest(unittest.TestCase):
    def nodes(self, path, target, *rules):
        """How many are left, and the report."""
        chosen = [part for rule in rules for part in ("--rule", rule)]
        done = judge.serve("optimize", path, "-o", judge.scratch("out.onnx"), "--target", target, "--report", "json", *chosen)
        self.assertEqual(done.code, 0, done.err)
        report = json.loads(done.out)
        return report["nodes"]["after"], report

    def test_every_pair_on_every_model(self):
        pairs = 0
        paths = [path for path in sorted(judge.MODELS.glob("*.onnx")) if len(onnx.load(path, load_external_data=False).graph.node) <= LARGEST]
        for path in judge.sampled(paths):
            for target in judge.TARGETS:
                everything, report = self.nodes(path, target)
                applied = [rule["name"] for rule in report["rules"] if rule["matched"] != 0]
                alone = {rule: self.nodes(path, target, rule)[0] for rule in applied}
                for one, other in itertools.combinations(applied, 2):
                    pairs += 1
                    with self.subTest(model=path.name, target=target, rules=(one, other)):
                        both = self.nodes(path, target, one, other)[0]
                        self.assertLessEqual(both, min(alone[one], alone[other]))
                        self.assertLessEqual(everything, both)
        print(f"{pairs} pairs")
        self.assertGreater(pairs, 100 // judge.ONE_CASE_IN)


if __name__ == "__main__":
    unittest.main()
