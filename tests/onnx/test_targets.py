# SPDX-License-Identifier: BSL-1.0
"""What each target gets at each opset: operators, functions and their bodies, subgraphs, rules chosen by name."""

import unittest

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

import judge
from build import DOUBLE, FLOAT, HALF, Model, check

H = 7
BODY = {"layer": ["ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul", "Add"],
        "rms": ["Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul"]}


def row(m, dtype, seed=0):
    return m.constant(np.random.default_rng(seed).uniform(0.5, 2, H).astype(dtype))


def norm(m, x, kind, dtype=FLOAT, epsilon=1e-5, scale=True, bias=True):
    d = m.op("Sub", x, m.reduce_mean(x, [-1])) if kind == "layer" else x
    variance = m.reduce_mean(m.op("Mul", d, d), [-1])
    root = m.op("Sqrt", m.op("Add", m.constant(np.asarray(epsilon, dtype)), variance))
    y = m.op("Mul", d, m.op("Reciprocal", root))
    y = m.op("Mul", row(m, dtype), y) if scale else y
    return m.op("Add", row(m, dtype, 1), y) if bias and kind == "layer" else y


def chain(opset, kinds, ir=8, dtype=FLOAT, **options):
    """One norm after another, a Relu between them."""
    m = Model(opset, ir)
    value = m.input("x", dtype, ("batch", 3, H))
    for kind in kinds:
        value = m.op("Relu", norm(m, value, kind, dtype, **options))
    m.output(value, dtype, ("batch", 3, H))
    return m.proto()


def feeds(dtype=FLOAT):
    return {"x": np.random.default_rng(3).normal(size=(2, 3, H)).astype(dtype)}


class TargetTest(unittest.TestCase):
    def judged(self, model, target, wanted, dtype=FLOAT, options=()):
        result = judge.optimize(model, target, *options)
        self.assertEqual(dict(judge.norms(result.model)), wanted, result.refusals())
        self.assertEqual(list(judge.foreign_norms(result.model, target)), [])
        self.assertEqual(judge.interface(result.model), judge.interface(model))
        if target == "onnx":
            check(result.model)
        self.assertEqual(list(judge.Original(model, feeds(dtype), exact=False).differences(result.model)), [])
        return result

    def test_each_opset(self):
        for opset in range(9, 25):
            for target in judge.TARGETS:
                for dtype in (FLOAT, HALF, DOUBLE):
                    for ir in (8, 3) if opset == 9 else (8,):
                        with self.subTest(opset=opset, target=target, dtype=dtype.name, ir=ir):
                            model = chain(opset, ["layer", "rms"], ir, dtype)
                            result = self.judged(model, target, {"layer": 1, "rms": 1}, dtype)
                            native = {n.op_type for n in result.model.graph.node if n.domain == ""}
                            calls = [n for n in result.model.graph.node if n.domain == "fuse"]
                            self.assertEqual("LayerNormalization" in native, target == "onnxruntime" or opset >= 17)
                            self.assertEqual(bool(calls), target == "onnx" and opset < 23)
                            if calls:
                                self.assertGreaterEqual(result.model.ir_version, 8)
                            else:
                                self.assertEqual(result.model.ir_version, ir)

    def test_a_raised_ir_version_drops_the_initializers_among_the_inputs(self):
        model = chain(9, ["layer"], 3)
        self.assertGreater(len(model.graph.input), 1)
        result = self.judged(model, "onnx", {"layer": 1})
        self.assertEqual([i.name for i in result.model.graph.input], ["x"])

    def test_function_bodies(self):
        """onnx.md's form: onnxruntime inlines it and makes one kernel of it again."""
        for opset in (9, 11, 12, 14, 16):
            for kind in ("layer", "rms"):
                with self.subTest(opset=opset, kind=kind):
                    model = chain(opset, [kind])
                    result = self.judged(model, "onnx", {kind: 1})
                    (function,) = result.model.functions
                    self.assertEqual(function.domain, "fuse")
                    self.assertTrue(function.name.startswith("LayerNormalization" if kind == "layer" else "RMSNormalization"))
                    self.assertEqual([(o.domain, o.version) for o in function.opset_import], [("", opset)])
                    body = [n.op_type for n in function.node if n.op_type not in ("Constant", "Cast")]
                    if kind == "layer":
                        self.assertEqual(body, BODY[kind])
                        add = next(n for n in function.node if n.op_type == "Add")
                        second_mean = [n for n in function.node if n.op_type == "ReduceMean"][1]
                        self.assertEqual(add.input[0], second_mean.output[0], "variance + epsilon, in this order")
                    (call,) = [n for n in result.model.graph.node if n.domain == "fuse"]
                    self.assertEqual(len(call.output), len(function.output))
                    self.assertEqual(len(call.input), len(function.input))
                    self.assertTrue(all(call.input))
                    optimised = judge.scratch("optimised.onnx")
                    options = ort.SessionOptions()
                    options.optimized_model_filepath = str(optimised)
                    options.log_severity_level = 4
                    ort.InferenceSession(result.bytes, options, providers=["CPUExecutionProvider"])
                    kernels = [n.op_type for n in onnx.load(optimised).graph.node]
                    self.assertEqual([k for k in kernels if k in ("LayerNormalization", "SimplifiedLayerNormalization")],
                                     ["LayerNormalization" if kind == "layer" else "SimplifiedLayerNormalization"], kernels)

    def test_functions_are_shared(self):
        for opset in (11, 14):
            with self.subTest(opset=opset):
                result = self.judged(chain(opset, ["layer", "rms"] * 3), "onnx", {"layer": 3, "rms": 3})
                self.assertEqual(len(result.model.functions), 2)

    def test_what_enlarges_a_norm_is_not_its_scale(self):
        """onnxruntime's own fusions take it for one, and fail, where rows have one element or x has one axis."""
        for kind in ("layer", "rms"):
            for shape, scale, larger in (((4, 1), False, (H,)), ((H,), False, (4, H)), ((H,), True, (4, H))):
                for step in ("Mul", "Add"):
                    with self.subTest(kind, shape=shape, scale=scale, step=step):
                        m = Model(12)
                        y = norm(m, m.input("x", FLOAT, shape), kind, scale=scale, bias=False)
                        m.output(m.op(step, y, m.constant(np.full(larger, 2, FLOAT))), FLOAT, np.broadcast_shapes(shape, larger))
                        result = judge.optimize(m.proto(), "onnx")
                        self.assertEqual(dict(judge.norms(result.model)), {kind: 1})
                        x = {"x": np.random.default_rng(3).normal(size=shape).astype(FLOAT)}
                        self.assertEqual(list(judge.Original(m.proto(), x, exact=False).differences(result.model)), [])

    def test_two_epsilons(self):
        for opset in (11, 14):
            with self.subTest(opset=opset):
                m = Model(opset)
                x = m.input("x", FLOAT, ("batch", 3, H))
                m.output(norm(m, norm(m, x, "layer", epsilon=0.5), "layer", epsilon=1e-5), FLOAT, ("batch", 3, H))
                result = self.judged(m.proto(), "onnx", {"layer": 2})
                self.assertEqual(len(result.model.functions), 1 if opset >= 12 else 2)

    def test_combinations_are_functions_of_their_own(self):
        m = Model(14)
        value = m.input("x", FLOAT, ("batch", 3, H))
        for scale, bias in ((True, True), (True, False), (False, False), (True, True)):
            value = m.op("Relu", norm(m, value, "layer", scale=scale, bias=bias))
        m.output(value, FLOAT, ("batch", 3, H))
        result = self.judged(m.proto(), "onnx", {"layer": 4})
        names = [f.name for f in result.model.functions]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(len(names), 3)

    def test_a_second_run_reuses_functions(self):
        once = judge.optimize(chain(14, ["layer", "rms"])).model
        m = Model(14)
        m.nodes, m._count = [], {}
        m.name = lambda stem, plain=m.name: "later_" + plain(stem)
        y = norm(m, norm(m, once.graph.output[0].name, "layer"), "rms")
        later = onnx.ModelProto()
        later.CopyFrom(once)
        later.graph.node.extend(m.nodes)
        later.graph.initializer.extend(m.initializers)
        later.graph.output.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, ("batch", 3, H)))
        result = self.judged(later, "onnx", {"layer": 2, "rms": 2})
        self.assertEqual([f.SerializeToString() for f in result.model.functions], [f.SerializeToString() for f in once.functions])

    def test_calls_become_operators(self):
        for opset in (11, 14, 17, 20):
            for dtype in (FLOAT, HALF):
                with self.subTest(opset=opset, dtype=dtype.name):
                    once = judge.optimize(chain(opset, ["layer", "rms"], dtype=dtype)).model
                    result = self.judged(once, "onnxruntime", {"layer": 1, "rms": 1}, dtype)
                    self.assertEqual({n.op_type for n in result.model.graph.node if judge.norm_kind(n)},
                                     {"LayerNormalization", "SimplifiedLayerNormalization"})
                    self.assertEqual([f.name for f in result.model.functions if f.domain == "fuse"], [])

    def test_a_function_of_that_name_which_is_something_else(self):
        """A user's own function of the same domain and name is not called by mistake."""
        fused = judge.optimize(chain(14, ["layer"])).model
        theirs = fused.functions[0]
        model = chain(14, ["layer"])
        model.functions.append(theirs)
        del model.functions[0].node[-1].attribute[:]
        model.functions[0].node[-1].op_type = "Sub"
        model.opset_import.append(helper.make_opsetid("fuse", 1))
        self.judged(model, "onnx", {"layer": 1})

    def test_bodies_are_rewritten(self):
        for target in judge.TARGETS:
            for opset in (14, 18, 23):
                for kind in ("layer", "rms"):
                    with self.subTest(target=target, opset=opset, kind=kind):
                        self.judged(self.if_model(opset, kind), target, {kind: 3})
                        self.judged(self.loop_model(opset, kind), target, {kind: 1})

    def if_model(self, opset, kind):
        """One norm outside, one in each branch, of a captured value."""
        m = Model(opset)
        x = m.input("x", FLOAT, ("batch", 3, H))
        y = norm(m, x, kind)
        then, other = m.body(), m.body()
        then.output(norm(then, y, kind), FLOAT, ("batch", 3, H))
        other.output(norm(other, x, kind), FLOAT, ("batch", 3, H))
        m.op("If", m.constant(np.array(False)), then_branch=then.graph("then"), else_branch=other.graph("else"), into="chosen")
        m.output("chosen", FLOAT, ("batch", 3, H))
        return m.proto()

    def loop_model(self, opset, kind):
        """A norm of the carried value, its scale captured from outside."""
        m = Model(opset)
        x, scale = m.input("x", FLOAT, ("batch", 3, H)), row(m, FLOAT)
        body = m.body()
        body.input("turn", "int64", ())
        body.input("go_in", "bool", ())
        body.input("carried", FLOAT, ("batch", 3, H))
        body.output(body.op("Identity", "go_in"), "bool", ())
        body.output(body.op("Mul", norm(body, "carried", kind, scale=False, bias=False), scale), FLOAT, ("batch", 3, H))
        m.op("Loop", m.constant(np.int64(3)), m.constant(np.array(True)), x, body=body.graph("body"), into="last")
        m.output("last", FLOAT, ("batch", 3, H))
        return m.proto()

    def scan_model(self, opset, kind, outside):
        """A norm of each slice; with `outside`, every constant it reads stands in the outer graph."""
        m = Model(opset)
        x = m.input("x", FLOAT, ("batch", 3, H))
        body = m.body()
        part = body.input("part", FLOAT, (3, H))
        if outside:
            body.constant, body.integers = m.constant, m.integers
        body.output(norm(body, part, kind), FLOAT, (3, H))
        m.op("Scan", x, num_scan_inputs=1, body=body.graph("body"), into="all")
        m.output("all", FLOAT, ("batch", 3, H))
        return m.proto()

    def test_constants_of_the_outer_graph(self):
        for target in judge.TARGETS:
            for opset in (14, 18, 23):
                for kind in ("layer", "rms"):
                    for outside in (False, True):
                        with self.subTest(target=target, opset=opset, kind=kind, outside=outside):
                            self.judged(self.scan_model(opset, kind, outside), target, {kind: 1})

    def test_a_body_that_hides_nothing(self):
        """A norm whose halves stand in different graphs: mean outside, the rest in a branch, x captured."""
        for target in judge.TARGETS:
            with self.subTest(target=target):
                m = Model(17)
                x = m.input("x", FLOAT, ("batch", 3, H))
                mean = m.reduce_mean(x, [-1])
                then, other = m.body(), m.body()
                d = then.op("Sub", x, mean)
                root = then.op("Sqrt", then.op("Add", then.reduce_mean(then.op("Mul", d, d), [-1]), then.constant(np.float32(0.1))))
                then.output(then.op("Mul", then.op("Div", d, root), row(then, FLOAT)), FLOAT, ("batch", 3, H))
                other.output(other.op("Sub", x, mean), FLOAT, ("batch", 3, H))
                m.op("If", m.constant(np.array(True)), then_branch=then.graph("then"), else_branch=other.graph("else"), into="chosen")
                m.output("chosen", FLOAT, ("batch", 3, H))
                result = judge.optimize(m.proto(), target)
                self.assertEqual(list(judge.Original(m.proto(), feeds(), exact=False).differences(result.model)), [])
                self.assertIn("ReduceMean", judge.primitives(result.model), "the other branch reads the mean")

    def test_a_scale_that_a_caller_may_override(self):
        """Such an initializer is no constant, but as good a scale as any; it stays what it is."""
        for target in judge.TARGETS:
            for opset in (14, 17, 23):
                for kind in ("layer", "rms"):
                    with self.subTest(target=target, opset=opset, kind=kind):
                        m = Model(opset)
                        x = m.input("x", FLOAT, ("batch", 3, H))
                        scale = m.input(row(m, FLOAT), FLOAT, (H,))
                        m.output(m.op("Mul", norm(m, x, kind, scale=False, bias=False), scale), FLOAT, ("batch", 3, H))
                        result = self.judged(m.proto(), target, {kind: 1})
                        self.assertNotIn("Mul", judge.primitives(result.model))
                        given = feeds() | {scale: np.linspace(3, 4, H, dtype=np.float32)}
                        self.assertEqual(list(judge.Original(m.proto(), given, exact=False).differences(result.model)), [])

    def test_statistics_become_results(self):
        """Live mean and inverse deviation of a float32 layer norm: results of the one operator."""
        for opset in (11, 14, 17, 23):
            for target in judge.TARGETS:
                with self.subTest(opset=opset, target=target):
                    m = Model(opset)
                    x = m.input("x", FLOAT, ("batch", 3, H))
                    mean = m.reduce_mean(x, [-1])
                    d = m.op("Sub", x, mean)
                    inverse = m.op("Reciprocal", m.op("Sqrt", m.op("Add", m.reduce_mean(m.op("Mul", d, d), [-1]), m.constant(np.float32(1e-5)))))
                    y = m.op("Add", m.op("Mul", m.op("Mul", d, inverse), row(m, FLOAT)), row(m, FLOAT, 1))
                    for value, last in ((y, H), (mean, 1), (inverse, 1)):
                        m.output(value, FLOAT, ("batch", 3, last))
                    result = self.judged(m.proto(), target, {"layer": 1})
                    self.assertEqual(set(judge.primitives(result.model)) - {"Constant"}, set())

    def test_the_same_two_rules_by_name(self):
        model = chain(17, ["layer", "rms"])
        for options, wanted in ((["--rule", "layer-norm"], {"layer": 1}), (["--except", "rms-norm"], {"layer": 1}),
                                (["--rule", "layer-norm", "--rule", "rms-norm"], {"layer": 1, "rms": 1})):
            with self.subTest(" ".join(options)):
                result = judge.optimize(model, "onnx", *options)
                self.assertEqual(dict(judge.norms(result.model)), wanted)
                self.assertEqual(list(judge.Original(model, feeds(), exact=False).differences(result.model)), [])

    def test_the_report(self):
        model = chain(17, ["layer", "rms", "layer"])
        result = judge.optimize(model, "onnxruntime")
        report = result.report
        self.assertEqual(report["schema"], "fuse-report-1")
        self.assertEqual(report["target"], "onnxruntime")
        self.assertEqual((result.applied("layer-norm"), result.applied("rms-norm")), (2, 1))
        self.assertEqual(report["nodes"]["before"], len(model.graph.node))
        self.assertEqual(report["nodes"]["after"], len(result.model.graph.node))
        self.assertEqual(report["bytes"], {"before": len(model.SerializeToString()), "after": len(result.bytes)})
        self.assertEqual(set(report["seconds"]), {"read", "shapes", "match", "rewrite", "write"})
        self.assertTrue(all(isinstance(s, float) and s >= 0 for s in report["seconds"].values()))
        self.assertEqual(result.miscounted(), [])
        again = judge.optimize(result.bytes, "onnxruntime")
        self.assertEqual(sum(rule["applied"] for rule in again.report["rules"]), 0)


if __name__ == "__main__":
    unittest.main()
