# SPDX-License-Identifier: BSL-1.0
"""Graphs that look like a norm and are none: each breaks one condition of an otherwise plain norm."""

import numpy as np
from onnx import TensorProto, helper

import judge
from build import DOUBLE, FLOAT, HALF, Model

ANY = {0, 1, 2, 3}
LOOKALIKES = {}


class Case:
    """A model under construction: `write` lays down a plain norm, each step of which a look-alike may replace."""

    def __init__(self, layer, opset=17, ir=8, shape=(4, 3, 7), dims=None, dtype=FLOAT):
        self.layer, self.m, self.dtype, self.shape, self.feeds = layer, Model(opset, ir), np.dtype(dtype), shape, {}
        self.numbers = np.random.default_rng(sum(shape) + layer)
        self.x = self.input("x", shape, dims)
        self.result = None

    def input(self, name, shape, dims=None, dtype=None, value=None):
        dtype = np.dtype(dtype or self.dtype)
        self.feeds[name] = (self.numbers.normal(0, 2, shape) if value is None else np.full(shape, value)).astype(dtype)
        return self.m.input(name, dtype, dims or shape)

    def c(self, value, dtype=None):
        return self.m.constant(np.asarray(value, dtype or self.dtype))

    def row(self, *shape, dtype=None):
        return self.c(self.numbers.uniform(0.5, 2, shape or self.shape[-1:]) * self.numbers.choice([1, 1, -1], shape or self.shape[-1:]), dtype)

    def overridable(self, value, name, dtype=None, given=None):
        """An initializer that is also a graph input, and the value that the caller gives instead."""
        value = np.asarray(value, dtype or self.dtype)
        self.m.initializers.append(helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape, value.tobytes(), raw=True))
        return self.input(name, value.shape, dtype=value.dtype, value=given)

    def write(self, axes=(-1,), **steps):
        m, op, x = self.m, self.m.op, self.x
        take = lambda name, default: steps.pop(name, default)
        mean, centred = take("mean", lambda: m.reduce_mean(x, axes)), take("centred", lambda mean: op("Sub", x, mean))
        d = centred(mean()) if self.layer else x
        squares = take("square", lambda d: op("Pow", d, self.c(2)))(d)
        variance = take("variance", lambda s: m.reduce_mean(s, axes))(squares)
        safe = take("epsilon", lambda v: op("Add", v, self.c(0.1)))(variance)
        root = take("root", lambda v: op("Sqrt", v))(safe)
        n = take("quotient", lambda d, root: op("Div", d, root))(d, root)
        n = take("scale", lambda n: op("Mul", n, self.row()))(n)
        y = take("bias", lambda n: op("Add", n, self.row()) if self.layer else n)(n)
        assert not steps, f"no such step: {list(steps)}"
        m.output(y, self.dtype, None)
        self.result = y
        return self

    def proto(self):
        """The model; an output's rank, which the standard demands, is taken from a run."""
        model = self.m.proto()
        for output, value in zip(model.graph.output, judge.execute(model, self.feeds).values()):
            output.CopyFrom(helper.make_tensor_value_info(output.name, output.type.tensor_type.elem_type, [None] * value.ndim))
        return model


class Lookalike:
    def __init__(self, name, build, rule, fused, reason, rows):
        self.name, self.build, self.rule, self.fused, self.reason, self.rows = name, build, rule, fused, reason, rows


def broken(name, layer=None, fused=None, reason=True, rows=1, **case):
    """Registers `function(case)` for layer norm and RMS norm (or the one that `layer` names).

    `fused`: how many norms may be left fused; by default none, but a layer norm broken in its centring may still hold an RMS norm.
    `reason`: whether the report must name a refusal of the rule.
    """
    def register(function):
        for kind in ("layer", "rms") if layer is None else ("layer",) if layer else ("rms",):
            allowed = {kind: {0}} | (fused or ({"rms": {0, 1}} if kind == "layer" else {}))
            build = lambda kind=kind: function(Case(kind == "layer", **case))
            LOOKALIKES[f"{kind}: {name}"] = Lookalike(name, build, f"{kind}-norm", {"layer": {0}, "rms": {0}} | allowed, reason, rows)
        return function
    return register


def broken_step(name, step, replacement, **options):
    broken(name, **options)(lambda case: case.write(**{step: lambda *values: replacement(case, case.m, *values)}))


def either(kind_counts):
    """A smaller or an equal norm may stand: its count is not this case's business, the result is."""
    return {"layer": kind_counts, "rms": kind_counts}


# ---- the square
for value in (3.0, 2.0001, 1.0, -2.0, 0.5):
    broken_step(f"exponent {value}", "square", lambda k, m, d, e=value: m.op("Pow", m.op("Abs", d) if e % 1 else d, k.c(e)))
broken_step("exponent is an input", "square", lambda k, m, d: m.op("Pow", d, k.input("e", (), value=2)))
broken_step("exponent can be overridden", "square", lambda k, m, d: m.op("Pow", d, k.overridable(2, "e", given=4)))
broken_step("exponent per element", "square", lambda k, m, d: m.op("Pow", d, k.c([2, 2, 2, 2, 2, 2, 4])))
broken_step("exponent of higher rank", "square", lambda k, m, d: m.op("Pow", d, k.c([[[[2]]]])))
broken_step("absolute value for square", "square", lambda k, m, d: m.op("Abs", d))
broken_step("product with another value", "square", lambda k, m, d: m.op("Mul", d, k.input("other", k.shape)))
broken_step("square of something else", "square", lambda k, m, d: m.op("Pow", k.input("other", k.shape), k.c(2)))
broken_step("no square", "square", lambda k, m, d: m.op("Abs", m.op("Relu", d)))

# ---- the centring
broken_step("mean - x", "centred", lambda k, m, mean: m.op("Sub", mean, k.x), layer=True)
broken_step("-(x - mean)", "centred", lambda k, m, mean: m.op("Neg", m.op("Sub", k.x, mean)), layer=True)
broken_step("x + mean", "centred", lambda k, m, mean: m.op("Add", mean, k.x), layer=True)
broken_step("mean of something else", "mean", lambda k, m: m.reduce_mean(k.input("other", k.shape), [-1]), layer=True)
broken_step("something else less the mean", "centred", lambda k, m, mean: m.op("Sub", k.input("other", k.shape), mean), layer=True)
broken_step("mean over another axis", "mean", lambda k, m: m.reduce_mean(k.x, [-2]), layer=True)
broken_step("mean over more axes", "mean", lambda k, m: m.reduce_mean(k.x, [-2, -1]), layer=True)
broken_step("mean over all axes", "mean", lambda k, m: m.reduce_mean(k.x, None), layer=True)
broken_step("maximum for mean", "mean", lambda k, m: m.op("ReduceMax", k.x, axes=[-1]), layer=True)
broken_step("sum for mean", "mean", lambda k, m: m.op("ReduceSum", k.x, m.integers(-1)), layer=True)
broken_step("pool over two axes", "mean", lambda k, m: m.op("GlobalAveragePool", k.x), layer=True, shape=(2, 3, 4, 7))
broken_step("mean without its dimension, square shape", "mean", lambda k, m: m.reduce_mean(k.x, [-1], 0), layer=True, shape=(5, 5))
broken_step("mean without its dimension, cube", "mean", lambda k, m: m.reduce_mean(k.x, [-1], 0), layer=True, shape=(5, 5, 5))
broken_step("dimension put back elsewhere", "mean", lambda k, m: m.unsqueeze(m.reduce_mean(k.x, [-1], 0), [0]), layer=True, shape=(5, 5))
broken_step("half of the mean", "mean", lambda k, m: m.op("Mul", m.reduce_mean(k.x, [-1]), k.c(0.5)), layer=True)

# ---- axes put back behind the root
for _name, _shape, _restore in (("put back elsewhere", (5, 5), lambda m, r: m.unsqueeze(r, [0])), ("never put back", (5, 5), lambda m, r: r),
                                ("never put back, cube", (5, 5, 5), lambda m, r: r),
                                ("put back after a transposition", (5, 5, 7), lambda m, r: m.unsqueeze(m.op("Transpose", r, perm=[1, 0]), [-1]))):
    broken(f"axes {_name}", shape=_shape, fused=either({0}))(lambda k, restore=_restore: k.write(
        variance=lambda s: k.m.reduce_mean(s, [-1], 0), root=lambda v: restore(k.m, k.m.op("Sqrt", v))))

# ---- the variance
broken_step("variance over another axis", "variance", lambda k, m, s: m.reduce_mean(s, [-2]), fused=either({0}))
broken_step("variance without its dimension, square shape", "variance", lambda k, m, s: m.reduce_mean(s, [-1], 0), shape=(5, 5), fused=either({0}))
broken_step("variance without its dimension, cube", "variance", lambda k, m, s: m.reduce_mean(s, [-1], 0), shape=(5, 5, 5), fused=either({0}))
broken_step("variance with its dimension elsewhere", "variance", lambda k, m, s: m.unsqueeze(m.reduce_mean(s, [-1], 0), [0]), shape=(5, 5), fused=either({0}))
broken_step("sum of squares", "variance", lambda k, m, s: m.op("ReduceSum", s, m.integers(-1)), fused=either({0}))
broken_step("unbiased variance", "variance", lambda k, m, s: m.op("Mul", m.reduce_mean(s, [-1]), k.c(7 / 6)), fused=either({0}))
broken_step("maximum of squares", "variance", lambda k, m, s: m.op("ReduceMax", s, axes=[-1]), fused=either({0}))


def _summed(name, variance, fused=either({0}), **case):
    """`variance` makes of d itself what should be the mean of its squares."""
    broken(name, fused=fused, **case)(lambda k: k.write(square=lambda d: d, variance=lambda d: variance(k, k.m, d)))


_summed("sum of squares by all but one", lambda k, m, d: m.op("Div", m.reduce("ReduceSumSquare", d, [-1]), k.c(6)))
_summed("sum of squares by another number", lambda k, m, d: m.op("Mul", m.reduce("ReduceSumSquare", d, [-1]), k.c(1 / 3)))
_summed("sum of squares by nothing", lambda k, m, d: m.reduce("ReduceSumSquare", d, [-1]))
_summed("sum of squares over another axis", lambda k, m, d: m.op("Div", m.reduce("ReduceSumSquare", d, [-2]), k.c(5)), shape=(4, 5, 5))
_summed("sum of squares of unknown number", lambda k, m, d: m.op("Div", m.reduce("ReduceSumSquare", d, [-1]), k.c(7)), dims=["b", "s", "h"])
_summed("sum of squares, counted, of unknown number", lambda k, m, d: m.op(
    "Div", m.reduce("ReduceSumSquare", d, [-1]), m.cast(m.op("Gather", m.op("Shape", k.x), k.c(1, "int64")), FLOAT)), dims=["b", "s", "h"])
_summed("norm by the number", lambda k, m, d: m.op("Div", m.reduce("ReduceL2", d, [-1]), k.c(7)))
_summed("squared norm by the root of the number", lambda k, m, d: m.op("Div", m.op("Pow", m.reduce("ReduceL2", d, [-1]), k.c(2)), k.c(7 ** 0.5)))
_summed("product of two norms", lambda k, m, d: m.op(
    "Div", m.op("Mul", m.reduce("ReduceL2", d, [-1]), m.reduce("ReduceL2", k.input("other", k.shape), [-1])), k.c(7)))
_summed("sum of absolute values", lambda k, m, d: m.op("Div", m.reduce("ReduceL1", d, [-1]), k.c(7)))
_summed("norm of negated sum", lambda k, m, d: m.op("Neg", m.op("Div", m.reduce("ReduceSumSquare", d, [-1]), k.c(-6.0))))

# ---- x by its length, times a number
for _name, _number, _length in (("nothing", 1.0, lambda m, n: n), ("the number", 7.0, lambda m, n: n), ("another root", 6 ** 0.5, lambda m, n: n),
                                ("less its root", -(7 ** 0.5), lambda m, n: n), ("the root, bounded", 7 ** 0.5, lambda m, n: m.op("Max", n, m.constant(np.float32(1e-2)))),
                                ("the root, shifted", 7 ** 0.5, lambda m, n: m.op("Add", n, m.constant(np.float32(1e-2))))):
    broken(f"x by its length times {_name}", layer=False, reason=False, fused=either({0}))(lambda k, number=_number, length=_length: k.write(
        square=lambda d: d, variance=lambda d: k.m.reduce("ReduceL2", d, [-1]), epsilon=lambda v: length(k.m, v), root=lambda v: v,
        quotient=lambda d, v: k.m.op("Mul", k.m.op("Div", d, v), k.c(number))))

broken("axis 1 of 3")(lambda k: k.write(axes=(1,), scale=lambda n: n, bias=lambda n: n))
broken("axis 0 of 2, square shape", shape=(5, 5))(lambda k: k.write(axes=(0,)))
broken("axes 0 and 2", shape=(5, 5, 5))(lambda k: k.write(axes=(0, 2)))
broken("axes 1 and 2 of 4", shape=(2, 3, 4, 7))(lambda k: k.write(axes=(1, 2)))
broken("empty axes that do nothing", opset=18)(lambda k: k.write(
    mean=lambda: k.m.op("ReduceMean", k.x, k.m.integers(), noop_with_empty_axes=1),
    variance=lambda s: k.m.op("ReduceMean", s, k.m.integers(), noop_with_empty_axes=1)))
broken("no axes that do nothing", opset=18)(lambda k: k.write(
    mean=lambda: k.m.op("ReduceMean", k.x, noop_with_empty_axes=1), variance=lambda s: k.m.op("ReduceMean", s, noop_with_empty_axes=1)))


def _axes_from(make, **options):
    def write(k):
        axes = make(k)
        return k.write(mean=lambda: k.m.op("ReduceMean", k.x, axes), variance=lambda s: k.m.op("ReduceMean", s, axes),
                       scale=lambda n: n, bias=lambda n: n)
    return lambda name: broken(name, opset=18, **options)(write)


_axes_from(lambda k: k.input("axes", (1,), dtype="int64", value=1))("axes are an input")
_axes_from(lambda k: k.overridable([-1], "axes", "int64", given=1))("axes can be overridden")


@broken("one-pass variance of another value", layer=True, fused=either({0}))
def _(k):
    other = k.input("other", k.shape)
    squares = lambda v: k.m.op("Mul", v, v)
    return k.write(variance=lambda s: k.m.op("Abs", k.m.op("Sub", k.m.reduce_mean(squares(k.x), [-1]), squares(k.m.reduce_mean(other, [-1])))))


@broken("mean of squares less the mean", layer=True, fused=either({0}))
def _(k):
    return k.write(variance=lambda s: k.m.op("Sub", k.m.reduce_mean(k.m.op("Mul", k.x, k.x), [-1]), k.m.reduce_mean(k.x, [-1])),
                   epsilon=lambda v: k.m.op("Add", v, k.c(9.0)))


@broken("square of mean less mean of squares", layer=True, fused=either({0}))
def _(k):
    def variance(_):
        mean = k.m.reduce_mean(k.x, [-1])
        return k.m.op("Sub", k.m.op("Mul", mean, mean), k.m.reduce_mean(k.m.op("Mul", k.x, k.x), [-1]))
    return k.write(variance=variance, epsilon=lambda v: k.m.op("Add", v, k.c(40.0)))


def _one_pass(name, variance, epsilon=40.0):
    """`variance` of the mean of squares and the square of the mean."""
    @broken(name, layer=True, fused=either({0}))
    def write(k):
        m, mean = k.m, k.m.reduce_mean(k.x, [-1])
        squares = lambda _: variance(k, m, m.reduce_mean(m.op("Mul", k.x, k.x), [-1]), m.op("Mul", mean, mean))
        return k.write(mean=lambda: mean, variance=squares, epsilon=lambda v: m.op("Add", v, k.c(epsilon)))


_one_pass("square of the mean clipped", lambda k, m, squares, square: m.op("Add", squares, m.op("Relu", m.op("Neg", square))))
_one_pass("square of the mean clipped at a constant", lambda k, m, squares, square: m.op("Add", squares, m.op("Relu", m.op("Sub", k.c(0.5), square))))

# ---- epsilon
none = either({0})
broken_step("epsilon is an input", "epsilon", lambda k, m, v: m.op("Add", v, k.input("eps", (1,), value=0.5)), fused=none)
broken_step("epsilon can be overridden", "epsilon", lambda k, m, v: m.op("Add", v, k.overridable(1e-5, "eps", given=0.5)), fused=none)
broken_step("epsilon per element", "epsilon", lambda k, m, v: m.op("Add", v, k.c([.1, .2, .3, .4, .5, .6, .7])), fused=none)
broken_step("epsilon per row", "epsilon", lambda k, m, v: m.op("Add", v, k.c([[.1], [.5], [.9]])), fused=none)
broken_step("equal epsilons per element", "epsilon", lambda k, m, v: m.op("Add", v, k.c([0.1] * 7)), fused=either({0, 1}), reason=False)
broken_step("epsilon of higher rank", "epsilon", lambda k, m, v: m.op("Add", v, k.c([[[[0.1]]]])), fused=none)
broken_step("epsilon subtracted", "epsilon", lambda k, m, v: m.op("Sub", v, k.c(0.1)), fused=either({0, 1}), reason=False)
broken_step("variance subtracted from epsilon", "epsilon", lambda k, m, v: m.op("Abs", m.op("Sub", k.c(0.1), v)), fused=none)
broken_step("epsilon multiplied", "epsilon", lambda k, m, v: m.op("Mul", v, k.c(0.1)), fused=none)
broken_step("clipped at more than 0", "epsilon", lambda k, m, v: m.op("Add", m.op("Max", v, k.c(2.0)), k.c(0.1)), fused=none)
broken_step("clipped above, too", "epsilon", lambda k, m, v: m.op("Add", m.op("Clip", v, k.c(0), k.c(1.0)), k.c(0.1)), fused=none)
broken_step("epsilon as a maximum", "epsilon", lambda k, m, v: m.op("Max", v, k.c(2.0)), fused=none)
broken_step("double epsilon too small for float", "epsilon", lambda k, m, v: m.op("Add", v, k.c(1e-60)), fused=none, dtype=DOUBLE)
broken_step("double epsilon too large for float", "epsilon", lambda k, m, v: m.op("Add", v, k.c(1e60)), fused=none, dtype=DOUBLE)

# ---- the root and the quotient
broken_step("epsilon outside the root", "root", lambda k, m, v: m.op("Add", m.op("Sqrt", v), k.c(0.3)), fused=none)
broken_step("epsilon inside and outside", "quotient", lambda k, m, d, r: m.op("Div", d, m.op("Add", r, k.c(1e-3))), fused=none)
broken_step("no root", "root", lambda k, m, v: v, fused=none)
broken_step("root of root", "root", lambda k, m, v: m.op("Sqrt", m.op("Sqrt", v)), fused=none)
broken_step("cube root", "root", lambda k, m, v: m.op("Pow", v, k.c(1 / 3)), fused=none)
broken_step("exponent 0.501", "root", lambda k, m, v: m.op("Pow", v, k.c(0.501)), fused=none)
broken_step("divided by the power -0.5", "root", lambda k, m, v: m.op("Pow", v, k.c(-0.5)), fused=none)
broken_step("root exponent is an input", "root", lambda k, m, v: m.op("Pow", v, k.input("e", (), value=0.5)), fused=none)
broken_step("root per element", "root", lambda k, m, v: m.op("Pow", v, k.c([.5, .5, .5, .5, .5, .5, .25])), fused=none)
broken_step("root over d", "quotient", lambda k, m, d, r: m.op("Div", r, d), fused=none)
broken_step("d times root", "quotient", lambda k, m, d, r: m.op("Mul", d, r), fused=none)
broken_step("d divided by 1 / root", "quotient", lambda k, m, d, r: m.op("Div", d, m.op("Reciprocal", r)), fused=none)
broken_step("something else divided", "quotient", lambda k, m, d, r: m.op("Div", k.input("other", k.shape), r), fused=none)
broken_step("1.001 / root", "quotient", lambda k, m, d, r: m.op("Mul", d, m.op("Div", k.c(1.001), r)), fused=either(ANY), reason=False)
broken_step("2 / root", "quotient", lambda k, m, d, r: m.op("Mul", d, m.op("Div", k.c(2), r)), fused=either(ANY), reason=False)
broken_step("an input / root", "quotient", lambda k, m, d, r: m.op("Mul", d, m.op("Div", k.input("one", (), value=3), r)), fused=either(ANY), reason=False)
broken_step("1 can be overridden", "quotient", lambda k, m, d, r: m.op("Mul", d, m.op("Div", k.overridable(1, "one", given=3), r)), fused=either(ANY), reason=False)
broken_step("1 of higher rank", "quotient", lambda k, m, d, r: m.op("Mul", d, m.op("Div", k.c([[[[1]]]]), r)), fused=either(ANY), reason=False)

def _twice(m, n, row):
    return m.op("Mul", m.op("Mul", n, row), row)


# ---- scale and bias: the norm without them may still fuse
with_rest = dict(fused=either({0, 1}), reason=False)
for shape in ((3, 7), (4, 3, 7), (3, 1), (4, 1, 1), (1, 1, 1, 7), (2, 1, 1, 7)):
    broken_step(f"scale of shape {shape}", "scale", lambda k, m, n, s=shape: m.op("Mul", n, k.row(*s)), **with_rest)
    broken_step(f"bias of shape {shape}", "bias", lambda k, m, n, s=shape: m.op("Add", n, k.row(*s)), layer=True, **with_rest)
broken_step("scale in a column, square shape", "scale", lambda k, m, n: m.op("Mul", n, k.row(5, 1)), shape=(3, 5, 5), **with_rest)
broken_step("bias in a column, square shape", "bias", lambda k, m, n: m.op("Add", n, k.row(5, 1)), shape=(3, 5, 5), layer=True, **with_rest)
broken_step("scale enlarges a row of one", "scale", lambda k, m, n: m.op("Mul", n, k.row(7)), shape=(4, 3, 1), **with_rest)
broken_step("scale enlarges the batch", "scale", lambda k, m, n: m.op("Mul", n, k.row(5, 7)), shape=(1, 7), **with_rest)
broken_step("bias enlarges the batch", "bias", lambda k, m, n: m.op("Add", n, k.row(5, 7)), shape=(1, 7), layer=True, **with_rest)
broken_step("scale after bias", "bias", lambda k, m, n: m.op("Mul", m.op("Add", n, k.row()), k.row()), layer=True, **with_rest)
broken_step("n / scale", "scale", lambda k, m, n: m.op("Div", n, k.row()), **with_rest)
broken_step("scale / n", "scale", lambda k, m, n: m.op("Div", k.row(), n), **with_rest)
broken_step("reciprocal of the norm", "scale", lambda k, m, n: m.op("Mul", m.op("Reciprocal", n), k.row()), **with_rest)
broken_step("bias - n", "bias", lambda k, m, n: m.op("Sub", k.row(), n), layer=True, **with_rest)
broken_step("n - bias", "bias", lambda k, m, n: m.op("Sub", n, k.row()), layer=True, **with_rest)
broken_step("scale squared", "scale", lambda k, m, n: _twice(m, n, k.row()), **with_rest)
broken_step("gate of unknown size", "scale", lambda k, m, n: m.op("Mul", n, k.input("gate", (7,), ["k"])), **with_rest)
broken_step("scale can be overridden", "scale", lambda k, m, n: m.op("Mul", n, k.overridable(np.ones(7), "w", given=3)), **with_rest)
broken("scale for one of two axes", **with_rest)(lambda k: k.write(axes=(-2, -1)))


@broken("unknown length, really one", dims=[None, None, None], shape=(4, 3, 1), **with_rest)
def _(k):
    return k.write(scale=lambda n: k.m.op("Mul", n, k.row(7)), bias=lambda n: n)


@broken("another symbol's length, really one", dims=["b", "s", "h"], shape=(4, 3, 1), **with_rest)
def _(k):
    return k.write(scale=lambda n: k.m.op("Mul", n, k.input("w", (5,), ["k"])), bias=lambda n: n)


@broken("unknown rank, positive axis", shape=(2, 3, 4, 7), reason=True, fused=none)
def _(k):
    k.x = k.m.op("Reshape", k.x, k.input("shape", (4,), ["rank"], "int64"))
    k.feeds["shape"] = np.array(k.shape)
    return k.write(axes=(2,), scale=lambda n: n, bias=lambda n: n)


@broken("scale made of the mean", layer=True, shape=(4, 7), **with_rest)
def _(k):
    means = []
    return k.write(axes=(0, 1), mean=lambda: means.append(k.m.reduce_mean(k.x, [0, 1])) or means[0],
                   scale=lambda n: k.m.op("Mul", n, k.m.op("Add", k.row(4, 7), means[0])))


@broken("TensorFlow's form with the root alone", layer=True, **with_rest)
def _(k):
    def quotient(d, root):
        r, m = k.m.op("Reciprocal", root), k.m
        factor = m.op("Mul", r, k.row())
        return m.op("Add", m.op("Mul", k.x, factor), m.op("Sub", k.row(), m.op("Mul", m.reduce_mean(k.x, [-1]), r)))
    return k.write(quotient=quotient, scale=lambda n: n, bias=lambda n: n)


@broken("TensorFlow's form with the wrong sign", layer=True, **with_rest)
def _(k):
    def quotient(d, root):
        m = k.m
        factor = m.op("Mul", m.op("Reciprocal", root), k.row())
        return m.op("Add", m.op("Mul", k.x, factor), m.op("Add", k.row(), m.op("Mul", m.reduce_mean(k.x, [-1]), factor)))
    return k.write(quotient=quotient, scale=lambda n: n, bias=lambda n: n)


# ---- Casts
def there_and_back(dtype):
    return lambda k, m, v: m.cast(m.cast(v, dtype), FLOAT)


for inside in (HALF, np.dtype("int32"), np.dtype("bool")):
    broken_step(f"variance through {inside}", "epsilon", lambda k, m, v, t=inside: m.op("Add", there_and_back(t)(k, m, v), k.c(0.5)), fused=none)
    broken_step(f"root through {inside}", "quotient", lambda k, m, d, r, t=inside: m.op("Div", d, there_and_back(t)(k, m, r)), fused=none)
broken_step("square of the half d", "square", lambda k, m, d: m.op("Pow", there_and_back(HALF)(k, m, d), k.c(2)))
broken_step("square of the integer d", "square", lambda k, m, d: m.op("Pow", there_and_back(np.dtype("int32"))(k, m, d), k.c(2)))
broken_step("mean through half", "mean", lambda k, m: there_and_back(HALF)(k, m, m.reduce_mean(k.x, [-1])), layer=True)
broken_step("mean of the half x", "mean", lambda k, m: m.reduce_mean(there_and_back(HALF)(k, m, k.x), [-1]), layer=True)
broken_step("d through half", "centred", lambda k, m, mean: there_and_back(HALF)(k, m, m.op("Sub", k.x, mean)), layer=True)
broken_step("result through an integer", "scale", lambda k, m, n: m.op("Mul", there_and_back(np.dtype("int32"))(k, m, n), k.row()), **with_rest)
broken_step("result through half", "scale", lambda k, m, n: m.op("Mul", there_and_back(HALF)(k, m, n), k.row()), **with_rest)


# ---- values that others read, and outer values in bodies
def _if_body(k, value):
    """If(condition) then value else -value, captured from outside."""
    then, other = k.m.body(), k.m.body()
    then.output(then.op("Identity", value), k.dtype, [None] * len(k.shape))
    other.output(other.op("Neg", value), k.dtype, [None] * len(k.shape))
    condition = k.m.input("condition", "bool", ())
    k.feeds["condition"] = np.array(False)
    k.m.output(k.m.op("If", condition, then_branch=then.graph("then"), else_branch=other.graph("else")), k.dtype, [None] * len(k.shape))


def _loop_body(k, value):
    """Adds the captured value to itself three times."""
    body = k.m.body()
    body.inputs += [helper.make_tensor_value_info("turn", TensorProto.INT64, ()), helper.make_tensor_value_info("go", TensorProto.BOOL, ()),
                    helper.make_tensor_value_info("sum_in", TensorProto.FLOAT, [None] * len(k.shape))]
    body.output(body.op("Identity", "go"), "bool", ())
    body.output(body.op("Add", "sum_in", value), FLOAT, [None] * len(k.shape))
    start = k.m.op("Mul", value, k.c(2))
    k.m.output(k.m.op("Loop", k.m.constant(np.int64(3)), k.m.constant(np.array(True)), start, body=body.graph("body")), k.dtype, [None] * len(k.shape))


for reader, attach in (("an If body", _if_body), ("a Loop body", _loop_body), ("the caller", lambda k, v: k.m.output(v, k.dtype, None))):
    for step, what in (("square", "d"), ("variance", "the squares"), ("epsilon", "the variance"), ("quotient", "the root"), ("scale", "the norm without scale")):
        def write(k, step=step, attach=attach):
            seen = []
            defaults = {
                "square": lambda d: k.m.op("Pow", d, k.c(2)), "variance": lambda s: k.m.reduce_mean(s, [-1]),
                "epsilon": lambda v: k.m.op("Add", v, k.c(0.1)), "quotient": lambda d, r: k.m.op("Div", d, r),
                "scale": lambda n: k.m.op("Mul", n, k.row())}
            k.write(**{step: lambda *v: seen.append(v[-1]) or defaults[step](*v)})
            attach(k, seen[0])
            return k
        broken(f"{what} read by {reader}", fused=either(ANY), reason=False)(write)
