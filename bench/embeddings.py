#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Embeddings from a model to a kernel: a norm of embeddings as BERT has it, rewritten and quantised by fuse-onnx, on onnxruntime and on
examples/mini_runtime, one thread each.

    cmake --workflow --preset bench
    build/venv/bin/python bench/embeddings.py [--bin build/bench/bin] [--batch 8] [--sequence 128]

Weights are random. Times are the best of some runs, of the two runtimes in turns; the model and its data are made anew in a folder that goes.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

WORDS, PLACES, KINDS, HIDDEN = 30522, 512, 2, 768
TURNS, ROUNDS = 5, 21


def model():
    """What an exporter writes: rows of three tables, positions from a Range, the norm as primitives."""
    random = np.random.default_rng(1)

    def weights(name, *shape, mean=0.0, deviation=0.05):
        return numpy_helper.from_array(random.normal(mean, deviation, shape).astype(np.float32), name)

    def constant(name, value):
        return numpy_helper.from_array(np.array(value), name)

    tables = [weights("words", WORDS, HIDDEN), weights("places", PLACES, HIDDEN), weights("kinds", KINDS, HIDDEN)]
    rows = [weights("scale", HIDDEN, mean=0.8, deviation=0.1), weights("bias", HIDDEN)]
    numbers = [constant("zero", np.int64(0)), constant("one", np.int64(1)), constant("list0", np.array([0])), constant("two", np.float32(2)), constant("epsilon", np.float32(1e-12))]
    steps = [
        ("Gather", ["words", "ids"], "w", {}), ("Gather", ["kinds", "segments"], "k", {}), ("Add", ["w", "k"], "wk", {}),
        ("Shape", ["ids"], "shape", {}), ("Gather", ["shape", "one"], "length", {}), ("Range", ["zero", "length", "one"], "range", {}),
        ("Unsqueeze", ["range", "list0"], "positions", {}), ("Gather", ["places", "positions"], "p", {}), ("Add", ["wk", "p"], "x", {}),
        ("ReduceMean", ["x"], "mean", {"axes": [-1]}), ("Sub", ["x", "mean"], "d", {}), ("Pow", ["d", "two"], "squares", {}),
        ("ReduceMean", ["squares"], "variance", {"axes": [-1]}), ("Add", ["variance", "epsilon"], "above", {}), ("Sqrt", ["above"], "root", {}),
        ("Div", ["d", "root"], "n", {}), ("Mul", ["n", "scale"], "scaled", {}), ("Add", ["scaled", "bias"], "y", {})]
    nodes = [helper.make_node(op, operands, [result], **attributes) for op, operands, result, attributes in steps]
    ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in ("ids", "segments")]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "sequence", HIDDEN])
    graph = helper.make_graph(nodes, "embeddings", ids, [y], tables + rows + numbers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def best(run):
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return 1e3 * min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bench/bin"))
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=128)
    arguments = parser.parse_args()
    random = np.random.default_rng(2)
    shape = (arguments.batch, arguments.sequence)
    feeds = {"ids": random.integers(0, WORDS, shape), "segments": random.integers(0, KINDS, shape)}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        paths = {name: folder / f"{name}.onnx" for name in ("exported", "fused", "quantised")}
        onnx.save(model(), paths["exported"])
        for name, more in (("fused", []), ("quantised", ["--quantise-embeddings"])):
            done = subprocess.run([arguments.bin / "fuse-onnx", "optimize", paths["exported"], "-o", paths[name], "--target", "onnxruntime", *more], check=True, capture_output=True, text=True)
        print(*(line.strip() for line in done.stdout.splitlines() if "8 bits" in line), sep="\n")
        sessions = {name: session(path) for name, path in paths.items()}
        outputs = {name: s.run(None, feeds)[0] for name, s in sessions.items()}
        for name, path in paths.items():  # as ONNX keeps the data of its tests
            data = path.with_suffix(".io")
            data.mkdir()
            for i, (key, value) in enumerate(feeds.items()):
                (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, key).SerializeToString())
            (data / "output_0.pb").write_bytes(numpy_helper.from_array(outputs[name], "y").SerializeToString())
        times = {(runtime, name): [] for name in paths for runtime in ("onnxruntime", "mini_runtime")}
        for _ in range(TURNS):
            for name, path in paths.items():
                times["onnxruntime", name].append(best(lambda: sessions[name].run(None, feeds)))
                ran = subprocess.run([arguments.bin / "mini_runtime", "--time", path], capture_output=True, text=True)
                if ran.returncode != 0:
                    raise SystemExit(f"mini_runtime on '{name}': {ran.stdout}{ran.stderr}")
                times["mini_runtime", name].append(float(re.search(r"with groups +([0-9.]+) ms", ran.stdout)[1]))
        print(f"{shape[0]} x {shape[1]} tokens; ms, the best")
        for name, path in paths.items():
            theirs, ours = (min(times[runtime, name]) for runtime in ("onnxruntime", "mini_runtime"))
            error = np.abs(outputs[name] - outputs["exported"]).max()
            print(f"{name:10} {path.stat().st_size / 1e6:7.1f} MB  onnxruntime {theirs:8.3f}  on fuse's kernels {ours:8.3f}  {theirs / ours:6.1f} times as fast; differs from what was exported by {error:.2g}")


if __name__ == "__main__":
    main()
