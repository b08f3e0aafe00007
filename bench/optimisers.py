# SPDX-License-Identifier: BSL-1.0
"""The optimisers that bench/measure.py compares. Each runs in a process of its own, which may crash or hang.

    optimisers.py NAME SETTING IN.onnx OUT.onnx

prints, as JSON, the processor and wall seconds of the optimiser's call. Reading, writing and imports are left out, for all but fuse-onnx, whose
whole process counts.
"""
import dataclasses
import importlib.util
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings


@dataclasses.dataclass
class Candidate:
    name: str
    needs: tuple = ()  # modules that have to be installed

    def present(self):
        return all(importlib.util.find_spec(module) for module in self.needs)


# In the order of the tables. The first one is what all are compared with.
CANDIDATES = [
    Candidate("onnxruntime"),
    Candidate("transformers.optimizer", ("sympy",)),
    Candidate("onnxscript", ("onnxscript",)),
    Candidate("onnxscript for onnxruntime", ("onnxscript",)),
    Candidate("onnxsim", ("onnxsim",)),
    Candidate("fuse"),
    Candidate("fuse --clean"),
]

# How names of models begin, the model types that the optimiser for transformers has for them, and where it cannot see them itself the
# numbers of heads and of hidden elements.
MODEL_TYPES = [
    ("decoder", ["gpt2", "qwen3"], 12, 768),
    ("gpt2", ["gpt2"], 0, 0),
    ("llama", ["gpt2", "qwen3"], 0, 0),
    ("t5", ["t5"], 0, 0),
    ("vit", ["vit"], 0, 0),
    ("whisper", ["bart"], 0, 0),
    ("", ["bert"], 0, 0),
]


def settings(candidate, model):
    """What to try of a candidate for a model of that name; the best one counts."""
    if candidate.name != "transformers.optimizer":
        return [""]
    types = next(types for begin, types, *_ in MODEL_TYPES if model.startswith(begin))
    return ["bert 1", "bert 0 raw_mask", "bert 1 raw_mask"] if types == ["bert"] else [f"{type} {level}" for type in types for level in (0, 1)]


class Timed:
    """The processor and wall seconds of a with statement's body."""

    passes = None  # seconds without reading and writing, where these count otherwise

    def __enter__(self):
        self.begun = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_):
        self.processor, self.wall = time.process_time() - self.begun[0], time.perf_counter() - self.begun[1]


def transformers_optimizer(source, result, setting):
    """At levels above 0 optimize_model lets onnxruntime rewrite the model first, by a function that imports torch, 6 GB, to ask
    it about GPUs. What that function does for a CPU stands here. Unless told to keep masks as they are (raw_mask), the optimiser takes each for
    a count of tokens with padding behind them."""
    import onnx
    import onnxruntime
    from onnxruntime.transformers import fusion_options, optimizer

    type, level, *mask = setting.split()
    how = fusion_options.FusionOptions(type)
    if mask:
        how.use_raw_attention_mask(True)
    heads, hidden = next((heads, hidden) for begin, _, heads, hidden in MODEL_TYPES if source.name.startswith(begin))
    with tempfile.TemporaryDirectory() as folder, Timed() as timed:
        if level == "1":
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
            options.log_severity_level = 4
            options.optimized_model_filepath = str(pathlib.Path(folder) / "basic.onnx")
            onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"], disabled_optimizers=["ConstantSharing"])
            source = pathlib.Path(options.optimized_model_filepath)
        optimised = optimizer.optimize_model(str(source), model_type=type, num_heads=heads, hidden_size=hidden, optimization_options=how, opt_level=0)
    onnx.save(optimised.model, result)
    return timed


def onnxscript(source, result, setting):
    import onnx
    import onnxscript.optimizer
    import onnxscript.rewriter

    model = onnx.load(source)
    with Timed() as timed:
        model = onnxscript.rewriter.rewrite(onnxscript.optimizer.optimize(model))
    onnx.save(model, result)
    return timed


def onnxscript_for_onnxruntime(source, result, setting):
    import onnx_ir
    import onnxscript.rewriter.ort_fusions

    model = onnx_ir.load(source)
    with Timed() as timed:
        model, _ = onnxscript.rewriter.ort_fusions.optimize_for_ort(model)
    onnx_ir.save(model, result)
    return timed


def onnxsim(source, result, setting):
    import onnx
    import onnxsim as peer

    model = onnx.load(source)
    with Timed() as timed:
        model, right = peer.simplify(model)
    if not right:
        raise ValueError("onnxsim finds its own result wrong")
    onnx.save(model, result)
    return timed


def fuse(source, result, setting, *options):
    """Besides the whole process, what it says itself of shapes, matching and rewriting."""
    program = os.environ["FUSE_ONNX"]
    begun = time.perf_counter()
    command = [program, "optimize", source, "-o", result, "--target", "onnxruntime", "--report", "json", *options]
    with tempfile.TemporaryFile() as report, subprocess.Popen(command, stdout=report) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        report.seek(0)
        told = report.read()
    if process.returncode != 0:
        raise ValueError(f"fuse-onnx ends with status {process.returncode}")
    timed = Timed()
    seconds = json.loads(told)["seconds"]
    timed.passes = sum(seconds.values()) - seconds["read"] - seconds["write"]
    timed.processor, timed.wall = usage.ru_utime + usage.ru_stime, time.perf_counter() - begun
    return timed


CALLS = {
    "transformers.optimizer": transformers_optimizer,
    "onnxscript": onnxscript,
    "onnxscript for onnxruntime": onnxscript_for_onnxruntime,
    "onnxsim": onnxsim,
    "fuse": fuse,
    "fuse --clean": lambda *arguments: fuse(*arguments, "--clean"),
}


def optimised(candidate, setting, source, result, limit):
    """What the candidate's process says of its run, or {"failed": one word or two, "message": its last words}."""
    command = [sys.executable, __file__, candidate.name, setting, str(source), str(result)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    except subprocess.TimeoutExpired:
        return {"failed": f"takes more than {limit:g} s", "message": ""}
    message = done.stderr.decode(errors="replace").strip()[-2000:]
    if done.returncode < 0:
        return {"failed": "crashes", "message": message}
    if done.returncode != 0 or not result.is_file():
        return {"failed": "fails", "message": message}
    return json.loads(done.stdout.decode().splitlines()[-1])


def main():
    name, setting, source, result = sys.argv[1:]
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    timed = CALLS[name](pathlib.Path(source), pathlib.Path(result), setting)
    print(json.dumps({"processor seconds": timed.processor, "wall seconds": timed.wall, "seconds of passes": timed.passes}))


if __name__ == "__main__":
    main()
