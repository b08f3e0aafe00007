# SPDX-License-Identifier: BSL-1.0
"""Instance norms and group norms in random spellings, each for both targets, and graphs that only look like one. FUSE_SEED and
FUSE_GROUP_NORMS change where the spellings start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, HALF, Model, check
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_GROUP_NORMS", 160 // judge.ONE_CASE_IN))
N, C = 2, 6
SPATIAL = {"one": [7], "two": [4, 5], "three": [2, 3, 4], "as many as channels": [C], "two as many": [3, C]}
TYPES = {"float": FLOAT, "half": HALF, "double": DOUBLE}


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


class Norm:
    """A norm by the choices of a seed, or by those that are `fixed`; `wrong` names what is not as it should be."""

    def __init__(self, seed, fixed=None, wrong=None):
        self.draw = draw = Draw(seed, fixed)
        self.wrong = wrong
        self.kind = draw("kind", "instance", "group")
        self.m = m = Model(draw("opset", 17, 13, 18, 21, 23, 21, 22, *range(11, 24)), 8)
        self.dtype = TYPES[draw("type", *["float"] * 6, "half", "double")]
        self.spatial = SPATIAL[draw("spatial", *SPATIAL)]
        self.groups = draw("groups", 3, 2, 1, C)
        self.epsilon = draw("epsilon", 1e-5, 1e-3, 0.1)
        self.symbolic = draw("extents", "fixed", "fixed", "batch", "batch and space")
        dims = [N, C, *self.spatial]
        if self.symbolic != "fixed":
            dims[0] = "batch"
        if self.symbolic == "batch and space":
            dims[2:] = [f"d{i}" for i in range(len(self.spatial))]
        self.feeds = {"x": self.numbers("x", [N, C, *self.spatial], 1, 0.3)}
        x = m.input("x", self.dtype, dims)
        if draw("through", "nothing", "nothing", "Identity") == "Identity":
            x = m.op("Identity", x)
        y = self.of_groups(x) if self.kind == "group" else self.normed(x, len(dims))
        y = self.scaled(y, x)
        m.output(y, self.dtype, dims)
        self.model = m.proto()

    def numbers(self, name, shape, spread=1.0, mean=0.0):
        return np.random.default_rng(sum(map(ord, name))).normal(mean, spread, shape).astype(self.dtype)

    def constant(self, number):
        return self.m.constant(np.array(number, self.dtype))

    def swapped(self, operator, a, b):
        return self.m.op(operator, *((a, b) if self.draw("operands", "as written", "swapped") == "as written" else (b, a)))

    # ---- the norm

    def normed(self, x, rank):
        """(x - mean) / sqrt(variance + epsilon) over the axes from 2 on."""
        m, draw = self.m, self.draw
        axes = list(range(2, rank)) if draw("axes", "from the first", "from the last") == "from the first" else list(range(2 - rank, 0))
        if self.wrong == "other axes":
            axes = axes[:-1] or [1, 2]
        if self.wrong == "the channels, too":
            axes = list(range(1, rank))
        mean = m.reduce_mean(x, axes)
        d = m.op("Sub", x, mean)
        if self.wrong == "the wrong way round":
            d = m.op("Sub", mean, x)
        square = draw("square", lambda: m.op("Mul", d, d), lambda: m.op("Pow", d, self.constant(2)))()
        if self.wrong == "a cube":
            square = m.op("Pow", d, self.constant(4))
        variance = m.reduce_mean(square, [-1] if self.wrong == "two sets of axes" else axes)
        epsilon = self.constant(self.epsilon)
        if self.wrong == "an epsilon of each sample":
            epsilon = self.m.constant(np.full((N, *[1] * (rank - 1)), 0.1, self.dtype) * np.arange(1, N + 1).reshape(N, *[1] * (rank - 1)).astype(self.dtype))
        shifted = self.swapped("Add", variance, epsilon)
        root = draw("root", lambda: m.op("Sqrt", shifted), lambda: m.op("Pow", shifted, self.constant(0.5)))()
        return draw("inverse", lambda: m.op("Div", d, root), lambda: self.swapped("Mul", d, m.op("Reciprocal", root)),
                    lambda: self.swapped("Mul", d, m.op("Div", self.constant(1), root)))()

    def of_groups(self, x):
        """Between a Reshape to (N, groups, ...) and one back to the shape of x."""
        m, draw, g = self.m, self.draw, self.groups
        each = C // g
        form = draw("group axes", "one", "channels apart", "all apart")
        if self.symbolic == "batch and space" and form == "all apart":
            form = "channels apart"
        if self.wrong == "groups of parts of channels":
            to, rank = [0, 4, -1], 3
        elif self.wrong == "groups of the batch":
            to, rank = [1, N * g, -1], 3
        elif form == "one":
            to, rank = [0, g, -1], 3
        elif form == "channels apart":
            to, rank = [0, g, each, -1], 4
        else:
            to, rank = [0, g, each, *self.spatial], 3 + len(self.spatial)
        rows = m.op("Reshape", x, m.integers(*to))
        if self.wrong == "channels exchanged":
            rows = m.op("Reshape", m.op("Transpose", m.op("Reshape", x, m.integers(0, each, g, -1)), perm=[0, 2, 1, 3]), m.integers(0, g, -1))
            rank = 3
        elif draw("one Reshape", "one", "one", "two") == "two":
            rows = m.op("Reshape", m.op("Flatten", x, axis=1), m.integers(*to)) if self.symbolic == "fixed" else rows
        written = draw("written as", "InstanceNormalization", "primitives", "InstanceNormalization")
        if written == "primitives" or self.dtype == DOUBLE or self.wrong in OF_PRIMITIVES:
            y = self.normed(rows, rank)
        else:
            count = {"groups of parts of channels": 4, "groups of the batch": N * g}.get(self.wrong, g)
            scale, bias = np.ones(count), np.zeros(count)
            if self.wrong == "a scale of groups":
                scale = 1 + np.arange(count)
            if self.wrong == "a bias of groups":
                bias = 1 + np.arange(count)
            y = m.op("InstanceNormalization", rows, m.constant(scale.astype(self.dtype)), m.constant(bias.astype(self.dtype)), epsilon=self.epsilon)
        if self.wrong == "groups of the batch":
            return m.op("Reshape", y, m.integers(N, C, *self.spatial))
        if self.wrong == "back to other axes":
            return m.op("Reshape", y, m.integers(N, C, *self.spatial[::-1]))
        back = draw("back", "Shape", "numbers") if self.symbolic != "batch and space" else "Shape"
        return m.op("Reshape", y, m.op("Shape", x) if back == "Shape" else m.integers(0, C, *self.spatial))

    # ---- scale and bias

    def row(self, name):
        """One element for each channel, in a shape that broadcasts so."""
        m, rank = self.m, 2 + len(self.spatial)
        ones = [1] * (rank - 2)
        if self.wrong == "along the last axis":
            return m.constant(self.numbers(name, [self.spatial[-1]], 0.3, 1))
        if self.wrong == "of each sample":
            return m.constant(self.numbers(name, [N, C, *ones], 0.3, 1))
        if self.wrong == "of each element":
            return m.constant(self.numbers(name, [C, *self.spatial], 0.3, 1))
        origin = self.draw(f"{name} is", "constant", "constant", "input", "unsqueezed input")
        shape = self.draw(f"shape of {name}", [C, *ones], [1, C, *ones])
        if origin == "constant":
            return m.constant(self.numbers(name, shape, 0.3, 1))
        self.feeds[name] = self.numbers(name, shape if origin == "input" else [C], 0.3, 1)
        given = m.input(name, self.dtype, list(self.feeds[name].shape))
        return given if origin == "input" else m.unsqueeze(given, list(range(1, rank - 1)))

    def scaled(self, y, x):
        has = self.draw("has", "scale and bias", "scale and bias", "scale", "bias", "two scales")
        if self.wrong in ("along the last axis", "of each sample", "of each element"):
            has = "scale and bias"
        if has != "bias":
            y = self.swapped("Mul", y, self.row("scale"))
        if has == "two scales":
            y = self.swapped("Mul", y, self.constant(0.5))
        if has in ("scale and bias", "bias"):
            y = self.swapped("Add", y, self.row("bias"))
        return y


# What cannot be where the norm is one operator already.
OF_PRIMITIVES = ("other axes", "two sets of axes", "a cube", "the wrong way round", "an epsilon of each sample", "the channels, too")


def found(model, name):
    return sum(n.op_type == name and n.domain == "" for n in judge.walk(model.graph))


class GroupNormTest(unittest.TestCase):
    def rewritten(self, case, target):
        result = judge.optimize(case.model, target)
        if target == "onnx":
            check(result.model)
        self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
        # onnxruntime has no InstanceNormalization of doubles: of what the standard has, the check alone tells.
        runs = target == "onnxruntime" or case.dtype != DOUBLE
        if runs:
            self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
        return result

    def test_instance_norms(self):
        for seed in range(SEED, SEED + COUNT):
            case = Norm(seed, {"kind": "instance"})
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices={k: str(v[0]) for k, v in case.draw.chosen.items()}):
                    result = self.rewritten(case, target)
                    has = case.dtype != DOUBLE or target == "onnx"
                    self.assertEqual(found(result.model, "InstanceNormalization"), int(has), result.refusals())
                    if has:
                        self.assertEqual(found(result.model, "Mul") + found(result.model, "Add") <= 1, True)

    def test_group_norms(self):
        for seed in range(SEED, SEED + COUNT):
            case = Norm(seed, {"kind": "group"})
            for target in judge.TARGETS:
                with self.subTest(seed=seed, target=target, choices={k: str(v[0]) for k, v in case.draw.chosen.items()}):
                    result = self.rewritten(case, target)
                    made = found(result.model, "GroupNormalization"), found(result.model, "InstanceNormalization")
                    if case.groups == C and (target == "onnx" or case.dtype != DOUBLE):
                        self.assertEqual(made, (0, 1), result.refusals())
                    elif target == "onnx" and case.m.opset >= 21:
                        self.assertEqual(made, (1, 0), result.refusals())
                    elif target == "onnx" and case.m.opset >= 12:
                        calls = [n for n in judge.walk(result.model.graph) if n.op_type.startswith("GroupNormalization_")]
                        self.assertEqual((len(calls), made), (1, (0, 0)), result.refusals())
                    else:
                        self.assertEqual(made[0], 0)
                    self.assertEqual(found(result.model, "ReduceMean"), 0)

    def test_calls_become_operators(self):
        for dtype in ("float", "half"):
            with self.subTest(dtype):
                case = Norm(SEED, {"kind": "group", "opset": 18, "type": dtype, "extents": "fixed", "spatial": "two", "groups": 3})
                model = self.rewritten(case, "onnx").model
                for imported in [*model.opset_import, *model.functions[0].opset_import]:
                    imported.version = 21 if imported.domain == "" else imported.version
                again = judge.optimize(model, "onnx")
                self.assertEqual((found(again.model, "GroupNormalization"), len(again.model.functions)), (1, 0))
                self.assertEqual(list(judge.Original(model, case.feeds, exact=False).differences(again.model)), [])

    def test_what_is_none_stays(self):
        both = ("other axes", "two sets of axes", "a cube", "the wrong way round", "an epsilon of each sample", "the channels, too",
                "along the last axis", "of each sample", "of each element")
        of_groups = ("groups of parts of channels", "groups of the batch", "channels exchanged", "a scale of groups", "a bias of groups", "back to other axes")
        for wrong in both + of_groups:
            for seed in judge.sampled(range(SEED, SEED + 10)):
                fixed = {"kind": "group"} if wrong in of_groups or seed % 2 else {"kind": "instance"}
                fixed |= {"opset": 21, "type": "float", "extents": "fixed", "spatial": "two", "groups": 3}
                if wrong in ("a scale of groups", "a bias of groups"):
                    fixed |= {"written as": "InstanceNormalization"}
                if wrong == "two sets of axes":
                    fixed |= {"group axes": "channels apart"}
                if wrong == "back to other axes":
                    fixed |= {"has": "scale and bias"}
                case = Norm(seed, fixed, wrong)
                if wrong == "back to other axes":  # (what stands behind has the shape that was made)
                    case.model.graph.output[0].type.tensor_type.shape.dim[2].dim_value, case.model.graph.output[0].type.tensor_type.shape.dim[3].dim_value = SPATIAL["two"][::-1]
                for target in judge.TARGETS:
                    with self.subTest(wrong=wrong, seed=seed, target=target):
                        before = found(case.model, "InstanceNormalization")
                        model = self.rewritten(case, target).model
                        self.assertEqual((found(model, "GroupNormalization"), found(model, "InstanceNormalization")), (0, before))


if __name__ == "__main__":
    unittest.main()
