# SPDX-License-Identifier: BSL-1.0
"""Layer norm and RMS norm in every spelling: a generator that combines all dimensions at random.

    python tests/onnx/spellings.py --count 2000 --seed 7 [--fix kind=rms]... [--keep FOLDER] [--shrink]

prints the pass rate for each choice of each dimension, and saves the models that fail. Every choice is drawn from the seed and
the dimension's own name, so fixing one leaves the others as they were; the first option of a dimension is its plainest.
"""

import argparse
import collections
import pathlib
import random
import sys
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

import judge
import reference
from build import BFLOAT16, DOUBLE, FLOAT, HALF, Model, check

PLAINEST = object()


class Draw:
    def __init__(self, seed, fixed=None):
        self.seed, self.fixed = seed, dict(fixed or {})
        self.chosen, self.plain = collections.defaultdict(list), collections.defaultdict(list)

    def generator(self, name):
        return random.Random(f"{self.seed}/{name}/{len(self.chosen[name])}")

    def __call__(self, dimension, *options):
        value = self.generator(dimension).choice(options)
        place = (dimension, len(self.chosen[dimension]))  # one choice of a dimension can be fixed as well
        if dimension in self.fixed or place in self.fixed:
            wanted = self.fixed.get(dimension, self.fixed.get(place))
            value = options[0] if wanted is PLAINEST else next((o for o in options if str(o) == str(wanted)), value)
        self.chosen[dimension].append(value)
        self.plain[dimension].append(options[0])
        return value

    def array(self, name, shape, low=0.5, high=2.0):
        """Numbers away from 0 and 1, a few of them negative."""
        numbers = np.random.default_rng(hash_of(f"{self.seed}/{name}"))
        return numbers.uniform(low, high, shape) * numbers.choice([1, 1, 1, -1], shape)


def hash_of(text):
    """A hash that does not change from run to run."""
    return zlib.crc32(text.encode())


# what x is, what the statistics are computed in, what comes out; and where scale and bias are applied
TYPES = {
    "float": (FLOAT, FLOAT, FLOAT), "half": (HALF, HALF, HALF), "double": (DOUBLE, DOUBLE, DOUBLE),
    "half-island": (HALF, FLOAT, HALF), "half-island-then-scale": (HALF, FLOAT, HALF), "half-centred": (HALF, FLOAT, HALF),
    "half-double-island": (HALF, DOUBLE, HALF), "double-island-centred": (FLOAT, DOUBLE, FLOAT),
    "double-island": (FLOAT, DOUBLE, FLOAT), "double-island-then-scale": (FLOAT, DOUBLE, FLOAT),
    "bfloat16-island": (BFLOAT16, FLOAT, BFLOAT16), "bfloat16-island-then-scale": (BFLOAT16, FLOAT, BFLOAT16),
}
COMMON = ("float",) * 8
PREPARED = "prepared"  # nodes that make scale or bias: they may stay
CONTEXT = "context"    # nodes around the norm: they stay
NORM = "norm"          # nodes of the norm: they go


class Spelling:
    """One model, and what must become of it."""

    def __init__(self, seed, fixed=None):
        self.seed, self.draw = seed, Draw(seed, fixed)
        self.owners = collections.defaultdict(collections.Counter)
        self.strict = True          # nothing of the norm may stay
        self.live_is_a_statistic = False
        self.casts = 0              # Casts that may stay
        self.computed = False       # a scale or bias is no constant
        self.facts = []             # (kind, x, steps, epsilon, y): what each norm computes; a step is (operator, row)
        self.owner = CONTEXT
        self.flat = set()           # what lacks the axes of the norm
        self.numbers = set()        # rows of one element
        self._choose()
        self._write()
        self.model = self.m.proto()
        self._shuffle()
        self._enclose()
        self._dress()

    # ---- operators as this spelling writes them

    def op(self, operator, *operands, **attributes):
        self.owners[self.owner][operator] += 1
        value = self.m.op(operator, *operands, **attributes)
        if self.identity and self.owner != CONTEXT and operator != "Constant":
            if self.draw.generator(f"identity {value}").random() < 0.15:
                value = self.nothing(value, operator if not self.whole else "")
        return value

    def nothing(self, value, operator):
        """An operator that leaves `value` as it is; of what is no floating number, that is an Identity."""
        forms = ["Identity"]
        if operator in ("Add", "Sub", "Mul", "Div", "Pow", "Sqrt", "Reciprocal", "Neg") and self.type in (FLOAT, DOUBLE) and self.x_type == self.type:
            forms += ["Identity", "Cast"] + ["Dropout"] * (self.opset >= 7) + ["Sum", "Mean", "Max"] * (self.opset >= 8 and self.type == FLOAT)
            forms += ["Slice"] * (self.opset >= 10 and self._has_axes(value)) + ["Where"] * (self.opset >= 9)
        form = self.draw("nothing", *forms)
        self.owners[self.owner][form] += 1
        if form == "Cast":
            return self.m.cast(value, self.type)
        if form == "Slice":  # all of it
            end = self.draw("end of a slice", 2**63 - 1, 2**31 - 1, 10**9)
            return self.m.op("Slice", value, *(self.m.integers(i) for i in (0, end, 0)))
        if form == "Where":  # always, or never the other
            chosen = self.draw("condition", True, False)
            other = self.m.constant(np.array(7, self.type))
            return self.m.op("Where", self.m.constant(np.array(chosen)), *((value, other) if chosen else (other, value)))
        return self.m.op(form, value)

    def _has_axes(self, value):
        """Whether `value` is computed of x, and not all axes of x are the norm's."""
        read = {value}
        for node in reversed(self.m.nodes):
            if read & set(node.output):
                read |= set(node.input)
        return self.norm_rank > self.norm_axes and self.x in read

    def commuted(self, operator, a, b):
        if self.draw("operand order", "written", "swapped") == "swapped":
            a, b = b, a
        return self.op(operator, a, b)

    def add(self, a, b):
        return self.commuted(self.draw("addition", *["Add"] * 9, *["Sum"] * (self.opset >= 8)), a, b)

    def mul(self, a, b):
        return self.commuted("Mul", a, b)

    def cast(self, value, dtype):
        self.owners[self.owner]["Cast"] += 1
        return self.m.cast(value, dtype)

    def constant(self, value, dtype, *extra, exact=False):
        """A constant of element type `dtype`; returns its name and the number it really holds: `exact`ly this one, if it is one of dtype."""
        dtype, owner = np.dtype(dtype), self.owner
        forms = ["initializer", "node", "numbers", "identity", *extra]
        forms += ["cast"] * (not exact or dtype != DOUBLE or np.array_equal(value, np.asarray(value, FLOAT)))
        forms += ["attribute"] * (dtype == FLOAT and self.opset >= 12 and np.ndim(value) < 2)
        uniform = np.size(value) and bool(np.all(np.asarray(value) == np.ravel(value)[0]))
        forms += ["filled"] * (uniform and dtype != BFLOAT16 and self.opset >= 9)
        forms += ["sliced", "joined"] * (np.shape(value) == (1,) and dtype != BFLOAT16 and self.opset >= 10)
        forms += ["range"] * (np.shape(value) == (1,) and dtype in (FLOAT, DOUBLE) and self.opset >= 11)
        form = self.draw("constant", *forms)
        if form in ("initializer", "node", "numbers", "attribute"):
            value = np.asarray(value).astype(dtype)
            return self.m.constant(value, form), value
        self.owner = PREPARED if owner == CONTEXT else owner
        if form == "cast":
            source = DOUBLE if dtype != DOUBLE else FLOAT
            value = np.asarray(value).astype(source)
            name, value = self.cast(self.m.constant(value, "node"), dtype), value.astype(dtype)
        elif form == "identity":
            value = np.asarray(value).astype(dtype)
            name = self.op("Identity", self.m.constant(value))
        elif form in ("sliced", "joined", "range"):
            value = np.asarray(value).astype(dtype)
            if form == "range":
                name = self.op("Range", *(self.m.constant(v, "node") for v in (value[0], value[0] + dtype.type(0.5), dtype.type(1))))
            elif form == "joined":
                half = (len(value) + 1) // 2
                name = self.op("Concat", *(self.m.constant(v, "node") for v in (value[:half], value[half:]) if len(v)), axis=0)
            else:
                bounds = (self.m.constant(np.array([v], np.int64), "node") for v in (1, len(value) + 1))
                name = self.op("Slice", self.m.constant(np.concatenate([value[:1], value, value[:1]])), *bounds)
        elif form == "filled":
            value = np.asarray(value).astype(dtype)
            name = self.op("ConstantOfShape", self.m.integers(*value.shape), value=numpy_helper.from_array(value.reshape(-1)[:1]))
        else:  # the root of its square
            square = np.square(np.asarray(value, np.float64)).astype(dtype)
            name, value = self.op("Sqrt", self.m.constant(square, "node")), np.sqrt(square)
        self.owner = owner
        return name, value

    def one_element(self, dimension, beside=None):
        """The shape of a constant that is one number: of one element, or as large as what it stands `beside`: a whole row
        ("x") or the statistics ("statistic"), whose shape must be known for it. What has lost its axes must not get others."""
        if beside in self.flat and not self.leading:
            return ()
        shapes = [(), (1,), (1, 1)[:max(1, self.norm_rank)] if beside not in self.flat else ()]
        fixed = not self.symbolic and not self.flatten and all(isinstance(d, int) for d in self.shape)
        if beside == "x" and not self.symbolic:
            shapes += [tuple(self.norm_shape)] + [tuple(self.shape)] * fixed
        elif beside is not None and beside != "x" and fixed:
            shapes += [tuple(self.leading) + (1,) * (self.norm_axes if beside not in self.flat else 0)]
        return self.draw(dimension, *shapes)

    # ---- choices that others depend on

    def _choose(self):
        draw = self.draw
        self.kind = draw("kind", "layer", "rms")
        self.types = draw("types", *COMMON, *TYPES)
        self.x_type, self.type, self.y_type = TYPES[self.types]
        low = 13 if self.x_type == BFLOAT16 else 7
        self.opset = draw("opset", 17, *range(low, 25))
        self.ir = draw("ir", *((8, 4, 7, 9, 10) if self.opset > 9 else (8, 3, 4, 7)))
        if self.x_type == BFLOAT16:
            self.ir = max(self.ir, 7)
        self.m = Model(self.opset, self.ir)
        self.rank = draw("rank", 3, 3, 3, 2, 2, 4, 4, 1)
        self.axes_count = min(draw("trailing axes", 1, 1, 1, 2, 3), self.rank)
        sizes = {"odd": [7, 5, 3], "even": [8, 4, 6], "one": [1, 4, 6], "large": [320, 4, 6], "leading": [4, 3, 2]}
        sizes = sizes[draw("sizes", "odd", "odd", "odd", "even", "even", "even", "one", "large", "leading")]
        self.normal = sizes[:self.axes_count][::-1]
        self.symbolic = draw("normalised dimensions", *["fixed"] * 9, "symbolic") == "symbolic"
        self.leading = [4, 3, 2][:self.rank - self.axes_count]
        dynamic = draw("leading dimensions", "fixed", "symbolic", "unknown")
        names = {"fixed": self.leading, "symbolic": ["batch", "sequence", "heads"], "unknown": [None] * 3}[dynamic]
        self.sizes = {"batch": 4, "sequence": 3, "heads": 2} | {f"h{k}": size for k, size in enumerate(self.normal)}
        self.normal_names = [f"h{k}" for k in range(self.axes_count)] if self.symbolic else self.normal
        self.shape = list(names[:len(self.leading)]) + self.normal_names
        self.flatten = self.rank > 1 and not self.symbolic and draw("flatten", *["no"] * 9, "yes") == "yes"
        self.norm_rank = 2 if self.flatten else self.rank
        self.norm_axes = 1 if self.flatten else self.axes_count
        self.norm_shape = [int(np.prod(self.normal))] if self.flatten else self.normal_names
        self.identity = draw("identity", "none", "none", "some") == "some"
        self.runnable = self.x_type != BFLOAT16

    def unusual(self):
        """The choices that are not the plainest."""
        plain = self.draw.plain
        return {d: [str(v) for v, p in zip(values, plain[d]) if v != p] for d, values in self.draw.chosen.items() if values != plain[d]}

    # ---- the graph around the norm

    def _producer(self):
        m, x_type, shape = self.m, self.x_type, self.shape
        forms = ["an input", "an input", "a sum", "a product", "a Relu of a sum"]
        forms += [] if self.symbolic else ["a biased sum", "a scaled product"] + ["a MatMul"] * (self.rank > 1)
        form = self.draw("x is", *forms)
        if form == "an input":
            return m.input("x", x_type, shape)
        if form == "a MatMul":
            a = m.input("x", x_type, self.shape[:-1] + [5])
            w = m.constant(self.draw.array("w", (5, shape[-1])).astype(x_type))
            return self.op("MatMul", a, w)
        a = m.input("x", x_type, shape)
        other = m.constant(self.draw.array("w", self.normal).astype(x_type)) if form in ("a biased sum", "a scaled product") else m.input("x2", x_type, shape)
        value = self.op("Mul" if "product" in form else "Add", a, other)
        return self.op("Relu", value) if "Relu" in form else value

    def _consumer(self, y, x):
        """What reads y; a graph output comes of it."""
        m, shape = self.m, self.shape
        form = self.draw("y goes to", "the output", "the output", "a Relu", "a residual", "a gate", "both", *["a MatMul"] * (not self.symbolic))
        if form == "a residual":
            y = self.op("Add", y, x)
        elif form == "a gate":
            y = self.op("Mul", y, m.input(m.name("gate"), self.y_type, shape))
        elif form == "a MatMul":
            y = self.op("MatMul", y, m.constant(self.draw.array("v", (shape[-1], 3)).astype(self.y_type)))
            shape = shape[:-1] + [3]
        elif form == "a Relu":
            y = self.op("Relu", y)
        elif form == "both":
            m.output(y, self.y_type, shape)
            y = self.op("Relu", y)
        if y not in [o.name for o in m.outputs]:
            m.output(y, self.y_type, shape)

    def _row(self, role, dtype):
        """A scale or a bias; returns its name, or None for none."""
        form = self.draw(role, *["constant", "constant"] * (not self.symbolic), "input", "none", "one plus an input", *["one plus a constant"] * (not self.symbolic))
        if form == "none":
            return None
        rank = self.norm_rank
        shapes = [self.norm_shape, *([1] * k + self.norm_shape for k in range(1, rank - self.norm_axes + 1))]
        if not self.flatten and self.opset >= 8:  # before, nothing expands one element
            shapes += [[], [1], [1] * rank]
        shape = self.draw(f"{role} shape", *shapes)
        if self.flatten and self.draw(f"{role} flattened", "no", "yes") == "yes":
            name = self.op("Flatten", self._numbers(role, form, dtype, self.normal), axis=0)
        else:
            name = self._numbers(role, form, dtype, shape)
        if shape.count(1) == len(shape):
            self.numbers.add(name)
        if shape.count(1) == len(shape) and (form != "constant" or self.norm_shape == [1]):
            self.spreads = True
        return name

    def _plain_scale(self, dtype):
        if self.symbolic:
            self.computed = True
            return self.m.input(self.m.name("scale_in"), dtype, self.norm_shape)
        return self.constant(self.draw.array("s", self.norm_shape), dtype)[0]

    def _numbers(self, role, form, dtype, shape):
        values = self.draw.array(f"{role} {self.m.name(role)}", [self.sizes.get(d, d) for d in shape])
        narrow = min(self.x_type, self.y_type, np.dtype(dtype), key=lambda t: (t.itemsize, t == BFLOAT16))
        if narrow != dtype:  # fused in the narrow type, the row must be exact there, or Casts stay
            if form != "constant" or self.draw(f"weights in {narrow}", "exact", "inexact") == "inexact":
                self.casts += 3
            else:
                values = values.astype(narrow).astype(np.float64)
        if form == "one plus a constant":
            return self.add(self.constant(np.ones(self.draw("one's shape", (), (1,))), dtype)[0], self.m.constant(values.astype(dtype)))
        if form == "constant":
            if narrow == dtype and dtype == FLOAT and self.draw("half weights", "no", "no", "no", "yes") == "yes":
                return self.cast(self.m.constant(values.astype(HALF)), FLOAT)
            return self.constant(values, dtype)[0]
        self.computed = True
        name = self.m.input(self.m.name(f"{role}_in"), dtype, shape)
        return name if form == "input" else self.add(self.constant(np.ones(self.draw("one's shape", (), (1,))), dtype)[0], name)

    # ---- the norm

    def mean(self, value):
        forms = ["kept"] * 3 + ["unsqueezed", "unsqueezed later"] + ["pooled"] * (self.type == FLOAT and self.norm_rank > 2 and self.norm_rank - self.norm_axes == 2)
        form = self.draw("mean", *forms)
        if form == "pooled":
            return self.op("GlobalAveragePool", value)
        return self.reduced("ReduceMean", value, form)

    def mean_of_squares(self, read):
        forms = ["a mean"] * 4 + ["summed squares", "a norm squared"] * (self.type in (FLOAT, DOUBLE) and not self.symbolic)
        form = self.draw("mean of squares", *forms)
        if form == "a mean":
            return self.mean(self.square(read))
        value = self.reduced("ReduceSumSquare" if form == "summed squares" else "ReduceL2", read(), self.draw("summed squares", "kept", "unsqueezed", "unsqueezed later"))
        if form == "a norm squared":
            norm, flat = value, value in self.flat
            value = self.op("Mul", norm, norm) if self.draw("norm squared", "Mul", "Pow") == "Mul" else self.op("Pow", norm, self.small(2, self.type, "norm exponent", norm))
            self.flat |= {value} if flat else set()
        return self.divided(value)

    def divided(self, value):
        """A sum over the axes of the norm by the number of its elements, as a constant or counted from the shape of x."""
        count, flat = int(np.prod(self.normal)), value in self.flat
        form = self.draw("sum scaled", "/ n", "* 1 / n", *["/ counted"] * (self.opset >= 13 and not self.flatten))
        if form == "/ counted":
            axes = self.m.integers(*range(-self.norm_axes, 0)) if self.draw("counted axes", "negative", "positive") == "negative" else self.m.integers(*range(self.norm_rank - self.norm_axes, self.norm_rank))
            extents = self.op("Gather", self.op("Shape", self.x), axes)
            counted = self.op("ReduceProd", extents, keepdims=0)
            value = self.op("Div", value, self.cast(counted, self.type))
        elif form == "/ n":
            value = self.op("Div", value, self.constant(np.full(self.one_element("count", value), count), self.type, exact=True)[0])
        else:
            value = self.mul(value, self.constant(np.full(self.one_element("count", value), 1 / count), self.type, exact=True)[0])
        self.flat |= {value} if flat else set()
        return value

    def restored(self, value, repeated=True):
        """`value` with extents of 1 where reductions took the axes of the norm away, perhaps repeated to the extents of x."""
        if value not in self.flat:
            return value
        rank, count = self.norm_rank, self.norm_axes
        positive, negative = list(range(rank - count, rank)), list(range(-count, 0))
        fixed = not self.flatten and all(isinstance(d, int) for d in self.shape[:rank - count])
        form = self.draw("axes put back", "Unsqueeze", *["Reshape"] * fixed, *["Expand"] * (repeated and self.opset >= 8))
        if form == "Reshape":
            return self.op("Reshape", value, self.m.integers(*self.shape[:rank - count], *[1] * count))
        self.owners[self.owner]["Unsqueeze"] += 1
        value = self.m.unsqueeze(value, sorted(self.draw("sign of unsqueezed axes", *([positive] if self.opset < 11 else [negative, positive]))))
        return self.op("Expand", value, self.op("Shape", self.x)) if form == "Expand" else value

    def reduced(self, operator, value, form):
        """`operator` (a mean, a sum of squares, their root) over the axes of the norm."""
        rank, count = self.norm_rank, self.norm_axes
        positive, negative = list(range(rank - count, rank)), list(range(-count, 0))
        axes = list(self.draw("sign of axes", negative, positive))
        if self.draw("order of axes", "rising", "falling") == "falling":
            axes.reverse()
        options = ["written"] * 4 + ["absent"] * (rank == count) + ["empty"] * (rank == count and self.opset >= 18) + ["range", "cast", "joined", "sliced"] * (self.opset >= 18)
        axes = self.computed_axes(self.draw("axes", *options), axes)
        self.owners[self.owner][operator] += 1
        kept = form == "kept"
        result = self.m.reduce(operator, value, axes, None if kept and self.draw("keepdims", "written", "left out") == "left out" else int(kept))
        self.flat |= set() if kept else {result}
        return self.restored(result) if form == "unsqueezed" else result

    def computed_axes(self, how, axes):
        """The axes as reduce_mean takes them: numbers, the name of a value computed from constants and shapes, or None for all."""
        m, vector = self.m, lambda *numbers: self.m.constant(np.array(numbers, np.int64), "node")
        self.whole = True
        try:
            return self._computed_axes(how, axes, m, vector)
        finally:
            self.whole = False

    def _computed_axes(self, how, axes, m, vector):
        if how == "range":  # Range(size - count, size, 1) with size = Size(Shape(x)), as ONNX's own RMSNormalization does
            size = self.op("Size", self.op("Shape", self.x))
            shape = self.draw("Range operands", (), (1,))
            if shape:
                size = self.op("Reshape", size, m.integers(1))
            start = self.op("Add", size, m.constant(np.full(shape, -self.norm_axes, np.int64), "node"))
            return self.op("Range", start, size, m.constant(np.full(shape, 1, np.int64)))
        if how == "cast":
            return self.cast(m.constant(np.array(axes, np.int32)), "int64")
        if how == "joined":
            return self.op("Concat", *(vector(a) for a in axes), axis=0)
        if how == "sliced":
            return self.op("Slice", vector(9, *axes, 9), vector(1), vector(-1))
        if how == "empty":
            return m.integers()
        return None if how == "absent" else axes

    def small(self, value, floating, dimension, beside=None):
        """A constant that is one number, of an element type that Pow takes as its second operand."""
        types = [floating]
        if self.opset >= 12 and self.type in (FLOAT, DOUBLE):
            types += [FLOAT, DOUBLE] + [np.dtype("int64"), np.dtype("int32")] * (value == int(value))
        return self.constant(np.full(self.one_element(dimension, beside), value), self.draw(f"{dimension} type", *types))[0]

    def square(self, read, beside="x"):
        """The square of what `read` gives, which Mul reads twice."""
        if self.draw("square", "Pow", "Mul") == "Mul":
            return self.op("Mul", read(), read())
        return self.op("Pow", read(), self.small(2, self.type, "exponent", beside))

    def centred(self):
        form = self.draw("centred", "x - mean", "x + -mean", "-(mean - x)", "x + -1 * mean")
        mean = self.restored(self.statistic("mean"))
        if form == "x - mean":
            return self.op("Sub", self.reads_x(), mean)
        if form == "x + -1 * mean":
            return self.add(self.reads_x(), self.mul(mean, self.constant(np.full(self.one_element("minus one"), -1), self.type)[0]))
        if form == "x + -mean":
            return self.add(self.reads_x(), self.op("Neg", mean))
        return self.op("Neg", self.op("Sub", mean, self.reads_x()))

    def reads_x(self):
        """x in the type that the norm computes in."""
        if self.x_type == self.type:
            return self.x
        if "x" not in self.shared or self.draw("Casts of x", "one", "several") == "several":
            steps = [FLOAT] if {self.x_type, self.type} == {HALF, DOUBLE} and self.draw("widened", "at once", "in steps") == "in steps" else []
            value = self.x
            for dtype in steps + [self.type]:
                value = self.cast(value, dtype)
            self.shared["x"] = value
        return self.shared["x"]

    def statistic(self, name):
        """A value that may be computed once, or again at every use."""
        if name not in self.shared or self.draw(f"{name} computed", "once", "once", "again") == "again":
            self.shared[name] = {"mean": lambda: self.mean(self.reads_x()), "centred": self._centred_in_type, "variance": self.variance,
                                 "root": self.root}[name]()
        return self.shared[name]

    def _centred_in_type(self):
        """x less its mean; in a "centred" type both are in x's own type, and a Cast widens the difference."""
        if not self.types.endswith("centred"):
            return self.centred()
        outer, self.shared = self.shared, {}
        self.type, wide = self.x_type, self.type
        value = self.centred()
        self.type, self.shared = wide, outer
        return self.cast(value, wide)

    def variance(self):
        """The variance (or the mean of squares) plus epsilon."""
        if self.kind == "rms":
            value = self.mean_of_squares(self.reads_x)
        elif self.one_pass:
            mean, squares = self.statistic("mean"), self.mean_of_squares(self.reads_x)
            if (mean in self.flat) != (squares in self.flat):
                mean, squares = self.restored(mean), self.restored(squares)
            square = self.square(lambda: mean, mean)
            value = self.op("Sub", squares, square) if self.draw("difference of squares", "Sub", "Add of Neg") == "Sub" else self.add(squares, self.op("Neg", square))
            self.flat |= {value} if squares in self.flat else set()
            value = self.positive(value)
        elif self.draw("squares", "x - mean", "mean - x") == "x - mean" or self.types.endswith("centred"):
            value = self.mean_of_squares(lambda: self.statistic("centred"))
        else:
            reverse = self.op("Sub", self.restored(self.statistic("mean")), self.reads_x())
            value = self.mean_of_squares(lambda: reverse)
        self.last_variance = value
        if self.epsilon_written == 0 and self.draw("epsilon 0", "written", "left out") == "left out":
            self.epsilon = 0.0
            return value
        forms = ["root"] if self.epsilon is None else []  # a second epsilon must hold the very number of the first
        if value in self.flat and self.draw("axes missing", "in the root, too", "up to epsilon") == "up to epsilon":
            value = self.restored(value)
        epsilon = self.constant(np.full(self.one_element("epsilon shape", value), self.epsilon_written), self.type, *forms, exact=self.epsilon is not None)
        self.epsilon = self.epsilon_written = float(np.ravel(epsilon[1])[0])
        safe = self.add(value, epsilon[0])
        self.flat |= {safe} if value in self.flat else set()
        return safe

    def positive(self, value):
        """Perhaps without what rounding makes negative."""
        forms = ["as it is"] * 3 + ["Relu", *["Max"] * (self.opset >= 8), *["Clip"] * (self.opset >= 12)] * (self.type in (FLOAT, DOUBLE))
        form, flat = self.draw("positive part", *forms), value in self.flat
        if form == "as it is":
            return value
        if form == "Relu":
            value = self.op("Relu", value)
        else:
            zero = self.constant(np.zeros(self.one_element("zero", value) if form == "Max" else ()), self.type)[0]
            value = self.commuted("Max", value, zero) if form == "Max" else self.op("Clip", value, zero)
        self.flat |= {value} if flat else set()
        return value

    def root(self):
        """("divide", the deviation) or ("multiply", its inverse)."""
        form, v = self.draw("root", "/ sqrt", "* recip(sqrt)", "* (1 / sqrt)", "* sqrt(recip)", "* sqrt(1 / v)", "* pow -0.5", "/ pow 0.5", "* recip(pow 0.5)"), self.statistic("variance")
        one = lambda: self.constant(np.ones(self.one_element("one", v)), self.type)[0]
        half = lambda power: self.op("Pow", v, self.small(power, self.type, "half exponent", v))
        value = {"/ sqrt": lambda: self.op("Sqrt", v), "/ pow 0.5": lambda: half(0.5), "* pow -0.5": lambda: half(-0.5),
                 "* recip(pow 0.5)": lambda: self.op("Reciprocal", half(0.5)), "* recip(sqrt)": lambda: self.op("Reciprocal", self.op("Sqrt", v)),
                 "* (1 / sqrt)": lambda: self.op("Div", one(), self.op("Sqrt", v)), "* sqrt(recip)": lambda: self.op("Sqrt", self.op("Reciprocal", v)),
                 "* sqrt(1 / v)": lambda: self.op("Sqrt", self.op("Div", one(), v))}[form]()
        self.flat |= {value} if v in self.flat else set()
        return "divide" if form[0] == "/" else "multiply", self.restored(value)

    def times_root(self, value):
        how, root = self.statistic("root")
        value, root = self.negated_twice(value, root)
        return self.op("Div", value, root) if how == "divide" else self.mul(value, root)

    def negated_twice(self, a, b):
        """Both factors or none, so that their product stays. A number keeps its sign: it is one part, however it is computed."""
        two = not {a, b} & self.numbers and self.draw("negations", *["none"] * 8, "two") == "two"
        return (self.op("Neg", a), self.op("Neg", b)) if two else (a, b)

    def product(self, factors):
        """The product of (value, 1 or -1 for a divisor) in some bracketing."""
        factors = list(factors)
        pick = lambda: factors.pop(self.draw("next factor", *range(len(factors))))
        while len(factors) > 1:
            (a, p), (b, q) = pick(), pick()
            if p != q:
                a, b = (a, b) if p > 0 else (b, a)
            a, b = self.negated_twice(a, b)
            factors.append((self.mul(a, b), p) if p == q else (self.op("Div", a, b), 1))
        (value, power), = factors
        return value if power > 0 else self.op("Reciprocal", value)

    def sum(self, terms):
        """The sum of (value, sign) in some bracketing."""
        terms = list(terms)
        pick = lambda: terms.pop(self.draw("next term", *range(len(terms))))
        while len(terms) > 1:
            (a, p), (b, q) = pick(), pick()
            if p != q and self.draw("difference", "Sub", "Add of Neg") == "Add of Neg":
                a, b, p, q = (a, self.op("Neg", b), p, p) if p > 0 else (self.op("Neg", a), b, q, q)
            if p != q:
                a, b = (a, b) if p > 0 else (b, a)
            terms.append((self.add(a, b), p) if p == q else (self.op("Sub", a, b), 1))
        (value, sign), = terms
        return value if sign > 0 else self.op("Neg", value)

    def tree(self, steps):
        """Scales and bias of one kind after the other taken into the norm in any bracketing; returns what is left of the steps, too."""
        count = next((k for k, (o, _) in enumerate(steps) if o in ("Add", "Sub")), len(steps))
        count = min(count, 3)
        scales, rest = [(row, 1 if o == "Mul" else -1) for o, row in steps[:count]], steps[count:]
        how, root = self.statistic("root")
        inner = [(root, 1 if how == "multiply" else -1)]
        if self.kind == "rms" or any(p < 0 for _, p in scales) or self.draw("centred first", "yes", "no") == "yes":
            value = [(self.statistic("centred") if self.kind == "layer" else self.reads_x(), 1)]
            return self.product(value + inner + scales), rest
        inside = self.draw("distributed", "all", "the root", "the scales")
        inner, outer = {"all": (inner + scales[:1], scales[1:]), "the root": (inner, scales), "the scales": (scales[:1], inner + scales[1:])}[inside]
        if len(inner) > 1 and self.draw("factor", "one", "each its own") == "one":
            inner = [(self.product(inner), 1)]
        terms = [(self.product([(self.reads_x(), 1)] + inner), 1), (self.product([(self.restored(self.statistic("mean")), 1)] + inner), -1)]
        while not outer and rest and rest[0][0] in ("Add", "Sub") and not self.late:
            (o, row), *rest = rest
            terms.append((row, 1 if o == "Add" else -1))
        return self.product([(self.sum(terms), 1)] + outer), rest

    def step(self, y, step):
        operator, row = step
        if self.opset >= 8 and self.y_type == self.x_type != BFLOAT16 and self.draw("row repeated", *["no"] * 8, "Expand") == "Expand":
            row = self.op("Expand", row, self.op("Shape", self.x))
        return {"Mul": self.mul, "Add": self.add}.get(operator, lambda *operands: self.op(operator, *operands))(y, row)

    def by_length(self, number):
        """x by its length, times the root of the number of its elements; there is no epsilon."""
        self.epsilon = 0.0
        x, length = self.reads_x(), self.reduced("ReduceL2", self.reads_x(), "kept")
        root = lambda power: self.constant(np.full(self.one_element("root of the number", length), number ** power), self.type)[0]
        form = self.draw("by its length", "x / l * root", "x * root / l", "x / (l / root)", "x / (l * 1 / root)", "root / l * x")
        return {"x / l * root": lambda: self.mul(self.op("Div", x, length), root(0.5)), "x * root / l": lambda: self.op("Div", self.mul(x, root(0.5)), length),
                "x / (l / root)": lambda: self.op("Div", x, self.op("Div", length, root(0.5))), "root / l * x": lambda: self.mul(self.op("Div", root(0.5), length), x),
                "x / (l * 1 / root)": lambda: self.op("Div", x, self.mul(length, root(-0.5)))}[form]()

    def rms_norm(self, value):
        """The operator: exporters make one of what follows a difference, too."""
        scale = self.m.constant(np.ones([self.sizes.get(d, d) for d in self.norm_shape], FLOAT))
        epsilon = float(np.float32(self.epsilon_written if self.epsilon is None else self.epsilon))
        self.epsilon = self.epsilon_written = epsilon
        return self.op("RMSNormalization", value, scale, axis=-self.norm_axes, epsilon=epsilon)

    def apply(self, steps):
        """The norm with its scales and bias, in one of the bracketings."""
        layer, late = self.kind == "layer", self.late
        whole = lambda: self.statistic("centred") if layer else self.reads_x()
        steps = list(steps)
        first = bool(steps) and steps[0][0] == "Mul" and not late  # a scale that may come before the root
        forms = ["plain"] * 4 + ["tree"] * 3
        forms += ["scale before the root", "root times scale", *["distributed root times scale"] * layer] * first
        forms += ["distributed", "reversed"] * layer
        number = 1 if self.symbolic else int(np.prod(self.normal))
        forms += ["by its length"] * 3 * (not layer and number > 1 and self.epsilon_written == 0 and self.type in (FLOAT, DOUBLE))
        forms += ["an RMS norm of the difference"] * (layer and self.opset >= 23 and self.types == "float" and not self.symbolic)
        form = self.draw("bracketing", *forms)
        if [o for o, _ in steps[:2]] == ["Mul", "Mul"] and self.draw("two scales", "one by one", "multiplied first") == "multiplied first":
            self.owner = PREPARED
            steps[:2] = [("Mul", self.mul(steps[0][1], steps[1][1]))]
            self.owner = NORM
        if form == "tree":
            left = steps if late else None
            y, steps = self.tree([] if late else steps)
            steps = left or steps
        elif form == "scale before the root":
            y = self.times_root(self.mul(whole(), steps.pop(0)[1]))
        elif form == "root times scale":
            y = self.mul(whole(), self.times_root(steps.pop(0)[1]))
        elif form == "by its length":
            y = self.by_length(number)
        elif form.startswith("an RMS norm"):
            y = self.rms_norm(whole())
        elif form == "reversed":
            y = self.op("Neg", self.times_root(self.op("Sub", self.restored(self.statistic("mean")), self.reads_x())))
        elif form.startswith("distributed"):
            product = lambda value: self.times_root(value)
            if form != "distributed":
                factor_scale = steps.pop(0)[1]
                factor = self.times_root(factor_scale)
                product = lambda value: self.mul(value, factor)
            scaled = product(self.reads_x())
            if form != "distributed" and self.draw("shift", "by the factor", "one by one") == "one by one":
                shift = self.mul(self.times_root(self.restored(self.statistic("mean"))), factor_scale)
            else:
                shift = product(self.restored(self.statistic("mean")))
            terms = [(scaled, 1), (shift, -1)]
            while steps and steps[0][0] in ("Add", "Sub") and not late:
                terms.append((steps[0][1], 1 if steps.pop(0)[0] == "Add" else -1))
            y = self.sum(terms)
        else:
            if "normalised" not in self.shared or self.draw("normalised value", "shared", "computed again") == "computed again":
                self.shared["normalised"] = self.times_root(whole())
            y = self.shared["normalised"]
        if late:
            y = self.cast(y, self.y_type)
        for step in steps:
            y = self.step(y, step)
        return y

    def _write(self):
        draw, m = self.draw, self.m
        x = self._producer()
        self.around = {n.output[0] for n in m.nodes}
        self.epsilon, self.epsilon_written = None, draw("epsilon", 1e-5, 1e-12, 0.0, 0.5, 1e-3)
        self.one_pass = self.kind == "layer" and int(np.prod(self.normal)) > 1 and draw("variance", "two-pass", "two-pass", "one-pass") == "one-pass" and not self.types.endswith("centred")
        self.late = self.types.endswith("then-scale")
        self.spreads = False
        self.owner, self.shared, self.whole = PREPARED, {}, False
        self.x = self.op("Flatten", x, axis=self.rank - self.axes_count) if self.flatten else x
        count = draw("norms", 1, 1, 1, 1, 2)
        row_type = self.y_type if self.late else self.type
        results = []
        for k in range(count):
            self.owner = PREPARED
            if k == 1 and draw("second norm", "alike", "of the other kind") == "of the other kind":
                self.kind, self.one_pass = "rms" if self.kind == "layer" else "layer", False
                self.shared = {name: v for name, v in self.shared.items() if name in ("x", "mean")}
            steps = self._steps(row_type, k == 0 and count == 2, k == 1)
            self.owner = NORM
            y = self.apply(steps)
            self._keep_nothing_after(y)
            if y in results:
                y = self.op("Identity", y)
            if not self.late and self.type != self.y_type:
                y = self.cast(y, self.y_type)
            self.facts.append((self.kind, self.x, steps, self.epsilon, y))
            if self.flatten:
                self.owner = PREPARED
                y = self.op("Reshape", y, self.op("Shape", x))
            results.append(y)
        self._live()
        self.owner = CONTEXT
        for y in results:
            self._consumer(y, x)

    def _keep_nothing_after(self, y):
        """What does nothing behind a whole norm is no part of it; only an Identity goes."""
        last = next(n for n in self.m.nodes if y in n.output)
        if last.op_type in ("Slice", "Where") or (len(last.input) == 1 and last.op_type in ("Dropout", "Sum", "Mean", "Max", "Cast")):
            self.owners[PREPARED][last.op_type] += 1

    def _steps(self, dtype, scaled, changed):
        """What is done to the normalised value: (operator, row) in turn. `scaled`: there is a scale; `changed`: there is a step."""
        draw, steps = self.draw, []
        narrow = min(self.x_type, self.y_type, key=lambda t: t.itemsize)

        def step(role, usual, other):
            if row := self._row(role, dtype):
                constant = draw.chosen[role][-1] == "constant"
                steps.append((draw(f"{role} by", usual, usual, usual, *[other] * (constant or other == "Sub")), row))
                if steps[-1][0] == "Div" and dtype != narrow:
                    self.casts += 3  # the inverse of an exact row need not be exact
                if steps[-1][0] == "Sub" and not constant:
                    self.owners[PREPARED].update(["Neg", "Sub"])

        step("scale", "Mul", "Div")
        if scaled and not steps:
            steps.append(("Mul", self._plain_scale(dtype)))
            self.casts += 3 * (dtype != narrow)
        if steps and draw("scales", 1, 1, 1, 2) == 2:
            step("scale", "Mul", "Div")
        if self.kind == "layer":
            step("bias", "Add", "Sub")
            if draw("steps after the bias", *["none"] * 5, "some") == "some" and not self.types.endswith("centred"):
                step("bias", "Add", "Sub")
                step("scale", "Mul", "Div")
                step("bias", "Add", "Sub")
        if changed and not steps:  # it would be the first one's own interior
            steps.append(("Mul", self._plain_scale(dtype)))
            self.casts += 3 * (dtype != self.y_type)
        if len(steps) > 1 and dtype != narrow:
            self.casts += 3  # what is made of two exact rows need not be exact
        return steps

    def _live(self):
        """Interior values that something outside reads."""
        form = self.draw("live", *["none"] * 8, "mean", "inverse", "mean and inverse", "variance", "centred")
        if form == "none" or self.types.endswith("centred") or not self.leading:  # of one row, the cost decides
            return
        leading = [1] * self.norm_axes
        shape = [None] * (self.norm_rank - self.norm_axes) + leading if self.flatten else self.shape[:self.rank - self.axes_count] + leading
        live, self.owner = [], CONTEXT
        if "mean" in form and "mean" in self.shared:
            live.append(self.restored(self.shared["mean"], False))
        if "inverse" in form and self.shared.get("root", ("none",))[0] == "multiply":
            live.append(self.shared["root"][1])
        if form == "variance" and "variance" in self.shared:
            live.append(self.restored(self.last_variance, False))
        if form == "centred" and self.shared.get("centred"):
            live.append(self.shared["centred"])
            shape = shape[:self.norm_rank - self.norm_axes] + self.norm_shape
        kept = not {"unsqueezed later", "Expand"} & {c for d in ("mean", "summed squares", "axes put back") for c in self.draw.chosen[d]}
        self.strict = not live or kept and form in ("mean", "inverse", "mean and inverse") and self.types == "float" and self.kind == "layer" and not self.flatten
        if not kept:  # Expand repeats it
            shape = [None] * len(shape)
        self.live_is_a_statistic = bool(live) and self.strict
        self.owner = CONTEXT
        for value in live:
            if self.draw("live value", "is an output", "is read") == "is read":
                value = self.op("Neg", value)
            if value not in [o.name for o in self.m.outputs]:
                self.m.output(value, self.type, shape)

    def _shuffle(self):
        """Another order of the nodes: any in which every value is there before it is read."""
        graph = self.model.graph
        if self.draw("order of nodes", "as written", "as written", "any other") == "as written":
            return
        if self.live_is_a_statistic:
            self.strict = False  # what reads it may stand before what the operator needs
        waiting, order = list(graph.node), []
        known = {""} | {v.name for v in [*graph.input, *graph.initializer]}
        random = self.draw.generator("order of nodes")
        while waiting:
            node = random.choice([n for n in waiting if known.issuperset(n.input)])
            waiting.remove(node)
            order.append(node)
            known.update(node.output)
        del graph.node[:]
        graph.node.extend(order)

    def _enclose(self):
        """Perhaps everything from the norm on in both branches of an If, with its constants inside or outside."""
        graph, self.branches = self.model.graph, [""]
        if self.opset < (16 if self.x_type == BFLOAT16 else 9) or self.draw("where", *["the graph"] * 9, "an If") == "the graph":
            return
        constants = self.draw("constants of the branches", "outside", "inside") == "inside" and self.ir > 3
        inner = [n for n in graph.node if n.output[0] not in self.around]
        kept = [n for n in graph.node if n.output[0] in self.around]
        self.branches, made = ["_then", "_else"], []
        moved = {v for n in inner for v in n.output}
        results = [o for o in graph.output if o.name in moved]
        if constants:
            read = {i for n in kept for i in n.input} | {o.name for o in graph.output}
            held = [t for t in graph.initializer if t.name not in read]
            moved |= {t.name for t in held}
        for suffix in self.branches:
            rename = lambda name: name + suffix if name in moved else name
            nodes = []
            for n in inner:
                copy = onnx.NodeProto.FromString(n.SerializeToString())
                copy.name = n.name + suffix
                copy.input[:], copy.output[:] = map(rename, n.input), map(rename, n.output)
                nodes.append(copy)
            body = helper.make_graph(nodes, suffix[1:], [], [helper.make_value_info(rename(o.name), o.type) for o in results])
            if constants:
                for t in held:
                    body.initializer.append(t)
                    body.initializer[-1].name = rename(t.name)
            made.append(body)
        if constants:
            left = [t for t in graph.initializer if t.name not in {h.name for h in held}]
            del graph.initializer[:]
            graph.initializer.extend(left)
        graph.input.append(helper.make_tensor_value_info("flag", onnx.TensorProto.BOOL, []))
        del graph.node[:]
        graph.node.extend(kept + [helper.make_node("If", ["flag"], [o.name for o in results], "n_if", then_branch=made[0], else_branch=made[1])])
        name = lambda v: v + "_then" if v in moved else v
        self.facts = [(kind, name(x), [(o, name(r)) for o, r in steps], epsilon, name(y)) for kind, x, steps, epsilon, y in self.facts]
        self.owners[CONTEXT]["If"] += 1

    def _dress(self):
        """What changes nothing: names of nodes, the long name of the default domain, known shapes."""
        names = self.draw("names of nodes", "each its own", "none")
        domain = self.draw("default domain", *["", "", "", "ai.onnx"])
        for node in judge.walk(self.model.graph):
            node.name = node.name if names == "each its own" else ""
        self.model.opset_import[0].domain = domain
        if self.draw("value_info", "none", "none", "inferred") == "inferred":
            self.model = onnx.shape_inference.infer_shapes(self.model, data_prop=True)

    # ---- inputs and judgement

    def feeds(self, extreme=True):
        numbers = np.random.default_rng(hash_of(f"feeds {self.seed}"))
        feeds = {}
        constants = {t.name for t in self.model.graph.initializer}
        for value in self.model.graph.input:
            if value.name in constants:
                continue
            tensor = value.type.tensor_type
            dims = [d.dim_value or self.sizes.get(d.dim_param, 0) for d in tensor.shape.dim]
            dims = [d or self.leading[k] for k, d in enumerate(dims)]
            array = numbers.normal(0, 2, dims)
            if value.name in ("x", "x2") and self.leading and extreme:
                array[1] *= max(np.sqrt(self.epsilon), 1e-2 if self.x_type == HALF else 1e-6) / 2  # rows in which epsilon matters
            if value.name == "x" and self.leading and extreme:
                array[(0,) * len(self.leading)] += 30 if self.x_type == HALF else 1e3
            dtype = {1: FLOAT, 11: DOUBLE, 10: HALF, 16: BFLOAT16, 9: np.dtype(bool)}[tensor.elem_type]
            if dtype.kind == "b":
                array = np.array(self.draw("branch", True, False))
            feeds[value.name] = array.astype(dtype)
        return feeds

    def dead(self):
        """Results that nobody reads: a rewriter need not remove what was dead before."""
        nodes = list(judge.walk(self.model.graph))
        read = {i for n in nodes for i in n.input} | {o.name for o in self.model.graph.output}
        for n in nodes:
            read.update(o.name for a in n.attribute if a.HasField("g") for o in a.g.output)
        return [n.output[0] for n in nodes if not read.intersection(n.output)]

    def formula_error(self, feeds):
        """Largest distance between the graph and the formula, both in double precision, relative to the largest value."""
        values, worst = reference.evaluate(self.model, feeds), 0.0
        for kind, x, steps, epsilon, y in self.facts:
            axes = tuple(range(self.norm_rank - self.norm_axes, self.norm_rank))
            d = values[x] - (values[x].mean(axes, keepdims=True) if kind == "layer" else 0)
            with np.errstate(all="ignore"):
                n = d / np.sqrt(np.square(d).mean(axes, keepdims=True) + epsilon)
            for operator, row in steps:
                n = reference.OPERATORS[operator](n, values[row])
            if n.shape != values[y].shape:
                return np.inf
            finite = np.isfinite(n)  # a row of one value and epsilon 0 give 0 / 0
            worst = max(worst, float(np.abs(n - values[y])[finite].max(initial=0) / np.abs(n)[finite].max(initial=1)))
        return worst

    def leftovers(self, model, target):
        """Operators in `model` that should be gone."""
        allowed = self.owners[CONTEXT] + self.owners[PREPARED]
        allowed["Constant"] = 10**6
        allowed["Cast"] += self.casts
        if self.flatten:
            for operator in ("Flatten", "Reshape", "Shape"):
                allowed[operator] += 10
        if target == "onnxruntime" and self.x_type == BFLOAT16:  # no kernel: a float norm between Casts, rows in bfloat16 after it
            for operator in ("Cast", "Identity", *["Mul", "Div", "Add", "Sub"] * self.late):
                allowed[operator] += 10
        if self.spreads:
            for operator in ("Expand", "Reshape", "Shape", "Squeeze"):
                allowed[operator] += 4 + sum(len(f[2]) for f in self.facts)
        for _, _, steps, _, _ in self.facts:  # computed rows are put together
            if len(steps) > 1:
                allowed["Identity"] += 1  # behind what is absorbed last
            if len(steps) > 1 and self.computed:
                allowed.update({operator: 2 * len(steps) for operator in ("Mul", "Div", "Add", "Sub", "Sum", "Neg")})
        for operator in allowed if len(self.branches) > 1 else ():
            allowed[operator] *= 2
        return judge.primitives(model) - allowed


def verdict(spelling, target, original=None):
    """None if fuse does right by it, else a sentence that begins with its kind."""
    try:
        result = judge.optimize(spelling.model, target)
    except AssertionError as error:
        return f"failed: {error}"
    wanted = collections.Counter(kind for kind, *_ in spelling.facts for _ in spelling.branches)
    found = judge.norms(result.model)
    if found != wanted:
        reasons = sorted({f"{r['rule']}: {r.get('condition', '')}: {r['reason']}" for r in result.refusals()})
        return f"count: {dict(found)} fused, {dict(wanted)} wanted; " + "; ".join(reasons[:4])
    for rule in result.miscounted():
        return f"report: {rule}"
    for wrong in judge.foreign_norms(result.model, target):
        return f"foreign: {wrong}"
    if spelling.strict and (left := spelling.leftovers(result.model, target)):
        return f"leftover: {dict(left)}"
    if judge.interface(result.model) != judge.interface(spelling.model):
        return "interface: inputs, outputs or opset changed"
    if target == "onnx":
        try:
            check(result.model)
        except Exception as error:  # the message is what matters
            return f"checker: {str(error)[:300]}"
    if spelling.runnable:
        original = original or judge.Original(spelling.model, spelling.feeds(), len(spelling.leading))
        for found in original.differences(result.model):
            return f"result: {found}"
    return None


def judge_seed(seed, fixed=None, targets=judge.TARGETS):
    """The spelling and its verdicts by target."""
    spelling = Spelling(seed, fixed)
    original = judge.Original(spelling.model, spelling.feeds(), len(spelling.leading)) if spelling.runnable else None
    return spelling, {t: v for t in targets if (v := verdict(spelling, t, original))}


def shrink(seed, fixed, target, sentence):
    """Makes one choice after another plain, first all of a dimension and then each by itself, while the same kind of failure remains."""
    kind, fixed, before = sentence.split(":")[0], dict(fixed), None
    while before != fixed:
        before = dict(fixed)
        chosen = Spelling(seed, fixed).draw.chosen
        for choice in [*chosen, *((d, k) for d, values in chosen.items() for k in range(len(values)) if len(values) > 1)]:
            if choice in fixed or choice[0] in fixed:
                continue
            trial = fixed | {choice: PLAINEST}
            try:
                _, verdicts = judge_seed(seed, trial, [target])
            except Exception:  # that simpler model does not run: keep the choice
                continue
            if verdicts.get(target, "").split(":")[0] == kind:
                fixed = trial
    return Spelling(seed, fixed)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--fix", action="append", default=[], metavar="DIMENSION=CHOICE")
    options.add_argument("--keep", type=pathlib.Path, help="folder for the models that fail")
    options.add_argument("--shrink", action="store_true", help="save each failing model as plain as it can be made")
    options.add_argument("--validate", action="store_true", help="check the generator itself, without fuse-onnx")
    options.add_argument("--verbose", action="store_true", help="print every rate, not only those below 100 %%")
    chosen = options.parse_args()
    fixed = dict(f.split("=", 1) for f in chosen.fix)
    print(f"seed {chosen.seed}, {chosen.count} spellings, each for the targets {', '.join(judge.TARGETS)}")
    if chosen.validate:
        return validate(range(chosen.seed, chosen.seed + chosen.count), fixed)

    passed, failed, sentences = collections.Counter(), collections.Counter(), collections.Counter()
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        spelling, verdicts = judge_seed(seed, fixed)
        for target in judge.TARGETS:
            tally = failed if target in verdicts else passed
            tally["all", target] += 1
            for dimension, values in spelling.draw.chosen.items():
                for value in set(map(str, values)):
                    tally[dimension, value] += 1
        for target, sentence in verdicts.items():
            sentences[sentence.split(":")[0]] += 1
            print(f"  {seed} {target}: {sentence}", flush=True)
            if chosen.keep:
                chosen.keep.mkdir(parents=True, exist_ok=True)
                small = shrink(seed, fixed, target, sentence) if chosen.shrink else spelling
                path = chosen.keep / f"{seed}-{target}.onnx"
                path.write_bytes(small.model.SerializeToString())
                if chosen.shrink:
                    print(f"    as {path}: {small.unusual()}", flush=True)
    for key in sorted(passed | failed, key=str):
        good, bad = passed[key], failed[key]
        if bad or chosen.verbose or key[0] == "all":
            print(f"{100 * good / (good + bad):6.1f} % of {good + bad:5}  {key[0]}: {key[1]}")
    print("failures by kind:", dict(sentences), " rows skipped:", judge.skipped_rows)
    return 1 if failed else 0


def validate(seeds, fixed=None):
    """The generator against the oracles: the checker, onnxruntime and the formula in double precision."""
    wrong = 0
    for seed in seeds:
        try:
            spelling = Spelling(seed, fixed)
            check(spelling.model)
            error = spelling.formula_error(spelling.feeds(extreme=False))
            assert not (dead := spelling.dead()), f"dead nodes: {dead}"
            rounded = HALF in (spelling.type, spelling.x_type)  # a computed constant is; not so in double precision
            assert error < (1e-3 if rounded else 1e-7) or np.prod(spelling.normal) == 1, f"not the formula: off by {error:.3g}"
            if spelling.runnable:
                judge.execute(spelling.model, spelling.feeds())
        except Exception as error:  # say which seed, and go on
            wrong += 1
            print(f"  {seed}: {type(error).__name__}: {str(error)[:300]}")
    print(f"{wrong} of {len(seeds)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
