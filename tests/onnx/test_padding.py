# SPDX-License-Identifier: BSL-1.0
"""Pads before convolutions and pools, of every form and operator set, and such as must stay. FUSE_SEED and FUSE_PADDINGS change where they start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import FLOAT, Model, check
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_PADDINGS", 50 // judge.ONE_CASE_IN))
N, C = 2, 4


class Padded:
    """A Pad and a layer behind it by the choices of a seed, or by those that are `fixed`; `wrong` names what is not as it should be."""

    def __init__(self, seed, kind, fixed=None, wrong=None):
        self.draw = draw = Draw(seed, fixed)
        self.kind, self.wrong = kind, wrong
        self.m = m = Model(draw("opset", 17, 21, 13, *range(9, 24)), 8)
        self.axes = draw("axes of space", 2, 1, 3)
        extents = [draw("extent", 7, 8, 9) for _ in range(self.axes)]
        self.window = draw("window", 3, 4, 2)
        self.feeds = {"x": np.random.default_rng(seed).normal(0, 1, (N, C, *extents)).astype(FLOAT)}
        named = draw("extents", "fixed", "batch", "batch and space")
        dims = [N if named == "fixed" else "batch", C, *(extents if named != "batch and space" else [f"d{i}" for i in range(self.axes)])]
        padded = self.pad(m.input("x", FLOAT, dims))
        y = self.layer(padded)
        if draw("behind", "nothing", "Relu") == "Relu":
            y = m.op("Relu", y)
        if wrong == "others read it":
            y = [y, m.op("Abs", padded)]
        elif wrong == "an output":
            y = [y, padded]
        else:
            y = [y]
        for each in y:
            m.output(each, FLOAT, [f"{each} {i}" for i in range(2 + self.axes)])
        self.model = m.proto()

    def pad(self, x):
        """x with some numbers before and behind each axis of space, all or a few of them named."""
        m, draw, wrong = self.m, self.draw, self.wrong
        # Windows of pools lie nowhere beside the input; what is left of that is what the pool pads itself.
        most = self.window - 1 if self.kind != "Conv" else 4
        self.ends = np.array([[draw("padded", *range(most + 1)) for _ in range(self.axes)] for _ in range(2)])
        if not self.ends.any():
            self.ends[0, 0] = 1
        if wrong == "beside the input":
            self.ends[0, 0] = self.window
        if wrong == "cut off":
            self.ends[1, -1] = -1
        all_ends = np.concatenate([[[0, 0], [0, 0]], self.ends], axis=1)
        if wrong == "channels":
            all_ends[draw("end", 0, 1), 1] = 1
        if wrong == "the batch":
            all_ends[draw("end", 0, 1), 0] = 1
        number = -np.inf if self.kind == "MaxPool" else 0.0
        if wrong == "another number":
            number = {"MaxPool": 0.0, "Conv": 0.5, "AveragePool": -np.inf}[self.kind]
        mode = draw("another mode", "edge", "reflect") if wrong == "another mode" else "constant"
        said = {} if mode == "constant" and draw("mode", "left out", "there") == "left out" else {"mode": mode}
        if m.opset < 11:
            if number != 0 or draw("number", "there", "left out") == "there":
                said["value"] = number
            return m.op("Pad", x, pads=all_ends.ravel().tolist(), **said)
        left_out = number == 0 and draw("number", "there", "left out") == "left out"
        given = [] if left_out else [m.constant(np.array(number, FLOAT), draw("number as", "initializer", "node"))]
        axes, form = [], "all"
        if m.opset >= 18 and wrong not in ("channels", "the batch"):
            form = draw("axes", "left out", "all", "those of space", "in another order")
        if form == "all":
            axes = list(range(self.axes + 2))
        if form == "those of space":
            axes = [i - self.axes for i in range(self.axes)]
        if form == "in another order":
            axes = [self.axes + 1 - i for i in range(self.axes)]
        ends = all_ends[:, axes] if axes else all_ends
        named = [*(given or [""]), m.integers(*axes)] if axes and m.opset >= 18 else given
        return m.op("Pad", x, m.integers(*ends.ravel().tolist()), *named, **said)

    def layer(self, x):
        m, draw, wrong, window = self.m, self.draw, self.wrong, [self.window] * self.axes
        said = {"strides": [draw("stride", 1, 2) for _ in range(self.axes)]} if draw("strides", "left out", "there") == "there" else {}
        counted = self.kind == "AveragePool" and draw("padding counts", False, True)
        own = draw("own padding", "none", "lists", "lists", "VALID")
        if wrong == "does not count":
            counted, own = False, "lists"
        if own == "VALID":
            said["auto_pad"] = "VALID"
        if own == "lists":
            most = np.full((2, self.axes), 3) if self.kind == "Conv" else np.clip(self.window - 1 - self.ends, 0, self.window - 1)
            pads = np.minimum(most, [[draw("own", 0, 1, 2) for _ in range(self.axes)] for _ in range(2)])
            if wrong == "does not count":
                pads = np.minimum(np.ones((2, self.axes), int), self.window - 1)
            if self.kind == "AveragePool" and not counted and wrong is None:
                pads[:] = 0
            said["pads"] = pads.ravel().tolist()
        if wrong == "as it needs":
            said.pop("pads", None)
            said["auto_pad"] = draw("way", "SAME_UPPER", "SAME_LOWER")
        if counted:
            said["count_include_pad"] = 1
        if wrong == "rounded up":
            said |= {"ceil_mode": 1, "strides": [3] * self.axes}
        if self.kind != "Conv":
            return m.op(self.kind, x, kernel_shape=window, **said)
        if wrong is None and draw("dilations", "left out", "there") == "there":
            said["dilations"] = [draw("dilation", 1, 2) for _ in range(self.axes)]
        groups = draw("groups", 1, 2, C)
        if wrong == "channels":
            groups = 1
        channels = C + 1 if wrong == "channels" else C
        if draw("kernel", "left out", "told") == "told":
            said["kernel_shape"] = window
        w = m.constant(self.numbers(8, channels // groups, *window))
        bias = [m.constant(self.numbers(8))] if draw("bias", "there", "left out") == "there" else []
        return m.op("Conv", x, w, *bias, **said, **({"group": groups} if groups != 1 else {}))

    def numbers(self, *shape):
        return np.random.default_rng(len(shape)).normal(0, 1, shape).astype(FLOAT)


class PaddingTest(unittest.TestCase):
    def left(self, case):
        """The operators that are left, on both targets."""
        for target in judge.TARGETS:
            result = judge.optimize(case.model, target)
            if target == "onnx":
                check(result.model)
            self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
            self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
            self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
            left = [n.op_type.removeprefix("Fused") for n in result.model.graph.node]
            yield [op for op in left if op in ("Pad", case.kind)], result.refusals()

    def test_layers_pad_themselves(self):
        print(f"seed {SEED}, {COUNT} Pads")
        for seed in range(SEED, SEED + COUNT):
            for kind in ("Conv", "AveragePool", "MaxPool"):
                case = Padded(seed, kind)
                with self.subTest(seed=seed, kind=kind, choices=dict(case.draw.chosen)):
                    for left, refusals in self.left(case):
                        self.assertEqual(left, [kind], refusals)

    def test_what_must_stay_stays(self):
        of_all = ("cut off", "channels", "the batch", "another number", "another mode", "as it needs", "others read it", "an output")
        of_pools = ("beside the input", "rounded up")
        for kind, wrongs in {"Conv": of_all, "AveragePool": (*of_all, *of_pools, "does not count"), "MaxPool": (*of_all, *of_pools)}.items():
            for wrong in wrongs:
                for seed in judge.sampled(range(SEED, SEED + 4)):
                    case = Padded(seed, kind, {"opset": 13 if seed % 2 else 21}, wrong)
                    with self.subTest(seed=seed, kind=kind, wrong=wrong):
                        for left, _ in self.left(case):
                            self.assertEqual(left, ["Pad", kind])


if __name__ == "__main__":
    unittest.main()
