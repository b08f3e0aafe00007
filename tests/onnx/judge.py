# SPDX-License-Identifier: BSL-1.0
"""Runs fuse-onnx and onnxruntime, and says whether a result is the same.

FUSE_ONNX names the program (default: build/release/bin/fuse-onnx of this tree), FUSE_ONNX_SERVED the one that runs it again and
again (default: fuse-onnx-served, beside it).
"""

import atexit
import collections
import json
import os
import pathlib
import select
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FUSE_ONNX", str(ROOT / "build/release/bin/fuse-onnx"))
SERVED = os.environ.get("FUSE_ONNX_SERVED", str(pathlib.Path(PROGRAM).parent / "fuse-onnx-served"))
MODELS = pathlib.Path(os.environ.get("FUSE_MODELS", ROOT / "tests/models"))
TARGETS = ("onnx", "onnxruntime")
OFF, DEFAULT = ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL
# Of many cases one in so many is tried: under sanitizers a case takes many times as long, and a few show what
# sanitizers see (tests/sampled.hpp).
ONE_CASE_IN = int(os.environ.get("FUSE_ONE_CASE_IN", 1))
LEVELS = {"Off": OFF, "Default": DEFAULT}

SCRATCH = tempfile.TemporaryDirectory(prefix="fuse-tests-")
ort.set_default_logger_severity(4)


def sampled(cases):
    return list(cases)[::ONE_CASE_IN]


def scratch(name):
    return pathlib.Path(SCRATCH.name) / name


# ---- fuse-onnx

Run = collections.namedtuple("Run", "code out err")


def run(*arguments, timeout=60):
    """Runs the program. A crash or a hang is an error of the test that asked."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=timeout)
    assert done.returncode in (0, 1, 2), f"status {done.returncode}: {done.stderr[-400:].decode(errors='replace')}"
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


class Server:
    """fuse-onnx in a process that serves one call after the other."""

    def __init__(self):
        self.err = open(scratch("served.err"), "w+b")
        self.process = subprocess.Popen([SERVED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err)
        atexit.register(self.close)

    def run(self, *arguments, timeout=60):
        said = self.err.seek(0, os.SEEK_END)
        self.process.stdin.write(("\t".join(map(str, arguments)) + "\n").encode())
        self.process.stdin.flush()
        out, pipe = b"", self.process.stdout.fileno()
        while not out.endswith(b"\n") or b"\0" not in out:
            assert select.select([pipe], [], [], timeout)[0], f"no answer within {timeout} s: {arguments}"
            more = os.read(pipe, 1 << 20)
            assert more, f"{self.ended(said)}: {arguments}"
            out += more
        self.err.seek(said)
        out, status = out.split(b"\0")
        return Run(int(status), out.decode(), self.err.read().decode())

    def ended(self, said=0):
        self.process.stdin.close()
        self.err.seek(said)
        return f"status {self.process.wait(60)}: {self.err.read()[-4000:].decode(errors='replace')}"

    def close(self):
        """What a sanitizer finds when the process ends fails the tests, too."""
        if self.process.poll() is None and not (end := self.ended()).startswith("status 0"):
            print(end, flush=True)
            os._exit(1)


served = None


def serve(*arguments, **how):
    """The same as `run`, without a process of its own."""
    global served
    if served is None or served.process.poll() is not None:
        served = Server()
    return served.run(*arguments, **how)


# Refusals of whole matches, as docs/why_did_my_rule_not_fire.md lists them.
REQUIREMENTS = {"element type", "shape and element type", "right side", "results", "cost", "veto", "check", "graph", "operator", "order"}


class Result:
    """What `fuse-onnx optimize` made of a model: its bytes, the parsed model and the report."""

    def __init__(self, data, report):
        self.bytes, self.report, self.model = data, report, onnx.load_from_string(data)

    def applied(self, rule):
        return sum(r["applied"] for r in self.report["rules"] if r["name"] == rule)

    def refusals(self):
        return [dict(r, rule=rule["name"]) for rule in self.report["rules"] for r in rule["refused"]]

    def miscounted(self):
        """The rules that matched elsewhere than where they were applied or are refused for a requirement."""
        return [rule for rule in self.report["rules"] if rule["matched"] != rule["applied"]
                + len({r["node"] for r in rule["refused"] if r["condition"] in REQUIREMENTS})]


def optimize(model, target="onnx", *options):
    """`model`: a ModelProto, its bytes, or a path (for external data). Every rewrite is checked."""
    source = model
    if not isinstance(model, (str, pathlib.Path)):
        source = scratch("in.onnx")
        source.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    result = scratch("out.onnx")
    done = serve("optimize", source, "-o", result, "--target", target, "--report", "json", "--check", *options)
    assert done.code == 0, f"status {done.code}: {done.err}"
    return Result(result.read_bytes(), json.loads(done.out))


# ---- what is in a model

def walk(graph):
    """The nodes of a graph and of all bodies below it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for body in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                yield from walk(body)


def norm_kind(node):
    """"layer" or "rms" if the node is a fused norm, else None."""
    if node.domain == "fuse":
        name = node.op_type
    elif node.domain in ("", "ai.onnx", "com.microsoft"):
        name = node.op_type.removeprefix("Skip").removeprefix("Embed")
    else:
        return None
    if name.startswith(("RMSNormalization", "SimplifiedLayerNormalization")):
        return "rms"
    return "layer" if name.startswith("LayerNormalization") else None


def norms(model):
    return collections.Counter(filter(None, map(norm_kind, walk(model.graph))))


def attribute(node, name, default):
    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def activation_kind(node):
    """"gelu", "gelu by tanh", "silu", "quick gelu", "swish" (of another alpha), "mish", "hard swish", "softmax", "log softmax", or None."""
    if node.domain not in ("", "ai.onnx", "com.microsoft", "fuse"):
        return None
    name = node.op_type.split("_")[0] if node.domain == "fuse" else node.op_type
    if name in ("Gelu", "BiasGelu", "FastGelu"):
        by_tanh = name == "FastGelu" or node.op_type.startswith("Gelu_tanh") or attribute(node, "approximate", b"none") == b"tanh"
        return "gelu by tanh" if by_tanh else "gelu"
    if name in ("Swish", "QuickGelu"):
        alpha = attribute(node, "alpha", 1.0 if name == "Swish" else 1.702)
        return "silu" if alpha == 1 else "quick gelu" if abs(alpha - 1.702) < 1e-2 else "swish"
    return {"Mish": "mish", "HardSwish": "hard swish", "Softmax": "softmax", "LogSoftmax": "log softmax"}.get(name)


def activations(model):
    return collections.Counter(filter(None, map(activation_kind, walk(model.graph))))


def skip_norms(model):
    return sum(n.domain == "com.microsoft" and n.op_type.startswith("Skip") for n in walk(model.graph))


def primitives(model):
    """The operators that are no fused norm."""
    return collections.Counter(n.op_type for n in walk(model.graph) if not norm_kind(n))


def foreign_norms(model, target):
    """Fused norms that the target does not allow at the model's opset."""
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=1)
    functions = {(f.domain, f.name) for f in model.functions}
    for node in walk(model.graph):
        if not norm_kind(node):
            continue
        if node.domain == "fuse":
            legal = target == "onnx" and (node.domain, node.op_type) in functions
        elif target == "onnx":
            legal = node.domain in ("", "ai.onnx") and opset >= {"LayerNormalization": 17, "RMSNormalization": 23}.get(node.op_type, 99)
        else:
            legal = True
        if not legal:
            yield f"{node.domain}:{node.op_type} at opset {opset}"


def interface(model):
    """Names and types of what a caller gives and gets; below IR version 4 initializers are no inputs."""
    constants = {t.name for t in model.graph.initializer} if model.ir_version < 4 else set()
    given = [i.SerializeToString() for i in model.graph.input if i.name not in constants]
    opsets = {o.domain: o.version for o in model.opset_import if o.domain in ("", "ai.onnx")}
    return given, [o.SerializeToString() for o in model.graph.output], opsets


# ---- running and comparing

def session(model, level=OFF):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    data = model if isinstance(model, (bytes, str)) else model.SerializeToString()
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def execute(model, feeds, level=OFF):
    """The outputs by name; `model` may be an open session."""
    opened = model if isinstance(model, ort.InferenceSession) else session(model, level)
    names = [o.name for o in opened.get_outputs()]
    wanted = {i.name for i in opened.get_inputs()}
    return dict(zip(names, opened.run(names, {k: v for k, v in feeds.items() if k in wanted})))


TOLERANCE = {"float16": 5e-3, "float32": 1e-5, "float64": 1e-7}  # of a row; the operator rounds a double epsilon to float

skipped_rows = 0  # rows on which the original itself is NaN or infinite


def difference(before, after, exact=(), scatter=(), rows=1, tolerance=None):
    """None if the same, else a sentence.

    The first `rows` dimensions number the rows. A row is the same when it is within tolerance of the original (relative to its
    largest value), or no farther from `exact`, the graph in double precision, than the original is, or than two values of
    `scatter` are: such as the exact and the original on neighbouring inputs, for on one input it can be near by luck.
    """
    global skipped_rows
    if before.shape != after.shape or before.dtype != after.dtype:
        return f"{before.dtype}{before.shape} became {after.dtype}{after.shape}"
    if before.dtype.kind not in "f":
        return None if np.array_equal(before, after) else "differs"
    count = int(np.prod(before.shape[:rows]))
    wide = lambda v: np.broadcast_to(v, before.shape).astype(np.float64).reshape(count, -1)
    good = np.isfinite(wide(before)).all(axis=1)
    skipped_rows += int((~good).sum())
    if not good.any():
        return None
    off = lambda u, v: np.abs(wide(u) - wide(v))[good].max(axis=1)
    size = np.abs(wide(before))[good].max(axis=1)
    limit = (tolerance or TOLERANCE[before.dtype.name]) * np.maximum(size, np.median(size))
    with np.errstate(invalid="ignore"):
        distance = off(before, after)
        same = distance <= limit
        for e in exact:
            same |= off(e, after) <= limit + np.fmax.reduce([off(e, before), *(off(*pair) for pair in scatter)])
    if same.all():
        return None
    worst = int(np.argmax(np.where(same, 0, distance / np.where(limit > 0, limit, 1))))
    return f"row {worst}: off by {distance[worst]:.3g}, allowed {limit[worst]:.3g}"


def nudge(feeds, seed, places):
    """The inputs, each number changed by some units in the last place, up or down."""
    signs = np.random.default_rng(seed)
    return {name: np.asarray(v * (1 + signs.choice([-places, places], v.shape) * np.finfo(v.dtype).eps), v.dtype) if v.dtype.kind == "f" else v
            for name, v in feeds.items()}


def computes_in_double(model):
    return any(n.op_type == "Cast" and onnx.helper.get_node_attr_value(n, "to") == onnx.TensorProto.DOUBLE for n in walk(model.graph))


class Original:
    """A model with its inputs, run once without optimisations and once in double precision, on these inputs and beside them."""

    def __init__(self, model, feeds, rows=1, exact=True):
        self.model, self.feeds, self.rows = model, feeds, rows
        opened = session(model)
        self.outputs = execute(opened, feeds)
        self.exact = [reference.evaluate(model, feeds)] if exact else []
        beside = [nudge(feeds, seed, 4) for seed in range(8 if exact else 0)]
        self.scatter = [(reference.evaluate(model, f), execute(opened, f)) for f in beside]
        # An operator that looks through Casts to double computes in float.
        places = 4 if computes_in_double(model) else 1
        self.scatter += [(self.exact[0], reference.evaluate(model, nudge(feeds, seed, places))) for seed in range(8 if exact else 0)]
        self.tolerance = max((TOLERANCE.get(v.dtype.name, 0) for v in feeds.values()), default=0)

    def compare(self, outputs):
        for name, before in self.outputs.items():
            tolerance = max(self.tolerance, TOLERANCE.get(before.dtype.name, 0))
            found = difference(before, outputs[name], [e[name] for e in self.exact], [(e[name], o[name]) for e, o in self.scatter], self.rows, tolerance)
            if found:
                yield f"{name}: {found}"

    def trusted(self, level):
        """Whether onnxruntime is right about the original at this level: its own fusions are wrong on some look-alikes."""
        try:
            return not any(self.compare(execute(self.model, self.feeds, LEVELS[level])))
        except Exception:
            return False

    def differences(self, model, levels=LEVELS):
        """Sentences, one for each output that is not the same at one of the levels."""
        for level in levels:
            try:
                found = list(self.compare(execute(model, self.feeds, LEVELS[level])))
            except Exception as error:  # the message is what matters
                found = [f"does not run: {str(error)[:300]}"]
            if found and self.trusted(level):
                yield from (f"{level}: {sentence}" for sentence in found)


def load_tensor(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(pathlib.Path(path).read_bytes())
    return tensor.name, numpy_helper.to_array(tensor)
