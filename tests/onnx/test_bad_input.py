# SPDX-License-Identifier: BSL-1.0
"""Bad input gets status 1 and one sentence with the place; wrong usage gets status 2 and a hint; no file is left half-written."""

import pathlib
import re
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import judge
from build import FLOAT, Model


def norm_model(opset=17):
    m = Model(opset)
    x = m.input("x", FLOAT, (4, 7))
    d = m.op("Sub", x, m.reduce_mean(x, [-1]))
    v = m.op("Add", m.reduce_mean(m.op("Mul", d, d), [-1]), m.constant(np.float32(1e-5)))
    y = m.op("Mul", m.op("Div", d, m.op("Sqrt", v)), m.constant(np.ones(7, np.float32), stem="weight"))
    m.output(y, FLOAT, (4, 7))
    return m


def edited(edit):
    model = norm_model().proto()
    edit(model)
    return model.SerializeToString()


def edited_graph(edit):
    return edited(lambda model: edit(model.graph))


def weight(graph):
    return next(t for t in graph.initializer if t.name == "weight_1")


def external(location, offset=0, length=28):
    def edit(graph):
        tensor = weight(graph)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
    return edited_graph(edit)


def field(number, payload):
    """A length-delimited protobuf field."""
    def varint(n):
        out = bytearray()
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        return bytes(out + bytes([n]))
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def nested(depth):
    """If in If in If, `depth` times; written by hand, because protobuf for Python stops early."""
    def result(level):
        return f"out_{level}".encode(), field(12, helper.make_tensor_value_info(f"out_{level}", TensorProto.FLOAT, (1,)).SerializeToString())

    name, out = result(0)
    graph = field(1, helper.make_node("Constant", [], [name], value_floats=[1.0]).SerializeToString()) + field(2, b"g") + out
    for level in range(1, depth + 1):
        name, out = result(level)
        branch = field(5, field(1, b"then_branch") + b"\xa0\x01\x05" + field(6, graph))
        graph = field(1, field(1, b"condition") + field(2, name) + field(4, b"If") + branch) + field(2, b"g") + out
    condition = helper.make_tensor_value_info("condition", TensorProto.BOOL, ()).SerializeToString()
    return b"\x08\x08" + field(7, graph + field(11, condition)) + field(8, b"\x10\x11")


def set_dims(*dims):
    def edit(graph):
        del weight(graph).dims[:]
        weight(graph).dims.extend(dims)
    return edit


def typed_data(graph):
    """float_data with one number too few."""
    tensor = weight(graph)
    tensor.ClearField("raw_data")
    tensor.float_data.extend([1.0] * 6)


def six_bits(graph):
    """Five 6-bit floats take four bytes, not three."""
    graph.initializer.add(name="small", data_type=TensorProto.DataType.Value("FLOAT6E2M3"), dims=[5], raw_data=b"abc")


def bad_constant_node(graph):
    tensor = numpy_helper.from_array(np.ones(7, np.float32))
    tensor.dims[0] = 9
    graph.node.insert(0, helper.make_node("Constant", [], ["unused"], "constant_node", value=tensor))


def ring(graph):
    graph.node.append(helper.make_node("Relu", ["b"], ["a"], "first"))
    graph.node.append(helper.make_node("Relu", ["a"], ["b"], "second"))


def knot(graph):
    graph.node.append(helper.make_node("Add", ["a", "x"], ["a"], "knot"))


def in_body(edit):
    """The same mistake inside the branches of an If."""
    def wrap(graph):
        body = helper.make_graph([helper.make_node("Identity", ["x"], ["inner"], "copy")], "body", [],
                                 [helper.make_tensor_value_info("inner", TensorProto.FLOAT, (4, 7))])
        edit(body)
        graph.initializer.append(numpy_helper.from_array(np.array(True), "condition"))
        graph.node.append(helper.make_node("If", ["condition"], ["chosen"], "branching", then_branch=body, else_branch=body))
    return wrap


def duplicate_in_body(body):
    body.node.append(helper.make_node("Identity", ["x"], ["inner"], "again"))


def undefined_in_body(body):
    body.node[0].input[0] = "nowhere"


def branches_that_compute(name, owner):
    """An If before all else, whose branches compute a value of a name that stands for something else after them."""
    def edit(graph):
        body = helper.make_graph([helper.make_node("Relu", ["x"], [name])], "body", [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, (4, 7))])
        graph.initializer.append(numpy_helper.from_array(np.array(True), "condition"))
        graph.node.insert(0, helper.make_node("If", ["condition"], [owner], "branching", then_branch=body, else_branch=body))
        graph.output.append(helper.make_tensor_value_info(owner, TensorProto.FLOAT, (4, 7)))
    return edit


def with_function(reads="a", calls=None):
    """A function whose body reads a value and calls another one."""
    def edit(model):
        nodes = [helper.make_node("Abs", [reads], ["b"], "first"), helper.make_node(calls or "Abs", ["b"], ["c"], "second", domain="own" if calls else "")]
        sets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        model.functions.append(helper.make_function("own", "body", ["a"], ["c"], nodes, sets))
        model.functions.append(helper.make_function("own", "other", ["a"], ["b"], [helper.make_node("body", ["a"], ["b"], domain="own")], sets))
        model.opset_import.append(sets[1])
    return edit


def imports(*pairs):
    def edit(model):
        del model.opset_import[:]
        model.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in pairs)
    return edit


VALID = norm_model().proto().SerializeToString()

# What is allowed, however odd: names are free where they are not seen, the last import of a domain counts.
ODD = {
    "a branch computes what its owner computes": edited_graph(branches_that_compute("branched", "branched")),
    "a branch computes what a later node computes": edited_graph(branches_that_compute("reducemean_1", "branched")),
    "a domain imported twice": edited(imports(("", 17), ("", 17))),
    "a domain imported twice, by two names": edited(imports(("", 17), ("ai.onnx", 17))),
    "a domain imported in two versions": edited(imports(("", 13), ("", 17))),
    "another domain at version 0": edited(imports(("", 17), ("acme", 0))),
}

# name: (bytes, what the sentence must mention)
BAD = {
    "empty file": (b"", ""),
    "text": (b"this is not a model\n", ""),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ""),
    "compressed": (b"\x1f\x8b\x08\x00" + bytes(range(200)), ""),
    "a tensor": (numpy_helper.from_array(np.ones(5, np.float32), "t").SerializeToString(), ""),
    "no graph": (edited(lambda model: model.ClearField("graph")), "graph"),
    "no opset": (edited(lambda model: model.ClearField("opset_import")), "import"),
    **{f"truncated to {part} %": (VALID[:len(VALID) * part // 100], "") for part in (10, 50, 90, 99)},
    "a cycle of two": (edited_graph(ring), "a|b|first|second"),
    "a cycle of one": (edited_graph(knot), "a|knot"),
    "two nodes define a value": (edited_graph(lambda g: g.node.append(helper.make_node("Relu", ["x"], [g.node[0].output[0]], "twice"))), "reducemean_1"),
    "a node defines an input": (edited_graph(lambda g: g.node.append(helper.make_node("Relu", ["reducemean_1"], ["x"], "twice"))), "x"),
    "a node defines an initializer": (edited_graph(lambda g: g.node.append(helper.make_node("Relu", ["x"], ["weight_1"], "twice"))), "weight_1"),
    "two initializers of a name": (edited_graph(lambda g: g.initializer.append(weight(g))), "weight_1"),
    "two inputs of a name": (edited_graph(lambda g: g.input.append(g.input[0])), "x"),
    "a value nobody defines": (edited_graph(lambda g: g.node.append(helper.make_node("Relu", ["nowhere"], ["r"], "lost"))), "nowhere"),
    "an output nobody defines": (edited_graph(lambda g: g.output.append(helper.make_tensor_value_info("nowhere", TensorProto.FLOAT, (1,)))), "nowhere"),
    "a value defined twice in a body": (edited_graph(in_body(duplicate_in_body)), "inner"),
    "a value nobody defines in a body": (edited_graph(in_body(undefined_in_body)), "nowhere"),
    "a value nobody defines in a function": (edited(with_function("x")), "'x'.* own::body"),
    "a function that calls itself": (edited(with_function(calls="body")), "own::body"),
    "functions that call each other": (edited(with_function(calls="other")), "own::(body|other)"),
    "too few bytes": (edited_graph(set_dims(8)), "weight_1"),
    "too many bytes": (edited_graph(set_dims(6)), "weight_1"),
    "too few numbers": (edited_graph(typed_data), "weight_1"),
    "too few bits": (edited_graph(six_bits), "small"),
    "a Constant with too few bytes": (edited_graph(bad_constant_node), "unused|constant_node"),
    "a negative dimension": (edited_graph(set_dims(-7)), "weight_1"),
    "dimensions that overflow": (edited_graph(set_dims(2**33, 2**33)), "weight_1"),
    "dimensions that overflow to the right size": (edited_graph(set_dims(7, 2**32, 2**32)), "weight_1"),
    "bytes that overflow": (edited_graph(set_dims(2**62 + 7)), "weight_1"),
    "external data missing": (external("missing.bin"), "missing.bin|weight_1"),
    "external data above the folder": (external("../outside.bin"), "outside.bin|weight_1"),
    "external data above the folder, hidden": (external("a/../../outside.bin"), "outside.bin|weight_1"),
    "external data at an absolute path": (external("/etc/hostname", length=4), "hostname|weight_1"),
    "external data through a link": (external("link.bin"), "link.bin|weight_1"),
    "external data past the end": (external("short.bin", offset=8), "short.bin|weight_1"),
    "external data at a negative offset": (external("short.bin", offset=-8), "short.bin|weight_1"),
    "external data of a length that disagrees": (external("short.bin", length=20), "short.bin|weight_1"),
    "external data without a place": (external(""), "weight_1"),
    "subgraphs 5000 deep": (nested(5000), ""),
    "subgraphs 500 deep": (nested(500), ""),
}


class FolderTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="fuse-bad-")
        self.addCleanup(holder.cleanup)
        outside = pathlib.Path(holder.name)
        (outside / "outside.bin").write_bytes(np.ones(7, np.float32).tobytes())
        self.folder = outside / "models"
        self.folder.mkdir()
        (self.folder / "a").mkdir()
        (self.folder / "short.bin").write_bytes(np.ones(7, np.float32).tobytes()[:24])
        (self.folder / "link.bin").symlink_to(outside / "outside.bin")
        self.source, self.result = self.folder / "in.onnx", self.folder / "out.onnx"

    def listing(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def one_sentence(self, run, place=""):
        self.assertEqual(run.code, 1, run.err)
        text = run.err.strip()
        self.assertRegex(text, r"^[^\n]{10,400}$", "one line")
        self.assertLessEqual(len(re.findall(r"[.!?](?=\s+[A-Z])", text)), 0, "one sentence")
        self.assertRegex(text, place or "in\\.onnx", "the place")


class BadInputTest(FolderTest):
    def test_bad_models(self):
        for name, (data, place) in BAD.items():
            with self.subTest(name):
                self.source.write_bytes(data)
                self.result.write_bytes(b"what was there")
                before = self.listing()
                self.one_sentence(judge.run("optimize", self.source, "-o", self.result), place)
                self.assertEqual(self.listing(), before, "files changed")
                self.assertEqual(judge.run("explain", self.source).code, 1)

    def test_mistakes_leave_the_valid_model_valid(self):
        """The model without a mistake is read: each refusal above is the mistake's."""
        good = {"plain": VALID, "function": edited(with_function()), "body": edited_graph(in_body(lambda body: None)), "nested": nested(10)}
        (self.folder / "whole.bin").write_bytes(np.ones(7, np.float32).tobytes())
        good["external"] = external("whole.bin")
        for name, data in good.items():
            with self.subTest(name):
                self.source.write_bytes(data)
                run = judge.run("optimize", self.source, "-o", self.result)
                self.assertEqual((run.code, run.err), (0, ""))
                onnx.load(self.result)

    def test_what_is_odd_and_valid(self):
        """It is read, its norm is found, and the result runs as before."""
        x = np.random.default_rng(1).normal(size=(4, 7)).astype(np.float32)
        for name, data in ODD.items():
            with self.subTest(name):
                onnx.checker.check_model(onnx.load_from_string(data))
                self.source.write_bytes(data)
                run = judge.run("optimize", self.source, "-o", self.result, "--target", "onnxruntime")
                self.assertEqual((run.code, run.err), (0, ""))
                self.assertEqual(judge.norms(onnx.load(self.result)), {"layer": 1})
                before, after = (judge.execute(str(path), {"x": x}) for path in (self.source, self.result))
                for output in before:
                    self.assertIsNone(judge.difference(before[output], after[output]))

    def test_names_do_not_reach_the_terminal(self):
        """Control characters in names are shown; every message stays one line."""
        name = "a\x1b[31mred\nline\x9b"
        self.source.write_bytes(edited_graph(lambda g: g.node.append(helper.make_node("Relu", [name], ["r"], "lost"))))
        run = judge.run("optimize", self.source, "-o", self.result)
        self.one_sentence(run, re.escape("\\x1b[31mred\\x0aline"))
        model = norm_model().proto()
        for node in model.graph.node:
            node.name = name + node.name
        self.source.write_bytes(model.SerializeToString())
        for arguments in (["optimize", self.source, "-o", self.result, "--report", "text"], ["explain", self.source]):
            run = judge.run(*arguments)
            self.assertEqual(run.code, 0, run.err)
            for character in "\x1b\x9b":
                self.assertNotIn(character, run.out + run.err)

    def test_unreadable_input(self):
        self.one_sentence(judge.run("optimize", self.folder / "absent" / "in.onnx", "-o", self.result), "absent")
        self.one_sentence(judge.run("optimize", self.folder, "-o", self.result), "models")
        self.assertFalse(self.result.exists())

    def test_unwritable_output(self):
        self.source.write_bytes(VALID)
        before = self.listing()
        (self.folder / "directory.onnx").mkdir()
        for place in (self.folder / "absent" / "out.onnx", self.folder / "directory.onnx", pathlib.Path("/proc/out.onnx")):
            with self.subTest(place=place.name):
                self.one_sentence(judge.run("optimize", self.source, "-o", place), re.escape(place.name))
                self.assertEqual(self.listing(), before)

    def test_in_place(self):
        self.source.write_bytes(VALID)
        self.assertEqual(judge.run("optimize", self.source, "-o", self.result).code, 0)
        self.assertEqual(judge.run("optimize", self.source, "-o", self.source).code, 0)
        self.assertEqual(self.source.read_bytes(), self.result.read_bytes())
        self.assertNotEqual(self.source.read_bytes(), VALID)
        self.assertEqual(set(self.listing()), {"in.onnx", "out.onnx", "short.bin", "link.bin"}, "a temporary file is left")

    def test_external_data_stays_outside(self):
        (self.folder / "whole.bin").write_bytes(np.arange(9, dtype=np.float32).tobytes())
        self.source.write_bytes(external("whole.bin", offset=4))
        self.assertEqual(judge.run("optimize", self.source, "-o", self.result, "--target", "onnxruntime").code, 0)
        model = onnx.load(self.result, load_external_data=False)
        self.assertEqual(judge.norms(model), {"layer": 1})
        x = np.random.default_rng(1).normal(size=(4, 7)).astype(np.float32)
        before, after = (judge.execute(str(path), {"x": x}) for path in (self.source, self.result))
        for name in before:
            self.assertIsNone(judge.difference(before[name], after[name]))

    def test_external_data_of_a_result_elsewhere(self):
        """A result in another folder still finds its weights, or is refused."""
        (self.folder / "whole.bin").write_bytes(np.arange(7, dtype=np.float32).tobytes())
        self.source.write_bytes(external("whole.bin"))
        elsewhere = self.folder / "a" / "out.onnx"
        run = judge.run("optimize", self.source, "-o", elsewhere, "--target", "onnxruntime")
        if run.code == 0:
            judge.execute(str(elsewhere), {"x": np.ones((4, 7), np.float32)})
        else:
            self.assertFalse(elsewhere.exists())


class UsageTest(FolderTest):
    def test_wrong_usage(self):
        self.source.write_bytes(VALID)
        source, out = self.source, ["-o", self.result]
        for arguments, hint in (
                ([], "help"), (["improve"], "help"), (["optimize"], ""), (["optimize", source], "-o"), (["optimize", source, "-o"], "-o"),
                (["optimize", source, *out, "--target", "tensorrt"], "onnxruntime"), (["optimize", source, *out, "--report", "xml"], "json"),
                (["optimize", source, *out, "--rule", "layer-nrom"], "layer-norm"), (["optimize", source, *out, "--except", "nothing"], "layer-norm"),
                (["optimize", source, *out, "--rule"], "--rule"), (["optimize", source, *out, "--fast"], "--fast"),
                (["optimize", source, source, *out], ""), (["explain"], ""), (["explain", source, "--limit", "many"], "limit"),
                (["explain", source, "--rule", "nothing"], "layer-norm"), (["rules", "nothing"], "layer-norm")):
            with self.subTest(" ".join(str(a) for a in arguments)):
                run = judge.run(*arguments)
                self.assertEqual(run.code, 2, run.err)
                self.assertTrue(run.err.strip(), "a hint")
                self.assertIn(hint, run.err)
                self.assertFalse(self.result.exists())

    def test_right_usage(self):
        self.source.write_bytes(VALID)
        run = judge.run("optimize", self.source, "-o", self.result, "--report", "text")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertIn("layer-norm", run.out)
        self.assertIn("layer-norm", judge.run("rules").out)
        self.assertEqual(judge.run("rules", "layer-norm", "--program").code, 0)
        explained = judge.run("explain", self.source, "--rule", "rms-norm", "--limit", "2")
        self.assertEqual(explained.code, 0)
        self.assertTrue(explained.out.strip())


if __name__ == "__main__":
    unittest.main()
