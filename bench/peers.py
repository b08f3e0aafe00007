# SPDX-License-Identifier: BSL-1.0
"""Compares the kernels with frameworks from PyPI in one process, on one thread, in shuffled turns.

    peers.py LIBRARY [--json FILE] [--only TEXT] [--repetitions N]

LIBRARY is bench_kernels_c, which the build makes. Frameworks that are not installed (requirements.txt) are left out,
and named.
"""
import argparse
import ctypes
import importlib
import json
import os
import sys
import tempfile

# One core: no framework finds a second one for a thread. Before any of them is loaded.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["OMP_NUM_THREADS"] = "1"
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(tempfile.gettempdir(), "fuse_bench_inductor"))

import numpy

import interleave
import works

FRAMEWORKS = ["peer_torch", "peer_onnxruntime", "peer_openvino", "peer_xla"]


def load(path):
    library = ctypes.CDLL(os.path.abspath(path))
    pointer = ctypes.c_void_p
    library.bench_context.restype = ctypes.c_char_p
    library.bench_kernel.restype = library.bench_pointers.restype = ctypes.c_double
    library.bench_kernel.argtypes = [ctypes.c_char_p, pointer, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_float, ctypes.c_long]
    library.bench_pointers.argtypes = [pointer, pointer, ctypes.c_long]
    return library


def frameworks():
    for name in FRAMEWORKS:
        try:
            yield importlib.import_module(name)
        except ImportError as problem:
            print(f"peers: without {name.removeprefix('peer_')}: {problem}", file=sys.stderr)


def overheads(modules, options):
    """Microseconds of one operator that does next to nothing, a relu on 1x768: what a framework's call costs."""
    found = {}
    for module in modules:
        one = module.overhead()
        times = interleave.measure([one], numpy.zeros((1, 768)), options.repetitions, options.seconds)
        found[f"{one.peer} {one.version}"] = 1e6 * sorted(times[0])[len(times[0]) // 2]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--json")
    parser.add_argument("--only", default="", help="part of a name, such as layer_norm/float/128x768")
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.005, help="the least time of one repetition")
    options = parser.parse_args()

    library = load(options.library)
    context = json.loads(library.bench_context())
    modules = list(frameworks())
    context |= {"repetitions": options.repetitions, "time": "processor time of the process",
                "microseconds of a framework's call": overheads(modules, options)}
    print(json.dumps(context, indent=2))
    rows = []
    for name, make in works.all_works():
        if options.only not in name:
            continue
        work = make()
        candidates = [work.ours(library)]
        for module in modules:
            candidates += module.candidates(work, library)
        times = interleave.measure(candidates, work.expected(), options.repetitions, options.seconds)
        print(name)
        for row in interleave.rows(candidates, times):
            per_element = 1e9 / (work.rows * work.columns)
            rows.append({"kernel": work.kernel, "type": work.type, "variant": work.variant, "rows": work.rows,
                         "columns": work.columns, "compiler": context["compiler"], "target": context["target"], **row})
            rows[-1] |= {"nanoseconds": rows[-1].pop("seconds") * per_element,
                         "peer_nanoseconds": rows[-1].pop("peer_seconds") * per_element}
            print("    {peer:26} {peer_version:14} {form:12} {peer_nanoseconds:9.4f} ns per element  "
                  "ratio {ratio:8.3f}  spread {0:5.1f}%".format(100 * row["spread"], **rows[-1]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"context": context, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
