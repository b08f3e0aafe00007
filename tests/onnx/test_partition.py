# SPDX-License-Identifier: BSL-1.0
"""Real exports in groups: as functions they are valid, load, and compute what they did; after rules little is left."""

import functools
import json
import unittest

import numpy
import onnx

import judge
import test_models

# Groups and lone operators, of the nodes there are, after rules.
MOST_LEFT = 0.5
# gpt2-deep has the groups of gpt2-op14, and runs longer than all others together.
NOT_RUN = test_models.NOT_RUN | {"gpt2-deep"}
TRANSFORMERS = ("bert", "distilbert", "gpt2", "llama", "t5", "vit", "whisper")


def partition(source, *options):
    """The report, and the model with a function for each group."""
    result = judge.scratch("grouped.onnx")
    done = judge.serve("partition", source, "-o", result, "--report", "json", *options)
    assert done.code == 0, done.err
    return json.loads(done.out), onnx.load(result)


@functools.cache
def ruled(name):
    """The model after the rules, as a file."""
    path = judge.scratch(f"{name}.ruled.onnx")
    path.write_bytes(test_models.rewritten(name, "onnx").bytes)
    return path


def sources(name):
    return judge.MODELS / f"{name}.onnx", ruled(name)


class partition_test(unittest.TestCase):
    def each(self, judged):
        for name in test_models.tried():
            for source in sources(name):
                with self.subTest(name, source=source.name):
                    judged(name, source)

    def test_functions_of_groups_are_valid(self):
        def judged(_, source):
            report, made = partition(source)
            onnx.checker.check_model(made)
            functions = [f for f in made.functions if f.domain == "fuse.group"]
            self.assertEqual([len(f.node) for f in functions], [len(g["nodes"]) for g in report["groups"]])
            self.assertEqual([list(f.output) for f in functions], [g["outputs"] for g in report["groups"]])
            self.assertEqual(judge.interface(made)[:2], judge.interface(onnx.load(source))[:2])

        self.each(judged)

    def test_groups_compute_what_the_nodes_did(self):
        def judged(name, source):
            if name in NOT_RUN:
                return
            feeds = test_models.tensors(name, "input")
            _, made = partition(source)
            expected = judge.execute(onnx.load(source), feeds)
            for level in judge.LEVELS.values():
                found = judge.execute(made, feeds, level)
                for output, value in expected.items():
                    limit = test_models.TOLERANCE.get(str(value.dtype), 0) * float(abs(value).max())
                    self.assertLessEqual(float(abs(value - found[output]).max()), limit)

        self.each(judged)

    def test_groups_in_functions_have_their_attributes_and_absent_operands(self):
        made = onnx.parser.parse_model("""
            <ir_version: 8, opset_import: ["": 17, "own": 1]>
            two (float[4,4] x, float[4] low) => (float[4,4] y, float[4,4] z) {
                y = own.twice <slope = 0.5> (x)
                z = own.twice <slope = 0.25> (y, low)
            }
            <domain: "own", opset_import: ["": 17]>
            twice <slope> (x, low) => (y) {
                e = LeakyRelu <alpha: float = @slope> (x)
                c = Clip (e, low)
                p = MatMul (c, c)
                f = Elu <alpha: float = @slope> (c)
                s = Sigmoid (p)
                y = MatMul (f, s)
            }""")
        feeds = {
            "x": numpy.linspace(-2, 2, 16, dtype=numpy.float32).reshape(4, 4),
            "low": numpy.array(-0.125, numpy.float32),
        }
        made.graph.input[1].type.tensor_type.shape.Clear()
        source = judge.scratch("nested.onnx")
        onnx.save(made, source)
        report, grouped = partition(source)
        self.assertGreater(sum(" in function " in g["nodes"][0] for g in report["groups"]), 1)
        self.assertEqual(len(grouped.functions), 1 + len(report["groups"]))
        onnx.checker.check_model(grouped)
        expected = judge.execute(made, feeds)
        for level in judge.LEVELS.values():
            found = judge.execute(grouped, feeds, level)
            for output, value in expected.items():
                numpy.testing.assert_allclose(found[output], value, rtol=1e-6)

    def test_after_rules_half_of_the_nodes_is_left(self):
        for name in test_models.tried():
            if name.startswith(TRANSFORMERS):
                with self.subTest(name):
                    report, _ = partition(ruled(name))
                    self.assertLessEqual(report["operators"], MOST_LEFT * report["nodes"])

    def test_a_norm_goes_by_its_formula_where_that_moves_less(self):
        source = judge.scratch("norm.onnx")
        onnx.save(onnx.parser.parse_model("""
            <ir_version: 8, opset_import: ["": 17]>
            norm (float[2,64,96] x, float[96] s, float[96] b) => (float[96,64,2] t, float[2,64,96] r) {
                n = LayerNormalization <axis = -1> (x, s, b)
                t = Transpose (n)
                m = LayerNormalization <axis = -1> (x, s, b)
                r = Relu (m)
            }"""), source)
        report, _ = partition(source)
        self.assertEqual([g["by_formula"] for g in report["groups"]], [report["groups"][0]["nodes"][:1], []])
        told = judge.run("partition", source).out
        self.assertIn("LayerNormalization(formula) Transpose\n", told)
        self.assertIn("LayerNormalization Relu\n", told)

    def test_the_depth_is_kept(self):
        report, _ = partition(judge.MODELS / "bert-op14.onnx", "--max-depth", "3")
        self.assertEqual(max(len(g["nodes"]) for g in report["groups"]), 3)

    def test_a_drawing_has_a_frame_for_each_group(self):
        drawing = judge.scratch("groups.dot")
        report, _ = partition(judge.MODELS / "bert-op14.onnx", "--draw", drawing)
        text = drawing.read_text(encoding="utf-8")
        self.assertEqual(text.count("subgraph cluster_"), len(report["groups"]))

    def test_what_is_no_drawing_is_refused(self):
        done = judge.run("partition", judge.MODELS / "bert-op14.onnx", "--draw", judge.scratch("groups.png"))
        self.assertEqual(done.code, 2)
        self.assertIn(".svg", done.err)


if __name__ == "__main__":
    unittest.main()
