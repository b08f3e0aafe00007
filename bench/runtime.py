#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""examples/mini_runtime on models, as they were exported, rewritten, and with fusion groups, beside onnxruntime at its default level, one
thread each: milliseconds of a run, of what is no product of matrices, and bytes moved for that.

    scripts/bench runtime [--json FILE] [--page docs/mini_runtime.md] [--chart docs/mini_runtime.svg] [MODEL.onnx...]

Without models: those of the tests that mini_runtime runs, and the transformers of bench/real_size_models.py, which are made in
build/real-size. Times are the best of some runs, of both in turns. How long onnxruntime is in its products is told by its profiler; where
profiling makes a run longer by more than a fifth, it is not told.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

import onnx
import onnxruntime
from onnx import numpy_helper

import chart
import real_size_models

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCTS = {"Attention", "Conv", "FusedConv", "FusedGemm", "FusedMatMul", "Gemm", "MatMul", "MatMulInteger", "MatMulIntegerToFloat",
            "DynamicQuantizeMatMul", "MultiHeadAttention", "QAttention", "QGemm", "QLinearMatMul"}
FORMS = ["as exported", "rewritten", "with groups"]
LINE = re.compile(r"^ +(as exported|rewritten|with groups) +([0-9.]+) ms, outside of products +([0-9.]+) ms and +([0-9.]+) MB$", re.MULTILINE)
TURNS, SECONDS = 3, 1.0


def tensors(folder, kind):
    found = {}
    for path in sorted(folder.glob(f"{kind}_*.pb")):
        tensor = onnx.TensorProto.FromString(path.read_bytes())
        found[tensor.name] = numpy_helper.to_array(tensor)
    return found


def session(path, **how):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    for name, value in how.items():
        setattr(options, name, value)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def best(run):
    times, until = [], time.perf_counter() + SECONDS
    while len(times) < 3 or time.perf_counter() < until:
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return 1e3 * min(times)


def profiled(path, feeds):
    """Milliseconds of a run, and of what is no product, as onnxruntime's profiler tells them: the best of each."""
    with tempfile.TemporaryDirectory() as folder:
        profiling = session(path, enable_profiling=True, profile_file_prefix=os.path.join(folder, "profile"))
        for _ in range(20):
            profiling.run(None, feeds)
        events = json.loads(pathlib.Path(profiling.end_profiling()).read_text(encoding="utf-8"))
    runs = sorted(event["ts"] for event in events if event["name"] == "model_run")
    products, others = collections.Counter(), collections.Counter()
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            number = sum(started <= event["ts"] for started in runs)
            (products if event["args"]["op_name"] in PRODUCTS else others)[number] += event["dur"] / 1e3
    return min(products[n] + others[n] for n in others), min(others.values())


def write_outputs(path):
    """What the model gives without any optimisation, beside its inputs."""
    level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain = session(path, graph_optimization_level=level)
    data = path.with_suffix(".io")
    for i, (output, array) in enumerate(zip(plain.get_outputs(), plain.run(None, tensors(data, "input")))):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(array, output.name).SerializeToString())


def measured(path, runtime):
    """A row: of each form (whole, outside of products, MB), the least of some turns; and of onnxruntime."""
    feeds = tensors(path.with_suffix(".io"), "input")
    row = {"model": path.stem, "forms": {}, "onnxruntime": None}
    try:
        theirs = session(path)
    except Exception:  # an operator that it has not for a type
        theirs = None
    for _ in range(TURNS):
        told = subprocess.run([runtime, "--time", "--tolerance", "1e-4", path], capture_output=True, text=True)
        if told.returncode != 0:
            raise SystemExit(f"mini_runtime on '{path}': {told.stdout}{told.stderr}")
        for form, *numbers in LINE.findall(told.stdout):
            row["forms"][form] = [min(old, float(new)) for old, new in zip(row["forms"].get(form, [math.inf] * 3), numbers)]
        if theirs:
            took = best(lambda: theirs.run(None, feeds))
            row["onnxruntime"] = min(row["onnxruntime"] or took, took)
    row["onnxruntime outside"] = None
    if theirs:
        whole, outside = profiled(path, feeds)
        row["onnxruntime outside"] = outside if whole < 1.2 * row["onnxruntime"] else None
    return row


def number(value):
    return "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def page(report):
    lines = [f"{report['processor']}, one thread; onnxruntime {report['onnxruntime']}. *Outside* of products of matrices.", "",
             "| model | whole, ms: exported | rewritten | groups | onnxruntime | outside, ms: exported | rewritten | groups | groups / exported | onnxruntime | MB moved outside: exported | groups |",
             "|" + " --- |" * 12]
    for row in report["rows"]:
        exported, rewritten, groups = (row["forms"][form] for form in FORMS)
        cells = [row["model"], exported[0], rewritten[0], groups[0], row["onnxruntime"], exported[1], rewritten[1], groups[1],
                 f"{groups[1] / exported[1]:.2f}", row["onnxruntime outside"], exported[2], groups[2]]
        lines.append("| " + " | ".join(cell if isinstance(cell, str) else number(cell) for cell in cells) + " |")
    return "\n".join(lines)


def drawn(report):
    """SVG: time outside of products, as exported = 1."""
    rows, left, top, height, bar, gap = report["rows"], 44, 62, 170, 9, 8
    width, whole = left + len(rows) * (2 * bar + gap) + 16, top + height + 118
    colours = {"rewritten": "#805ad5", "with groups": "#2b6cb0"}
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {whole}" font-family="sans-serif">',
             f'<rect width="{width}" height="{whole}" fill="white"/>',
             chart.text(10, 20, "Time outside of products of matrices, as exported = 1", 14, "start", "#111")]
    for place, (name, colour) in enumerate(colours.items()):
        parts += [f'<rect x="{10 + 110 * place}" y="33" width="10" height="10" fill="{colour}"/>', chart.text(24 + 110 * place, 42, name, 11, "start")]
    for step in (0, 0.25, 0.5, 0.75, 1):
        y = top + height * (1 - step)
        parts += [f'<line x1="{left}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="{"#111" if step == 1 else "#ddd"}"/>', chart.text(left - 6, y + 4, f"{step:g}", 11, "end")]
    for column, row in enumerate(rows):
        x = left + gap / 2 + column * (2 * bar + gap)
        for place, (name, colour) in enumerate(colours.items()):
            share = row["forms"][name][1] / row["forms"]["as exported"][1]
            parts.append(f'<rect x="{x + place * bar:.1f}" y="{top + height * (1 - min(share, 1)):.1f}" width="{bar - 1}" height="{height * min(share, 1):.1f}" '
                         f'fill="{colour}"><title>{row["model"]} {name} {share:.2f}</title></rect>')
        at = x + bar
        parts.append(f'<text x="{at:.0f}" y="{top + height + 10}" font-size="10" fill="#333" transform="rotate(60 {at:.0f} {top + height + 10})">{row["model"]}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def replaced(text, tables):
    """`text` with `tables` between its two markers. Raises ValueError where they are missing."""
    pattern = re.compile(r"(<!-- runtime:[^\n]*-->\n).*?(<!-- runtime end -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError("no lines '<!-- runtime: ... -->' and '<!-- runtime end -->'")
    return pattern.sub(lambda found: found[1] + "\n" + tables + "\n\n" + found[2], text)


def processor():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", type=pathlib.Path, help="the program mini_runtime")
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--chart", type=pathlib.Path)
    options = parser.parse_args()
    models = options.models
    if not models:
        listed = subprocess.run([options.runtime, "--models"], check=True, capture_output=True, text=True).stdout.split()
        models = [ROOT / path for path in listed]
        folder = ROOT / "build/real-size"
        models += [real_size_models.written(folder, name) for name in ("encoder", "encoder-op14", "decoder")]
    report = {"processor": processor(), "onnxruntime": onnxruntime.__version__, "rows": []}
    for path in models:
        if not any(path.with_suffix(".io").glob("output_*.pb")):
            write_outputs(path)
        report["rows"].append(measured(path, options.runtime))
        print(report["rows"][-1]["model"], file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if options.page:
        options.page.write_text(replaced(options.page.read_text(encoding="utf-8"), page(report)), encoding="utf-8")
    else:
        print(page(report))
    if options.chart:
        options.chart.write_text(drawn(report), encoding="utf-8")


if __name__ == "__main__":
    main()
