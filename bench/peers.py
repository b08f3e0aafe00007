# SPDX-License-Identifier: BSL-1.0
"""Compares the kernels with frameworks from PyPI in one process, on one thread, in shuffled turns.

    peers.py LIBRARY [--json FILE] [--only TEXT] [--repetitions N]

LIBRARY is bench_kernels_c, which the build makes. Frameworks that are not installed (requirements.txt) are left out,
and named.
"""
import argparse
import ctypes
import dataclasses
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

SHAPES = [(1, 768), (128, 768), (512, 1024), (128, 4096), (4096, 4096), (8, 16384)]
FRAMEWORKS = ["peer_torch", "peer_onnxruntime", "peer_openvino", "peer_xla"]


@dataclasses.dataclass
class Work:
    kernel: str
    rows: int
    columns: int
    epsilon: float = 1e-5
    type: str = "float"

    def __post_init__(self):
        generator = numpy.random.default_rng(1)
        self.x = aligned(generator.standard_normal((self.rows, self.columns)))
        self.scale = aligned(1 + generator.standard_normal(self.columns) / 10)
        self.bias = aligned(generator.standard_normal(self.columns) / 10)

    def name(self):
        return f"{self.kernel}/{self.type}/{self.rows}x{self.columns}"

    def expected(self):
        x = self.x.astype(numpy.float64)
        if self.kernel == "layer_norm":
            x = x - x.mean(-1, keepdims=True)
        y = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon) * self.scale
        return y + self.bias if self.kernel == "layer_norm" else y


def aligned(values):
    """As float32 at a 64-byte boundary, where frameworks put their tensors."""
    memory = numpy.zeros(values.size + 16, numpy.float32)
    start = -memory.ctypes.data % 64 // 4
    array = memory[start:start + values.size].reshape(values.shape)
    array[...] = values
    return array


def load(path):
    library = ctypes.CDLL(os.path.abspath(path))
    pointer = ctypes.c_void_p
    library.bench_context.restype = ctypes.c_char_p
    library.bench_norm.restype = library.bench_pointers.restype = ctypes.c_double
    library.bench_norm.argtypes = [ctypes.c_char_p, *[pointer] * 4, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_float,
                                   ctypes.c_long]
    library.bench_pointers.argtypes = [pointer, pointer, ctypes.c_long]
    return library


def ours(library, work):
    y = aligned(numpy.zeros_like(work.x))

    def seconds(count):
        addresses = [array.ctypes.data for array in (work.x, work.scale, work.bias, y)]
        return library.bench_norm(work.kernel.encode(), *addresses, work.rows, work.columns, work.epsilon, count)

    return interleave.Candidate("fuse", "", seconds, lambda: y)


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
    for kernel in ("layer_norm", "rms_norm"):
        for shape in SHAPES:
            work = Work(kernel, *shape)
            if options.only not in work.name():
                continue
            candidates = [ours(library, work)]
            for module in modules:
                candidates += module.candidates(work, library)
            times = interleave.measure(candidates, work.expected(), options.repetitions, options.seconds)
            print(work.name())
            for row in interleave.rows(candidates, times):
                per_element = 1e9 / (work.rows * work.columns)
                rows.append({"kernel": kernel, "type": work.type, "variant": "", "rows": work.rows,
                             "columns": work.columns, "compiler": context["compiler"], "target": context["target"],
                             **row})
                rows[-1] |= {"nanoseconds": rows[-1].pop("seconds") * per_element,
                             "peer_nanoseconds": rows[-1].pop("peer_seconds") * per_element}
                print("    {peer:26} {peer_version:14} {form:12} {peer_nanoseconds:9.4f} ns per element  "
                      "ratio {ratio:8.3f}  spread {0:5.1f}%".format(100 * row["spread"], **rows[-1]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"context": context, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
