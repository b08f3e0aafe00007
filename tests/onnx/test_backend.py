# SPDX-License-Identifier: BSL-1.0
"""The backend tests of the onnx package: valid models of every operator. Each is read; what fuse changes still gives what is expected.

Models of single nodes come from the package's code, the others from its files.
"""

import json
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

import judge

DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"


def of_code():
    """(name, model, inputs, expected outputs)"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = load_model_tests(kind="node")
    for case in listed:
        yield case.name, case.model, *(case.data_sets or [([], [])])[0]


def of_files():
    for path in sorted(DATA.glob("*/*/model.onnx")):
        sets = sorted(path.parent.glob("test_data_set_*"))
        values = ([load(file) for file in sorted(sets[0].glob(f"{role}_*.pb"), key=lambda f: int(f.stem.split("_")[1]))]
                  if sets else [] for role in ("input", "output"))
        yield path.parent.name, onnx.load(path), *values
    for path in sorted(DATA.glob("light/*.onnx")):
        yield path.stem, onnx.load(path), [], []


def load(path):
    """A tensor; None for what is none."""
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor) if tensor.data_type else None


def valid(model):
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError:
        return False
    return True


def by_onnxruntime(model, feeds):
    return list(judge.execute(model, feeds).values())


def by_onnx(model, feeds):
    return ReferenceEvaluator(model).run(None, feeds)


def compute(model, feeds, way):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return way(model, feeds)
    except Exception as error:  # the message is what matters
        return f"does not run: {str(error)[:200]}"


def difference(wanted, found):
    if isinstance(found, str):
        return found
    try:
        for w, f in zip(wanted, found, strict=True):
            if isinstance(w, list):  # a sequence
                if told := difference(w, f):
                    return told
            else:
                np.testing.assert_allclose(f, w, rtol=1e-3, atol=1e-5)
    except (AssertionError, ValueError, TypeError) as error:
        return str(error)[:300]
    return None


class BackendTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="fuse-backend-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def optimized(self, data, target):
        """How the run ended, and the bytes of the result."""
        source, result = self.folder / "in.onnx", self.folder / "out.onnx"
        source.write_bytes(data)
        run = judge.serve("optimize", source, "-o", result, "--target", target, "--report", "json")
        written = result.read_bytes() if result.exists() else b""
        result.unlink(missing_ok=True)
        return run, written

    def same_results(self, model, made, inputs, expected):
        """Compares by onnxruntime, or where that does not run the model, by the package's own evaluator; by which, or None for neither."""
        feeds = {i.name: value for i, value in zip(model.graph.input, inputs) if value is not None}
        for way in (by_onnxruntime, by_onnx):
            before = compute(model, feeds, way)
            if isinstance(before, str):
                continue
            after = compute(made, feeds, way)
            if way is by_onnx and isinstance(after, str):
                continue
            self.assertIsNone(difference(before, after))
            if difference(expected, before) is None:
                self.assertIsNone(difference(expected, after))
            return way
        return None

    def judge_all(self, cases, changed_at_least):
        changed, told, compared, jobs = 0, 0, 0, []
        for number, case in enumerate(judge.sampled(cases)):
            # One node is no norm, whoever asks: they take turns.
            targets = judge.TARGETS if len(case[1].graph.node) > 1 else [judge.TARGETS[number % 2]]
            jobs += [(case, target) for target in targets]
        for (name, model, inputs, expected), target in jobs:
            with self.subTest(name, target=target):
                data = model.SerializeToString()
                run, written = self.optimized(data, target)
                self.assertEqual((run.code, run.err), (0, ""))
                if not sum(rule["applied"] for rule in json.loads(run.out)["rules"]):
                    self.assertTrue(written == data, "nothing was applied, and the bytes differ")
                    continue
                changed += 1
                told += bool(expected)
                made = onnx.load_from_string(written)
                if target == "onnx" and valid(model):
                    onnx.checker.check_model(made)
                compared += self.same_results(model, made, inputs, expected) is not None
        self.assertGreaterEqual(changed, changed_at_least)
        self.assertGreaterEqual(compared, told * 9 // 10)

    def test_models_of_one_operator(self):
        self.judge_all(of_code(), 100 // judge.ONE_CASE_IN)

    def test_models_of_the_package(self):
        self.judge_all(of_files(), 0)


if __name__ == "__main__":
    unittest.main()
