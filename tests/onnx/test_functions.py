# SPDX-License-Identifier: BSL-1.0
"""Norms inside the model's own functions, and the standard's own bodies of LayerNormalization and RMSNormalization, as the onnx package
expands them in its tests."""

import collections
import os
import unittest

import numpy as np
import onnx
import onnx.backend.test.case.node
import onnx.backend.test.case.node.layernormalization
import onnx.backend.test.case.node.rmsnormalization
from onnx import helper

import judge
import spellings
from build import FLOAT, HALF, Model, check
from lookalikes import LOOKALIKES

PRIMITIVES = {"ReduceMean", "Mul", "Add", "Sqrt", "Div", "Reciprocal", "Pow"}


def cases():
    found = {case.name: case for case in onnx.backend.test.case.node._NodeTestCases}
    return [case for name, case in sorted(found.items()) if name.startswith(("test_layer_normalization", "test_rms_normalization"))]


class FunctionBodyTest(unittest.TestCase):
    def test_there_are_cases(self):
        self.assertGreater(sum("expanded" in case.name for case in cases()), 50)

    def test_every_body_becomes_one_operator(self):
        for case in judge.sampled(cases()):
            kind = "rms" if "rms" in case.name else "layer"
            for target in judge.TARGETS:
                with self.subTest(case.name, target=target):
                    result = judge.optimize(case.model, target)
                    self.assertEqual(judge.norms(result.model), {kind: 1}, result.refusals()[:3])
                    self.assertEqual(PRIMITIVES & set(judge.primitives(result.model)), set(), "left over")
                    self.assertEqual(list(judge.foreign_norms(result.model, target)), [])
                    self.assertEqual(judge.interface(result.model), judge.interface(case.model))
                    if target == "onnx":
                        check(result.model)
                    for inputs, expected in case.data_sets:
                        feeds = dict(zip([i.name for i in case.model.graph.input], inputs))
                        for level in judge.LEVELS:
                            outputs = judge.execute(result.model, feeds, judge.LEVELS[level])
                            for name, wanted in zip([o.name for o in case.model.graph.output], expected):
                                self.assertEqual(outputs[name].shape, wanted.shape)
                                np.testing.assert_allclose(outputs[name], wanted, rtol=1e-4, atol=1e-5, err_msg=f"{name} at {level}")


DOMAIN = "pkg.norms"
COUNT = int(os.environ.get("FUSE_SPELLINGS", 600 // judge.ONE_CASE_IN)) // 3
OPSETS = (13, 17, 18, 23)  # functions for both norms, an operator for layer norm, axes as operands, operators for both


class Body(Model):
    """What stands in a function: constants are nodes."""

    def constant(self, value, form="node", stem="c"):
        return super().constant(value, form, stem)

    def integers(self, *values, form="node"):
        return super().integers(*values, form=form)

    def call(self, name, *operands, into=None, **attributes):
        return self.op(name, *operands, domain=DOMAIN, into=into, **attributes)

    def function(self, name, inputs, outputs, attributes=(), opset=None, domains=()):
        imports = [helper.make_opsetid("", opset or self.opset)] + [helper.make_opsetid(d, 1) for d in domains]
        return helper.make_function(DOMAIN, name, inputs, outputs, self.nodes, imports, list(attributes))


def layer_norm(m, x, scale=None, bias=None, epsilon=1e-5, into="y"):
    epsilon = epsilon if isinstance(epsilon, str) else m.constant(np.float32(epsilon))
    d = m.op("Sub", x, m.reduce_mean(x, [-1]))
    y = [("Div", (d, m.op("Sqrt", m.op("Add", m.reduce_mean(m.op("Mul", d, d), [-1]), epsilon))))]
    y += [("Mul", (scale,))] * bool(scale) + [("Add", (bias,))] * bool(bias)
    return chain(m, y, into)


def rms_norm(m, x, scale=None, bias=None, epsilon=1e-5, into="y"):
    epsilon = epsilon if isinstance(epsilon, str) else m.constant(np.float32(epsilon))
    return chain(m, [("Div", (x, m.op("Sqrt", m.op("Add", m.reduce_mean(m.op("Mul", x, x), [-1]), epsilon))))] + [("Mul", (scale,))] * bool(scale), into)


def chain(m, steps, into):
    value = None
    for i, (operator, operands) in enumerate(steps):
        operands = (value, *operands) if value else operands
        value = m.op(operator, *operands, into=into if i == len(steps) - 1 else None)
    return value


NORMS = {"layer": layer_norm, "rms": rms_norm}


def norm_function(norm, opset, name="norm", **more):
    body = Body(opset)
    NORMS[norm](body, "x", "scale", "bias", **more)
    return body.function(name, ["x", "scale", "bias"], ["y"])


def calls(shapes, opset, dtypes=(FLOAT,), name="norm"):
    """A model that calls a function once for each shape and element type."""
    m = Body(opset)
    for i, shape in enumerate(shapes):
        dtype = dtypes[i % len(dtypes)]
        x = m.input(f"x{i}", dtype, shape)
        rows = [m.constant(np.linspace(a, b, shape[-1]).astype(dtype), "initializer") for a, b in ((0.5, 2), (-1, 1))]
        m.output(m.call(name, x, *rows, into=f"out{i}"), dtype, shape)
    return m


def with_functions(m, *functions):
    model = m.proto()
    if DOMAIN not in [o.domain for o in model.opset_import]:
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    model.functions.extend(functions)
    return model


def feeds_of(model, seed=1):
    random = np.random.default_rng(seed)
    feeds = {}
    for i in model.graph.input:
        dtype = helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        shape = [d.dim_value or 3 for d in i.type.tensor_type.shape.dim]
        feeds[i.name] = random.standard_normal(shape).astype(dtype) if dtype.kind == "f" else np.ones(shape, dtype)
    return feeds


def inside(model, name):
    """The operators of a function, those of bodies inside among them."""
    return [n for f in model.functions if f.name == name and f.domain == DOMAIN for n in judge.walk(f)]


def as_function(model):
    """The model as one call of a function that has all of its graph inside, constants as nodes."""
    graph = model.graph
    given = {t.name for t in graph.initializer} & {i.name for i in graph.input} if model.ir_version >= 4 else set()
    fixed = [t for t in graph.initializer if t.name not in given]
    inputs = [i for i in graph.input if i.name not in {t.name for t in fixed}]
    nodes = [helper.make_node("Constant", [], [t.name], value=t) for t in fixed] + list(graph.node)
    imports = [helper.make_opsetid(o.domain.removeprefix("ai.onnx"), o.version) for o in model.opset_import]
    names = [i.name for i in inputs], [o.name for o in graph.output]
    call = helper.make_graph([helper.make_node("norm", *names, domain=DOMAIN)], "g", inputs, graph.output, [t for t in graph.initializer if t.name in given])
    made = helper.make_model(call, opset_imports=[*imports, helper.make_opsetid(DOMAIN, 1)], ir_version=max(8, model.ir_version))
    made.functions.extend([*model.functions, helper.make_function(DOMAIN, "norm", *names, nodes, imports)])
    return made


def norms_inside(model, name="norm"):
    return [judge.norm_kind(n) for n in inside(model, name) if judge.norm_kind(n)]


class InsideTest(unittest.TestCase):
    def assert_same(self, before, after, target="onnx"):
        """It computes the same, is valid, and a second run finds nothing to do."""
        if target == "onnx":
            check(after.model)
        self.assertEqual(judge.interface(after.model), judge.interface(before))
        feeds = feeds_of(before)
        wanted = judge.execute(before, feeds)
        for level in judge.LEVELS.values():
            found = judge.execute(after.model, feeds, level)
            for name in wanted:
                self.assertIsNone(judge.difference(wanted[name], found[name]), name)
        self.assertEqual(judge.optimize(after.bytes, target).bytes, after.bytes, "a second run changes something")
        self.assertEqual(after.miscounted(), [])

    def assert_untouched(self, model, condition=None):
        for target in judge.TARGETS:
            with self.subTest(target=target):
                result = judge.optimize(model, target)
                self.assertEqual(result.bytes, model.SerializeToString())
                if condition:
                    self.assertIn(condition, [r["condition"] for r in result.refusals()], result.refusals())
                    self.assertTrue(all(f" in function {DOMAIN}::" in r["node"] for r in result.refusals()))

    def each(self, opsets=OPSETS):
        for opset in opsets:
            for norm in NORMS:
                for target in judge.TARGETS:
                    with self.subTest(opset=opset, norm=norm, target=target):
                        yield opset, norm, target

    def test_called_once(self):
        for opset, norm, target in self.each():
            model = with_functions(calls([(2, 3, 8)], opset), norm_function(norm, opset))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assertEqual([n.op_type for n in result.model.graph.node], ["norm"])
            self.assert_same(model, result, target)

    def test_called_with_several_shapes(self):
        for opset, norm, target in self.each():
            model = with_functions(calls([(2, 3, 8), (5, 1, 8), ("batch", 4, 8), (1, 2, 8)], opset), norm_function(norm, opset))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assert_same(model, result, target)

    def test_called_with_rows_of_several_lengths(self):
        # Nobody knows the length inside, but that scale, bias and rows of x have the same.
        for opset, norm, target in self.each():
            model = with_functions(calls([(2, 3, 8), (5, 1, 12)], opset), norm_function(norm, opset))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assert_same(model, result, target)

    def test_a_scale_that_one_call_broadcasts(self):
        for opset, norm, target in self.each():
            m = calls([(2, 3, 8), (2, 3, 1)], opset)
            m.nodes[1].input[1:] = m.nodes[0].input[1:]
            m.outputs[1].CopyFrom(helper.make_tensor_value_info("out1", 1, (2, 3, 8)))
            model = with_functions(m, norm_function(norm, opset))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assertIn(["scale"], [n.input[1:] for n in inside(result.model, "norm") if n.op_type == "Mul"])  # is none of a norm
            self.assert_same(model, result, target)

    def test_ranks_that_differ(self):
        for norm in NORMS:
            model = with_functions(calls([(2, 3, 8), (5, 8)], 17), norm_function(norm, 17))
            self.assert_untouched(model)

    def test_element_types_that_differ(self):
        for norm in NORMS:
            body = Body(17)
            NORMS[norm](body, "x", "scale", "bias", epsilon=body.op("CastLike", body.constant(np.float32(1e-3)), "x"))
            model = with_functions(calls([(2, 3, 8), (4, 3, 8)], 17, (FLOAT, HALF)), body.function("norm", ["x", "scale", "bias"], ["y"]))
            self.assert_untouched(model)
            # Of one type the same function has a norm.
            model = with_functions(calls([(2, 3, 8), (4, 3, 8)], 17, (HALF,)), model.functions[0])
            result = judge.optimize(model)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assert_same(model, result)

    def test_element_types_that_are_cast_inside(self):
        for norm in NORMS:
            body = Body(17)
            wide = [body.cast(v, FLOAT) for v in ("x", "scale", "bias")]
            body.op("CastLike", NORMS[norm](body, *wide, into="wide"), "x", into="y")
            model = with_functions(calls([(2, 3, 8), (4, 3, 8)], 17, (FLOAT, HALF)), body.function("norm", ["x", "scale", "bias"], ["y"]))
            for target in judge.TARGETS:
                result = judge.optimize(model, target)
                self.assertEqual(norms_inside(result.model), [norm], result.refusals())
                self.assert_same(model, result, target)

    def test_a_function_that_a_function_calls(self):
        for opset, norm, target in self.each():
            block = Body(opset)
            block.op("Add", "x", block.call("norm", block.call("norm", "x", "scale", "bias"), "scale", "bias"), into="y")
            block = block.function("block", ["x", "scale", "bias"], ["y"], domains=[DOMAIN])
            for functions in ([norm_function(norm, opset), block], [block, norm_function(norm, opset)]):
                model = with_functions(calls([(2, 3, 8)], opset, name="block"), *functions)
                # What a call computes is not known, so that of the inner call only the operands are.
                body = next(f for f in model.functions if f.name == "block")
                body.node[1].input[0] = "x"
                result = judge.optimize(model, target)
                self.assertEqual(norms_inside(result.model), [norm], result.refusals())
                self.assertIn(body, result.model.functions)
                self.assert_same(model, result, target)

    def test_a_result_of_a_call_is_not_known(self):
        block = Body(17)
        block.call("norm", block.call("norm", "x", "scale", "bias"), "scale", "bias", into="y")
        self.assert_untouched(with_functions(calls([(2, 3, 8)], 17, name="block"), norm_function("layer", 17),
                                             block.function("block", ["x", "scale", "bias"], ["y"], domains=[DOMAIN])))

    def test_a_function_that_a_branch_calls(self):
        for opset, norm, target in self.each():
            m = calls([(2, 3, 8)], opset)
            branches = {}
            for name, rows in (("then_branch", m.nodes[0].input[1:]), ("else_branch", reversed(m.nodes[0].input[1:]))):
                branch = m.body()
                branch.output(branch.op("norm", "x0", *rows, domain=DOMAIN), FLOAT, (2, 3, 8))
                branches[name] = branch.graph()
            del m.nodes[:], m.outputs[:]
            m.output(m.op("If", m.input("flag", bool, ()), **branches, into="out0"), FLOAT, (2, 3, 8))
            model = with_functions(m, norm_function(norm, opset))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assert_same(model, result, target)

    def test_a_norm_in_a_branch_in_a_function(self):
        for opset, norm, target in self.each():
            body = Body(opset)
            branches = {}
            for name in ("then_branch", "else_branch"):
                branch = Body(opset, outer=body)
                y = NORMS[norm](branch, "x", "scale", "bias", into=name) if name == "then_branch" else branch.op("Abs", "x", into=name)
                branch.output(y, FLOAT, None)
                branches[name] = branch.graph()
            body.op("If", body.op("Greater", body.op("Size", "x"), body.constant(np.int64(7))), **branches, into="y")
            model = with_functions(calls([(2, 3, 8), (1, 1, 8)], opset), body.function("norm", ["x", "scale", "bias"], ["y"]))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assert_same(model, result, target)

    def test_new_constants_are_nodes(self):
        for opset, norm, target in self.each():
            body = Body(opset)
            NORMS[norm](body, "x")
            m = Body(opset)
            for i in range(2):
                m.output(m.call("norm", m.input(f"x{i}", FLOAT, (2 + i, 8)), into=f"out{i}"), FLOAT, (2 + i, 8))
            model = with_functions(m, body.function("norm", ["x"], ["y"]))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assertEqual([n.op_type for n in inside(result.model, "norm")][0], "Constant")
            self.assertEqual(len(result.model.graph.initializer), 0)
            self.assert_same(model, result, target)

    def test_constants_of_the_caller_are_none_inside(self):
        for norm in NORMS:
            body = Body(17)
            NORMS[norm](body, "x", "scale", epsilon="epsilon")
            m = Body(17)
            for i, epsilon in enumerate((1e-5, 0.5)):
                x = m.input(f"x{i}", FLOAT, (2, 8))
                scale, epsilon = m.constant(np.ones(8, np.float32), "initializer"), m.constant(np.float32(epsilon), "initializer")
                m.output(m.call("norm", x, scale, epsilon, into=f"out{i}"), FLOAT, (2, 8))
            self.assert_untouched(with_functions(m, body.function("norm", ["x", "scale", "epsilon"], ["y"])), "epsilon is a constant with one element")

    def test_an_epsilon_that_each_call_states(self):
        for norm in NORMS:
            body = Body(17)
            epsilon = body.op("Constant", into="epsilon")
            body.nodes[-1].attribute.add(name="value_float", ref_attr_name="eps", type=onnx.AttributeProto.FLOAT)
            NORMS[norm](body, "x", "scale", "bias", epsilon=epsilon)
            for count in (1, 2):
                m = calls([(2, 3, 8)] * count, 17)
                for node, value in zip(m.nodes, (0.5, 1e-5)):
                    node.attribute.append(helper.make_attribute("eps", value))
                model = with_functions(m, body.function("norm", ["x", "scale", "bias"], ["y"], ["eps"]))
                self.assert_untouched(model, "epsilon is a constant with one element")

    def test_axes_that_each_call_states(self):
        function = norm_function("layer", 17)
        for node in function.node:
            for a in node.attribute:
                if a.name == "axes":
                    a.CopyFrom(onnx.AttributeProto(name="axes", ref_attr_name="over", type=onnx.AttributeProto.INTS))
        function.attribute.append("over")
        m = calls([(8, 8), (8, 8)], 17)
        for node, axis in zip(m.nodes, (-1, 0)):
            node.attribute.append(helper.make_attribute("over", [axis]))
        self.assert_untouched(with_functions(m, function))

    def test_another_operator_set(self):
        # The checker takes it: the operators are the same in both. LayerNormalization is not.
        for versions in ((16, 17), (17, 16)):
            function = norm_function("layer", versions[1])
            model = with_functions(calls([(2, 3, 8)], versions[0]), function)
            onnx.checker.check_model(model)
            self.assert_untouched(model)
            notes = judge.optimize(model).report["notes"]
            self.assertTrue(any(f"{DOMAIN}::norm" in note for note in notes), notes)

    def test_names_are_a_scope_of_their_own(self):
        for opset, norm, target in self.each():
            m = Body(opset)
            scale, bias = (m.constant(np.linspace(a, 2, 8, dtype=np.float32), "initializer", stem) for a, stem in ((1, "scale"), (-1, "bias")))
            x = m.input("x", FLOAT, (2, 3, 8))
            y = NORMS[norm](m, x, scale, bias, into="y")  # the very names of the functions' values and nodes
            m.output(m.call("other", m.call("norm", y, scale, bias, into="t"), scale, bias, into="out"), FLOAT, (2, 3, 8))
            model = with_functions(m, norm_function(norm, opset), norm_function(norm, opset, name="other", epsilon=0.25))
            m.outputs.append(helper.make_tensor_value_info("t", 1, (2, 3, 8)))
            del model.graph.output[:]
            model.graph.output.extend(m.outputs)
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model) + norms_inside(result.model, "other") + list(judge.norms(result.model)), [norm] * 3, result.refusals())
            self.assert_same(model, result, target)

    def test_a_body_that_nobody_calls(self):
        for norm in NORMS:
            m = Body(17)
            m.output(m.op("Abs", m.input("x", FLOAT, (2, 8))), FLOAT, (2, 8))
            self.assert_untouched(with_functions(m, norm_function(norm, 17)))

    def test_inputs_that_some_calls_leave_out(self):
        for opset, norm, target in self.each():
            body = Body(opset)
            body.op("Clip", NORMS[norm](body, "x", "scale", into="normed"), "low", "high", into="y")
            m = Body(opset)
            for i in range(3):
                x, scale = m.input(f"x{i}", FLOAT, (2, 3, 8)), m.constant(np.linspace(1, 2, 8, dtype=np.float32), "initializer")
                low, high = (m.constant(np.float32(v), "initializer") for v in (-0.5, 0.5))
                m.output(m.call("norm", x, scale, *((low, high), ("", high), (low,))[i], into=f"out{i}"), FLOAT, (2, 3, 8))
            model = with_functions(m, body.function("norm", ["x", "scale", "low", "high"], ["y"]))
            result = judge.optimize(model, target)
            self.assertEqual(norms_inside(result.model), [norm], result.refusals())
            self.assert_same(model, result, target)

    def test_a_scale_that_some_calls_leave_out(self):
        # Such a call computes nothing; but nobody knows the scale then, so that no norm may take it.
        m = calls([(2, 3, 8), (2, 3, 8)], 17)
        m.nodes[1].input[1] = ""
        result = judge.optimize(with_functions(m, norm_function("layer", 17)))
        self.assertIn(["scale"], [n.input[1:] for n in inside(result.model, "norm") if n.op_type == "Mul"])

    def test_several_norms_of_all_kinds(self):
        for opset in OPSETS:
            for target in judge.TARGETS:
                body = Body(opset)
                a = layer_norm(body, "x", "scale", "bias", into="a")
                b = rms_norm(body, body.op("Add", a, "x"), "scale", into="b")
                body.op("Add", layer_norm(body, b, "bias", "scale", epsilon=1e-3, into="c"), a, into="y")
                model = with_functions(calls([(2, 3, 8), (1, 3, 8)], opset), body.function("norm", ["x", "scale", "bias"], ["y", "b"]))
                for node in model.graph.node:
                    node.output.append("")
                result = judge.optimize(model, target)
                self.assertEqual(norms_inside(result.model), ["layer", "rms", "layer"], result.refusals())
                self.assert_same(model, result, target)

    def test_functions_of_fuse_stay_and_go(self):
        # At operator set 13 the body calls functions of fuse, which stay what they are; they go with their last call.
        model = with_functions(calls([(2, 3, 8)], 13), norm_function("layer", 13))
        result = judge.optimize(model)
        own = [f for f in result.model.functions if f.domain == "fuse"]
        self.assertEqual(len(own), 1)
        self.assertNotIn("fuse", [n.domain for n in own[0].node])
        again = judge.optimize(result.bytes, "onnxruntime")
        self.assertEqual(again.bytes, result.bytes)  # onnxruntime has no such operator inside of functions

    def test_what_is_not_touched_stays(self):
        model = with_functions(calls([(2, 3, 8)], 17), norm_function("layer", 17), norm_function("rms", 17, name="unused"))
        model.functions[0].doc_string = "a norm"
        model.functions[0].node.append(helper.make_node("Abs", ["x"], ["also"], "kept", doc_string="stays"))
        model.functions[0].output.append("also")
        model.graph.node[0].output.append("")
        result = judge.optimize(model)
        self.assertEqual(result.model.functions[1], model.functions[1])
        self.assertEqual(result.model.graph, model.graph)
        left = result.model.functions[0]
        self.assertEqual((left.doc_string, list(left.input), list(left.output)), ("a norm", ["x", "scale", "bias"], ["y", "also"]))
        self.assertEqual(left.node[-1], model.functions[0].node[-1])
        self.assertEqual(left.node[0].output, ["y"])
        self.assert_same(model, result)

    def test_explain_names_the_function(self):
        model = with_functions(calls([(2, 3, 8)], 17), norm_function("layer", 17))
        path = judge.scratch("function.onnx")
        path.write_bytes(model.SerializeToString())
        self.assertIn(f"applies at n_y in function {DOMAIN}::norm", judge.run("explain", path).out)
        for name in ("n_y", f"n_y in function {DOMAIN}::norm", "y"):
            self.assertIn("layer-norm: applies here", judge.run("explain", path, "--node", name).out)


class WholeGraphTest(unittest.TestCase):
    """What is found in a graph is found in a function that holds the same, and no more."""

    def compare(self, model, feeds, targets=judge.TARGETS):
        inside = as_function(model)
        try:
            judge.execute(inside, feeds)
        except Exception:  # some types and old operator sets onnxruntime does not take in functions
            return False
        for target in targets:
            graph, function = judge.optimize(model, target), judge.optimize(inside, target)
            self.assertEqual(dict(collections.Counter(norms_inside(function.model))), dict(judge.norms(graph.model)), function.refusals())
            self.assertEqual(judge.optimize(function.bytes, target).bytes, function.bytes)
            found, wanted = judge.execute(function.model, feeds), judge.execute(graph.model, feeds)
            if target == "onnx":  # the very same operators
                for name in wanted:
                    np.testing.assert_array_equal(found[name], wanted[name])
        return True

    def test_lookalikes(self):
        compared = 0
        tried = judge.sampled(LOOKALIKES.items())
        for name, lookalike in tried:
            with self.subTest(name):
                case = lookalike.build()
                compared += self.compare(case.proto(), case.feeds)
        self.assertGreater(compared, len(tried) * 0.9)

    def test_spellings(self):
        compared = 0
        for seed in range(COUNT):
            with self.subTest(seed=seed):
                spelling = spellings.Spelling(seed)
                # Below 9 a Constant holds no shape, so that rows which must be expanded are not made.
                if max(o.version for o in spelling.model.opset_import if o.domain in ("", "ai.onnx")) >= 9:
                    compared += self.compare(spelling.model, spelling.feeds(), judge.TARGETS[seed % 2:][:1])
        self.assertGreater(compared, COUNT // 2)


if __name__ == "__main__":
    unittest.main()
