# SPDX-License-Identifier: BSL-1.0
"""What 200 rules may cost at compile time over the include alone: memory and template instantiations, which repeat."""
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import compile_time  # noqa: E402

COMPILER = os.environ.get("CXX", "g++")


class CompileTime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.include = compile_time.measure(COMPILER, 0)
        cls.rules = compile_time.measure(COMPILER, 200)

    def test_memory_of_200_rules(self):
        added = self.rules[1] - self.include[1]
        print(f"200 rules: {added:.0f} MB over the include alone")
        self.assertLess(added, 92 if "clang" not in COMPILER else 70)

    def test_instantiations_of_200_rules(self):
        if self.include[2] is None:
            self.skipTest("only clang counts instantiations")
        added = self.rules[2] - self.include[2]
        print(f"200 rules: {added} instantiations over the include alone")
        self.assertLess(added, 4 * 200)


if __name__ == "__main__":
    unittest.main()
