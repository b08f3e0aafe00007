# SPDX-License-Identifier: BSL-1.0
"""What fuse knows of shapes and element types, against onnx's shape inference and against what really runs.

The helper program `fuse-shapes MODEL` prints a JSON line for each value: {"name": ..., "type": "float32", "dims": [4, "batch", null]};
"dims" is null where the rank is unknown, "type" where the element type is.
"""

import json
import os
import pathlib
import subprocess
import unittest

import onnx
from onnx import TensorProto, helper

import judge
import spellings

PROGRAM = os.environ.get("FUSE_SHAPES", str(pathlib.Path(os.environ.get("FUSE_BIN", judge.ROOT / "build/release/bin")) / "fuse-shapes"))
SEED, COUNT = 7, 150 // judge.ONE_CASE_IN


def setUpModule():
    print(f"seed {SEED}, {COUNT} spellings")


def fuse_shapes(model):
    return shapes_of_all([model])[0]


def shapes_of_all(models):
    """Of each model, what fuse knows of its values, by name. One process, since starting one takes longer."""
    paths = [judge.scratch(f"shapes{i}.onnx") for i in range(len(models))]
    for path, model in zip(paths, models):
        path.write_bytes(model.SerializeToString())
    done = subprocess.run([PROGRAM, *paths], capture_output=True, timeout=60, check=True)
    told = done.stdout.decode().split("\n\n")[:-1]
    return [{value["name"]: value for value in map(json.loads, lines.splitlines())} for lines in told]


def type_name(element):
    special = {TensorProto.FLOAT: "float32", TensorProto.DOUBLE: "float64"}
    return special.get(element) or TensorProto.DataType.Name(element).lower()


def oracle(model):
    """Name to (element type or 0, dimensions or None); a dimension is a number, a declared name, or None."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    declared = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    known = {}
    for value in [*inferred.input, *inferred.output, *inferred.value_info]:
        tensor = value.type.tensor_type
        dims = None
        if tensor.HasField("shape"):
            dims = [d.dim_value if d.HasField("dim_value") else d.dim_param if d.dim_param in declared else None for d in tensor.shape.dim]
        known[value.name] = tensor.elem_type, dims
    return known


def corpus():
    for path in sorted(judge.MODELS.glob("*.onnx")):
        yield path.stem, onnx.load(path), None
    for seed in range(SEED, SEED + COUNT):
        spelling = spellings.Spelling(seed)
        yield f"spelling {seed}", spelling.model, spelling


def disagreement(found, element, dims):
    """None, or how fuse contradicts the oracle or knows less."""
    if found is None:
        return "not listed"
    if element and found["type"] != type_name(element):
        return f"type {found['type']}, not {type_name(element)}"
    if dims is None:
        return None
    if found["dims"] is None:
        return f"rank unknown, not {len(dims)}"
    if len(found["dims"]) != len(dims):
        return f"{found['dims']} for {dims}"
    for mine, theirs in zip(found["dims"], dims):
        if isinstance(theirs, int) and mine != theirs or isinstance(theirs, str) and mine is None:
            return f"{found['dims']} for {dims}"
    return None


class ShapeTest(unittest.TestCase):
    def test_against_onnx(self):
        for name, model, _ in corpus():
            with self.subTest(name):
                mine, theirs = fuse_shapes(model), oracle(model)
                wrong = {value: why for value, known in theirs.items() if value and (why := disagreement(mine.get(value), *known))}
                self.assertEqual(wrong, {}, f"{len(wrong)} of {len(theirs)} values")

    def test_against_what_runs(self):
        """Every value is made an output; equal names of dimensions must be equal numbers."""
        for name, model, spelling in corpus():
            if name.startswith(("llama-bf16", "gpt2-deep")) or spelling and not spelling.runnable:
                continue
            with self.subTest(name):
                mine = fuse_shapes(model)
                feeds = spelling.feeds() if spelling else dict(
                    judge.load_tensor(path) for path in sorted((judge.MODELS / f"{name}.io").glob("input_*.pb")))
                shown, listed = onnx.ModelProto(), {o.name for o in model.graph.output}
                shown.CopyFrom(model)
                shown.graph.output.extend(helper.make_empty_tensor_value_info(value) for node in model.graph.node for value in node.output
                                          if value and value not in listed)
                sizes = {}
                for value, array in judge.execute(shown, feeds).items():
                    if value not in mine:
                        continue
                    self.assertIn(mine[value]["type"], (array.dtype.name, None), value)
                    dims = mine[value]["dims"]
                    if dims is None:
                        continue
                    self.assertEqual(len(dims), array.ndim, value)
                    for dim, size in zip(dims, array.shape):
                        claimed = sizes.setdefault(dim, size) if isinstance(dim, str) else size if dim is None else dim
                        self.assertEqual(claimed, size, f"{value}: {dims} is {array.shape}")


if __name__ == "__main__":
    unittest.main()
