# SPDX-License-Identifier: BSL-1.0
"""What scripts/measure tells of a model, with the optimisers that are there: onnxruntime's own and fuse."""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

import onnx
from onnx import parser

import judge

sys.path.insert(0, str(judge.ROOT / "bench"))
import measure
import measure_page
import model_inputs
import optimisers
import outcomes

os.environ.setdefault("FUSE_ONNX", judge.PROGRAM)


def row(name, nodes=10, milliseconds=(1.0,), **default):
    default = default or {"excess": [0.1], "error": [1e-6]}
    latency = {"1": {"milliseconds": milliseconds[0], "ratio": milliseconds[0], "turns": list(milliseconds) * 4}}
    return {"name": name, "setting": "", "optimised": {}, "latency": latency,
            "outcome": {"default": default, "file": {"nodes": nodes, "fused": {}}, "run": {"nodes": nodes, "fused": {}}}}


def model(*rows):
    return {"name": "m", "real size": True, "nodes": 20, "bytes": 1000, "candidates": list(rows)}


class Measured(unittest.TestCase):
    def test_a_model_is_told_of_with_its_tables_and_its_chart(self):
        options = argparse.Namespace(scratch=None, limit=60, threads=[1], repetitions=2, processes=1, real_size=None)
        present = [one for one in optimisers.CANDIDATES if not one.needs]
        with mock.patch.object(optimisers, "CANDIDATES", present), mock.patch("builtins.print"):
            told = measure.measured(judge.MODELS / "token-mlp-bn-op14.onnx", options)
        self.assertEqual([one["name"] for one in told["candidates"]], ["onnxruntime", "fuse", "fuse --clean"])
        for one in told["candidates"]:
            self.assertEqual(measure_page.verdict(one), "right", one)
            self.assertEqual(one["outcome"]["batches"], 2)
            self.assertEqual(len(one["latency"]["1"]["turns"]), 2)
        self.assertLess(told["candidates"][1]["outcome"]["file"]["nodes"], told["nodes"])
        report = {"context": measure.context(options), "models": [told], "operators": []}
        self.assertIn("| token-mlp-bn-op14 | 10 |", measure_page.page(report))
        xml.etree.ElementTree.fromstring(measure_page.drawn(report))

    def test_a_crash_a_hang_and_a_failure_are_a_word_each(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.onnx"
            script = pathlib.Path(folder) / "peer.py"
            for body, word in (("import os; os.abort()", "crashes"), ("import time; time.sleep(60)", "takes more than 0.3 s"), ("1 / 0", "fails")):
                script.write_text(body, encoding="utf-8")
                with mock.patch.object(optimisers, "__file__", str(script)):
                    self.assertEqual(optimisers.optimised(optimisers.CANDIDATES[-1], "", out, out, 0.3)["failed"], word)


class Inputs(unittest.TestCase):
    def test_are_drawn_as_names_and_tables_ask(self):
        made = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (int64[b,s] input_ids, int64[b,total] attention_mask, float[b,past] x)
            => (float[b,s,2] y) <float[3,2] t={1,2,3,4,5,6}> { y = Gather(t, input_ids) }""")
        made.graph.input[1].type.tensor_type.shape.dim[1].dim_param = "past + s"
        feeds = model_inputs.drawn(made)
        self.assertEqual([feeds[name].shape for name in ("input_ids", "attention_mask", "x")], [(1, 16), (1, 32), (1, 16)])
        self.assertLess(feeds["input_ids"].max(), 3)
        self.assertEqual(set(feeds["attention_mask"].flat), {0, 1})


class Fused(unittest.TestCase):
    def test_operators_that_stand_for_several(self):
        node = onnx.helper.make_node
        for made, name in ((node("Gelu", ["x"], ["y"]), "Gelu"), (node("Add", ["x", "z"], ["y"]), None), (node("BiasGelu", ["x", "b"], ["y"], domain="com.microsoft"), "BiasGelu"),
                           (node("Gelu_tanh_1", ["x"], ["y"], domain="fuse"), "fuse::Gelu"), (node("Conv", ["x", "w"], ["y"], domain="com.microsoft.nchwc"), None),
                           (node("Conv", ["x", "w", "", "s"], ["y"], domain="com.microsoft.nchwc", activation="Relu"), "ConvAddRelu")):
            self.assertEqual(outcomes.fused_name(made), name)


class Page(unittest.TestCase):
    def test_verdicts(self):
        for default, word in (({"excess": [0.5, 0.5], "error": [0, 0]}, "right"), ({"excess": [2, 0], "error": [1, 0]}, "wrong"),
                              ({"excess": [0.5, 2], "error": [0, 1]}, "wrong on other inputs"), ({"wrong": "another shape"}, "wrong"), ({"fails": "no kernel"}, "does not run")):
            self.assertEqual(measure_page.verdict(row("fuse", **default)), word)

    def test_what_another_does_better_is_a_loss(self):
        found = measure_page.losses([model(row("onnxruntime", nodes=8), row("onnxsim", milliseconds=(0.5,)), row("fuse", milliseconds=(1.2,)))])
        self.assertEqual([(peer, what) for _, _, peer, what in found], [
            ("onnxsim", "2.40 times as long, 1 thread"), ("onnxruntime", "1.20 times as long, 1 thread"), ("onnxruntime", "10 nodes run instead of 8")])

    def test_what_varies_as_much_is_none(self):
        self.assertEqual(measure_page.losses([model(row("onnxruntime"), row("fuse", milliseconds=(0.9, 1.3)))]), [])

    def test_a_page_without_markers_is_an_error(self):
        with self.assertRaises(ValueError):
            measure_page.replaced("no markers", {})


if __name__ == "__main__":
    unittest.main()
