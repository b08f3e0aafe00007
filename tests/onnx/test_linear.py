# SPDX-License-Identifier: BSL-1.0
"""Layers with constants before them, beside each other, and matrix products with a bias. FUSE_SEED and FUSE_LAYERS change where they start and how many there are."""

import os
import unittest

import judge
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


if __name__ == "__main__":
    unittest.main()
