# SPDX-License-Identifier: BSL-1.0
"""The embeddings against onnxruntime's com.microsoft.EmbedLayerNormalization and QEmbedLayerNormalization, on random models of one node.

FUSE_KERNELS is the library that embeddings.cpp makes.
"""

import ctypes
import os
import unittest

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

KERNELS = ctypes.CDLL(os.environ["FUSE_KERNELS"])
for _function in (KERNELS.qembed_uint8, KERNELS.qembed_int8, KERNELS.embed):
    _function.restype = ctypes.c_char_p
ONNX_TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8}
EPSILON = 1e-12
TABLES = ["word", "position", "segment", "gamma", "beta"]


def session_of(operator, inputs, outputs, attributes):
    """A session of one node. `inputs`: (name, array or None) in the operator's order."""
    while inputs and inputs[-1][1] is None:
        inputs = inputs[:-1]
    node = helper.make_node(operator, ["" if array is None else name for name, array in inputs], outputs, domain="com.microsoft",
                            epsilon=EPSILON, **attributes)
    declared = [helper.make_tensor_value_info(name, ONNX_TYPES[array.dtype.name], array.shape) for name, array in inputs if array is not None]
    results = [helper.make_tensor_value_info(name, TensorProto.INT32 if name == "mask_index" else TensorProto.FLOAT, None)
               for name in outputs if name]
    model = helper.make_model(helper.make_graph([node], "one", declared, results), ir_version=9,
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def results_of(operator, inputs, outputs, **attributes):
    feeds = {name: array for name, array in inputs if array is not None}
    return session_of(operator, inputs, outputs, attributes).run([name for name in outputs if name], feeds)


def pointer(array):
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)


def pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*[None if array is None else array.ctypes.data for array in arrays])


class Case:
    """Random ids and tables of `kind`, those that are optional mostly there."""

    def __init__(self, seed, kind):
        self.random = random = numpy.random.default_rng(seed)
        self.kind = numpy.dtype(kind)
        self.sequences, self.length = (int(n) for n in random.integers(1, [5, 20]))
        self.columns = int(random.choice([1, 3, 16, 40, 64, 100, 768, 1023, 4100]))
        rows = {"word": int(random.integers(1, 100)), "position": self.length + int(random.integers(0, 5)),
                "segment": int(random.integers(1, 4)), "gamma": 1, "beta": 1}
        self.rows = rows
        self.tables = {name: self.table(count) for name, count in rows.items()}
        self.ids = {"input_ids": self.some_ids(rows["word"]), "segment_ids": self.some_ids(rows["segment"]),
                    "mask": self.some_ids(3) if random.random() < 0.6 else None, "position_ids": None}
        if random.random() < 0.3:
            self.ids["segment_ids"] = self.tables["segment"] = None

    def some_ids(self, end, sequences=None):
        return self.random.integers(0, end, (self.sequences if sequences is None else sequences, self.length), dtype=numpy.int32)

    def table(self, rows):
        if self.kind.kind == "f":
            return self.random.standard_normal((rows, self.columns), dtype=numpy.float32)
        limits = numpy.iinfo(self.kind)
        return self.random.integers(limits.min, limits.max, (rows, self.columns), dtype=self.kind, endpoint=True)

    def inputs(self):
        vectors = {name: None if table is None else table[0] if name in ("gamma", "beta") else table for name, table in self.tables.items()}
        return [("input_ids", self.ids["input_ids"]), ("segment_ids", self.ids["segment_ids"]), *vectors.items(), ("mask", self.ids["mask"])]

    def call(self, function, *middle, after=()):
        """Our results: the message, the norm, the mask's index."""
        y = numpy.full((self.sequences, self.length, self.columns), numpy.nan, numpy.float32)
        mask_index = numpy.full(self.sequences, -1, numpy.int32)
        position_ids = self.ids["position_ids"]
        shapes = (ctypes.c_size_t * 7)(self.sequences, self.length, self.columns, self.rows["word"], self.rows["position"], self.rows["segment"],
                                       0 if position_ids is None else position_ids.shape[0])
        message = function(shapes, pointers(list(self.ids.values())), pointers(list(self.tables.values())), *middle, ctypes.c_float(EPSILON),
                           pointer(y), pointer(mask_index), *after)
        return message.decode(), y, mask_index


class QuantizedCase(Case):
    def __init__(self, seed, kind):
        super().__init__(seed, kind)
        limits = numpy.iinfo(self.kind)
        self.scales = self.random.uniform(0.001, 0.05, 5).astype(numpy.float32)
        self.zero_points = self.random.integers(limits.min, limits.max, 5, dtype=self.kind, endpoint=True)

    def inputs(self, shape=()):
        numbers = []
        for what, values in (("scale", self.scales), ("zero_point", self.zero_points)):
            for i, name in enumerate(TABLES):
                there = self.tables[name] is not None
                numbers.append((f"{name}_{what}", numpy.full(shape, values[i], values.dtype) if there else None))
        return super().inputs() + numbers

    def ours(self):
        function = KERNELS.qembed_uint8 if self.kind == numpy.uint8 else KERNELS.qembed_int8
        return self.call(function, pointer(self.scales), pointer(self.zero_points))


def refuses(operator, inputs):
    try:
        results_of(operator, inputs, ["y", "mask_index"])
    except Exception:  # noqa: BLE001: whatever it raises, it refuses
        return True
    return False


class Quantized(unittest.TestCase):
    def test_random_models(self):
        for kind in ("uint8", "int8"):
            for seed in range(60):
                with self.subTest(kind=kind, seed=seed):
                    case = QuantizedCase(seed, kind)
                    message, y, mask_index = case.ours()
                    self.assertEqual(message, "")
                    expected, expected_index = results_of("QEmbedLayerNormalization", case.inputs(shape=(1,) if seed % 2 else ()), ["y", "mask_index"])
                    numpy.testing.assert_allclose(y, expected, rtol=0, atol=2e-5 * max(1, float(numpy.abs(expected).max())))
                    numpy.testing.assert_array_equal(mask_index, expected_index)

    def test_ids_outside_their_table(self):
        for name, table in (("input_ids", "word"), ("segment_ids", "segment")):
            for wrong in (-1, None):
                case = next(found for found in (QuantizedCase(seed, "uint8") for seed in range(20)) if found.ids[name] is not None)
                case.ids[name][-1, -1] = case.rows[table] if wrong is None else wrong
                message, y, mask_index = case.ours()
                self.assertIn(f"{name} contains {case.ids[name][-1, -1]}", message)
                self.assertTrue(numpy.isnan(y).all() and (mask_index == -1).all())
                self.assertTrue(refuses("QEmbedLayerNormalization", case.inputs()))

    def test_scales_that_onnxruntime_does_not_look_at(self):
        """Ours refuses all of them; said on the docs page."""
        loose = {kind: set() for kind in ("uint8", "int8")}
        for kind, found in loose.items():
            case = next(one for one in (QuantizedCase(seed, kind) for seed in range(20)) if one.tables["segment"] is not None)
            for i, (name, value) in enumerate(case.inputs()[8:]):
                inputs = case.inputs()
                inputs[8 + i] = (name, numpy.full(2, value, value.dtype))
                if not refuses("QEmbedLayerNormalization", inputs):
                    found.add(name)
        self.assertEqual(loose, {"uint8": set(), "int8": {"position_scale", "segment_scale", "gamma_scale", "beta_scale"}})


class Floats(unittest.TestCase):
    def test_random_models(self):
        for seed in range(120):
            with self.subTest(seed=seed):
                case = Case(seed, "float32")
                if seed % 3 == 0:
                    case.ids["position_ids"] = case.some_ids(case.rows["position"], 1 if seed % 2 else case.sequences)
                total = numpy.full((case.sequences, case.length, case.columns), numpy.nan, numpy.float32)
                message, y, mask_index = case.call(KERNELS.embed, after=(pointer(total),))
                self.assertEqual(message, "")
                inputs = case.inputs() + [("position_ids", case.ids["position_ids"])]
                expected, expected_index, expected_total = results_of("EmbedLayerNormalization", inputs, ["y", "mask_index", "embedding_sum"])
                numpy.testing.assert_allclose(y, expected, rtol=0, atol=2e-5 * max(1, float(numpy.abs(expected).max())))
                numpy.testing.assert_allclose(total, expected_total, rtol=1e-6, atol=1e-6)
                numpy.testing.assert_array_equal(mask_index, expected_index)


if __name__ == "__main__":
    unittest.main()
