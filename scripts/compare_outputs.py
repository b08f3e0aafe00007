#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs models before and after a rewrite with onnxruntime and compares what they compute.

    compare_outputs.py BEFORE AFTER NAME...

BEFORE holds NAME.onnx and NAME.io/input_K.pb, AFTER another NAME.onnx. The original runs with every optimisation off, the result with
optimisations off and at their default. An error is the greatest absolute difference, divided by the original output's range of values.
Where BEFORE holds counts.tsv, the result must have one operator for each norm and each activation counted there.
"""

import argparse
import csv
import pathlib
import sys

import numpy
import onnx
import onnxruntime

# What the arithmetic of the type leaves: a bound on the error, relative to the range of values.
TOLERANCE = {"float64": 1e-5, "float32": 1e-5, "float16": 5e-3}
LEVELS = {
    "off": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "default": onnxruntime.SessionOptions().graph_optimization_level,
}


def read_inputs(folder):
    inputs = {}
    for path in sorted(folder.glob("input_*.pb")):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        inputs[tensor.name] = onnx.numpy_helper.to_array(tensor)
    return inputs


# Columns of counts.tsv, and how the operators, or the functions that stand in for them, begin.
KINDS = {
    "layer norms": (["layer_norm"], ("LayerNormalization", "SkipLayerNormalization", "EmbedLayerNormalization")),
    "RMS norms": (["rms_norm"], ("RMSNormalization", "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization")),
    "activations": (["gelu_erf", "gelu_tanh", "quick_gelu", "silu"], ("Gelu", "FastGelu", "BiasGelu", "QuickGelu", "Swish")),
    "rotary embeddings": (["rotary_half", "rotary_interleaved"], ("RotaryEmbedding",)),
}


def read_counts(folder):
    """Per model, how many of each kind its source has."""
    path = folder / "counts.tsv"
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        return {row["model"]: {kind: sum(int(row[c]) for c in columns) for kind, (columns, _) in KINDS.items()}
                for row in csv.DictReader(file, delimiter="\t")}


def operators(path):
    return [node.op_type for node in onnx.load(path).graph.node]


def count_kinds(names):
    return {kind: sum(name.startswith(begin) for name in names) for kind, (_, begin) in KINDS.items()}


def run(model, inputs, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def compare(expected, found):
    """The greatest error over all outputs as a multiple of its tolerance, and as a number."""
    worst, worst_error = 0.0, 0.0
    if list(expected) != list(found):
        raise ValueError(f"outputs {list(found)} instead of {list(expected)}")
    for name, before in expected.items():
        after = found[name]
        if before.shape != after.shape or before.dtype != after.dtype:
            raise ValueError(f"{name} is {after.dtype}{list(after.shape)} instead of {before.dtype}{list(before.shape)}")
        if before.dtype.name not in TOLERANCE:
            error, tolerance = float(not numpy.array_equal(before, after)), 0.5
        else:
            wide, tolerance = before.astype(numpy.float64), TOLERANCE[before.dtype.name]
            if not numpy.array_equal(numpy.isfinite(before), numpy.isfinite(after)):
                raise ValueError(f"{name} is not finite in the same places")
            finite = numpy.isfinite(wide)
            extent = numpy.ptp(wide[finite]) or 1.0 if finite.any() else 1.0
            difference = numpy.abs(after.astype(numpy.float64) - wide)[finite]
            error = float(difference.max(initial=0.0) / extent)
        worst, worst_error = max(worst, error / tolerance), max(worst_error, error)
    return worst, worst_error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("names", nargs="+", metavar="NAME")
    options = parser.parse_args()

    wrong, counts = 0, read_counts(options.before)
    print(f"{'model':24} {'nodes':>14} {'norms':>10} {'activations':>12} {'rotary':>8} {'error, off':>12} {'error, default':>15}")
    for name in options.names:
        cells, verdict, nodes, norms, activations, rotary = [], "same", "", "", "", ""
        try:
            inputs = read_inputs(options.before / f"{name}.io")
            expected = run(options.before / f"{name}.onnx", inputs, "off")
            for level in LEVELS:
                excess, error = compare(expected, run(options.after / f"{name}.onnx", inputs, level))
                cells.append(f"{error:.1e}")
                if excess > 1:
                    verdict = "DIFFERENT"
            if name in counts:
                left, wanted = operators(options.after / f"{name}.onnx"), counts[name]
                found = count_kinds(left)
                nodes = f"{len(operators(options.before / f'{name}.onnx'))} to {len(left)}"
                norms = f"{found['layer norms'] + found['RMS norms']} of {wanted['layer norms'] + wanted['RMS norms']}"
                activations = f"{found['activations']} of {wanted['activations']}"
                rotary = f"{found['rotary embeddings']} of {wanted['rotary embeddings']}"
                verdict += "".join(f", {kind} LEFT" for kind in KINDS if found[kind] != wanted[kind])
        except Exception as problem:  # onnxruntime has no common class of its errors
            verdict = f"FAILED: {problem}"
        wrong += verdict != "same"
        print(f"{name:24} {nodes:>14} {norms:>10} {activations:>12} {rotary:>8} {''.join(cells[:1]):>12} {''.join(cells[1:]):>15}  {verdict}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
