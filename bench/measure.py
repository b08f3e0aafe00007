# SPDX-License-Identifier: BSL-1.0
"""Compares, for each model, what optimisers make of it for onnxruntime: fused operators, errors, nodes left, latency, time to optimise.

    measure.py FUSE_ONNX [MODEL...] [--all] [--operators] [--json FILE] [--page FILE] [--chart FILE] [--repetitions N]
               [--processes N] [--threads 1 2]

MODEL is the path of a model or the name of one of real size (bench/real_size_models.py), which are those measured where none is
named; --all measures those of tests/models as well, and --operators what single operators cost (bench/operator_costs.py). --json writes what
was measured, and keeps what the file has of other models; --page and --chart make tables and a chart of all that it has
(bench/measure_page.py).
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import shutil
import statistics
import sys
import tempfile

import latency
import measure_page
import optimisers
import outcomes

ROOT = pathlib.Path(__file__).resolve().parent.parent
REAL_SIZE = ["encoder", "encoder-op14", "decoder", "decoder-long", "vision"]


def rank(tried):
    """Of several settings of a candidate, the first in this order counts: one that works and is right, with the fewest nodes left."""
    found = tried["outcome"]
    wrong = measure_page.verdict(tried) != "right"
    return wrong, found.get("run", {}).get("nodes", 1 << 30), tried["optimised"].get("processor seconds", 0)


def outcome_of(candidate, model, folder, limit):
    """What the best setting of a candidate makes of a model; its result lies in the folder."""
    best = None
    for number, setting in enumerate(optimisers.settings(candidate, model.stem)):
        tried = {"name": candidate.name, "setting": setting, "optimised": {}, "outcome": {}}
        if candidate.name == "onnxruntime":
            path = model
        else:
            path = folder / f"{candidate.name.replace(' ', '_')}_{number}" / model.name
            path.parent.mkdir()
            tried["optimised"] = optimisers.optimised(candidate, setting, model, path, limit)
        if "failed" not in tried["optimised"]:
            tried["outcome"] = outcomes.told(model, path, limit)
        tried["path"] = str(path)
        if best is None or rank(tried) < rank(best):
            best, tried = tried, best
        if tried and tried["path"] != str(model):
            shutil.rmtree(pathlib.Path(tried["path"]).parent)
    return best


def measured(model, options):
    """All that is told of one model."""
    candidates = [candidate for candidate in optimisers.CANDIDATES if candidate.present()]
    with tempfile.TemporaryDirectory(prefix="measure-", dir=options.scratch) as folder:
        rows = []
        for candidate in candidates:
            rows.append(outcome_of(candidate, model, pathlib.Path(folder), options.limit))
            print(f"  {candidate.name}: {measure_page.verdict(rows[-1])}, {rows[-1]['outcome'].get('run', {}).get('nodes', '-')} nodes run", flush=True)
            if "failed" in rows[0]["outcome"]:
                break  # onnxruntime cannot run the model itself
        timed = [row for row in rows if measure_page.verdict(row) in ("right", "wrong on other inputs")]
        for threads in options.threads if timed else []:
            turns = latency.measured([row["path"] for row in timed], model, threads, options.repetitions, options.processes)
            for row, seconds in zip(timed, turns):
                row.setdefault("latency", {})[str(threads)] = {
                    "milliseconds": 1e3 * statistics.median(seconds),
                    "ratio": statistics.median(mine / first for mine, first in zip(seconds, turns[0])),
                    "turns": [1e3 * one for one in seconds],
                }
            print(f"  {threads} threads: " + ", ".join(f"{row['name']} {row['latency'][str(threads)]['milliseconds']:.3f} ms" for row in timed), flush=True)
        for row in rows:
            del row["path"]
    return {"name": model.stem, "real size": model.parent == options.real_size, **outcomes.counted(model), "bytes": model.stat().st_size, "candidates": rows}


def context(options):
    import onnxruntime

    def version(name):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None

    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8") if pathlib.Path("/proc/cpuinfo").is_file() else ""
    names = [line.split(":")[1].strip() for line in cpu.splitlines() if line.startswith("model name")]
    return {"processor": names[0] if names else platform.machine(), "cores": os.cpu_count(), "avx512": "avx512f" in cpu, "repetitions": options.repetitions, "processes": options.processes,
            "versions": {"onnxruntime": onnxruntime.__version__, **{name: version(name) for name in ("onnx", "onnxscript", "onnxsim") if version(name)}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fuse_onnx", type=pathlib.Path)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--chart", type=pathlib.Path)
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--processes", type=int, default=3, help="that the repetitions are done in, each")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--limit", type=float, default=300, help="seconds that an optimiser may take")
    parser.add_argument("--real-size", type=pathlib.Path, default=ROOT / "build/real_size", help="where the models of real size are")
    parser.add_argument("--scratch", type=pathlib.Path, default=None, help="where results are kept for as long as they are needed")
    options = parser.parse_args()
    os.environ["FUSE_ONNX"] = str(options.fuse_onnx.resolve())
    names = options.models or ([] if options.operators and not options.all else REAL_SIZE)
    if options.all:
        names = [*names, *(str(path) for path in sorted((ROOT / "tests/models").glob("*.onnx")))]
    report = {"models": [], "operators": []}
    if options.json and options.json.is_file():
        report = json.loads(options.json.read_text(encoding="utf-8"))
    report["context"] = context(options)

    def keep():
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")

    for name in names:
        model = pathlib.Path(name)
        if name in REAL_SIZE:
            import real_size_models

            model = real_size_models.written(options.real_size, name)
        elif not model.is_file():
            sys.exit(f"measure.py: expected the path of a model or one of {', '.join(REAL_SIZE)}, found {name}")
        print(model.stem, flush=True)
        told = measured(model, options)
        report["models"] = [one for one in report["models"] if one["name"] != told["name"]] + [told]
        keep()
    if options.operators:
        import operator_costs

        report["operators"] = operator_costs.measured(options.repetitions, options.processes)
        keep()
    measure_page.make(report, options.page, options.chart)


if __name__ == "__main__":
    main()
