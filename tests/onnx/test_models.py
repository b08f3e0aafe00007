# SPDX-License-Identifier: BSL-1.0
"""Real exports: every norm and every activation becomes one operator and the outputs are those that were computed when the model was made."""

import csv
import functools
import unittest

import numpy as np
import onnx

import judge
from build import check

NOT_RUN = {"llama-bf16-dynamo18"}  # onnxruntime has no bfloat16 kernels for it
# Between their products stand quantised values.
NO_ATTENTION = {"bert-qdq-op14", "bert-qdq-op17"}
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


@functools.cache
def tried():
    return judge.sampled(names())


class ModelTest(unittest.TestCase):
    def test_there_are_models(self):
        self.assertGreater(len(names()), 20)
        self.assertLessEqual(set(names()), set(counts()))

    def each(self, judged):
        """Calls `judged(name, model, target, result)` for every model and target."""
        for name in tried():
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

    def test_counts_of_activations_rotary_embeddings_and_norms_of_sums(self):
        kinds = {"gelu": "gelu_erf", "gelu by tanh": "gelu_tanh", "quick gelu": "quick_gelu", "silu": "silu", "softmax": "softmax"}

        def judged(name, model, target, result):
            row, found = counts()[name], judge.activations(result.model)
            attentions = sum(n.op_type in ("Attention", "MultiHeadAttention") for n in judge.walk(result.model.graph))
            # (A softmax of each attention has gone into that.)
            has = target == "onnxruntime" and name not in NO_ATTENTION | NOT_RUN
            self.assertEqual(attentions, int(row["softmax"]) if has else 0, result.refusals()[:3])
            found["softmax"] += attentions
            self.assertEqual({kind: found[kind] for kind in kinds}, {kind: int(row[column]) for kind, column in kinds.items()})
            rotary = sum(n.op_type.startswith("RotaryEmbedding") for n in judge.walk(result.model.graph))
            self.assertEqual(rotary, int(row["rotary_half"]) + int(row["rotary_interleaved"]))
            embeddings = sum(n.op_type == "EmbedLayerNormalization" for n in judge.walk(result.model.graph))
            # (Of tables of 8 bits, whose norms are of floats, rows are dequantised: they stay.)
            quantised = any(n.op_type == "DequantizeLinear" for n in judge.walk(model.graph))
            self.assertEqual(embeddings, int(row["embed"]) if target == "onnxruntime" and not quantised else 0)
            if target == "onnxruntime":  # embeddings may be sums of equal shapes, too
                self.assertGreaterEqual(judge.skip_norms(result.model), int(row["skip"]) if name not in NOT_RUN else 0)
            else:
                self.assertEqual({n.domain for n in judge.walk(result.model.graph)} & {"com.microsoft"},
                                 {n.domain for n in judge.walk(model.graph)} & {"com.microsoft"})
        self.each(judged)

    def test_larger_matches_win(self):
        """No norm or GELU is left behind a sum that its operator takes."""
        def judged(name, model, target, result):
            if target != "onnxruntime" or name in NOT_RUN:
                return
            norms, skips, row = judge.norms(result.model), judge.skip_norms(result.model), counts()[name]
            self.assertEqual(sum(norms.values()), int(row["layer_norm"]) + int(row["rms_norm"]))
            self.assertLessEqual(sum(norms.values()) - skips, int(row["embed"]) + int(row["lookup"]) + int(row["plain"]))
            biased = {n.input[0] for n in judge.walk(result.model.graph) if n.op_type == "Gelu"}
            adds = {n.output[0]: n for n in judge.walk(result.model.graph) if n.op_type == "Add"}
            constants = {t.name for t in result.model.graph.initializer}
            self.assertEqual([v for v in biased & set(adds) if constants & set(adds[v].input)], [])
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
