# SPDX-License-Identifier: BSL-1.0
"""Models that are odd and valid: fuse-onnx reads them, finds their norms, and their results stay what onnxruntime computes.

Each is valid by the checker and runs; names that are used twice, functions, bodies, types and tensors of every kind.
"""

import itertools
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import judge

ROWS = np.random.default_rng(5).normal(size=(4, 7)).astype(np.float32)
FEEDS = {"x": ROWS, "c": np.array(True), "n": np.array(3)}


def norm(x, y, at, eps="eps"):
    """Nodes of a layer norm; its interior values have names that begin with `at`."""
    return f"""
      {at}m = ReduceMean <axes = [-1]> ({x})  {at}d = Sub ({x}, {at}m)  {at}q = Mul ({at}d, {at}d)
      {at}v = ReduceMean <axes = [-1]> ({at}q)  {at}w = Add ({at}v, {eps})  {at}s = Sqrt ({at}w)  {y} = Div ({at}d, {at}s)"""


def model(nodes, functions="", inputs="float[4,7] x", outputs="float[4,7] y", imports='"" : 17, "acme" : 1', constants="", ir=10):
    """Where it has functions, it describes the value `h`: fuse need not look into them."""
    constants += ", float[4,7] h" if functions else ""
    return onnx.parser.parse_model(f"""
      <ir_version: {ir}, opset_import: [{imports}]>
      main ({inputs}) => ({outputs}) <float eps = {{1e-5}}{constants}> {{ {nodes} }} {functions}""")


def function(head, nodes, overload="", domain="acme"):
    over = f', overload: "{overload}"' if overload else ""
    return f'<domain: "{domain}", opset_import: ["" : 17, "acme" : 1]{over}> {head} {{ {nodes} }}'


def branch(nodes, result, kind="float[4,7]"):
    return f"b () => ({kind} {result}) {{ {nodes} }}"


def both(then, other):
    return f"<then_branch = {then}, else_branch = {other}>"


IF = "bool c, float[4,7] x"
LOOP = "int64 n, bool c, float[4,7] x"


def edited(made, edit):
    edit(made)
    return made


def sparse(made):
    values = numpy_helper.from_array(np.array([1.5, -2.5], np.float32), "table")
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([2, 5])), [7]))


def training(made):
    step = made.training_info.add()
    step.algorithm.CopyFrom(helper.make_graph([helper.make_node("Identity", ["scale"], ["next"])], "step", [], [
        helper.make_tensor_value_info("next", TensorProto.FLOAT, (7,))]))
    step.update_binding.add(key="scale", value="next")


def training_inside(made):
    step = made.training_info.add()
    step.algorithm.CopyFrom(helper.make_graph([helper.make_node("Add", ["kv", "scale"], ["next"])], "step", [], [
        helper.make_tensor_value_info("next", TensorProto.FLOAT, None)]))
    step.update_binding.add(key="scale", value="next")


def every_type(made):
    """Constants of each type and of several shapes, as bytes and as numbers."""
    for (name, number), shape in itertools.product(TensorProto.DataType.items(), ((3,), (), (0,), (2, 3))):
        count, stem = int(np.prod(shape)), f"{name} of rank {len(shape)}, {shape[:1]}"
        if name == "STRING":
            made.graph.initializer.append(helper.make_tensor(stem, number, shape, [b"a"] * count))
        elif name != "UNDEFINED":
            ones = np.ones(shape).astype(helper.tensor_dtype_to_np_dtype(number))
            made.graph.initializer.append(helper.make_tensor(f"{stem} in numbers", number, shape, ones.flatten()))
            made.graph.initializer.append(numpy_helper.from_array(ones, stem))


def annotated(made):
    made.graph.quantization_annotation.add(tensor_name="h").quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="eps")
    made.graph.metadata_props.add(key="k", value="v")
    for message in (*made.graph.node, *made.graph.initializer, *made.graph.input):
        message.metadata_props.add(key="k", value="v")


def sharded(made):
    made.configuration.add(name="two", num_devices=2, device=["a", "b"])
    for node in made.graph.node:
        spec = node.device_configurations.add(configuration_id="two", pipeline_stage=1).sharding_spec.add(tensor_name=node.output[0], device=[0, 1])
        spec.sharded_dim.add(axis=0).simple_sharding.add(dim_value=4, num_shards=2)


def described_function(made):
    made.functions[0].value_info.append(helper.make_tensor_value_info("t", TensorProto.FLOAT, (4, 7)))
    made.functions[0].metadata_props.add(key="k", value="v")


def untyped_function_import(made):
    made.functions[0].opset_import.append(helper.make_opsetid("", 17))


# name: (model, number of layer norms in the graph and its bodies)
MODELS = {
    "one name in two branches": (model(
        "z = If (c) " + both(branch(norm("x", "r", "k"), "r"), branch(norm("x", "r", "k") + " ", "r")) + " y = Relu (z)", inputs=IF), 2),
    "a branch's result has its owner's name": (model(
        "z = If (c) " + both(branch("z = Relu (x)", "z"), branch(norm("x", "z", "k"), "z")) + norm("z", "y", "o"), inputs=IF), 2),
    "a body uses the names of later nodes": (model(
        "z = If (c) " + both(branch(norm("x", "r", "o"), "r"), branch("od = Relu (x)", "od")) + norm("z", "y", "o"), inputs=IF), 2),
    "bodies within bodies use one name": (model(
        "z = If (c) " + both(branch("r = If (c) " + both(branch(norm("x", "r", "k"), "r"), branch("r = Neg (x)", "r")), "r"), branch("r = Relu (x)", "r"))
        + norm("z", "y", "r"), inputs=IF), 2),
    "a loop carries a value through a norm": (model(
        "y = Loop (n, c, x) <body = b (int64 i, bool go, float[4,7] now) => (bool on, float[4,7] then) { on = Identity (go)" + norm("now", "then", "k") + " }>",
        inputs=LOOP), 1),
    "a loop's results have the names of later nodes": (model(
        "z = Loop (n, c, x) <body = b (int64 i, bool go, float[4,7] now) => (bool on, float[4,7] om) { on = Identity (go)" + norm("now", "om", "k") + " }>"
        + norm("z", "y", "o"), inputs=LOOP, constants=", float[4,7] z"), 2),
    "a body's norm reads what stands around": (model(
        norm("x", "h", "k") + " y = If (c) " + both(branch("t = Add (x, kd)" + norm("t", "r", "i"), "r"), branch("r = Identity (h)", "r")), inputs=IF), 2),
    "an output is a branch's interior by name": (model(
        "z = If (c) " + both(branch(norm("x", "y", "k"), "y"), branch("y = Relu (x)", "y")) + norm("z", "y", "o"), inputs=IF), 2),
    "a branch's result is a constant of its own": (model(
        "z = If (c) " + both(f"b () => (float[4,7] w) <float[4,7] w = {{{', '.join(['2'] * 28)}}}> {{}}", branch("r = Neg (x)", "r")) + norm("z", "y", "k"),
        inputs=IF), 1),
    "a body's input hides a value": (model(
        norm("x", "h", "k") + " y = Loop (n, c, h) <body = b (int64 i, bool go, float[4,7] h) => (bool on, float[4,7] then) { on = Identity (go)"
        + norm("h", "then", "q") + " }>", inputs=LOOP), 2),
    "a body's constant hides a value": (model(
        norm("x", "h", "k") + " z = If (c) " + both("b () => (float[4,7] r) <float eps = {1e-3}> {" + norm("x", "r", "q") + " }", branch("r = Neg (h)", "r"))
        + " y = Relu (z)", inputs=IF), 2),
    "a domain imported twice in a function": (edited(model(
        "h = acme.F (x)" + norm("h", "y", "k"), function("F (a) => (t)", "t = Relu (a)")), untyped_function_import), 1),
    "overloads": (model(
        "f = acme.F (x) g = acme.F:two (x) h = Add (f, g)" + norm("h", "y", "k"),
        function("F (a) => (b)", "b = Relu (a)") + function("F (a) => (b)", "b = Neg (a)", "two")), 1),
    "overloads alone": (model(
        "f = acme.F:one (x) g = acme.F:two (x) h = Add (f, g)" + norm("h", "y", "k"),
        function("F (a) => (b)", "b = Relu (a)", "one") + function("F (a) => (b)", "b = Neg (a)", "two")), 1),
    "an overload named as a standard operator": (model(
        "h = acme.Sub:one (x, x)" + norm("h", "y", "k"), function("Sub (a, b) => (r)", "r = Add (a, b)", "one")), 1),
    "an overload of a standard operator": (model(
        norm("x", "h", "k") + norm("h", "y", "o").replace("Sub", "Sub:one"), function("Sub (a, b) => (r)", "r = Add (a, b)", "one", "")), 1),
    "a function called in a body": (model(
        "h = If (c) " + both(branch("r = acme.F (x)", "r"), branch("r = Neg (x)", "r")) + norm("h", "y", "k"),
        function("F (a) => (b)", "b = Relu (a)"), inputs=IF), 1),
    "functions that call functions": (model(
        "h = acme.G (x)" + norm("h", "y", "k"), function("G (a) => (c)", "b = acme.F (a) c = Neg (b)") + function("F (a) => (b)", "b = Relu (a)")), 1),
    "a function refers to its attributes": (model(
        "f = acme.F <alpha = 0.25> (x) g = acme.F (x) h = Add (f, g)" + norm("h", "y", "k"),
        function("F <alpha: float = 0.5> (a) => (b)", "b = LeakyRelu <alpha: float = @alpha> (a)")), 1),
    "a function has descriptions": (edited(model(
        "h = acme.F (x)" + norm("h", "y", "k"), function("F (a) => (b)", "t = Relu (a) b = Neg (t)")), described_function), 1),
    "a function with a body": (model(
        "h = acme.F (c, x)" + norm("h", "y", "k"),
        function("F (d, a) => (b)", "b = If (d) " + both("t () => (r) { r = Relu (a) }", "e () => (r) { r = Neg (a) }")), inputs=IF), 1),
    "names of values like those of a function": (model(
        "a = Abs (x) h = acme.F (a)" + norm("h", "b", "t") + " y = Relu (b)", function("F (a) => (b)", "t = Relu (a) b = Neg (t)")), 1),
    "sequences": (model(
        norm("x", "h", "k") + " s = SequenceConstruct (h, x) i = Constant <value_int = 0> () y = SequenceAt (s, i)", outputs="float[4,7] y, seq(float[4,7]) s"), 1),
    "sequences into bodies": (model(
        "s = SequenceConstruct (x, x) z = If (c) " + both(branch("i = Constant <value_int = 0> () r = SequenceAt (s, i)", "r"), branch("r = Neg (x)", "r"))
        + norm("z", "y", "k"), inputs=IF), 1),
    "optional values": (model(
        norm("x", "h", "k") + " o = Optional (h) y = OptionalGetElement (o) has = OptionalHasElement (o)", outputs="float[4,7] y, bool has"), 1),
    "results that nobody wants": (model(
        "z, mask = Dropout (x)" + norm("z", "y", "k")), 1),
    "a sparse initializer": (edited(model(norm("x", "h", "k") + " y = Add (h, table)"), sparse), 1),
    "texts": (model(
        norm("x", "y", "k") + " u = Identity (words)", outputs="float[4,7] y, string[2] u",
        constants=', string[2] words = {"naïve", "b"}'), 1),
    "training": (edited(model(norm("x", "h", "k") + " y = Mul (h, scale)", constants=", float[7] scale = {1, 2, 3, 4, 5, 6, 7}"), training), 1),
    "training that reads an interior value": (edited(model(
        norm("x", "h", "k") + " y = Mul (h, scale)", constants=", float[7] scale = {1, 2, 3, 4, 5, 6, 7}"), training_inside), 1),
    "annotations and metadata": (edited(model(norm("x", "h", "k") + " y = Relu (h)"), annotated), 1),
    "devices": (edited(model(norm("x", "h", "k") + " y = Relu (h)", ir=11), sharded), 1),
    "an output that is read": (model(norm("x", "y", "k") + " z = Relu (y)", outputs="float[4,7] y, float[4,7] z"), 1),
    "an input as an output": (model(norm("x", "y", "k"), outputs="float[4,7] y, float[4,7] x"), 1),
    "a constant as an output": (model(norm("x", "y", "k"), outputs="float[4,7] y, float eps"), 1),
    "an initializer that the caller may give": (model(norm("x", "h", "k") + " y = Mul (h, scale)", inputs="float[4,7] x, float[7] scale",
                                                     constants=", float[7] scale = {1, 2, 3, 4, 5, 6, 7}"), 1),
    "a body with constants of its own": (model(
        "y = If (c) " + both("b () => (float[4,7] r) <float e = {1e-6}> {" + norm("x", "r", "k", "e") + " }",
                             "b () => (float[4,7] r) <float e = {1e-3}> {" + norm("x", "r", "k", "e") + " }"), inputs=IF), 2),
    "a scan": (model(
        "y = Scan <num_scan_inputs = 1, body = b (float[7] row) => (float[7] out) {" + norm("row", "out", "k") + " }> (x)"), 1),
}


def same(before, after):
    if isinstance(before, list):
        return len(before) == len(after) and all(map(same, before, after))
    if before is None or before.dtype.kind not in "f":
        return np.array_equal(before, after)
    return before.shape == after.shape and judge.difference(before, after) is None


class OddModelTest(unittest.TestCase):
    def judged(self, made, count, feeds):
        onnx.checker.check_model(made)
        for target in judge.TARGETS:
            result = judge.optimize(made, target)
            self.assertEqual(judge.norms(result.model)["layer"], count, result.report)
            self.assertEqual(judge.interface(result.model), judge.interface(made))
            if target == "onnx":
                onnx.checker.check_model(result.model)
            self.assertEqual(judge.optimize(result.bytes, target).bytes, result.bytes, "a second run")
            for level, given in itertools.product(judge.LEVELS.values(), feeds):
                before, after = (judge.execute(m, given, level) for m in (made, result.model))
                for name, wanted in before.items():
                    self.assertTrue(same(wanted, after[name]), (target, name, wanted, after[name]))

    def test_odd_models(self):
        for name, (made, count) in MODELS.items():
            with self.subTest(name):
                feeds = [FEEDS] + [dict(FEEDS, c=np.array(False))] * any(i.name == "c" for i in made.graph.input)
                self.judged(made, count, feeds)

    def test_constants_of_every_type(self):
        """Also of types that onnxruntime does not know."""
        made = edited(model(norm("x", "y", "k"), imports='"" : 17'), every_type)
        made.ir_version = onnx.IR_VERSION
        onnx.checker.check_model(made)
        result = judge.optimize(made)
        self.assertEqual(judge.norms(result.model)["layer"], 1)
        kept = {tensor.SerializeToString() for tensor in result.model.graph.initializer}
        self.assertEqual({t.SerializeToString() for t in made.graph.initializer if t.name != "eps"} - kept, set())

    def test_external_data_and_texts_beside_it(self):
        with tempfile.TemporaryDirectory(prefix="fuse-odd-") as folder:
            source, result = pathlib.Path(folder) / "in.onnx", pathlib.Path(folder) / "out.onnx"
            made = model(norm("x", "h", "k") + " y = Mul (h, scale) u = Identity (words)", outputs="float[4,7] y, string[2] u",
                         constants=', string[2] words = {"a", "b"}')
            made.graph.initializer.append(numpy_helper.from_array(np.arange(7, dtype=np.float32), "scale"))
            onnx.save(made, source, save_as_external_data=True, size_threshold=0, location="data.bin")
            for target in judge.TARGETS:
                self.assertEqual(judge.run("optimize", source, "-o", result, "--target", target).code, 0)
                before, after = (judge.execute(str(path), FEEDS) for path in (source, result))
                self.assertTrue(all(same(before[name], after[name]) for name in before))


if __name__ == "__main__":
    unittest.main()
