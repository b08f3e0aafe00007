# SPDX-License-Identifier: BSL-1.0
"""Rules are tested on random graphs from the command line, and whole models are compared with what became of them."""

import unittest

import judge
from build import FLOAT, Model


def norm(shape, last="Relu", domain=""):
    m = Model(17)
    x = m.input("x", FLOAT, shape)
    d = m.op("Sub", x, m.reduce_mean(x, [-1]))
    root = m.op("Sqrt", m.op("Add", m.reduce_mean(m.op("Mul", d, d), [-1]), m.constant(FLOAT.type(1e-5))))
    m.op(last, m.op("Div", d, root), into="y", domain=domain)
    m.output("y", FLOAT, shape)
    return m.proto()


def noted(model):
    """What is said of the whole model."""
    notes = judge.optimize(model).report["notes"]
    return [note.removeprefix("the whole model, on random inputs: ") for note in notes if note.startswith("the whole model")]


class RulesTest(unittest.TestCase):
    def test_a_rule(self):
        written = judge.scratch("wrong.onnx")
        run = judge.run("rules", "layer-norm", "--verify", "20", "-o", written)
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertRegex(run.out, r"^layer-norm: right on \d+ graphs that it rewrote, of \d+\n")
        self.assertFalse(written.exists(), "no rule is wrong")

    def test_seeds_are_other_graphs(self):
        runs = [judge.run("rules", "layer-norm", "--verify", "20", "--seed", seed).out for seed in (1, 1, 1001)]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_all_rules(self):
        listed = [line.split()[0] for line in judge.run("rules").out.splitlines()]
        run = judge.run("rules", "--verify", "2", timeout=600)
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual([line.split(":")[0] for line in run.out.splitlines() if not line.startswith(" ")], listed)

    def test_wrong_usage(self):
        self.assertEqual(judge.run("rules", "layer-nrom", "--verify").code, 2)
        self.assertEqual(judge.run("rules", "layer-norm", "--verify", "many").code, 2)


class WholeModelTest(unittest.TestCase):
    def test_what_is_equal_is_counted(self):
        self.assertEqual(noted(norm((2, 3, 8))), ["48 numbers are equal"])

    def test_a_model_that_stays_is_not_computed(self):
        m = Model(17)
        m.op("Relu", m.input("x", FLOAT, (2,)), into="y")
        m.output("y", FLOAT, (2,))
        self.assertEqual(noted(m.proto()), [])

    def test_an_operator_without_evaluation_is_named(self):
        note, = noted(norm((2, 3, 8), "Unheard", "acme"))
        self.assertRegex(note, "^it could not be compared: acme::Unheard: ")

    def test_large_models_are_not_computed(self):
        self.assertEqual(noted(norm((64, 1024, 1024))), ["it could not be compared: its values have too many elements"])


if __name__ == "__main__":
    unittest.main()
