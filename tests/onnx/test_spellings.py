# SPDX-License-Identifier: BSL-1.0
"""Random spellings of the norms, each for both targets. FUSE_SEED and FUSE_SPELLINGS change where it starts and how many."""

import os
import unittest

import judge
import spellings

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_SPELLINGS", 600 // judge.ONE_CASE_IN))


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class SpellingTest(unittest.TestCase):
    def test_the_generator_writes_norms(self):
        self.assertEqual(spellings.validate(range(SEED, SEED + COUNT)), 0)

    def test_every_spelling_becomes_one_operator(self):
        for seed in range(SEED, SEED + COUNT):
            _, verdicts = spellings.judge_seed(seed)
            for target, sentence in verdicts.items():
                with self.subTest(seed=seed, target=target):
                    self.fail(sentence)
        print(f"rows skipped, because the original is not finite there: {judge.skipped_rows}")

    def test_a_second_run_changes_nothing(self):
        for seed in range(SEED, SEED + COUNT, 6):
            model = spellings.Spelling(seed).model
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target):
                    once = judge.optimize(model, target).bytes
                    self.assertEqual(once, judge.optimize(model, target).bytes)
                    self.assertEqual(once, judge.optimize(once, target).bytes)


if __name__ == "__main__":
    unittest.main()
