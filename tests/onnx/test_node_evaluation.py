# SPDX-License-Identifier: BSL-1.0
"""The evaluator against ONNX's own node tests: every case passes, or is listed here with its reason.

The helper program `fuse-evaluate MODEL...` evaluates models whose inputs are constants; see there what it prints.
"""

import collections
import os
import pathlib
import re
import subprocess
import unittest

import ml_dtypes
import numpy
import onnx
from onnx import helper, numpy_helper

import judge
from test_node_shapes import all_cases, tensors

PROGRAM = os.environ.get("FUSE_EVALUATE", str(pathlib.Path(os.environ.get("FUSE_BIN", judge.ROOT / "build/release/bin")) / "fuse-evaluate"))
TYPES = {"bool": numpy.bool_, "boolean": numpy.bool_, "bfloat16": ml_dtypes.bfloat16}
# What results may be off by, relative to the largest and to each: the cases compute in their type, the evaluator in double.
TOLERANCE = {"float64": 1e-7, "float32": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}
# Element types that fuse has no numbers of.
NO_NUMBERS = re.compile("STRING|FLOAT8|INT4|FLOAT4|INT2|COMPLEX|FLOAT6")

# Operators that the dialect lacks, and why.
OUTSIDE = {
    **dict.fromkeys(["Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"], "random numbers"),
    **dict.fromkeys(["ImageDecoder", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"], "texts, files"),
    **dict.fromkeys(["Optional", "OptionalGetElement", "OptionalHasElement", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase",
                     "SequenceInsert", "SequenceLength", "SequenceMap", "SplitToSequence", "ConcatFromSequence"], "sequences and optionals"),
    **dict.fromkeys(["Adagrad", "Adam", "Momentum", "ArrayFeatureExtractor", "Binarizer", "LabelEncoder", "TreeEnsemble", "FlexAttention"],
                    "another domain"),
    **dict.fromkeys(["BlackmanWindow", "DFT", "HammingWindow", "HannWindow", "MelWeightMatrix", "STFT"], "signals"),
    **dict.fromkeys(["AffineGrid", "CenterCropPad", "Col2Im", "DeformConv", "GridSample", "MaxUnpool", "NonMaxSuppression", "RoiAlign"],
                    "images: no rule meets them"),
    **dict.fromkeys(["BitCast", "Det", "Unique"], "no rule meets them"),
}
# Cases of operators that the dialect has, and why they are not evaluated.
LISTED = {
    **dict.fromkeys(["test_training_dropout", "test_training_dropout_default", "test_training_dropout_default_mask",
                     "test_training_dropout_mask"], "random numbers"),
    "test_scan_sum": "Scan of operator set 8, whose bodies run once for each sample",
}
# Cases whose results are written with few digits, and how far off they may be.
FEW_DIGITS = {"test_averagepool_2d_ceil_last_window_starts_on_pad": 1e-3}
# The operators that the dialect has.
ROWS = set(re.findall(r'\{"(\w+)", opcode::', (judge.ROOT / "include/fuse/ops/onnx.hpp").read_text(encoding="utf-8")))


def evaluated(models):
    """Of each model, its outputs: arrays, or texts that say why there is none."""
    paths = [judge.scratch(f"evaluated{i}.onnx") for i in range(len(models))]
    for path, model in zip(paths, models):
        path.write_bytes(model.SerializeToString())
    told = subprocess.run([PROGRAM, *paths], capture_output=True, timeout=300, check=True).stdout
    at = 0

    def line():
        nonlocal at
        end = told.index(b"\n", at)
        text, at = told[at:end].decode(), end + 1
        return text

    def output():
        nonlocal at
        head = line()
        if head.startswith("unknown"):
            return head
        name, *shape = head.split()
        kind, shape = numpy.dtype(TYPES.get(name, name)), [int(extent) for extent in shape]
        size = int(numpy.prod(shape, dtype=numpy.int64)) * kind.itemsize
        array = numpy.frombuffer(told[at:at + size], dtype=kind).reshape(shape)
        at += size
        return array

    found = []
    for model in models:
        count, _, reason = line().partition(" ")
        found.append([output() for _ in range(int(count))] if not reason else [reason] * len(model.graph.output))
    return found


def difference(expected, found, tolerance=None):
    """None, or how a result is not what is expected."""
    if isinstance(found, str):
        return found
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype} {list(found.shape)}, not {expected.dtype} {list(expected.shape)}"
    tolerance = tolerance or TOLERANCE.get(expected.dtype.name)
    if tolerance is None:
        same = found == expected
    else:
        a, b = expected.astype(numpy.float64), found.astype(numpy.float64)
        finite = numpy.isfinite(a)
        range_ = numpy.abs(a[finite]).max(initial=0)
        with numpy.errstate(invalid="ignore"):
            same = numpy.where(finite, numpy.abs(a - b) <= tolerance * (numpy.abs(a) + 0.01 * range_) , (a == b) | (numpy.isnan(a) & numpy.isnan(b)))
    if same.all():
        return None
    first = tuple(numpy.argwhere(~same)[0])
    return f"{int((~same).sum())} of {same.size} elements differ, the first is {found[first]} and not {expected[first]}"


def with_constants(original, inputs):
    model = onnx.ModelProto()
    model.CopyFrom(original)
    for declared, tensor in zip(model.graph.input, inputs):
        model.graph.initializer.append(tensor)
        model.graph.initializer[-1].name = declared.name
    del model.graph.input[:]
    model.ir_version = max(model.ir_version, 4)
    return model


def types_in(model):
    """The element types of values and tensors, by name."""
    return " ".join(onnx.TensorProto.DataType.Name(int(number)) for number in set(re.findall(r"(?:elem_type|data_type): (\d+)", str(model))))


def operators_in(graph):
    """The operators of a graph and of its bodies."""
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                yield from operators_in(body)


def unheld(name, model, inputs, outputs):
    """Why a case is not evaluated, or None."""
    outside = set(operators_in(model.graph)) - ROWS
    if outside:
        return "; ".join(sorted({OUTSIDE[op] for op in outside}))
    if inputs is None or outputs is None:
        return "sequences, optionals or maps"
    if NO_NUMBERS.search(types_in(model)):
        return "an element type without numbers"
    return LISTED.get(name)


class NodeEvaluationTest(unittest.TestCase):
    def test_against_results(self):
        every, skipped, passed = [], collections.Counter(), 0
        for name, model, inputs, outputs in all_cases():
            inputs, outputs = tensors(inputs), tensors(outputs)
            why = unheld(name, model, inputs, outputs)
            if why is None:
                every.append((name, with_constants(model, inputs), outputs))
            else:
                skipped[why] += 1
        together = 200
        for first in range(0, len(every), together):
            some = every[first:first + together]
            for (name, model, expected), found in zip(some, evaluated([model for _, model, _ in some]), strict=True):
                with self.subTest(name):
                    for tensor, array in zip(expected, found, strict=True):
                        self.assertIsNone(difference(numpy_helper.to_array(tensor), array, FEW_DIGITS.get(name)))
                    passed += 1
        print(f"{passed} cases pass; not evaluated: {dict(skipped)}")
        self.assertGreater(passed, 1400)

    def test_branches_in_either_order(self):
        """An If's branches are told apart by their names."""
        x, names = numpy.array([1, 2], numpy.float32), ["then_branch", "else_branch"]
        result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])
        models, expected = [], []
        for order in (names, names[::-1]):
            for condition in (True, False):
                node = helper.make_node("If", ["c"], ["y"])
                for name in order:
                    body = helper.make_graph([helper.make_node("Neg" if name == "then_branch" else "Abs", ["x"], ["y"])], name, [], [result])
                    node.attribute.append(helper.make_attribute(name, body))
                constants = [numpy_helper.from_array(x, "x"), numpy_helper.from_array(numpy.array(condition), "c")]
                models.append(helper.make_model(helper.make_graph([node], "choice", [], [result], constants),
                                                opset_imports=[helper.make_opsetid("", 20)], ir_version=9))
                expected.append(-x if condition else x)
        for (found,), wanted in zip(evaluated(models), expected, strict=True):
            self.assertIsNone(difference(wanted, found))

    def test_lists_are_current(self):
        """What is listed is there to be listed."""
        self.assertFalse(OUTSIDE.keys() & ROWS)
        names = {name for name, _, _, _ in all_cases()}
        self.assertLessEqual({*LISTED, *FEW_DIGITS}, names)

    def test_differences_are_seen(self):
        """A comparison that sees nothing would pass everything."""
        one = numpy.array([1, 2], numpy.float32)
        self.assertIsNone(difference(one, one))
        self.assertIsNotNone(difference(one, numpy.array([1, 2.1], numpy.float32)))
        self.assertIsNotNone(difference(one, numpy.array([1, numpy.nan], numpy.float32)))
        self.assertIsNotNone(difference(one, one.astype(numpy.float64)))
        self.assertIsNotNone(difference(one, one.reshape(2, 1)))
        self.assertIsNotNone(difference(one, "unknown"))
        self.assertIsNotNone(difference(numpy.array([1 << 60]), numpy.array([(1 << 60) + 1])))


if __name__ == "__main__":
    unittest.main()
