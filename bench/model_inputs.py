# SPDX-License-Identifier: BSL-1.0
"""What a model is run on: NAME.io/input_K.pb beside NAME.onnx, or what is drawn for it."""
import pathlib
import sys

import numpy
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import compare_outputs

AXIS = 16  # the extent of a symbolic dimension, but for the first


def drawn(model, seed=1):
    """Random inputs by names and types. A mask is ones, with zeros behind them; positions count up; ids are rows of the tables that
    they are looked up in; a dimension named as a sum of others is that sum."""
    random = numpy.random.default_rng(seed)
    graph, constants, sizes = model.graph, {t.name: t for t in model.graph.initializer}, {}

    def extent(dimension, axis):
        if not dimension.dim_param:
            return dimension.dim_value
        parts = [part.strip() for part in dimension.dim_param.split("+")]
        return sum(int(part) if part.isdigit() else sizes.setdefault(part, AXIS if axis else 1) for part in parts)

    feeds = {}
    for given in graph.input:
        if given.name in constants:
            continue
        tensor = given.type.tensor_type
        shape = [extent(dimension, axis) for axis, dimension in enumerate(tensor.shape.dim)]
        type = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if type.kind == "f":
            feeds[given.name] = random.standard_normal(shape).astype(type)
        elif "mask" in given.name or type.kind == "b":
            feeds[given.name] = numpy.broadcast_to(numpy.arange(shape[-1]) < max(1, shape[-1] * 7 // 8), shape).astype(type)
        elif "position" in given.name:
            feeds[given.name] = numpy.broadcast_to(numpy.arange(shape[-1]), shape).astype(type)
        else:
            tables = [node.input[0] for node in graph.node if node.op_type == "Gather" and node.input[1] == given.name]
            rows = [constants[name].dims[0] for name in tables if name in constants]
            feeds[given.name] = random.integers(0, min(rows, default=2), shape).astype(type)
    return feeds


def inputs_of(path):
    """Of the model at a path, without its weights: the inputs, and such of twice as many batches, whose second half is the first moved
    along the last axis."""
    model = onnx.load(path, load_external_data=False)
    sample = compare_outputs.read_inputs(path.with_suffix(".io")) or drawn(model)
    symbolic = {given.name for given in model.graph.input if given.type.tensor_type.shape.dim and given.type.tensor_type.shape.dim[0].dim_param}
    twice = {name: numpy.concatenate([array, numpy.roll(array, 1, axis=-1)]) if name in symbolic else array for name, array in sample.items()}
    return [sample, twice] if symbolic else [sample]
