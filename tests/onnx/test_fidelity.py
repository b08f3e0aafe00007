# SPDX-License-Identifier: BSL-1.0
"""What fuse does not touch comes out as it went in: metadata, training info, functions, sparse tensors, unknown fields, order, names."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import judge
from build import FLOAT, HALF, Model, check


def unknown(number, text):
    """A length-delimited field that ONNX does not have."""
    key, payload = number << 3 | 2, text.encode()
    return bytes([key & 127 | 128, key >> 7 & 127 | 128, key >> 14]) + bytes([len(payload)]) + payload


def decorated(norm=True):
    """A norm (or none) amid everything that a model can carry."""
    m = Model(17)
    x = m.input("x", FLOAT, ("batch", 7))
    before = m.op("Gelu4", x, domain="example.functions")
    d = m.op("Sub", before, m.reduce_mean(before, [-1])) if norm else before
    v = m.op("Add", m.reduce_mean(m.op("Mul", d, d), [-1]) if norm else d, m.constant(np.float32(1e-5)))
    y = m.op("Div", d, m.op("Sqrt", v)) if norm else m.op("Softmax", v)
    body = m.body()
    body.output(body.op("Relu", y), FLOAT, ("batch", 7))
    m.op("If", m.constant(np.array(True)), then_branch=body.graph("then"), else_branch=body.graph("else"), into="chosen")
    z = m.op("MatMul", "chosen", m.constant(np.arange(21, dtype=np.float32).reshape(7, 3), stem="weight"))
    z = m.op("Add", m.cast(m.cast(z, HALF), FLOAT), m.op("ConstantOfShape", m.integers(3), value=numpy_helper.from_array(np.ones(1, np.float32))))
    unread = m.constant(np.arange(5), stem="unread")
    m.output(z, FLOAT, ("batch", 3))
    model = m.proto()
    graph = model.graph
    model.producer_name, model.producer_version, model.domain, model.model_version = "p", "1.2", "org.example", 77
    model.doc_string = graph.doc_string = "Zeile 1\nline 2 – ü"
    graph.name = "a graph"
    helper.set_model_props(model, {"b": "2", "a": "1", "": ""})
    graph.metadata_props.add(key="graph", value="g")
    for k, node in enumerate(graph.node):
        node.doc_string = f"node {k}"
        node.metadata_props.add(key="k", value=str(k))
    graph.input[0].doc_string = "the input"
    graph.value_info.append(helper.make_tensor_value_info("chosen", TensorProto.FLOAT, ("batch", 7), "the chosen"))
    graph.value_info.append(helper.make_tensor_value_info(before, TensorProto.FLOAT, ("batch", 7)))
    graph.quantization_annotation.add(tensor_name=z).quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=unread)
    sparse = graph.sparse_initializer.add(dims=[3, 4])
    sparse.values.CopyFrom(numpy_helper.from_array(np.array([1.5, 2.5], np.float32), "sparse"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([2, 7]), "sparse_indices"))
    training = model.training_info.add()
    training.algorithm.name = "algorithm"
    training.algorithm.node.append(helper.make_node("Identity", ["weight_1"], ["copied"]))
    training.update_binding.add(key="weight_1", value="copied")
    opset = [helper.make_opsetid("", 17)]
    nodes = [helper.make_node("Relu", ["a"], ["b"], doc_string="kept")]
    model.functions.append(helper.make_function("example.functions", "Gelu4", ["a"], ["b"], nodes, opset, ["alpha"]))
    model.functions.append(helper.make_function("example.functions", "NeverCalled", ["a"], ["b"], nodes, opset))
    model.opset_import.append(helper.make_opsetid("com.example.unused", 3))
    return model


def with_unknown_fields(model):
    """The model again, with a field that nobody knows in the model, the graph, a node, a tensor, an attribute and a dimension."""
    model.graph.node[-1].MergeFromString(unknown(9001, "in a node"))
    model.graph.initializer[-1].MergeFromString(unknown(9002, "in a tensor"))
    model.graph.input[0].type.tensor_type.shape.dim[0].MergeFromString(unknown(9003, "in a dimension"))
    next(n for n in model.graph.node if n.op_type == "Cast").attribute[0].MergeFromString(unknown(9004, "in an attribute"))
    model.graph.MergeFromString(unknown(9005, "in the graph"))
    model.MergeFromString(unknown(9006, "in the model"))
    return model


UNKNOWN = [b"in a node", b"in a tensor", b"in a dimension", b"in an attribute", b"in the graph", b"in the model"]


class FidelityTest(unittest.TestCase):
    maxDiff = 2000

    def test_the_models_are_valid(self):
        for norm in (True, False):
            check(decorated(norm))
            data = with_unknown_fields(decorated(norm)).SerializeToString()
            self.assertTrue(all(text in data for text in UNKNOWN))

    def test_nothing_to_do_gives_the_same_bytes(self):
        for name, model in (("known", decorated(False)), ("unknown", with_unknown_fields(decorated(False)))):
            for target in judge.TARGETS:
                with self.subTest(name, target=target):
                    data = model.SerializeToString()
                    self.assertTrue(judge.optimize(model, target).bytes == data)

    def test_files_as_exporters_wrote_them(self):
        """Models in which a rule finds nothing, byte for byte."""
        for path in sorted(judge.MODELS.glob("*.onnx")):
            data = path.read_bytes()
            for target in judge.TARGETS:
                with self.subTest(path.stem, target=target):
                    result = judge.optimize(data, target, "--rule", "mish")
                    self.assertEqual(sum(rule["applied"] for rule in result.report["rules"]), 0)
                    self.assertTrue(result.bytes == data)

    def test_a_rewrite_leaves_the_rest(self):
        for target in judge.TARGETS:
            with self.subTest(target=target):
                before, result = with_unknown_fields(decorated()), judge.optimize(with_unknown_fields(decorated()), target)
                after = result.model
                self.assertEqual(judge.norms(after), {"layer": 1})
                for text in UNKNOWN:
                    self.assertIn(text, result.bytes)
                for field in ("producer_name", "producer_version", "domain", "model_version", "doc_string", "metadata_props", "training_info"):
                    self.assertEqual(getattr(after, field), getattr(before, field), field)
                for field in ("name", "doc_string", "input", "output", "sparse_initializer", "quantization_annotation", "metadata_props"):
                    self.assertEqual(getattr(after.graph, field), getattr(before.graph, field), field)
                functions = [f.SerializeToString() for f in after.functions]
                for function in before.functions:
                    self.assertIn(function.SerializeToString(), functions)
                for entry in before.opset_import:
                    self.assertIn(entry, after.opset_import)
                self.assertEqual([v for v in after.graph.value_info], [v for v in before.graph.value_info])
                kept = {n.SerializeToString(): k for k, n in enumerate(after.graph.node)}
                untouched = [n for n in before.graph.node if n.op_type in ("Gelu4", "If", "MatMul", "Cast", "Add", "ConstantOfShape") and n.name != "n_add_1"]
                self.assertEqual(len(untouched), 7)
                places = [kept.get(n.SerializeToString(), n.name) for n in untouched]
                self.assertEqual(places, sorted(p for p in places if isinstance(p, int)), "each is there, in the old order")
                tensors = [t.SerializeToString() for t in after.graph.initializer]
                for tensor in before.graph.initializer:
                    if tensor.name.startswith(("weight", "unread")):
                        self.assertIn(tensor.SerializeToString(), tensors)

    def test_unreadable_parts_are_no_reason(self):
        """An operator nobody knows, of a domain nobody knows, stays and does not stop the rest."""
        model = decorated()
        model.opset_import.append(helper.make_opsetid("org.strange", 1))
        model.graph.node.insert(0, helper.make_node("Twist", ["x"], ["twisted", ""], "twist", domain="org.strange", secret=[1, 2]))
        node = model.graph.node[0].SerializeToString()
        result = judge.optimize(model)
        self.assertEqual(judge.norms(result.model), {"layer": 1})
        self.assertIn(node, [n.SerializeToString() for n in result.model.graph.node])


if __name__ == "__main__":
    unittest.main()
