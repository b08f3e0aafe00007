# SPDX-License-Identifier: BSL-1.0
"""The judge itself: it accepts what an ideal rewriter would make of a spelling, and rejects each way of being wrong."""

import collections
import unittest
from unittest import mock

import numpy as np
from onnx import helper, numpy_helper

import judge
import spellings
from build import tensor_type

SEED, COUNT = 100, 400


def ideal(spelling, target, fault=None):
    """The fused model, written by someone who knows the formula; `fault` makes one mistake."""
    model = type(spelling.model)()
    model.CopyFrom(spelling.model)
    graph, shape = model.graph, spelling.norm_shape
    for kind, x, steps, epsilon, y in spelling.facts:
        position = next(k for k, n in enumerate(graph.node) if y in n.output)
        added, prefix = [], f"ideal_{y}_"

        def row(name, value):
            graph.initializer.append(numpy_helper.from_array(np.asarray(value), prefix + name))
            return prefix + name

        def chained(name, start, wanted):
            operand, used = row(name, start), False
            for k, (o, value) in enumerate(steps):
                if o in wanted:
                    added.append(helper.make_node(o, [operand, value], [f"{prefix}{name}_{k}"]))
                    operand, used = added[-1].output[0], True
            if used and spelling.norm_rank > len(shape):
                added.append(helper.make_node("Reshape", [operand, row(f"{name}_shape", np.array(shape, np.int64))], [f"{prefix}{name}_row"]))
                operand = added[-1].output[0]
            return operand, used

        scale, _ = chained("ones", np.ones(shape, spelling.type), ("Mul", "Div"))
        bias, shifted = chained("zeros", np.zeros(shape, spelling.type), ("Mul", "Div", "Add", "Sub"))
        shifted = shifted and any(o in ("Add", "Sub") for o, _ in steps)
        operator = "LayerNormalization" if kind == "layer" else "SimplifiedLayerNormalization"
        operands = [x, scale] + [bias] * shifted
        added.append(helper.make_node(operator, operands, [y], axis=-len(shape), epsilon={"epsilon": 0.25, "small epsilon": 3 * epsilon + 1e-11}.get(fault, epsilon)))
        graph.node[position].output[0] = f"{y}_old"
        nodes = list(graph.node)
        if fault == "leftover":
            added.append(helper.make_node("Sqrt", [y], [f"{prefix}left"]))
            graph.output.append(helper.make_tensor_value_info(f"{prefix}left", tensor_type(spelling.type), None))
        del graph.node[:]
        graph.node.extend(nodes[:position] + added + nodes[position + 1:])
    needed, kept = {o.name for o in graph.output}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.append(node)
            needed |= set(node.input)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    if fault == "opset":
        model.opset_import[0].version += 1
    return model


def judged(spelling, model, *rules):
    report = {"rules": rules}
    with mock.patch.object(judge, "optimize", lambda *_: judge.Result(model.SerializeToString(), report)):
        return spellings.verdict(spelling, "onnxruntime")


def candidates():
    for seed in range(SEED, SEED + COUNT):
        spelling = spellings.Spelling(seed, {"where": "the graph", "order of nodes": "as written"})
        if spelling.types in ("float", "double") and not spelling.flatten and not spelling.spreads and not spelling.symbolic:
            spelling.owners[spellings.PREPARED].update({"Mul": 4, "Div": 4, "Add": 4, "Sub": 4, "Reshape": 8})
            yield spelling


class JudgeTest(unittest.TestCase):
    def test_the_ideal_passes(self):
        tally = collections.Counter()
        for spelling in candidates():
            if spelling.draw.chosen["live"] == ["none"]:
                with self.subTest(seed=spelling.seed):
                    self.assertIsNone(judged(spelling, ideal(spelling, "onnxruntime")))
                    tally["passed"] += 1
        self.assertGreater(tally["passed"], 40)

    def test_mistakes_are_found(self):
        for fault, kind in (("epsilon", "result"), ("small epsilon", "result"), ("leftover", "leftover"), ("opset", "interface")):
            found = collections.Counter()
            for spelling in candidates():
                if spelling.draw.chosen["live"] == ["none"]:
                    found[(judged(spelling, ideal(spelling, "onnxruntime", fault)) or "passed").split(":")[0]] += 1
            with self.subTest(fault=fault):
                self.assertGreater(found[kind], 0.6 * sum(found.values()), found)

    def test_a_match_without_a_reason_is_found(self):
        near = {"node": "a", "condition": "the rank", "reason": ""}
        cost, other = dict(near, condition="cost"), dict(near, node="b", condition="order")
        spelling = next(candidates())
        for matched, refused, right in ((1, [], True), (2, [cost, other], False), (3, [cost, other], True), (2, [near], False), (2, [cost, cost, near], True)):
            with self.subTest(matched=matched, refused=refused):
                rule = {"name": "rule", "matched": matched, "applied": 1, "refused": refused}
                found = judged(spelling, ideal(spelling, "onnxruntime"), rule)
                self.assertEqual((found or "").startswith("report"), not right, found)

    def test_nothing_done_is_found(self):
        for spelling in candidates():
            with self.subTest(seed=spelling.seed):
                self.assertTrue(judged(spelling, spelling.model).startswith("count"))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
