# SPDX-License-Identifier: BSL-1.0
"""Batch norms behind layers with random attributes. FUSE_SEED and FUSE_BATCH_NORMS change where they start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import FLOAT, HALF, Model
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_BATCH_NORMS", 150 // judge.ONE_CASE_IN))


def setUpModule():
    print(f"seed {SEED}, {COUNT} layers")


class Layer:
    """A layer and a batch norm of it, by the choices of a seed or by those that are `fixed`."""

    def __init__(self, seed, fixed=None):
        self.draw = draw = Draw(seed, fixed)
        self.random = np.random.default_rng(seed)
        self.kind = draw("kind", "Conv", "ConvTranspose", "Gemm", "MatMul")
        self.dtype = {"float": FLOAT, "half": HALF}[draw("type", *["float"] * 3, "half")]
        self.m = Model(draw("opset", 17, *range(9, 24)), 8)
        self.biased = draw("bias", "there", "none") == "there"
        self.channels = draw("channels", 6, 4, 1)
        self.feeds = {}
        y, dims = {"Conv": self.convolution, "ConvTranspose": self.transposed, "Gemm": self.gemm, "MatMul": self.matmul}[self.kind]()
        self.use(y, dims)
        self.m.output(self.batch_norm(y), self.dtype, dims)
        self.model = self.m.proto()

    def use(self, y, dims):
        """For look-alikes."""

    def given(self, *shape, may_vary=True):
        self.feeds["x"] = self.random.normal(0, 1, shape).astype(self.dtype)
        symbols = may_vary and self.draw("dimensions", "fixed", "symbolic") == "symbolic"
        return self.m.input("x", self.dtype, ["batch", *shape[1:]] if symbols else shape)

    def numbers(self, *shape):
        return self.m.constant(self.random.normal(0, 0.5, shape).astype(self.dtype))

    def windows(self, axes):
        draw = self.draw
        how = {"kernel_shape": [3] * axes} if draw("kernel", "stated", "of the weights") == "stated" else {}
        how |= {"strides": [2] * axes} if draw("strides", 1, 2) == 2 else {}
        how |= {"dilations": [2] * axes} if draw("dilations", 1, 2) == 2 else {}
        pads = draw("pads", "none", "some", "automatic")
        if pads == "some":
            how["pads"] = [1] * axes + [0] * axes
        elif pads == "automatic" and "dilations" not in how:
            how["auto_pad"] = "SAME_UPPER"
        return how

    def convolution(self):
        axes = self.draw("axes", 2, 1)
        groups = self.draw("groups", 1, 2, "all")
        inputs = 4 if groups != "all" else self.channels
        groups = self.channels if groups == "all" else groups if self.channels % groups == 0 else 1
        x = self.given(2, inputs, *[9] * axes)
        bias = [self.numbers(self.channels)] if self.biased else []
        how = self.windows(axes) | ({"group": groups} if groups != 1 or self.draw("group", "stated", "left out") == "stated" else {})
        return self.m.op("Conv", x, self.numbers(self.channels, inputs // groups, *[3] * axes), *bias, **how), None

    def transposed(self):
        axes = self.draw("axes", 2, 1)
        bias = [self.numbers(self.channels)] if self.biased else []
        how = self.windows(axes)
        how.pop("auto_pad", None)
        return self.m.op("ConvTranspose", self.given(2, 4, *[5] * axes), self.numbers(4, self.channels, *[3] * axes), *bias, **how), None

    def gemm(self):
        draw, n = self.draw, self.channels
        how = {name: value for name in ("alpha", "beta") if (value := draw(name, 1.0, 0.5, 2.0)) != 1}
        flip = draw("transB", 0, 1)
        how |= {"transB": 1} if flip else {}
        shape = [(n,), (1, n), (4, n), ()][draw("bias shape", 0, 1, 2, 3)]
        x = self.given(4, 5, may_vary=shape != (4, n))
        bias = [self.numbers(*shape)] if self.biased or self.m.opset < 11 else []
        return self.m.op("Gemm", x, self.numbers(*((n, 5) if flip else (5, n))), *bias, **how), None

    def matmul(self):
        y = self.m.op("MatMul", self.given(4, 5), self.numbers(5, self.channels))
        if not self.biased:
            return y, None
        bias = self.numbers(self.channels)
        return (self.m.op("Add", y, bias) if self.draw("order", "written", "swapped") == "written" else self.m.op("Add", bias, y)), None

    def batch_norm(self, y):
        row = lambda least, most: self.m.constant(self.random.uniform(least, most, self.channels).astype(self.dtype))
        how = {"epsilon": self.draw("epsilon", 1e-5, 1e-3)}
        return self.m.op("BatchNormalization", y, row(-2, 2), row(-1, 1), row(-1, 1), row(0.25, 2), **how)


class Spelled(Layer):
    """The same with a batch norm as a formula, in a random bracketing."""

    def batch_norm(self, y):
        draw, op = self.draw, self.m.op
        spatial = draw.chosen["axes"][-1] if self.kind in ("Conv", "ConvTranspose") else 0
        leading = [1] if spatial and draw("batch axis of constants", "left out", "there") == "there" else []
        row = lambda least, most: self.m.constant(self.random.uniform(least, most, [*leading, self.channels, *[1] * spatial]).astype(self.dtype))
        scale, bias, mean, variance = row(0.5, 2), row(-1, 1), row(-1, 1), row(0.25, 2)
        swapped = lambda name, a, b: op(name, *((b, a) if draw("operands", "written", "swapped") == "swapped" else (a, b)))
        form = draw("form", "divided first", "one factor", "factor and shift", "scaled first", "folded before")
        if form == "folded before":
            return swapped("Add", swapped("Mul", y, scale), bias)
        deviation = op("Sqrt", swapped("Add", variance, self.m.constant(np.asarray(1e-3, self.dtype))))
        inverse = lambda: op("Reciprocal", deviation) if draw("inverse", "Reciprocal", "Div") == "Reciprocal" else op("Div", self.m.constant(np.asarray(1, self.dtype)), deviation)
        if form == "factor and shift":
            factor = op("Div", scale, deviation) if draw("factor", "Div", "Mul") == "Div" else swapped("Mul", scale, inverse())
            return swapped("Add", swapped("Mul", y, factor), op("Sub", bias, swapped("Mul", mean, factor)))
        centred = op("Sub", y, mean) if draw("minus", "Sub", "Neg") == "Sub" else swapped("Add", y, op("Neg", mean))
        if form == "divided first":
            divided = op("Div", centred, deviation) if draw("quotient", "Div", "Mul") == "Div" else swapped("Mul", centred, inverse())
            return swapped("Add", swapped("Mul", divided, scale), bias)
        if form == "one factor":
            return swapped("Add", swapped("Mul", centred, swapped("Mul", inverse(), scale)), bias)
        return swapped("Add", op("Div", swapped("Mul", centred, scale), deviation), bias)


def count(model, operator):
    return sum(node.op_type == operator for node in model.graph.node)


def of_the_input(graph):
    """The operators that compute something from the graph's inputs, and not from constants alone."""
    constants = {tensor.name for tensor in graph.initializer} | {""}
    names = {value.name for value in graph.input} - constants
    found = []
    for node in graph.node:
        if names.intersection(node.input):
            names.update(node.output)
            found.append(node.op_type)
    return found


class BatchNormTest(unittest.TestCase):
    def test_every_one_goes_into_the_layer(self):
        for seed in range(SEED, SEED + COUNT):
            layer = Layer(seed)
            original = judge.Original(layer.model, layer.feeds, exact=False)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(layer.draw.chosen)):
                    result = judge.optimize(layer.model, target, "--check")
                    self.assertEqual(count(result.model, "BatchNormalization"), 0, result.refusals())
                    self.assertEqual(count(result.model, "Gemm" if layer.kind == "MatMul" else layer.kind), 1)
                    self.assertEqual(result.miscounted(), [])
                    self.assertEqual(list(original.differences(result.model)), [])

    def test_every_formula_goes_into_the_layer(self):
        for seed in range(SEED, SEED + COUNT):
            layer = Spelled(seed)
            original = judge.Original(layer.model, layer.feeds, exact=False)
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices=dict(layer.draw.chosen)):
                    result = judge.optimize(layer.model, target, "--check")
                    left = of_the_input(result.model.graph)
                    self.assertEqual(left, ["Gemm"] if layer.kind == "MatMul" else [layer.kind], result.refusals())
                    self.assertEqual(result.miscounted(), [])
                    self.assertEqual(list(original.differences(result.model)), [])

    def test_a_layer_that_others_use_stays(self):
        class Used(Layer):
            def use(self, y, dims):
                self.m.output(y, self.dtype, dims)

        for kind in ("Conv", "ConvTranspose", "Gemm", "MatMul"):
            with self.subTest(kind):
                layer = Used(SEED, {"kind": kind, "type": "float"})
                self.assertEqual(count(judge.optimize(layer.model).model, "BatchNormalization"), 1)


if __name__ == "__main__":
    unittest.main()
