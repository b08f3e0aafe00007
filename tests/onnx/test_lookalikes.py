# SPDX-License-Identifier: BSL-1.0
"""Look-alikes: the rule does not fire and says why, and the result is the same."""

import os
import unittest

import numpy as np

import judge
import reference
from build import check
from lookalikes import LOOKALIKES, Case


def formula(case, values, y):
    """What the plain norm of the case would give: mean and mean of squares over the last axis, epsilon 0.1."""
    x = values["x"]
    d = x - x.mean(-1, keepdims=True) if case.layer else x
    return d / np.sqrt(np.square(d).mean(-1, keepdims=True) + 0.1)


class ControlTest(unittest.TestCase):
    """The unbroken norm, in the settings that the look-alikes use, does fuse: so each refusal is the broken condition's."""

    def test_the_plain_norm_fuses(self):
        for layer in (True, False):
            for setting in ({}, {"opset": 18}, {"shape": (5, 5)}, {"shape": (5, 5, 5)}, {"shape": (2, 3, 4, 7)}, {"dtype": "float64"}):
                for target in judge.TARGETS:
                    with self.subTest(layer=layer, target=target, **setting):
                        case = Case(layer, **setting).write()
                        result = judge.optimize(case.proto(), target)
                        self.assertEqual(judge.norms(result.model), {"layer" if layer else "rms": 1}, result.refusals())
                        self.assertEqual(result.applied("layer-norm" if layer else "rms-norm"), 1)
                        self.assertEqual(list(judge.Original(case.proto(), case.feeds).differences(result.model)), [])


class LookalikeTest(unittest.TestCase):
    def test_refused_with_a_reason_and_unchanged(self):
        for name, lookalike in judge.sampled(LOOKALIKES.items()):
            case = lookalike.build()
            original = judge.Original(case.proto(), case.feeds, lookalike.rows, exact=False)
            for target in judge.TARGETS:
                with self.subTest(name, target=target):
                    result = judge.optimize(case.proto(), target)
                    found = judge.norms(result.model)
                    self.assertEqual(result.miscounted(), [])
                    for kind, allowed in lookalike.fused.items():
                        self.assertIn(found[kind], allowed, f"{kind} norms fused")
                    self.assertEqual(judge.interface(result.model), judge.interface(case.proto()))
                    if target == "onnx":
                        check(result.model)
                    self.assertEqual(list(original.differences(result.model)), [])
                    if lookalike.reason:
                        refused = [r for r in result.refusals() if r["rule"] == lookalike.rule]
                        self.assertTrue(refused, "no refusal in the report")
                        self.assertTrue(all(r["reason"] and r["node"] for r in refused), refused)
                        if "FUSE_VERBOSE" in os.environ:
                            print(f"{name} [{target}]: {refused[0]['condition']}: {refused[0]['reason']}")


class GeneratorTest(unittest.TestCase):
    """The look-alikes are valid models, run, and those that must not fuse differ from the plain norm."""

    def test_the_cases_themselves(self):
        self.assertGreater(len(LOOKALIKES), 150)
        for name, lookalike in LOOKALIKES.items():
            with self.subTest(name):
                case = lookalike.build()
                model = case.proto()
                check(model)
                judge.execute(model, case.feeds)
                if lookalike.reason and "overridden" not in name and "through" not in name and "half" not in name:
                    try:
                        values = reference.evaluate(model, case.feeds)
                    except KeyError:
                        continue
                    y, n = values[case.result], formula(case, values, case.result)
                    self.assertFalse(y.shape == n.shape and np.allclose(y, n, rtol=1e-4), "this is the norm itself")


if __name__ == "__main__":
    unittest.main()
