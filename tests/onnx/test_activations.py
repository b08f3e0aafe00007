# SPDX-License-Identifier: BSL-1.0
"""Activations in random spellings, each for both targets, and graphs that only look like one. FUSE_SEED and FUSE_ACTIVATIONS change where the
spellings start and how many there are."""

import os
import unittest

import numpy as np
from onnx import TensorProto, helper

import activation_spellings
import judge
from build import FLOAT, HALF, Model

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_ACTIVATIONS", 300 // judge.ONE_CASE_IN))
SHAPE = (4, 3, 5)
LOOKALIKES = {}


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


def broken(name, allowed=()):
    """Registers a graph of x that is no activation, but for the kinds in `allowed`, which stand in it."""
    def register(write):
        LOOKALIKES[name] = (write, set(allowed))
        return write
    return register


def gated(m, x, curve, half=0.5, one=1.0):
    return m.op("Mul", m.op("Mul", x, m.op("Add", curve, m.constant(np.array(one, FLOAT)))), m.constant(np.array(half, FLOAT)))


def number(m, value):
    return m.constant(np.array(value, FLOAT))


def by_erf(m, x, root=1.4142135):
    return m.op("Erf", m.op("Div", x, number(m, root)))


def by_tanh(m, x, exponent=3, factor=0.044715, root=0.7978845608):
    cube = m.op("Pow", x, number(m, exponent))
    return m.op("Tanh", m.op("Mul", m.op("Add", x, m.op("Mul", cube, number(m, factor))), number(m, root)))


def total(m, value, axis=-1, keepdims=1):
    return m.op("ReduceSum", value, m.integers(axis), keepdims=keepdims)


def largest(m, value, axis=-1, keepdims=1):
    return m.op("ReduceMax", value, axes=[axis], keepdims=keepdims)


for root in (1.41, 1.5, 2.0, 1.0, -1.4142135):
    broken(f"erf of x / {root}")(lambda m, x, root=root: gated(m, x, by_erf(m, x, root)))
broken("a quarter")(lambda m, x: gated(m, x, by_erf(m, x), 0.25))
broken("2 + erf")(lambda m, x: gated(m, x, by_erf(m, x), one=2))
broken("1 - erf")(lambda m, x: gated(m, x, m.op("Neg", by_erf(m, x))))
broken("another value gates")(lambda m, x: gated(m, m.op("Abs", x), by_erf(m, x)))
broken("erf of the argument of tanh")(lambda m, x: gated(m, x, m.op("Erf", m.op("Mul", m.op("Add", x, m.op("Mul", m.op("Pow", x, number(m, 3)), number(m, 0.044715))), number(m, 0.7978845608)))))
broken("tanh of the argument of erf")(lambda m, x: gated(m, x, m.op("Tanh", m.op("Div", x, number(m, 1.4142135)))))
broken("a square for the cube")(lambda m, x: gated(m, x, by_tanh(m, x, 2)))
broken("another factor of the cube")(lambda m, x: gated(m, x, by_tanh(m, x, factor=0.05)))
broken("another root")(lambda m, x: gated(m, x, by_tanh(m, x, root=0.8)))
broken("the cube of another value")(lambda m, x: gated(m, x, m.op("Tanh", m.op("Mul", m.op("Add", x, m.op("Mul", m.op("Pow", m.op("Abs", x), number(m, 3)), number(m, 0.044715))), number(m, 0.7978845608)))))
broken("sigmoid of another value")(lambda m, x: m.op("Mul", x, m.op("Sigmoid", m.op("Abs", x))))
broken("alpha per element")(lambda m, x: m.op("Mul", x, m.op("Sigmoid", m.op("Mul", x, m.constant(np.array([1, 2, 1, 2, 1.5], FLOAT))))))
broken("sigmoid plus a number")(lambda m, x: m.op("Mul", x, m.op("Sigmoid", m.op("Add", x, number(m, 1.702)))))
broken("2 + exp")(lambda m, x: m.op("Div", x, m.op("Add", m.op("Exp", m.op("Neg", x)), number(m, 2))))
broken("exp without its sign", ["swish"])(lambda m, x: m.op("Div", x, m.op("Add", m.op("Exp", x), number(m, 1))))
broken("tanh of another Softplus")(lambda m, x: m.op("Mul", x, m.op("Tanh", m.op("Softplus", m.op("Abs", x)))))
broken("log(2 + exp)")(lambda m, x: m.op("Mul", x, m.op("Tanh", m.op("Log", m.op("Add", m.op("Exp", x), number(m, 2))))))
broken("Softplus without tanh")(lambda m, x: m.op("Mul", x, m.op("Softplus", x)))
for shift, least, most, by in ((2, 0, 6, 6), (3, 0, 5, 6), (3, -1, 6, 6), (3, 0.5, 6, 6), (3, 0, 6, 5), (3, 0, 6, 1)):
    broken(f"clip of x + {shift} to {least}..{most} by {by}")(
        lambda m, x, s=shift, a=least, b=most, d=by: m.op("Div", m.op("Mul", x, m.op("Clip", m.op("Add", x, number(m, s)), number(m, a), number(m, b))), number(m, d)))
broken("HardSigmoid by its defaults")(lambda m, x: m.op("Mul", x, m.op("HardSigmoid", x)))
broken("a clip without its upper bound")(lambda m, x: m.op("Div", m.op("Mul", x, m.op("Clip", m.op("Add", x, number(m, 3)), number(m, 0))), number(m, 6)))
broken("the maximum taken away above alone")(lambda m, x: m.op("Div", m.op("Exp", m.op("Sub", x, largest(m, x))), total(m, m.op("Exp", x))))
broken("the maximum taken away below alone")(lambda m, x: m.op("Div", m.op("Exp", x), total(m, m.op("Exp", m.op("Sub", x, largest(m, x))))))
broken("a logarithm with the maximum taken away in it alone")(lambda m, x: m.op("Sub", x, m.op("Log", total(m, m.op("Exp", m.op("Sub", x, largest(m, x)))))))
broken("a logarithm with the maximum taken away before it alone")(lambda m, x: m.op("Sub", m.op("Sub", x, largest(m, x)), m.op("Log", total(m, m.op("Exp", x)))))
broken("a sum along another axis", ["softmax"])(lambda m, x: m.op("Div", m.op("Exp", m.op("Sub", x, largest(m, x))), total(m, m.op("Exp", m.op("Sub", x, largest(m, x))), 0)))
broken("a maximum along another axis", ["softmax"])(lambda m, x: (lambda e: m.op("Div", e, total(m, e)))(m.op("Exp", m.op("Sub", x, largest(m, x, 0)))))
broken("a minimum for the maximum", ["softmax"])(lambda m, x: (lambda e: m.op("Div", e, total(m, e)))(m.op("Exp", m.op("Sub", x, m.op("ReduceMin", x, axes=[-1])))))
broken("a mean for the sum")(lambda m, x: (lambda e: m.op("Div", e, m.reduce_mean(e, [-1])))(m.op("Exp", x)))
broken("a sum along two axes")(lambda m, x: (lambda e: m.op("Div", e, m.op("ReduceSum", e, m.integers(-2, -1))))(m.op("Exp", x)))
broken("the exponential of another value by the sum")(lambda m, x: m.op("Div", m.op("Exp", m.op("Abs", x)), total(m, m.op("Exp", x))))
broken("the logarithm to another base")(lambda m, x: m.op("Sub", x, m.op("Mul", number(m, 2), m.op("Log", total(m, m.op("Exp", x))))))


class ActivationTest(unittest.TestCase):
    def test_every_spelling_becomes_one_operator(self):
        for seed in range(SEED, SEED + COUNT):
            spelling, verdicts = activation_spellings.judge_seed(seed)
            for target, sentence in verdicts.items():
                with self.subTest(seed=seed, kind=spelling.kind, target=target):
                    self.fail(sentence)

    def test_a_second_run_changes_nothing(self):
        for seed in range(SEED, SEED + COUNT, 6):
            model = activation_spellings.Spelling(seed).model
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target):
                    once = judge.optimize(model, target).bytes
                    self.assertEqual(once, judge.optimize(model, target).bytes)
                    self.assertEqual(once, judge.optimize(once, target).bytes)

    def test_calls_become_operators(self):
        """A model that was rewritten for the standard is one for onnxruntime after another run."""
        for kind in activation_spellings.KINDS[:7]:
            for dtype in ("float", "half"):
                with self.subTest(kind, dtype=dtype):
                    spelling = activation_spellings.Spelling(3, {"kind": kind, "types": dtype, "opset": 13, "x is": "an input", "y goes to": "the output"})
                    once = judge.optimize(spelling.model).model
                    self.assertEqual([n.domain for n in once.graph.node], ["fuse"])
                    again = judge.optimize(once, "onnxruntime").model
                    wanted = activation_spellings.wanted(kind, 13, "onnxruntime", spelling.x_type)
                    if kind in ("mish", "hard swish"):  # which onnxruntime has as the standard does
                        self.assertEqual([n.domain for n in again.graph.node], ["fuse"])
                    else:
                        self.assertEqual([n.op_type for n in again.graph.node], [wanted])
                        self.assertEqual(list(again.functions), [])
                    self.assertEqual(list(judge.Original(spelling.model, spelling.feeds(), exact=False).differences(again)), [])

    def test_lookalikes(self):
        for name, (write, allowed) in LOOKALIKES.items():
            for target in judge.TARGETS:
                with self.subTest(name, target=target):
                    m = Model(17)
                    m.output(write(m, m.input("x", FLOAT, SHAPE)), FLOAT, SHAPE)
                    result = judge.optimize(m.proto(), target)
                    self.assertLessEqual(set(judge.activations(result.model)), allowed)
                    feeds = {"x": np.random.default_rng(3).normal(0, 2, SHAPE).astype(FLOAT)}
                    self.assertEqual(list(judge.Original(m.proto(), feeds, exact=False).differences(result.model)), [])

    def test_numbers_of_half_precision(self):
        """A root of 2 that is another half than the nearest is another number."""
        for root, found in ((np.float16(1.4142135), 1), (np.nextafter(np.float16(1.4142135), np.float16(2)), 0)):
            m = Model(17)
            x = m.input("x", HALF, SHAPE)
            half = lambda value: m.constant(np.array(value, HALF))
            curve = m.op("Erf", m.op("Div", x, half(root)))
            m.output(m.op("Mul", m.op("Mul", x, m.op("Add", curve, half(1))), half(0.5)), HALF, SHAPE)
            self.assertEqual(judge.activations(judge.optimize(m.proto()).model)["gelu"], found)

    def test_a_number_that_callers_may_override(self):
        m = Model(17)
        x, root = m.input("x", FLOAT, SHAPE), m.input("root", FLOAT, ())
        m.initializers.append(helper.make_tensor("root", TensorProto.FLOAT, (), [1.4142135]))
        m.output(gated(m, x, m.op("Erf", m.op("Div", x, root))), FLOAT, SHAPE)
        self.assertEqual(judge.activations(judge.optimize(m.proto()).model), {})


if __name__ == "__main__":
    unittest.main()
