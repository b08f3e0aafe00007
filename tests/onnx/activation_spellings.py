#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes activations in random spellings, runs fuse on them and says what became of each.

    activation_spellings.py [--count N] [--seed S] [--fix DIMENSION=CHOICE ...]

Everything follows from the seed: one draw for each dimension, printed with each failure.
"""

import argparse
import collections
import sys

import numpy as np

import judge
from build import BFLOAT16, DOUBLE, FLOAT, HALF, Model, check
from spellings import Draw

KINDS = ("gelu", "gelu by tanh", "silu", "quick gelu", "swish", "mish", "hard swish", "softmax", "log softmax", "bias gelu", "bias gelu by tanh")
# what x is and what is computed in
TYPES = {"float": (FLOAT, FLOAT), "half": (HALF, HALF), "double": (DOUBLE, DOUBLE), "half-island": (HALF, FLOAT),
         "double-island": (FLOAT, DOUBLE), "bfloat16": (BFLOAT16, BFLOAT16), "bfloat16-island": (BFLOAT16, FLOAT)}
OLDEST = {"gelu": 9, "gelu by tanh": 7, "silu": 7, "quick gelu": 7, "swish": 7, "mish": 7, "hard swish": 7, "softmax": 7, "log softmax": 7,
          "bias gelu": 9, "bias gelu by tanh": 7}
ERF = {"gelu", "bias gelu"}


def wanted(kind, opset, target, dtype):
    """The operator that stands for an activation, without its variant."""
    old = kind.removeprefix("bias ")
    if target == "onnxruntime" and kind != old and dtype != DOUBLE:
        return {"gelu": "BiasGelu", "gelu by tanh": "FastGelu"}[old]
    if old == "gelu":
        return "Gelu"
    if old == "gelu by tanh":
        return "FastGelu" if target == "onnxruntime" and dtype != DOUBLE else "Gelu"
    if old in ("silu", "quick gelu", "swish"):
        return "QuickGelu" if target == "onnxruntime" else "Swish"
    return {"mish": "Mish", "hard swish": "HardSwish", "softmax": "Softmax", "log softmax": "LogSoftmax"}[old]


class Spelling:
    """One model, and what must become of it."""

    def __init__(self, seed, fixed=None):
        self.seed, self.draw = seed, Draw(seed, fixed)
        draw = self.draw
        self.kind = draw("kind", *KINDS)
        self.types = draw("types", *["float"] * 6, *TYPES)
        self.x_type, self.type = TYPES[self.types]
        low = max(OLDEST[self.kind], 13 if BFLOAT16 in (self.x_type, self.type) else 0)
        if self.kind == "hard swish" and self.type == DOUBLE:
            low = max(low, 8)  # Clip has no doubles, Min and Max broadcast from there on
        self.opset = draw("opset", 17, *range(low, 25))
        self.m = Model(self.opset, draw("ir", 8, 9, 10))
        self.rank = draw("rank", 3, 2, 4, 1) if not self.kind.startswith("bias") else draw("rank", 3, 2, 4)
        self.extents = [4, 3, 2, 5][-self.rank:]
        dynamic = draw("dimensions", "fixed", "symbolic")
        self.shape = [f"d{k}" if dynamic == "symbolic" and k < self.rank - 1 else e for k, e in enumerate(self.extents)]
        self.identity = draw("identity", "none", "none", "some") == "some"
        self.x = self.start = self._producer()
        self.axis = self.rank - 1
        y = self._wide(getattr(self, "_" + self.kind.replace(" ", "_")))
        self._consumer(y)
        self.model = self.m.proto()
        self.runnable = BFLOAT16 not in (self.x_type, self.type) and not (self.type == DOUBLE and self.kind in ERF)

    # ---- operators as this spelling writes them

    def op(self, operator, *operands, **attributes):
        value = self.m.op(operator, *operands, **attributes)
        if self.identity and self.draw.generator(f"identity {value}").random() < 0.15:
            value = self.m.op("Identity", value)
        return value

    def number(self, value):
        """A constant that is one number, as exporters write it."""
        shape = self.draw("shape of a number", (), (1,), (1,) * max(1, self.rank))
        digits = self.draw("digits of a number", "all", "all", "rounded")
        if digits == "rounded" and self.type != DOUBLE:
            value = float(f"{value:.7g}")
        array = np.full(shape, value, self.type)
        form = self.draw("constant", "initializer", "node", "identity", "cast")
        if form == "identity":
            return self.op("Identity", self.m.constant(array))
        if form == "cast" and self.type != BFLOAT16:
            return self.m.cast(self.m.constant(np.full(shape, value, DOUBLE)), self.type)
        return self.m.constant(array, "node" if form == "node" else "initializer")

    def commuted(self, operator, a, b):
        return self.op(operator, b, a) if self.draw("operand order", "written", "swapped") == "swapped" else self.op(operator, a, b)

    def add(self, a, b):
        return self.commuted("Add", a, b)

    def mul(self, *factors):
        """A product in some order and bracketing."""
        factors = list(factors)
        while len(factors) > 1:
            k = self.draw(f"bracketing of {len(factors)}", *range(len(factors) - 1))
            factors[k:k + 2] = [self.commuted("Mul", factors[k], factors[k + 1])]
        return factors[0]

    def times(self, value, number):
        """value * number, or divided by its inverse."""
        if self.draw("scaled by", "Mul", "Div") == "Div":
            return self.op("Div", value, self.number(1 / number))
        return self.mul(value, self.number(number))

    def negated(self, value):
        if self.draw("negated", "Neg", "* -1") == "Neg":
            return self.op("Neg", value)
        return self.mul(value, self.number(-1))

    def reads(self):
        """x in the type that is computed in, in one Cast or several."""
        if self.x_type == self.type:
            return self.x
        if self.shared is None or self.draw("Casts of x", "one", "several") == "several":
            self.shared = self.m.cast(self.x, self.type)
        return self.shared

    def _wide(self, write):
        self.shared = None
        y = write()
        return y if self.x_type == self.type else self.m.cast(y, self.x_type)

    # ---- the graph around it

    def _producer(self):
        x = self.m.input("x", self.x_type, self.shape)
        form = self.draw("x is", "an input", "a sum", "a Relu", "a product")
        if self.kind.startswith("bias"):
            return x
        if form == "a sum" and self.rank > 1:  # else it is one with a bias
            return self.m.op("Add", x, self.m.input("x2", self.x_type, self.shape))
        if form == "a product":
            return self.m.op("Mul", x, self.m.input("x2", self.x_type, self.shape))
        return self.m.op("Tanh", x) if form == "a Relu" else x

    def _consumer(self, y):
        form = self.draw("y goes to", "the output", "an Abs", "a gate", "a residual")
        if form == "an Abs":  # (a Relu would leave nothing of a log-softmax)
            y = self.m.op("Abs", y)
        elif form == "a gate":
            y = self.m.op("Mul", y, self.m.input("gate", self.x_type, self.shape))
        elif form == "a residual":
            y = self.m.op("Add", y, self.m.input("residual", self.x_type, self.shape))
        self.m.output(y, self.x_type, self.shape)

    # ---- the activations

    def _gated(self, curve):
        """0.5 * x * (1 + curve) in its bracketings."""
        x = self.reads
        form = self.draw("gate", "1 + curve", "0.5 + 0.5 curve", "distributed")
        if form == "distributed":
            half = self.times(x(), 0.5)
            again = half if self.draw("half of x computed", "once", "again") == "once" else self.times(x(), 0.5)
            return self.add(half, self.mul(again, curve()))
        if form == "0.5 + 0.5 curve":
            return self.mul(x(), self.add(self.number(0.5), self.times(curve(), 0.5)))
        gate = self.add(self.number(1), curve())
        form = self.draw("halved", "0.5 factor", "/ 2", "gate halved", "x halved")
        if form == "/ 2":
            return self.op("Div", self.mul(x(), gate), self.number(2))
        if form == "gate halved":
            return self.mul(x(), self.times(gate, 0.5))
        if form == "x halved":
            return self.mul(self.times(x(), 0.5), gate)
        return self.mul(x(), gate, self.number(0.5))

    def _gelu(self):
        root = self.draw("root of 2", 1.4142135623730951, 1.4142135381698608, 1.41421356, 1.41421, 1.4142)
        if self.type == DOUBLE:
            root = 1.4142135623730951
        return self._gated(lambda: self.op("Erf", self.times(self.reads(), 1 / root)))

    def _gelu_by_tanh(self):
        x, factor, root = self.reads, 0.044715, 0.7978845608028654

        def cube():
            form = self.draw("cube", "Pow", "x * x * x", "x * Pow 2")
            if form == "Pow":
                return self.op("Pow", x(), self.number(3))
            return self.mul(x(), x(), x()) if form == "x * x * x" else self.mul(x(), self.op("Pow", x(), self.number(2)))

        def argument():
            form = self.draw("argument", "x + c x^3", "x (1 + c x^2)", "distributed", "x + c x x^2")
            if form == "x + c x^3":
                return self.mul(self.add(x(), self.mul(self.number(factor), cube())), self.number(root))
            if form == "x (1 + c x^2)":
                return self.mul(x(), self.number(root), self.add(self.number(1), self.mul(self.number(factor), x(), x())))
            if form == "distributed":
                return self.add(self.mul(self.number(root), x()), self.mul(self.number(root * factor), cube()))
            return self.mul(self.add(x(), self.mul(self.number(factor), x(), x(), x())), self.number(root))

        if self.draw("curve", "tanh", "tanh", "tanh", "sigmoid") == "sigmoid":
            return self.mul(x(), self.op("Sigmoid", self.mul(argument(), self.number(2))))
        return self._gated(lambda: self.op("Tanh", argument()))

    def _bias(self):
        bias = self.m.constant(self.draw.array("bias", self.extents[-1:]).astype(self.x_type))
        self.x = self.commuted("Add", self.start, bias)

    def _bias_gelu(self):
        self._bias()
        return self._gelu()

    def _bias_gelu_by_tanh(self):
        self._bias()
        return self._gelu_by_tanh()

    def _gate_by_sigmoid(self, alpha):
        x = self.reads
        form = self.draw("sigmoid", "Sigmoid", "1 / (1 + exp)", "x / (1 + exp)")
        scaled = (lambda: x()) if alpha == 1 else (lambda: self.times(x(), alpha))
        if form == "Sigmoid":
            return self.mul(x(), self.op("Sigmoid", scaled()))
        with_minus = self.draw("minus", "of the product", "in the number") == "in the number"
        below = self.add(self.number(1), self.op("Exp", self.times(x(), -alpha) if with_minus else self.negated(scaled())))
        if form == "x / (1 + exp)":
            return self.op("Div", x(), below)
        return self.mul(x(), self.op("Reciprocal", below) if self.draw("inverse", "Reciprocal", "1 /") == "Reciprocal" else self.op("Div", self.number(1), below))

    def _silu(self):
        return self._gate_by_sigmoid(1)

    def _quick_gelu(self):
        return self._gate_by_sigmoid(1.702)

    def _swish(self):
        return self._gate_by_sigmoid(self.draw("alpha", 0.5, 1.25, 2, 1.5))

    def _mish(self):
        form = "log(1 + exp)" if self.type == DOUBLE else self.draw("softplus", "Softplus", "log(1 + exp)")
        plus = self.op("Softplus", self.reads()) if form == "Softplus" else self.op("Log", self.add(self.op("Exp", self.reads()), self.number(1)))
        return self.mul(self.reads(), self.op("Tanh", plus))

    def _held(self, value, most):
        """value between 0 and `most`."""
        forms = ["Min of Max"] * (self.opset >= 8) + ["Max of Min"] * (self.opset >= 8) + ["Min of Relu"] * (self.opset >= 8)
        forms += ["Clip"] * (self.type != BFLOAT16 and (self.opset >= 12 or (self.type != DOUBLE)))
        form = self.draw("clip", *forms[::-1])
        bound = lambda n: self.m.constant(np.array(n, self.type), self.draw("bound", "initializer", "node"))
        if form == "Clip":
            return self.op("Clip", value, bound(0), bound(most)) if self.opset >= 11 else self.op("Clip", value, min=0.0, max=float(most))
        if form == "Min of Relu":
            return self.commuted("Min", self.op("Relu", value), bound(most))
        if form == "Min of Max":
            return self.commuted("Min", self.commuted("Max", value, bound(0)), bound(most))
        return self.commuted("Max", self.commuted("Min", value, bound(most)), bound(0))

    def _hard_swish(self):
        x = self.reads
        form = self.draw("hard sigmoid", "clip of x + 3", "clip of x / 6 + 0.5", "HardSigmoid")
        if form == "HardSigmoid" and self.type not in (BFLOAT16, DOUBLE):
            return self.mul(x(), self.op("HardSigmoid", x(), alpha=1 / 6, beta=0.5))
        if form == "clip of x / 6 + 0.5":
            return self.mul(x(), self._held(self.add(self.times(x(), 1 / 6), self.number(0.5)), 1))
        held = self._held(self.add(x(), self.number(3)), 6)
        form = self.draw("sixth", "last", "of x", "of the clip")
        if form == "last":
            return self.times(self.mul(x(), held), 1 / 6)
        return self.mul(self.times(x(), 1 / 6), held) if form == "of x" else self.mul(x(), self.times(held, 1 / 6))

    def _reduced(self, operator, value):
        axis = self.draw("sign of the axis", self.axis - self.rank, self.axis)
        axes_are_operand = self.opset >= (13 if operator == "ReduceSum" else 18)
        axis = axis if self.opset >= 11 else self.axis
        kept = self.draw("axes kept", "kept", "unsqueezed") == "kept"
        axes = {} if axes_are_operand else {"axes": [axis]}
        result = self.op(operator, value, *([self.m.integers(axis)] if axes_are_operand else []), keepdims=int(kept), **axes)
        return result if kept else self.m.unsqueeze(result, [axis])

    def _softmax(self):
        self.axis = self.draw("axis", *([self.rank - 1] * 2 + list(range(self.rank)) * (self.opset >= 13)))
        self.maximum = self.draw("maximum", "taken away", "taken away", "not") == "taken away"
        shifted = self._shifted()
        raised = self.op("Exp", shifted)
        again = raised if self.draw("exp computed", "once", "once", "again") == "once" else self.op("Exp", shifted)
        total = self._reduced("ReduceSum", again)
        return self.op("Div", raised, total) if self.draw("divided", "Div", "Mul") == "Div" else self.mul(raised, self.op("Reciprocal", total))

    def _shifted(self):
        x = self.reads()
        if self.maximum:
            largest = self._reduced("ReduceMax", x)
            return self.op("Sub", x, largest) if self.draw("shifted", "Sub", "Add") == "Sub" else self.add(x, self.op("Neg", largest))
        return x

    def _log_softmax(self):
        self.axis = self.draw("axis", *([self.rank - 1] * 2 + list(range(self.rank)) * (self.opset >= 13)))
        self.maximum = self.draw("maximum", "taken away", "taken away", "not") == "taken away"
        form = self.draw("logarithm", "of the sum", "of a Softmax", "of primitives", "ReduceLogSumExp", "ReduceLogSum", "max back")
        x = self.reads()
        if form == "of a Softmax":
            return self.op("Log", self.op("Softmax", x, axis=self.axis if self.opset < 11 else self.axis - self.rank))
        if form == "of primitives":
            raised = self.op("Exp", self._shifted())
            return self.op("Log", self.op("Div", raised, self._reduced("ReduceSum", raised)))
        if form == "ReduceLogSumExp":
            shifted = self._shifted()
            return self.op("Sub", shifted, self._reduced("ReduceLogSumExp", shifted))
        if form == "ReduceLogSum":
            shifted = self._shifted()
            return self.op("Sub", shifted, self._reduced("ReduceLogSum", self.op("Exp", shifted)))
        shifted = self._shifted()
        logarithm = self.op("Log", self._reduced("ReduceSum", self.op("Exp", shifted)))
        if form == "max back" and self.maximum:
            return self.op("Sub", x, self.add(logarithm, self._reduced("ReduceMax", x)))
        return self.op("Sub", shifted, logarithm)

    def feeds(self):
        values = {}
        for value in self.model.graph.input:
            numbers = np.random.default_rng([self.seed, len(values)])
            tensor = value.type.tensor_type
            values[value.name] = numbers.normal(0, 2, self.extents).astype({1: FLOAT, 11: DOUBLE, 10: HALF, 16: BFLOAT16}[tensor.elem_type])
        return values


def operators(model):
    """The operators of a model that are activations, or calls of functions that stand in for them."""
    return collections.Counter(n.op_type.split("_")[0] if n.domain == "fuse" else n.op_type for n in judge.walk(model.graph) if judge.activation_kind(n))


def verdict(spelling, target, original=None):
    """None if fuse does right by it, else a sentence that begins with its kind."""
    try:
        result = judge.optimize(spelling.model, target)
    except AssertionError as error:
        return f"failed: {error}"
    found, name = operators(result.model), wanted(spelling.kind, spelling.opset, target, spelling.x_type)
    lacks_kernel = spelling.kind in ("hard swish", "mish") and spelling.x_type == DOUBLE
    declined = lacks_kernel and target == "onnxruntime"
    if found != ({} if declined else {name: 1}):
        reasons = sorted({f"{r['rule']}: {r.get('condition', '')}: {r['reason']}" for r in result.refusals()})
        return f"count: {dict(found)} found, {name} wanted; " + "; ".join(reasons[:4])
    meant = spelling.kind.removeprefix("bias ")
    if not declined and judge.activations(result.model) != {meant: 1}:
        return f"meaning: {dict(judge.activations(result.model))} found, {meant} wanted"
    left = judge.primitives(result.model)
    for operator in ("Erf", "Sigmoid", "Exp", "Log", "Clip", "ReduceSum", "ReduceMax", "Pow", "Softplus", "HardSigmoid"):
        if left[operator] and not declined:
            return f"leftover: {operator}"
    if judge.interface(result.model) != judge.interface(spelling.model):
        return "interface: inputs, outputs or opset changed"
    if notes := [note for note in result.report["notes"] if "check" in note]:
        return f"unchecked: {notes}"
    if target == "onnx":
        try:
            check(result.model)
        except Exception as error:  # the message is what matters
            return f"checker: {str(error)[:300]}"
    if spelling.runnable:
        original = original or judge.Original(spelling.model, spelling.feeds(), exact=False)
        levels = judge.LEVELS if not lacks_kernel or declined else ()
        for sentence in original.differences(result.model, levels):
            return f"result: {sentence}"
    return None


def judge_seed(seed, fixed=None, targets=judge.TARGETS):
    """The spelling and its verdicts by target."""
    spelling = Spelling(seed, fixed)
    original = judge.Original(spelling.model, spelling.feeds(), exact=False) if spelling.runnable else None
    return spelling, {t: v for t in targets if (v := verdict(spelling, t, original))}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--fix", action="append", default=[], metavar="DIMENSION=CHOICE")
    chosen = options.parse_args()
    fixed = dict(f.split("=", 1) for f in chosen.fix)
    passed, failed = collections.Counter(), collections.Counter()
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        spelling, verdicts = judge_seed(seed, fixed)
        for target in judge.TARGETS:
            tally = failed if target in verdicts else passed
            tally["all", target] += 1
            for dimension, values in spelling.draw.chosen.items():
                for value in set(map(str, values)):
                    tally[dimension, value] += 1
        for target, sentence in verdicts.items():
            print(f"  {seed} {target} {spelling.kind}: {sentence}", flush=True)
    for key in sorted(passed | failed, key=str):
        good, bad = passed[key], failed[key]
        if bad or key[0] == "all":
            print(f"{100 * good / (good + bad):6.1f} % of {good + bad:5}  {key[0]}: {key[1]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
