# SPDX-License-Identifier: BSL-1.0
"""Models drawn at random from the operators that rules know, with constants that are easily taken for neutral ones: whatever rules make of them, onnxruntime computes the same. FUSE_SEED and FUSE_DRAWN_MODELS change where they start and how many there are."""

import os
import unittest

import numpy as np
from onnx import helper

import judge
from build import DOUBLE, FLOAT, Model, tensor_type
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 1))
COUNT = int(os.environ.get("FUSE_DRAWN_MODELS", 120 // judge.ONE_CASE_IN))
INTEGER, BOOL = np.dtype("int64"), np.dtype("bool")
# Of the largest number of a result: what reassociation moves, and that attributes are floats; far below what a mistake does.
TOLERANCE = {FLOAT: 2e-4, DOUBLE: 3e-7}


class Drawn:
    """Up to 14 operators. Each is run as it is added, and left out where it does not run: so its shape and numbers are known."""

    def __init__(self, seed):
        self.draw = Draw(seed)
        self.numbers = np.random.default_rng(seed)
        self.dtype = self.draw("type", DOUBLE, DOUBLE, FLOAT)
        self.m = Model(self.draw("opset", *range(13, 24)), 8)
        self.values, self.constants, self.feeds = {}, {}, {}
        for name in ("x", "y")[: self.draw("inputs", 1, 2)]:
            self.add_input(name, self.numbers.normal(0, 1, self.draw("shape", (2, 3), (3, 3), (2, 3, 4), (3, 3, 3), (1, 4), (2, 4, 5, 5), (1, 3, 1, 4), (4,), ())).astype(self.dtype))
        if self.draw("integers", False, False, True):
            self.add_input("i", self.numbers.integers(-4, 5, self.draw("shape of integers", (3,), (2, 3), ())))
        for _ in range(self.draw("operators", 4, 8, 14)):
            getattr(self, self.draw("kind", *KINDS))()
        self.outputs()
        self.model = self.m.proto()

    def add_input(self, name, value):
        symbolic = self.draw("extents", "known", "known", "symbolic") == "symbolic"
        self.m.input(name, value.dtype, [f"{name}{k}" if symbolic and self.draw("extent", True, False) else n for k, n in enumerate(value.shape)])
        self.values[name] = self.feeds[name] = value

    def outputs(self):
        made = [n for n in self.values if n not in self.feeds] or [self.m.op("Identity", "x", into="same")]
        self.values.setdefault("same", self.feeds["x"])
        read = {operand for node in self.m.nodes for operand in node.input}
        for name in made:
            if name not in read or self.draw("output", False, False, False, True):
                self.m.output(name, self.values[name].dtype, [None] * self.values[name].ndim)

    def runs(self):
        """Whether it runs as a whole: where a shape is known to inference, onnxruntime refuses what it runs otherwise."""
        try:
            self.before = judge.execute(self.model, self.feeds)
            return True
        except Exception:
            return False

    def op(self, operator, *operands, outputs=1, **attributes):
        """Adds the operator if it runs on what is there."""
        before = len(self.m.nodes)
        names = self.m.op(operator, *operands, outputs=outputs, **attributes)
        names = [names] if outputs == 1 else names
        one, feeds = Model(self.m.opset, 8), {}
        one.nodes = self.m.nodes[before:]
        for name in dict.fromkeys(filter(None, operands)):
            feeds[name] = self.values.get(name, self.constants.get(name))
            one.input(name, feeds[name].dtype, feeds[name].shape)
        try:
            one.outputs = [helper.make_empty_tensor_value_info(n) for n in names]
            results = judge.execute(one.proto(), feeds)
        except Exception:
            results = None
        if results is None or any(v.size > 4096 or v.size == 0 or v.dtype not in (FLOAT, DOUBLE, INTEGER, BOOL) for v in results.values()):
            del self.m.nodes[before:]
            return None
        self.values |= {name: results[name] for name in names}
        return names[0]

    # ---- operands

    def value(self, dtype=None, rank=None):
        fitting = [n for n, v in self.values.items() if v.dtype == (dtype or self.dtype) and (rank is None or v.ndim == rank)]
        if not fitting:
            return "x"
        return self.draw("which", *(fitting[-3:] * 2 + fitting))

    def constant(self, value):
        value = np.asarray(value)
        alike = [n for n, v in self.constants.items() if v.dtype == value.dtype and v.shape == value.shape]
        if alike and self.draw("shared", False, False, True):
            return self.draw("which constant", *alike)
        name = self.m.constant(value, self.draw("constant", "initializer", "initializer", "node"))
        self.constants[name] = value
        return name

    def row(self, shape, dtype):
        """A constant that broadcasts with the shape, or makes it larger."""
        kind = self.draw("extents of a constant", "number", "number", "one", "last", "channels", "all", "some", "larger")
        ones = [1] * len(shape)
        if kind == "number" or not shape:
            extents = ()
        elif kind == "one":
            extents = (1,) * self.draw("rank of one", 1, len(shape), len(shape) + 1)
        elif kind == "last":
            extents = shape[-1:]
        elif kind == "channels":
            at = self.draw("axis", *range(len(shape)))
            extents = (*ones[:at], shape[at], *ones[at + 1:])
        elif kind == "all":
            extents = shape
        elif kind == "some":
            extents = tuple(n if self.draw("kept", True, False) else 1 for n in shape)
        else:
            extents = (2, *shape) if self.draw("how", True, False) else tuple(2 if n == 1 else n for n in shape)
        how = self.draw("contents", "drawn", "drawn", "drawn", "uniform", "uniform", "neutral")
        if how == "drawn":
            numbers = self.numbers.normal(0, 2, extents)
        else:
            number = self.draw("number", 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -2.0, 1e-3) if how == "uniform" else self.draw("neutral", 0.0, -0.0, 1.0)
            numbers = np.full(extents, number)
        if dtype == INTEGER:
            numbers = np.where(np.round(numbers) == 0, 1, np.round(numbers)) if self.draw("no zero", True, True, False) else np.round(numbers)
        return self.constant(numbers.astype(dtype))

    # ---- kinds of operators

    def unary(self):
        self.op(self.draw("unary", "Neg", "Abs", "Sqrt", "Exp", "Log", "Reciprocal", "Tanh", "Sigmoid", "Relu", "Identity", "Dropout", "Erf", "Sin", "Softplus", "Floor"), self.value())

    def binary(self):
        a = self.value()
        b = self.value() if self.draw("with", "value", "constant", "constant") == "value" else self.row(self.values[a].shape, self.dtype)
        a, b = (b, a) if self.draw("swapped", False, True) else (a, b)
        self.op(self.draw("binary", "Add", "Sub", "Mul", "Div", "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"), a, b)

    def again(self):
        """An operator that is there once more, with what it gave, or with another number."""
        operator = self.draw("repeated", "Mul", "Add", "Div", "Sub", "Neg", "Reciprocal", "Pow")
        y = self.value()
        for _ in range(2):
            if y is not None:
                y = self.op(operator, y) if operator in ("Neg", "Reciprocal") else self.op(operator, *self.draw("order", *([y, self.row(self.values[y].shape, self.dtype)],) * 2, [self.row(self.values[y].shape, self.dtype), y]))

    def integer(self):
        a = self.value(INTEGER)
        if self.values[a].dtype == INTEGER:
            b = self.row(self.values[a].shape, INTEGER) if self.draw("with", "value", "constant", "constant") == "constant" else self.value(INTEGER)
            self.op(self.draw("integer", "Add", "Sub", "Mul", "Div", "Neg", "Abs", "Mul", "Div"), *((a, b) if self.draw("swapped", False, True) else (b, a)))

    def cast(self):
        wanted = self.draw("cast", FLOAT, DOUBLE, INTEGER, BOOL, DOUBLE, self.dtype)
        y = self.op("Cast", self.value(self.draw("of", self.dtype, FLOAT, INTEGER)), to=tensor_type(wanted))
        if y is not None and self.draw("back", True, True, False):
            self.op("Cast", y, to=tensor_type(self.dtype))

    def layout(self):
        x = self.value()
        shape = self.values[x].shape
        kind = self.draw("layout", "Transpose", "Transpose", "Reshape", "Reshape", "Flatten", "Unsqueeze", "Squeeze", "Expand", "Tile", "Slice", "Concat", "Split", "Gather", "Pad")
        numbers = lambda *v: self.constant(np.array(v, np.int64))
        if kind == "Transpose" and shape:
            order = list(range(len(shape)))
            self.draw.generator("order of axes").shuffle(order)
            y = self.op("Transpose", x, perm=order)
            if y is not None and self.draw("transposed again", True, False):
                self.op("Transpose", y, perm=self.draw("back", order, list(map(int, np.argsort(order)))))
        elif kind == "Reshape":
            shapes = [(-1,), (0, -1), (1, *shape), (*shape, 1), tuple(reversed(shape)), (*shape[:-2], -1), (-1, *shape[-1:]), shape, (0,) * len(shape), (-1, *shape[1:]), (0, *shape[1:])]
            self.op("Reshape", x, numbers(*self.draw("wanted shape", *shapes)))
        elif kind == "Flatten":
            self.op("Flatten", x, axis=self.draw("axis", 0, 1, -1))
        elif kind in ("Unsqueeze", "Squeeze"):
            self.op(kind, x, numbers(self.draw("axis of one", 0, 1, -1, 2)))
        elif kind == "Expand":
            self.op("Expand", x, numbers(*self.draw("expanded", shape, (2, *shape), (1,) * len(shape), tuple(3 if n == 1 else n for n in shape))))
        elif kind == "Tile":
            self.op("Tile", x, numbers(*(self.draw("repeats", 1, 1, 2) for _ in shape)))
        elif kind == "Slice":
            self.op("Slice", x, numbers(self.draw("start", 0, 0, 1)), numbers(self.draw("end", 2, 1 << 40, -1)), numbers(self.draw("axis", 0, -1)), numbers(self.draw("step", 1, 1, 2)))
        elif kind == "Concat":
            self.op("Concat", *self.draw("joined", (x,), (x, x), (x, self.value())), axis=self.draw("axis", 0, -1))
        elif kind == "Split" and shape and shape[-1] % 2 == 0:
            self.op("Split", x, numbers(shape[-1] // 2, shape[-1] // 2), axis=-1, outputs=2)
        elif kind == "Gather":
            self.op("Gather", x, self.constant(np.array(self.draw("indices", 0, [0], [1, 0]), np.int64)), axis=self.draw("axis", 0, -1))
        elif kind == "Pad":
            self.op("Pad", x, numbers(*(self.draw("padded", 0, 0, 1) for _ in shape * 2)))

    def shape_of(self):
        x, y = self.value(), self.value()
        s = self.op("Shape", x)
        if s is not None:
            self.op(self.draw("by shape", "Reshape", "Expand"), y, s)

    def reduced(self, operator, x, axes, kept=1):
        """Axes are an operand or an attribute, as the operator set has it."""
        if self.m.opset >= 18 or operator == "ReduceSum":
            return self.op(operator, x, self.constant(np.array(axes, np.int64)), keepdims=kept)
        return self.op(operator, x, axes=axes, keepdims=kept)

    def reduction(self):
        x = self.value()
        operator = self.draw("reduction", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceSumSquare", "ReduceMean")
        axes, kept = self.draw("axes", [-1], [0], [0, 1], [1], [-1, -2]), self.draw("kept", 1, 1, 0)
        self.reduced(operator, x, axes, kept)

    def weights(self, *shape):
        return self.constant(self.numbers.normal(0, 1, shape).astype(self.dtype))

    def matmul(self):
        x = self.value()
        shape = self.values[x].shape or (1,)
        n = self.draw("columns", 1, 3, shape[-1])
        w = self.draw("right side", self.weights(shape[-1], n), self.weights(shape[-1], n), self.weights(2, shape[-1], n), self.weights(shape[-1]), self.value())
        y = self.op("MatMul", *((x, w) if self.draw("sides", True, True, False) else (w, x)))
        if y is not None and self.draw("with bias", True, False):
            y = self.op("Add", *self.draw("order", *([y, self.row(self.values[y].shape, self.dtype)],) * 2, [self.row(self.values[y].shape, self.dtype), y]))
        if y is not None and self.draw("added", False, True):
            second = self.op("MatMul", x, self.weights(shape[-1], n))
            if second is not None:
                self.op("Add", y, second)

    def gemm(self):
        x = self.value(rank=2)
        shape = self.values[x].shape
        if len(shape) != 2:
            return
        a, b = self.draw("transA", 0, 0, 1), self.draw("transB", 0, 1)
        k, n = shape[0 if a else 1], self.draw("columns", 1, 3, 3)
        rows = shape[1 if a else 0]
        bias = self.draw("bias", None, (n,), (1, n), (), (rows, 1), (rows, n))
        how = {"alpha": self.draw("alpha", 1.0, 1.0, 0.5, 0.0), "beta": self.draw("beta", 1.0, 1.0, 2.0, 0.0)}
        self.op("Gemm", x, self.weights(*((n, k) if b else (k, n))), *([] if bias is None else [self.weights(*bias)]), transA=a, transB=b, **how)
        self.behind()

    def behind(self):
        """Something linear behind the last value."""
        y = next(reversed(self.values))
        if self.values[y].dtype == self.dtype and self.draw("something behind", True, False):
            self.op(self.draw("linear", "Mul", "Add", "Sub", "Div"), y, self.row(self.values[y].shape, self.dtype))

    def convolution(self):
        x = self.value(rank=self.draw("rank", 3, 4))
        shape = self.values[x].shape
        if len(shape) < 3:
            return
        if self.draw("something before", False, True):
            x = self.op(self.draw("linear", "Mul", "Add", "Sub", "Div"), x, self.row(shape, self.dtype)) or x
            shape = self.values[x].shape
        spatial, channels = len(shape) - 2, shape[1]
        groups = self.draw("groups", 1, 1, channels)
        kernel = [self.draw("kernel", 1, 2, 3) for _ in range(spatial)]
        made = self.draw("made", 1, 2) * groups
        how = {"group": groups}
        if self.draw("padding", "none", "pads", "auto") == "pads":
            how["pads"] = [self.draw("pad", 0, 1) for _ in range(2 * spatial)]
        elif self.draw("auto", False, False, True):
            how["auto_pad"] = "SAME_UPPER"
        if self.draw("strided", False, True):
            how["strides"] = [self.draw("stride", 1, 2) for _ in range(spatial)]
        bias = [self.weights(made)] if self.draw("with bias", True, False) else []
        if self.draw("transposed", False, False, True):
            self.op("ConvTranspose", x, self.weights(channels, made // groups, *kernel), *bias, **how)
        else:
            self.op("Conv", x, self.weights(made, channels // groups, *kernel), *bias, **how)
        self.behind()
        if self.draw("normalised", False, True):
            self.batch_norm()

    def batch_norm(self):
        x = next(reversed(self.values))
        shape = self.values[x].shape
        if len(shape) >= 2 and self.values[x].dtype == self.dtype:
            n = shape[1]
            variance = self.constant(self.numbers.uniform(0.5, 2, n).astype(self.dtype))
            self.op("BatchNormalization", x, self.weights(n), self.weights(n), self.weights(n), variance, epsilon=self.draw("epsilon", 1e-5, 0.1))

    def selection(self):
        x = self.value()
        c = self.op(self.draw("compared", "Greater", "Less"), x, self.row(self.values[x].shape, self.dtype))
        if c is not None:
            c = (self.op("Not", c) if self.draw("not", False, True) else c) or c
            c = (self.op("Not", c) if self.draw("not", False, True) else c) or c
            self.op("Where", c, x, self.row(self.values[x].shape, self.dtype))

    def clip(self):
        low, high = (self.constant(np.asarray(v, self.dtype)) for v in (self.draw("low", -1, 0, 0.5), self.draw("high", 1, 6, 2)))
        self.op("Clip", self.value(), *self.draw("bounds", (low, high), (low,), ("", high)))

    def softmax(self):
        self.op("Softmax", self.value(), axis=self.draw("axis", -1, 0, 1))

    # ---- formulas that rules look for, most of them right

    def chain(self, y, *steps):
        """Operators one behind the other, each with further operands; None where one does not run."""
        for operator, *others in steps:
            if y is None or None in others:
                return None
            y = self.op(operator, *((others[1], y) if others[:1] == ["behind"] else (y, *others)))
        return y

    def number(self, right, *wrong):
        shape = self.draw("shape of a number", (), (), (1,), (1, 1))
        return self.constant(np.full(shape, self.draw("number of a formula", *[right] * 8, *wrong), self.dtype))

    def along_an_axis(self, x, operator):
        axes = self.draw("axes of a norm", [-1], [-1], [-1], [-1, -2], [0])
        if self.draw("axes again", True, *[False] * 9):
            axes = [1]
        return self.reduced(operator, x, axes)

    def norm(self):
        x = self.value()
        centred = self.chain(x, ("Sub", self.along_an_axis(x, "ReduceMean"))) if self.draw("centred", True, False) else x
        if centred is None:
            return
        other = self.draw("squared", *[centred] * 5, x)
        square = self.draw("square", lambda: self.op("Mul", centred, other), lambda: self.op("Pow", centred, self.number(2.0, 3.0)))()
        variance = square and self.chain(self.along_an_axis(square, "ReduceMean"), ("Add", self.number(1e-5, 0.5, 0.0)))
        root = variance and self.op("Sqrt", variance)
        if root is None:
            return
        below = self.draw("by the root", lambda: self.chain(centred, ("Div", root)), lambda: self.chain(centred, ("Mul", self.op("Reciprocal", root))), lambda: self.chain(x, ("Div", root)))()
        for linear in ("Mul", "Add"):
            if below is not None and self.draw("with a row", True, True, False):
                row = self.row(self.values[below].shape, self.dtype)
                below = self.op(self.draw("linear of a norm", linear, linear, "Sub"), *((below, row) if self.draw("swapped", False, True) else (row, below)))

    def activation(self):
        x, half, one = self.value(), self.number(0.5, 0.25), self.number(1.0, 2.0)
        kind = self.draw("activation", "gelu", "gelu by tanh", "silu", "softmax", "hard swish", "mish", "log softmax")
        if kind == "gelu":
            inner = self.chain(x, ("Div", self.number(2**0.5, 1.4, 1.0)), ("Erf",), ("Add", one))
            self.chain(x, ("Mul", inner), ("Mul", half))
        elif kind == "gelu by tanh":
            cubed = self.chain(x, ("Pow", self.number(3.0, 2.0)), ("Mul", self.number(0.044715, 0.05)), ("Add", self.draw("beside the cube", x, x, self.value())))
            self.chain(cubed, ("Mul", self.number((2 / np.pi) ** 0.5, 0.8)), ("Tanh",), ("Add", one), ("Mul", x), ("Mul", half))
        elif kind == "silu":
            inner = self.draw("scaled", lambda: x, lambda: self.op("Mul", x, self.number(1.702, 1.7)))()
            self.chain(inner, ("Sigmoid",), ("Mul", self.draw("times", x, x, x, self.value())))
        elif kind in ("softmax", "log softmax"):
            largest = self.reduced("ReduceMax", x, [-1])
            inner = self.chain(x, ("Sub", largest)) if self.draw("less the largest", True, False) else x
            powers = inner and self.op("Exp", inner)
            total = powers and self.along_an_axis(powers, self.draw("summed", *["ReduceSum"] * 5, "ReduceMean"))
            if kind == "softmax":
                self.chain(powers, ("Div", total))
            else:
                self.chain(total, ("Log",), ("Sub", "behind", inner))
        elif kind == "hard swish":
            bounds = [self.constant(np.asarray(v, self.dtype)) for v in (0, self.draw("upper bound", 6, 6, 6, 5))]
            self.chain(x, ("Add", self.number(3.0, 2.0)), ("Clip", *bounds), ("Mul", self.draw("times", x, x, x, self.value())), ("Div", self.number(6.0, 5.0)))
        else:
            self.chain(x, ("Softplus",), ("Tanh",), ("Mul", self.draw("times", x, x, x, self.value())))


KINDS = ("unary", "unary", "binary", "binary", "binary", "binary", "again", "integer", "cast", "layout", "layout", "layout", "shape_of", "reduction", "matmul", "matmul", "gemm", "convolution", "convolution", "selection", "clip", "softmax", "norm", "norm", "activation", "activation")


def is_number(values):
    """A number that is as large as its type has is what is left of an infinite one."""
    return np.isfinite(values) & (np.abs(values) < np.finfo(values.dtype).max)


def wrong(drawn, model):
    """A sentence for each result that is another one: by more than what rounding of the inputs moves. Where something overflows, so that a result is not all numbers, what else is none may differ: exp(x) / sum(exp(x)) is 0 beside an infinite one, Softmax is NaN there."""
    before, after = drawn.before, judge.execute(model, drawn.feeds)
    scatter = None
    for name, value in before.items():
        other = after[name]
        if value.shape != other.shape or value.dtype != other.dtype:
            yield f"{name}: {value.dtype}{value.shape} became {other.dtype}{other.shape}"
            continue
        if value.dtype in (FLOAT, DOUBLE):
            same = is_number(value)
            same &= is_number(other) | same.all()
            off = np.abs(np.where(same, value, 0).astype(np.float64) - np.where(same, other, 0))
            limit = TOLERANCE[value.dtype if drawn.dtype == DOUBLE else FLOAT] * max(1, np.abs(value[same]).max(initial=0))
        else:
            off, limit = (value != other).astype(float), 0
        if not (off <= limit).all():
            if scatter is None:
                scatter = [judge.execute(drawn.model, judge.nudge(drawn.feeds, seed, 4)) for seed in range(6)]
            with np.errstate(invalid="ignore"):
                moved = max(np.nan_to_num(np.abs(s[name].astype(np.float64) - value.astype(np.float64)), nan=np.inf).max() for s in scatter)
            if not off.max() <= limit + 100 * moved:
                yield f"{name}: off by {off.max():.3g}, allowed {limit:.3g}, inputs beside move it by {moved:.3g}"


class DrawnModelsTest(unittest.TestCase):
    def test_rewriting_changes_no_result(self):
        rewritten = 0
        print(f"seed {SEED}, {COUNT} models")
        for seed in range(SEED, SEED + COUNT):
            drawn = Drawn(seed)
            if not drawn.runs():
                continue
            for options in ([], ["--clean"]):
                with self.subTest(seed=seed, options=options):
                    target = judge.TARGETS[seed % 2]
                    result = judge.optimize(drawn.model, target, *options)
                    rewritten += sum(rule["applied"] for rule in result.report["rules"]) > 0
                    self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
                    self.assertEqual(result.miscounted(), [])
                    try:
                        self.assertEqual(list(wrong(drawn, result.model)), [])
                    except judge.ort.capi.onnxruntime_pybind11_state.NotImplemented:
                        self.assertEqual(target, "onnx")  # standard operators that it lacks for doubles
                    self.assertEqual(result.bytes, judge.optimize(result.bytes, target, *options).bytes, "a second run changes the result")
        self.assertGreater(rewritten, COUNT // 3)


if __name__ == "__main__":
    unittest.main()
