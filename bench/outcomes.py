# SPDX-License-Identifier: BSL-1.0
"""What became of a model: its operators, in the file and as onnxruntime runs it, and whether it computes the same. In a process of its own,
which a broken model may crash.

    outcomes.py ORIGINAL.onnx RESULT.onnx

prints JSON. A result is computed with onnxruntime's optimisations off and at its default level, on the inputs of the original and on twice
as many batches, where the original can be run on these; expected is what the original gives with optimisations off. An error is the largest
absolute difference in an output divided by the range of its values; it is wrong beyond the tolerance of its type in
scripts/compare_outputs.py, where "excess" is above 1.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import onnx
import onnxruntime

import model_inputs
from model_inputs import compare_outputs

# Of the standard's operators those that stand for several others.
FUSED = {"LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization", "GroupNormalization", "InstanceNormalization", "Gelu",
         "Swish", "Mish", "HardSwish", "Attention", "RotaryEmbedding"}


def walk(nodes):
    """Nodes and those of all bodies below them."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for body in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                yield from walk(body.node)


def operators(model):
    """All nodes of a model, functions' bodies included; constants are none."""
    for nodes in [model.graph.node, *(function.node for function in model.functions)]:
        yield from (node for node in walk(nodes) if node.op_type != "Constant")


def fused_name(node):
    """What a node is counted as if it is a fused operator, else None.

    Such are: of the standard, the operators of FUSED; of com.microsoft all, which has what the standard lacks; calls of functions of the
    domain fuse, which stand for operators; of the layout of blocks, com.microsoft.nchwc, convolutions that also add or apply an activation.
    """
    if node.domain in ("", "ai.onnx"):
        return node.op_type if node.op_type in FUSED else None
    if node.domain == "com.microsoft":
        return node.op_type
    if node.domain == "fuse":
        return f"fuse::{node.op_type.split('_')[0]}"
    if node.domain == "com.microsoft.nchwc" and node.op_type == "Conv":
        more = "Add" * (len(node.input) > 3) + "".join(a.s.decode() for a in node.attribute if a.name == "activation")
        return f"Conv{more}" if more else None
    return None


def counted(path):
    model = onnx.load(path, load_external_data=False)
    nodes = list(operators(model))
    return {"nodes": len(nodes), "fused": dict(collections.Counter(filter(None, map(fused_name, nodes))).most_common())}


def session(path, level, written=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = compare_outputs.LEVELS[level]
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if written:
        options.optimized_model_filepath = str(written)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(opened, feeds):
    names = [output.name for output in opened.get_outputs()]
    return dict(zip(names, opened.run(names, feeds)))


def outcome(original, result):
    found = {"file": counted(result), "bytes": result.stat().st_size}
    expected, inputs, opened = [], [], session(original, "off")
    for number, feeds in enumerate(model_inputs.inputs_of(original)):
        try:
            expected.append(run(opened, feeds))
            inputs.append(feeds)
        except Exception:  # onnxruntime's errors have no common class
            if number == 0:
                raise
    found["batches"] = len(inputs)
    del opened
    for level in compare_outputs.LEVELS:
        told = found[level] = {}
        try:
            begun = time.process_time()
            opened = session(result, level)
            told["session seconds"] = time.process_time() - begun
            compared = [compare_outputs.compare(wanted, run(opened, feeds)) for wanted, feeds in zip(expected, inputs)]
            told["excess"], told["error"] = (list(values) for values in zip(*compared))
        except ValueError as problem:  # another shape, another type
            told["wrong"] = str(problem)
        except Exception as problem:
            told["fails"] = str(problem)[:2000]
    if "fails" not in found["default"]:
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / "as_run.onnx"
            session(result, "default", written)
            found["run"] = counted(written)
    return found


def told(original, result, limit):
    """The outcome, or {"failed": a word}."""
    try:
        done = subprocess.run([sys.executable, __file__, str(original), str(result)], capture_output=True, timeout=limit, check=False,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
    except subprocess.TimeoutExpired:
        return {"failed": "hangs"}
    if done.returncode != 0:
        return {"failed": "crashes onnxruntime" if done.returncode < 0 else "fails", "message": done.stderr.decode(errors="replace")[-2000:]}
    return json.loads(done.stdout.decode().splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(outcome(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))))
