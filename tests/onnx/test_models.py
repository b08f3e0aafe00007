# SPDX-License-Identifier: BSL-1.0
"""Real exports: every norm becomes one operator and the outputs are those that were computed when the model was made."""

import csv
import functools
import unittest

import numpy as np
import onnx

import judge
from build import check

NOT_RUN = {"llama-bf16-dynamo18"}  # onnxruntime has no bfloat16 kernels for it
TOLERANCE = {"float16": 5e-3, "float32": 1e-5}  # of the range of values


def tensors(name, role):
    return dict(judge.load_tensor(path) for path in sorted((judge.MODELS / f"{name}.io").glob(f"{role}_*.pb")))


@functools.cache
def counts():
    with open(judge.MODELS / "counts.tsv", encoding="utf-8", newline="") as file:
        return {row["model"]: row for row in csv.DictReader(file, delimiter="\t")}


@functools.cache
def rewritten(name, target):
    return judge.optimize(model_of(name), target)


@functools.cache
def model_of(name):
    return onnx.load(judge.MODELS / f"{name}.onnx")


def names():
    return sorted(path.stem for path in judge.MODELS.glob("*.onnx"))


class ModelTest(unittest.TestCase):
    def test_there_are_models(self):
        self.assertGreater(len(names()), 20)
        self.assertLessEqual(set(names()), set(counts()))

    def each(self, judged):
        """Calls `judged(name, model, target, result)` for every model and target."""
        for name in names():
            for target in judge.TARGETS:
                with self.subTest(name, target=target):
                    judged(name, model_of(name), target, rewritten(name, target))

    def test_counts(self):
        def judged(name, model, target, result):
            row, found = counts()[name], judge.norms(result.model)
            self.assertEqual((found["layer"], found["rms"]), (int(row["layer_norm"]), int(row["rms_norm"])), result.refusals()[:3])
            self.assertEqual(result.miscounted(), [])
            self.assertEqual(list(judge.foreign_norms(result.model, target)), [])
            self.assertEqual(judge.interface(result.model), judge.interface(model))
            self.assertNotIn("ReduceMean", judge.primitives(result.model), "every mean in these models belongs to a norm")
        self.each(judged)

    def test_valid_by_the_standard(self):
        self.each(lambda name, model, target, result: target == "onnx" and check(result.model))

    def test_outputs(self):
        def judged(name, model, target, result):
            for level in judge.LEVELS if name not in NOT_RUN else ():
                outputs = judge.execute(result.model, tensors(name, "input"), judge.LEVELS[level])
                for value, expected in tensors(name, "output").items():
                    found, wide = outputs[value], expected.astype(np.float64)
                    self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype))
                    error = np.abs(found.astype(np.float64) - wide).max() / np.ptp(wide)
                    self.assertLessEqual(error, TOLERANCE[expected.dtype.name], f"{value} at {level}")
        self.each(judged)

    def test_same_bytes(self):
        def judged(name, model, target, result):
            self.assertTrue(result.bytes == judge.optimize(model, target).bytes, "two runs on the same input differ")
            self.assertTrue(result.bytes == judge.optimize(result.bytes, target).bytes, "a second run changes the result")
        self.each(judged)


if __name__ == "__main__":
    unittest.main()
