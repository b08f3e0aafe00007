# SPDX-License-Identifier: BSL-1.0
"""Activations behind convolutions and Gemms, of every form and operator set, and such as must stay. FUSE_SEED and FUSE_LAYERS change where they start and how many there are."""

import os
import unittest

import numpy as np

import judge
from build import DOUBLE, FLOAT, Model, check
from spellings import Draw

SEED = int(os.environ.get("FUSE_SEED", 7))
COUNT = int(os.environ.get("FUSE_LAYERS", 60 // judge.ONE_CASE_IN))


class Layered:
    """A layer with an activation behind it by the choices of a seed, or by those that are `fixed`; `wrong` names what is not as it should be."""

    def __init__(self, seed, kind, fixed=None, wrong=None):
        self.name = None
        self.draw = draw = Draw(seed, fixed)
        self.kind, self.wrong, self.random = kind, wrong, np.random.default_rng(seed)
        self.m = m = Model(draw("opset", 17, 21, 13, *range(7, 24)), 8)
        self.type = DOUBLE if wrong == "doubles" else FLOAT
        y = self.gemm() if kind == "Gemm" else self.convolution()
        outputs = [y] if wrong == "an output" else [m.op("Abs", y)] if wrong == "others read it" else []
        names = ["Relu"] if wrong is not None else ["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", *(["Clip"] if kind != "Gemm" else ["Elu", "ThresholdedRelu", "Softplus", "Softsign"])]
        name = draw("activation", *names) if wrong != "another activation" else draw("another", "Selu", "Celu", *(["Softplus", "Elu"] if kind != "Gemm" else []))
        outputs.append(self.activation(name, y))
        for each in outputs:
            m.output(each, self.type, [f"{each} {i}" for i in range(self.axes)])
        self.model = m.proto()

    def activation(self, name, y):
        m, draw = self.m, self.draw
        if name == "ThresholdedRelu" and m.opset < 10:
            name = "Relu"
        if name == "Celu" and m.opset < 12:
            name = "Selu"
        self.name = name
        if name == "Clip":
            low, high = draw("bounds", (0.0, 6.0), (-0.5, 0.25), (0.0, None), (None, 0.5))
            if m.opset < 11:
                return m.op("Clip", y, **{k: v for k, v in (("min", low), ("max", high)) if v is not None})
            bounds = ["" if v is None else m.constant(np.array(v, FLOAT), draw("bound as", "initializer", "node")) for v in (low, high)]
            return m.op("Clip", y, *bounds)
        said = {}
        for number in {"LeakyRelu": ["alpha"], "Elu": ["alpha"], "ThresholdedRelu": ["alpha"], "HardSigmoid": ["alpha", "beta"]}.get(name, []):
            if draw(number, "left out", "there") == "there":
                said[number] = draw("number", 0.25, 1.0, 0.1)
        return m.op(name, y, **said)

    def numbers(self, *shape):
        return self.random.normal(0, 0.5, shape).astype(self.type)

    def given(self, value):
        """A constant, or an input."""
        if self.draw("weights", "constant", "constant", "input") == "constant":
            return self.m.constant(value)
        name = self.m.input(self.m.name("w"), self.type, value.shape)
        self.feeds[name] = value
        return name

    def convolution(self):
        m, draw = self.m, self.draw
        space = draw("axes of space", 2, 1, 3)
        self.axes = 2 + space
        groups, channels = draw("groups", 1, 2, 4), 4
        self.feeds = {"x": self.numbers(2, channels, *[draw("extent", 7, 8, 9)] * space)}
        dims = [draw("batch", 2, "batch"), channels, *([f"d{i}" for i in range(space)] if draw("extents", "fixed", "named") == "named" else self.feeds["x"].shape[2:])]
        x = m.input("x", self.type, dims)
        said = {"group": groups} if groups != 1 or draw("group", "left out", "told") == "told" else {}
        for name, least, most, count in (("strides", 1, 2, space), ("dilations", 1, 2, space), ("pads", 0, 2, 2 * space)):
            if draw(name, "left out", "there") == "there":
                said[name] = [draw("entry", *range(least, most + 1)) for _ in range(count)]
        window = [draw("window", 3, 1, 2)] * space
        if draw("kernel", "left out", "told") == "told":
            said["kernel_shape"] = window
        way = draw("way", "left out", "SAME_UPPER", "VALID", "NOTSET")
        if "pads" not in said and "dilations" not in said and way != "left out":
            said["auto_pad"] = way
        if self.kind == "ConvTranspose":
            said = {"kernel_shape": window}
        w = self.given(self.numbers(channels if self.kind == "ConvTranspose" else 8, 8 if self.kind == "ConvTranspose" else channels // groups, *window))
        bias = [self.given(self.numbers(8))] if draw("bias", "there", "left out") == "there" else []
        return m.op(self.kind, x, w, *bias, **said)

    def gemm(self):
        m, draw = self.m, self.draw
        self.axes = 2
        a, b = draw("transA", None, 0, 1), draw("transB", None, 1, 0)
        self.feeds = {"x": self.numbers(*((6, 3) if a else (3, 6)))}
        x = m.input("x", self.type, [f"d{i}" if draw("extents", "fixed", "named") == "named" else e for i, e in enumerate(self.feeds["x"].shape)])
        said = {name: value for name, value in (("transA", a), ("transB", b)) if value is not None}
        for name in ("alpha", "beta"):
            if draw(name, "left out", "there") == "there":
                said[name] = draw("factor", 0.5, 2.0, 1.0)
        w = self.given(self.numbers(*((5, 6) if b else (6, 5))))
        added = draw("bias", (5,), (1, 5), (3, 5), (3, 1), (1,), "left out" if m.opset >= 11 else (5,))
        return m.op("Gemm", x, w, *([] if added == "left out" else [self.given(self.numbers(*added))]), **said)


class FusedLayersTest(unittest.TestCase):
    def left(self, case, target):
        result = judge.optimize(case.model, target)
        if target == "onnx":
            check(result.model)
        self.assertEqual([r for r in result.refusals() if r["condition"] == "check"], [])
        self.assertEqual(list(judge.Original(case.model, case.feeds, exact=False).differences(result.model)), [])
        self.assertEqual(result.bytes, judge.optimize(result.bytes, target).bytes, "a second run changes the result")
        return [n.op_type for n in result.model.graph.node if n.op_type != "Constant"]

    def test_layers_compute_what_stands_behind_them(self):
        print(f"seed {SEED}, {COUNT} layers")
        for seed in range(SEED, SEED + COUNT):
            for kind in ("Conv", "Gemm"):
                case = Layered(seed, kind)
                with self.subTest(seed=seed, kind=kind, choices=dict(case.draw.chosen)):
                    self.assertEqual(self.left(case, "onnxruntime"), [f"Fused{kind}"])
                    self.assertEqual(self.left(case, "onnx"), [kind, case.name])

    def test_what_must_stay_stays(self):
        for kind in ("Conv", "Gemm"):
            for wrong in ("an output", "others read it", "another activation", *(["doubles"] if kind == "Gemm" else [])):
                for seed in judge.sampled(range(SEED, SEED + 4)):
                    case = Layered(seed, kind, {"opset": 13 if seed % 2 else 21}, wrong)
                    with self.subTest(seed=seed, kind=kind, wrong=wrong):
                        self.assertIn(kind, self.left(case, "onnxruntime"))
        case = Layered(SEED, "ConvTranspose", {"opset": 17, "activation": "Relu"})
        self.assertEqual(self.left(case, "onnxruntime"), ["ConvTranspose", "Relu"])


if __name__ == "__main__":
    unittest.main()
