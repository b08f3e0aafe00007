# SPDX-License-Identifier: BSL-1.0
"""Layers with constants before them, beside each other, and matrix products with a bias. FUSE_SEED and FUSE_LAYERS change where they start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, Model, check
from spellings import Draw
from test_batch_norm import Layer, of_the_input

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_LAYERS", 40 // judge.ONE_CASE_IN))


class Before(Layer):
    """A layer, and before it constants in random order and spelling that multiply its input channels and are added to them."""

    def given(self, *shape, may_vary=True):
        x = super().given(*shape, may_vary=may_vary)
        draw, axis = self.draw, 1 if len(shape) > 2 else -1
        self.chain = []
        for _ in range(draw("constants before", 1, 2, 3)):
            rows = [shape[axis], *[1] * (len(shape) - 2)] if draw("constant", "row", "number") == "row" else draw("shape of a number", [], [1])
            leading = [1] * (len(shape) - len(rows)) if draw("leading axes", "left out", "there") == "there" else []
            c = self.m.constant(self.random.uniform(0.5, 2, [*leading, *rows]).astype(self.dtype))
            self.chain.append(draw("operator before", "Mul", "Div", "Add", "Sub"))
            swapped = self.chain[-1] in ("Mul", "Add") and draw("operands before", "written", "swapped") == "swapped"
            x = self.m.op(self.chain[-1], *((c, x) if swapped else (x, c)))
        return x

    def batch_norm(self, y):
        return y


class Together:
    """Layers of one input, whose weights may be transposed before them, added or side by side; `wrong` names what is not as it should be."""

    width = 4

    def __init__(self, seed, wrong=None):
        self.begin(seed, wrong)
        m, draw = self.m, self.draw
        self.added = draw("together", "side by side", "added") == "added"
        x, rows = self.input()
        columns = [5] * 4 if self.added else [draw("columns", 5, 2, 1, 3) for _ in range(4)]
        count = 2 if wrong else draw("how many", 2, 2, 3, 4)
        parts = [self.layer(x, columns[i], i) for i in range(count)]
        if wrong == "others read one":
            m.output(m.op("ReduceMax", m.op("Abs", parts[0]), keepdims=0), self.dtype, [])
        if self.added:
            y = parts[0]
            for part in parts[1:]:
                y = m.op("Add", *((y, part) if draw("operands", "written", "swapped") == "written" else (part, y)))
        else:
            last = len(rows)
            y = m.op("Concat", *parts, axis=last if m.opset < 11 or draw("axis", "first", "last") == "first" else -1)
        m.output(y, self.dtype, [f"y {i}" for i in range(len(rows) + 1)])
        self.model = m.proto()

    def begin(self, seed, wrong):
        self.draw, self.wrong, self.random = Draw(seed), wrong, np.random.default_rng(seed)
        draw = self.draw
        self.m = Model(draw("opset", 17, 13, 21, *range(9, 24)), 8)
        self.dtype = {"float": FLOAT, "double": DOUBLE}[draw("type", *["float"] * 4, "double")]
        self.kind = draw("kind", "MatMul", "MatMul with a bias", "Gemm", "Gemm")
        self.turned = self.kind == "Gemm" and draw("transB", False, True)
        self.factors = {"alpha": draw("alpha", 1.0, 0.5), "beta": draw("beta", 1.0, 2.0)} if self.kind == "Gemm" else {}

    def input(self):
        rows = [3] if self.kind == "Gemm" else self.draw("rows", [3], [2, 3], [2, 1, 3])
        self.feeds = {"x": self.numbers([*rows, self.width])}
        return self.m.input("x", self.dtype, [*["batch"][: len(rows)], *rows[1:], self.width]), rows

    def numbers(self, shape):
        return self.random.normal(0, 1, shape).astype(self.dtype)

    def layer(self, x, columns, number):
        m, draw, wrong = self.m, self.draw, self.wrong if number == 1 else None
        if wrong == "another input":
            x = m.op("Abs", x)
        shape = [columns, self.width] if self.turned else [self.width, columns]
        if draw("weights", "as they are", "as they are", "transposed") == "transposed":
            w = m.op("Transpose", m.constant(self.numbers(shape[::-1])), perm=[1, 0])
        elif wrong == "computed weights":
            w = m.input("w", self.dtype, shape)
            self.feeds["w"] = self.numbers(shape)
        else:
            w = m.constant(self.numbers(shape))
        if wrong == "others read the weights":
            m.output(m.op("ReduceMax", m.op("Flatten", m.op("Abs", w), axis=0), keepdims=0), self.dtype, [])
        if self.kind == "Gemm":
            factors = {"alpha": 0.25} if wrong == "other factors" else self.factors
            y = m.op("Gemm", x, w, m.constant(self.numbers([columns])), **factors, **({"transB": 1} if self.turned else {}))
        else:
            y = m.op("MatMul", x, w)
        if self.kind == "MatMul with a bias":
            b = m.constant(self.numbers([columns]))
            y = m.op("Add", *((y, b) if draw("bias", "behind", "before") == "behind" else (b, y)))
        return m.op("Relu", y) if wrong == "an activation" else y


class Apart(Together):
    """Layers of one input whose results go different ways; narrow, so that it moves less to cut one result than to read the input again."""

    width = 32

    def __init__(self, seed, wrong=None):
        self.begin(seed, wrong)
        m, draw = self.m, self.draw
        x, rows = self.input()
        for i in range(2 if wrong else draw("how many", 2, 3)):
            columns = self.width if wrong == "wide layers" else draw("columns", 5, 2, 1, 3)
            y = self.layer(x, columns, i)
            y = draw("goes", lambda: y, lambda: m.op("Abs", y), lambda: m.op("Exp", m.op("Neg", m.op("Abs", y))))()
            m.output(y, self.dtype, [*[f"y {i} {k}" for k in range(len(rows))], columns])
        self.model = m.proto()


def expected(layer):
    """The operators that are left, or None where some constants stay: those of groups, and of what is padded."""
    groups = [a.i for n in layer.m.nodes if n.op_type == "Conv" for a in n.attribute if a.name == "group"]
    shifted = {"Add", "Sub"} & set(layer.chain)
    padded = layer.kind == "Conv" and layer.draw.chosen["pads"] != ["none"]
    if groups not in ([], [1]) or (shifted and (padded or (layer.kind == "MatMul" and not layer.biased))):
        return None
    return ["Gemm"] if layer.kind == "MatMul" and layer.biased else [layer.kind]


class LinearTest(unittest.TestCase):
    def test_constants_go_into_the_layer_behind_them(self):
        print(f"seed {SEED}, {COUNT} layers")
        went = 0
        for seed in range(SEED, SEED + COUNT):
            for kind in ("Conv", "Gemm", "MatMul"):
                layer = Before(seed, {"kind": kind})
                original = judge.Original(layer.model, layer.feeds, exact=False)
                for target in judge.TARGETS:
                    with self.subTest(seed=seed, target=target, choices=dict(layer.draw.chosen)):
                        result = judge.optimize(layer.model, target)
                        left, wanted = of_the_input(result.model.graph), expected(layer)
                        if wanted is not None:
                            self.assertEqual(left, wanted, result.refusals())
                            went += 1
                        self.assertEqual(result.miscounted(), [])
                        self.assertEqual(list(original.differences(result.model)), [])
        self.assertGreater(went, COUNT)

    def rewritten(self, case):
        for target in judge.TARGETS:
            result = judge.optimize(case.model, target)
            if target == "onnx":
                check(result.model)
            self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
            self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
            self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
            yield [n.op_type.removeprefix("Fused") for n in result.model.graph.node], result.refusals()

    def test_layers_of_one_input_are_one(self):
        for seed in range(SEED, SEED + COUNT):
            case = Together(seed)
            with self.subTest(seed=seed, choices=dict(case.draw.chosen)):
                for left, refusals in self.rewritten(case):
                    biased = case.kind == "MatMul with a bias"
                    self.assertEqual(sum(op in ("MatMul", "Gemm") for op in left), 1, refusals)
                    self.assertLessEqual(set(left), {"MatMul", "Gemm", "Add"} if biased else {case.kind}, refusals)
                    if not case.added:
                        self.assertIn(left, [["MatMul", "Add"], ["Gemm"]] if biased else [[case.kind]], refusals)

    def test_narrow_layers_that_go_different_ways_are_one(self):
        for seed in range(SEED, SEED + COUNT):
            case = Apart(seed)
            with self.subTest(seed=seed, choices=dict(case.draw.chosen)):
                for left, refusals in self.rewritten(case):
                    self.assertEqual(sum(op in ("MatMul", "Gemm") for op in left), 1, refusals)
                    self.assertEqual(left.count("Split"), 1, refusals)

    def test_other_layers_that_go_different_ways_stay(self):
        for wrong in ("another input", "computed weights", "others read the weights", "other factors", "wide layers"):
            for seed in range(SEED, SEED + 8):
                case = Apart(seed, wrong)
                if wrong == "computed weights" and "w" not in case.feeds or wrong == "other factors" and case.kind != "Gemm":
                    continue
                with self.subTest(seed=seed, wrong=wrong, choices=dict(case.draw.chosen)):
                    for left, _ in self.rewritten(case):
                        self.assertEqual(sum(op in ("MatMul", "Gemm") for op in left), 2)

    def test_other_layers_stay(self):
        for wrong in ("another input", "computed weights", "others read the weights", "others read one", "an activation", "other factors"):
            for seed in range(SEED, SEED + 8):
                case = Together(seed, wrong)
                if wrong == "computed weights" and "w" not in case.feeds or wrong == "other factors" and case.kind != "Gemm":
                    continue
                with self.subTest(seed=seed, wrong=wrong, choices=dict(case.draw.chosen)):
                    for left, _ in self.rewritten(case):
                        self.assertEqual(sum(op in ("MatMul", "Gemm") for op in left), 2)


if __name__ == "__main__":
    unittest.main()
