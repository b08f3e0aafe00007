# SPDX-License-Identifier: BSL-1.0
"""fuse-onnx against onnxruntime's optimisers on the same models, in turns in one run; medians.

    python3 bench/against_onnxruntime.py FUSE_ONNX [--models FOLDER] [--nodes 12000 120000] [--rounds 3]

Needs numpy, onnx, onnxruntime, and sympy for its transformers optimiser. The time of onnxruntime's EXTENDED passes is that of
creating a session at that level, which writes its result, less that of loading this result with optimisations off. That of
fuse-onnx is shapes, matching and rewriting: their shares of the time of a process less that of one with a single block;
and the whole process. All times are processor time: other work on the machine counts little. Of the models in the folder, fuse-onnx
tells the time itself.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def blocks(nodes, width=64):
    """Blocks of 12 nodes: a layer norm (9), MatMul, Add, residual Add."""
    weights = {
        "two": numpy.array(2, numpy.float32),
        "epsilon": numpy.array(1e-5, numpy.float32),
        "scale": numpy.full(width, 1.5, numpy.float32),
        "bias": numpy.full(width, 0.5, numpy.float32),
        "weights": numpy.full((width, width), 0.01, numpy.float32),
    }
    made = []

    def add(op, *operands, **attributes):
        made.append(helper.make_node(op, operands, [f"v{len(made)}"], f"n{len(made)}", **attributes))
        return made[-1].output[0]

    x = "x"
    for _ in range(nodes // 12):
        centred = add("Sub", x, add("ReduceMean", x, axes=[-1]))
        variance = add("ReduceMean", add("Pow", centred, "two"), axes=[-1])
        norm = add("Div", centred, add("Sqrt", add("Add", variance, "epsilon")))
        y = add("Add", add("Mul", norm, "scale"), "bias")
        x = add("Add", x, add("Add", add("MatMul", y, "weights"), "bias"))
    made[-1].output[0] = "y"
    shape = ["batch", "sequence", width]
    graph = helper.make_graph(
        made,
        "blocks",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def session(path, level, written=None):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    if written is not None:
        options.optimized_model_filepath = str(written)
    options.intra_op_num_threads = 1
    start = time.process_time()
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return time.process_time() - start


def extended(path, folder):
    levels = onnxruntime.GraphOptimizationLevel
    written = folder / "extended.onnx"
    whole = session(path, levels.ORT_ENABLE_EXTENDED, written)
    return whole - session(written, levels.ORT_DISABLE_ALL), len(onnx.load(written).graph.node)


def fuse(program, path, folder):
    """Processor seconds of the process, and the share of them that its report gives shapes, matching and rewriting."""
    command = [program, "optimize", str(path), "-o", str(folder / "fused.onnx"), "--target", "onnxruntime", "--report", "json"]
    with tempfile.TemporaryFile() as report:
        with subprocess.Popen(command, stdout=report, stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"fuse-onnx fails on {path}")
        report.seek(0)
        told = json.load(report)
    whole = usage.ru_utime + usage.ru_stime
    seconds = told["seconds"]
    passes = seconds["shapes"] + seconds["match"] + seconds["rewrite"]
    return whole, passes / sum(seconds.values()), told


def models(program, paths, folder, rounds):
    """A row for each model: milliseconds of fuse-onnx's shapes, matching and rewriting, and of the EXTENDED passes."""
    print("| model | nodes | fuse-onnx, ms | EXTENDED passes, ms | ratio |\n| --- | --- | --- | --- | --- |")
    for path in paths:
        ours, theirs = [], []
        for _ in range(rounds):
            for _ in range(3):
                report = fuse(program, path, folder)[2]
                ours.append(sum(report["seconds"][phase] for phase in ("shapes", "match", "rewrite")))
            try:
                theirs.append(extended(path, folder)[0])
            except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:  # it lacks an operator of that type
                break
        ms = 1e3 * statistics.median(ours)
        others = 1e3 * statistics.median(theirs) if theirs else math.nan
        print(f"| {path.stem} | {report['nodes']['before']} | {ms:.1f} | {others:.1f} | {others / ms:.1f} |", flush=True)


def transformers(path):
    from onnxruntime.transformers import optimizer

    start = time.process_time()
    optimizer.optimize_model(str(path), model_type="gpt2", opt_level=0)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fuse_onnx")
    parser.add_argument("--models", type=Path, default=Path(__file__).parent.parent / "tests" / "models")
    parser.add_argument("--nodes", type=int, nargs="*", default=[12_000, 120_000])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = folder / "block.onnx"
        onnx.save(blocks(12), one)
        for nodes in given.nodes:
            path = folder / f"blocks-{nodes}.onnx"
            onnx.save(blocks(nodes), path)
            rounds = given.rounds if nodes < 100_000 else 1
            theirs, ours, inside = [], [], []
            for _ in range(rounds):
                for _ in range(3):
                    start = fuse(given.fuse_onnx, one, folder)[0]
                    whole, share, report = fuse(given.fuse_onnx, path, folder)
                    ours.append(whole)
                    inside.append((whole - start) * share)
                seconds, left = extended(path, folder)
                theirs.append(seconds)
            per_node = [1e9 * statistics.median(s) / nodes for s in (theirs, inside, ours)]
            print(
                f"blocks, {nodes} nodes ({rounds} rounds): EXTENDED passes {per_node[0]:.0f} ns per node ({left} nodes left), "
                f"fuse-onnx {per_node[1]:.0f} ({report['nodes']['after']} left), its whole process {per_node[2]:.0f}; "
                f"{per_node[0] / per_node[1]:.0f} times, the process {per_node[0] / per_node[2]:.0f} times",
                flush=True,
            )
            print("  seconds: " + ", ".join(f"{k} {v:.4f}" for k, v in report["seconds"].items()), flush=True)
        models(given.fuse_onnx, sorted(given.models.glob("*.onnx")), folder, given.rounds)
        path = given.models / "gpt2-deep.onnx"
        theirs, ours = [], []
        for _ in range(given.rounds):
            for _ in range(3):
                ours.append(fuse(given.fuse_onnx, path, folder)[0])
            theirs.append(transformers(path))
        ratio = statistics.median(theirs) / statistics.median(ours)
        print(
            f"gpt2-deep: onnxruntime.transformers.optimizer {statistics.median(theirs):.2f} s, "
            f"fuse-onnx's whole process {statistics.median(ours):.4f} s; {ratio:.0f} times"
        )


if __name__ == "__main__":
    main()
