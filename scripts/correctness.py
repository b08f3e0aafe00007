#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Small graphs that look like what optimisers rewrite, before and after each optimiser: which are wrong.

    scripts/setup peers
    cmake --preset release && cmake --build --preset release --target fuse-onnx
    build/peers-venv/bin/python scripts/correctness.py [FUSE_ONNX]

Each graph is computed by onnxruntime with every optimisation off, as it is and as an optimiser has left it. A result is wrong where its shape
or its type is another one, or an element by more than a thousandth. Prints the rows of the table in docs/correctness.md: the graphs on which
at least one is wrong, or fails.
"""

import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import numpy
import onnx
import onnx.parser
import onnxoptimizer
import onnxruntime
import onnxscript.optimizer
import onnxscript.rewriter
import onnxsim

LEVEL = onnxruntime.GraphOptimizationLevel


def numbers(count, modulus=5):
    return "{" + ",".join(str(i % modulus) for i in range(count)) + "}"


def layer_norm(exponent="2", axes="-1", again="-1", keep=1, shape="4,4", scale="4", epsilon="float e={1e-5}", result=None):
    """A layer norm, or what looks like one."""
    count = numpy.prod([int(extent) for extent in scale.split(",")])
    return f"""(float[{shape}] x) => (float[{result or shape}] y)
      <float p={{{exponent}}}, {epsilon}, float[{scale}] s={numbers(count)}, float[4] b={{1,2,3,4}}> {{
        m = ReduceMean<axes=[{axes}],keepdims={keep}>(x) d = Sub(x,m) q = Pow(d,p) v = ReduceMean<axes=[{again}],keepdims={keep}>(q)
        w = Add(v,e) r = Sqrt(w) n = Div(d,r) t = Mul(n,s) y = Add(t,b) }}"""


def gelu(root="1.4142135", half="0.5", other="x"):
    return f"""(float[2,4] x, float[2,4] z) => (float[2,4] y) <float c={{{root}}}, float one={{1}}, float h={{{half}}}> {{
        a = Div(x,c) e = Erf(a) o = Add(e,one) t = Mul({other},o) u = Add(t,z) v = Sub(u,z) y = Mul(v,h) }}"""


MATRIX = f"float[4,4] w={numbers(16, 7)}"
WEIGHTS = f"float[2,2,3,3] w={numbers(36)}"
PADS = "int64[8] p={0,0,1,1,0,0,1,1}"
STATISTICS = "float[4] s={1,2,3,4}, float[4] b={1,2,3,4}, float[4] m={1,0,2,3}, float[4] v={1,2,3,4}"
IMAGE = "(float[1,2,4,4] x) => (float[1,2,4,4] y)"

# What each is, the graph as ONNX text, and inputs that are not random.
GRAPHS = [
    ("a layer norm with the fourth power for the square", layer_norm(exponent="4"), {}),
    ("a layer norm of a square matrix whose means drop their axis", layer_norm(keep=0), {}),
    ("a layer norm whose variance is along another axis", layer_norm(again="0"), {}),
    ("a layer norm along the first axis", layer_norm(axes="0", again="0"), {}),
    ("a layer norm whose scale enlarges it", layer_norm(shape="2,4", scale="3,1,4", result="3,2,4"), {}),
    ("a layer norm whose scale is a column", layer_norm(scale="4,1"), {}),
    ("a layer norm with an epsilon for each row", layer_norm(epsilon="float[4,1] e={1,2,3,4}"), {}),
    ("a GELU with 1.4 for the root of 2", gelu(root="1.4"), {}),
    ("a GELU with 0.505 for the half", gelu(half="0.505"), {}),
    ("a GELU of two values", gelu(other="z"), {}),
    ("a bias that is a column behind a MatMul", f"(float[4,4] x) => (float[4,4] y) <{MATRIX}, float[4,1] b={{1,2,3,4}}> {{ t = MatMul(x,w) y = Add(t,b) }}", {}),
    ("a bias that enlarges a MatMul", f"(float[4,4] x) => (float[2,4,4] y) <{MATRIX}, float[2,1,4] b={numbers(8)}> {{ t = MatMul(x,w) y = Add(t,b) }}", {}),
    ("a Gemm with alpha and beta before a batch norm", f"(float[4,4] x) => (float[4,4] y) <{MATRIX}, float[4] c={{1,2,3,4}}, {STATISTICS}> {{ t = Gemm<alpha=0.5,beta=2.0>(x,w,c) y = BatchNormalization(t,s,b,m,v) }}", {}),
    ("a batch norm behind a MatMul of three axes", f"(float[2,4,4] x) => (float[2,4,4] y) <{MATRIX}, {STATISTICS}> {{ t = MatMul(x,w) y = BatchNormalization(t,s,b,m,v) }}", {}),
    ("a number for each column behind a Conv", f"(float[1,2,4,4] x) => (float[1,2,2,2] y) <{WEIGHTS}, float[2] b={{1,2}}> {{ t = Conv<kernel_shape=[3,3]>(x,w) y = Mul(t,b) }}", {}),
    ("a padding by ones before a Conv", f"{IMAGE} <{WEIGHTS}, {PADS}, float c={{1}}> {{ t = Pad(x,p,c) y = Conv<kernel_shape=[3,3]>(t,w) }}", {}),
    ("a padding by reflection before a Conv", f"""{IMAGE} <{WEIGHTS}, {PADS}> {{ t = Pad<mode="reflect">(x,p) y = Conv<kernel_shape=[3,3]>(t,w) }}""", {}),
    ("a padding by zeros before a maximum of negative numbers", f"{IMAGE} <{PADS}> {{ n = Exp(x) m = Neg(n) t = Pad(m,p) y = MaxPool<kernel_shape=[3,3]>(t) }}", {}),
    ("a Reshape that keeps the first extent of another Reshape", "(float[2,3,4] x) => (float[6,4] y) <int64[3] a={6,2,2}, int64[2] b={0,-1}> { t = Reshape(x,a) y = Reshape(t,b) }", {}),
    ("a Transpose of period three, twice", "(float[2,3,4] x) => (float[4,2,3] y) { t = Transpose<perm=[1,2,0]>(x) y = Transpose<perm=[1,2,0]>(t) }", {}),
    ("a Cast through half", "(float[4] x) => (float[4] y) { a = Cast<to=10>(x) b = Cast<to=1>(a) y = Relu(b) }", {"x": numpy.array([1.01, 70000, 1e-9, 2.3], numpy.float32)}),
    ("a Cast through int64", "(float[4] x) => (float[4] y) { a = Cast<to=7>(x) b = Cast<to=1>(a) y = Relu(b) }", {}),
    ("an initializer that the caller overrides, added", "(float[2] x, float[2] w) => (float[2] y) <float[2] w={0,0}> { t = Add(x,w) y = Relu(t) }", {}),
    ("an initializer that the caller overrides, a shape", "(float[2,3] x, int64[2] s) => (float[a,b] y) <int64[2] s={3,2}> { t = Relu(x) y = Reshape(t,s) }", {"s": numpy.array([6, 1])}),
    ("0 added to -0", "(float[3] x) => (float[3] y) <float z={0}> { t = Add(x,z) y = Reciprocal(t) }", {"x": numpy.array([-0.0, 1, 2], numpy.float32)}),
    ("infinity times 0", "(float[3] x) => (float[3] y) <float z={0}> { t = Mul(x,z) y = Relu(t) }", {"x": numpy.array([numpy.inf, 1, 2], numpy.float32)}),
    ("a 0 that repeats a row", "(float[3] x) => (float[2,3] y) <float[2,1] z={0,0}> { y = Add(x,z) }", {}),
    ("a 1 that repeats a row", "(float[3] x) => (float[2,3] y) <float[2,1] z={1,1}> { t = Mul(x,z) y = Relu(t) }", {}),
    ("an integer divided and multiplied", "(int64[3] x) => (int64[3] y) <int64 z={2}> { t = Div(x,z) y = Mul(t,z) }", {"x": numpy.array([3, 5, 7])}),
    ("two factors whose product is no float", "(float[3] x) => (float[3] y) <float a={1e30}, float b={1e30}> { t = Mul(x,a) y = Mul(t,b) }", {"x": numpy.array([1e-30, 1e-31, 0], numpy.float32)}),
    ("a clipping of what is clipped to less", "(float[4] x) => (float[4] y) <float a={0}, float b={1}, float c={2}, float d={3}> { t = Clip(x,a,b) y = Clip(t,c,d) }", {}),
    ("a clipping below 0 of a Relu", "(float[4] x) => (float[4] y) { t = Relu(x) y = Clip<max=-0.5>(t) }", {}, 10),
    ("a logarithm of a Softmax over what is behind axis 1", "(float[2,3,4] x) => (float[2,3,4] y) { t = Softmax(x) y = Log(t) }", {}, 11),
    ("a Softmax along another axis behind a mask", "(float[2,3,4] x, float[2,1,4] z) => (float[2,3,4] y) { t = Add(x,z) y = Softmax<axis=1>(t) }", {}),
    ("a sum of three", "(float[3] x, float[3] z, float[3] w) => (float[3] y) { t = Sum(x,z,w) y = Relu(t) }", {}),
    ("a square of a root of a negative number", "(float[3] x) => (float[3] y) <float p={2}> { t = Sqrt(x) y = Pow(t,p) }", {"x": numpy.array([-1, 4, 9], numpy.float32)}),
    ("a norm of a sum that repeats both terms", "(float[2,1,4] x, float[1,3,4] z) => (float[2,3,4] y) <float[4] g={1,2,3,4}, float[4] b={1,2,3,4}> { t = Add(x,z) y = LayerNormalization(t,g,b) }", {}),
]


def computed(model, given, level=LEVEL.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = {i.name for i in [*session.get_inputs(), *session.get_overridable_initializers()]}
    return session.run(None, {name: value for name, value in given.items() if name in names})


def inputs_of(model, given):
    random = numpy.random.default_rng(1)
    made = {}
    for i in model.graph.input:
        shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
        made[i.name] = given.get(i.name, random.uniform(-2, 2, shape).astype(numpy.float32))
    return made


def fuse(program, target):
    def optimise(model):
        with tempfile.TemporaryDirectory() as folder:
            before, after = pathlib.Path(folder) / "before.onnx", pathlib.Path(folder) / "after.onnx"
            onnx.save(model, before)
            subprocess.run([program, "optimize", before, "-o", after, "--target", target], check=True, capture_output=True)
            return onnx.load(after)

    return optimise


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and numpy.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True)


def verdict(model, given, wanted, optimise, level):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    try:
        got = computed(optimise(copy), given, level)
    except Exception:  # whatever a peer throws
        return "fails"
    return "right" if all(map(same, wanted, got)) else "**wrong**"


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/fuse-onnx").resolve()
    if not program.is_file():
        sys.exit(f"correctness.py: expected fuse-onnx at {program}, found nothing")
    as_it_is = lambda model: model
    off = LEVEL.ORT_DISABLE_ALL
    optimisers = {
        "onnxruntime": [(as_it_is, LEVEL.ORT_ENABLE_ALL)],
        "onnxoptimizer": [(lambda m: onnxoptimizer.optimize(m, onnxoptimizer.get_fuse_and_elimination_passes()), off)],
        "onnxsim": [(lambda m: onnxsim.simplify(m)[0], off)],
        "onnxscript": [(lambda m: onnxscript.rewriter.rewrite(onnxscript.optimizer.optimize(m)), off)],
        "fuse": [(fuse(program, target), off) for target in ("onnx", "onnxruntime")],
    }
    count = 0
    for name, text, given, *version in GRAPHS:
        model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {version[0] if version else 17}]> g {text}')
        inputs = inputs_of(model, given)
        wanted = computed(model, inputs)
        row = []
        for ways in optimisers.values():
            all_ways = [verdict(model, inputs, wanted, *way) for way in ways]
            row.append(next((v for v in all_ways if v != "right"), "right"))
        if any(v != "right" for v in row):
            count += 1
            print(f"| {name} | {' | '.join(row)} |")
    print(f"\n{count} of {len(GRAPHS)} graphs: {', '.join(optimisers)}", file=sys.stderr)


if __name__ == "__main__":
    main()
