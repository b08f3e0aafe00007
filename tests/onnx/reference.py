# SPDX-License-Identifier: BSL-1.0
"""A graph evaluated in double precision: every floating type is computed as float64, constants keep the values they store."""

import functools

import numpy as np
from onnx import helper, numpy_helper


def _widen(value):
    value = np.asarray(value)
    return value if value.dtype.kind in "iub" else value.astype(np.float64)


def _cast(value, to):
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(to))
    return value.astype(dtype) if dtype.kind in "iub" else _widen(value)


def _axes(attributes, rest):
    axes = rest[0] if rest and rest[0] is not None else attributes.get("axes")
    return None if axes is None or not len(axes) else tuple(int(a) for a in np.ravel(axes))


def _reduce(function):
    def run(value, *rest, **attributes):
        axes = _axes(attributes, rest)
        if axes is None and attributes.get("noop_with_empty_axes"):
            return value
        return function(value, axis=axes, keepdims=bool(attributes.get("keepdims", 1)))
    return run


def _unsqueeze(value, *rest, **attributes):
    axes = _axes(attributes, rest)
    return np.expand_dims(value, axes)


def _slice(value, starts, ends, axes=None, steps=None):
    index = [slice(None)] * value.ndim
    for k in range(len(starts)):
        index[k if axes is None else int(axes[k])] = slice(int(starts[k]), int(ends[k]), 1 if steps is None else int(steps[k]))
    return value[tuple(index)]


def _flatten(value, axis=1):
    axis += value.ndim if axis < 0 else 0
    return value.reshape(int(np.prod(value.shape[:axis])), -1)


def _rms_norm(value, scale, axis=-1, epsilon=1e-5):
    square = np.square(value).mean(axis=tuple(range(axis % value.ndim, value.ndim)), keepdims=True)
    return value / np.sqrt(square + epsilon) * scale


def _constant(**attributes):
    (value,) = attributes.values()
    return _widen(numpy_helper.to_array(value) if hasattr(value, "data_type") else np.array(value))


OPERATORS = {
    "Identity": lambda a: a, "Neg": np.negative, "Abs": np.abs, "Sqrt": np.sqrt, "Exp": np.exp,
    "Reciprocal": lambda a: 1.0 / a, "Relu": lambda a: np.maximum(a, 0), "Floor": np.floor, "Ceil": np.ceil,
    "Sum": lambda *a: sum(a), "Mean": lambda *a: sum(a) / len(a), "Dropout": lambda a: a, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Pow": lambda a, b: np.power(a, _widen(b) if a.dtype.kind == "f" else b),
    "Div": lambda a, b: a / b if a.dtype.kind == "f" else a // b, "MatMul": np.matmul, "Max": lambda *a: functools.reduce(np.maximum, a), "Min": lambda *a: functools.reduce(np.minimum, a),
    "ReduceSumSquare": _reduce(lambda a, **kept: np.square(a).sum(**kept)), "ReduceL2": _reduce(lambda a, **kept: np.sqrt(np.square(a).sum(**kept))),
    "RMSNormalization": _rms_norm,
    "ReduceMean": _reduce(np.mean), "ReduceSum": _reduce(np.sum), "ReduceMax": _reduce(np.max), "ReduceProd": _reduce(np.prod),
    "GlobalAveragePool": lambda a: a.mean(axis=tuple(range(2, a.ndim)), keepdims=True),
    "Cast": _cast, "Unsqueeze": _unsqueeze, "Squeeze": lambda a, *r, **k: np.squeeze(a, _axes(k, r)),
    "Shape": lambda a: np.array(a.shape, np.int64), "Size": lambda a: np.array(a.size, np.int64),
    "Range": lambda a, b, c: np.arange(*(np.ravel(v)[0] for v in (a, b, c))), "Slice": _slice, "Where": np.where,
    "Reshape": lambda a, s: a.reshape([a.shape[k] if d == 0 else int(d) for k, d in enumerate(s)]),
    "Flatten": _flatten, "Concat": lambda *a, axis: np.concatenate(a, axis), "Constant": _constant,
    "Transpose": lambda a, perm=None: np.transpose(a, perm), "Expand": lambda a, s: np.broadcast_to(a, np.broadcast_shapes(a.shape, s)),
    "Gather": lambda a, i, axis=0: np.take(a, i, axis), "Clip": lambda a, low=None, high=None: np.clip(a, low, high), "Tanh": np.tanh,
    "ConstantOfShape": lambda s, value=None: np.full(s, 0.0 if value is None else numpy_helper.to_array(value)[0]),
}


def _run(graph, values):
    values |= {t.name: _widen(numpy_helper.to_array(t)) for t in graph.initializer if t.name not in values}
    for node in graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "If":
            taken = attributes["then_branch" if values[node.input[0]] else "else_branch"]
            for branch in (attributes["then_branch"], attributes["else_branch"]):
                _run(branch, values)  # names are unique, and tests look at either
            values |= {o: values[r.name] for o, r in zip(node.output, taken.output)}
        else:
            values[node.output[0]] = OPERATORS[node.op_type](*(values[i] for i in node.input), **attributes)


def evaluate(model, feeds):
    """Every value of the graph and of its branches by name. Raises KeyError at an operator that is not listed above."""
    values = {"": None} | {name: _widen(value) for name, value in feeds.items()}
    with np.errstate(all="ignore"):
        _run(model.graph, values)
    return values
