# SPDX-License-Identifier: BSL-1.0
"""A model builder: names values, and writes each operator as the model's opset wants it."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE, HALF = np.dtype("float32"), np.dtype("float64"), np.dtype("float16")
BFLOAT16 = np.dtype(helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))


def tensor_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class Model:
    """One graph and the model around it. Node lists are plain protos: change them freely before `proto()`.

    Below IR version 4 every initializer is listed among the inputs, as that version demands.
    """

    def __init__(self, opset=17, ir=8, outer=None):
        self.opset, self.ir, self.outer = opset, ir, outer
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self._count = outer._count if outer else {}

    def name(self, stem):
        self._count[stem] = self._count.get(stem, 0) + 1
        return f"{stem}_{self._count[stem]}"

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, tensor_type(dtype), shape))
        return name

    def output(self, name, dtype, shape):
        self.outputs.append(helper.make_tensor_value_info(name, tensor_type(dtype), shape))
        return name

    def constant(self, value, form="initializer", stem="c"):
        """A constant as an initializer of bytes or of "numbers", or as a Constant node with a tensor ("node") or floats ("attribute")."""
        value, name = np.asarray(value), self.name(stem)
        if form == "node":
            return self.op("Constant", value=numpy_helper.from_array(value), into=name)
        if form == "attribute":
            return self.op("Constant", into=name, **{"value_floats" if value.ndim else "value_float": value.tolist()})
        if form == "numbers":
            self.initializers.append(helper.make_tensor(name, tensor_type(value.dtype), value.shape, value.ravel()))
        else:
            self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def integers(self, *values, form="initializer"):
        return self.constant(np.array(values, np.int64), form)

    def op(self, operator, *operands, into=None, domain="", outputs=1, **attributes):
        """Appends a node; returns the name of its result, or a list of names for several."""
        results = [into or self.name(operator.lower())] if outputs == 1 else into or [
            self.name(operator.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, operands, results, f"n_{results[0]}", domain=domain, **attributes))
        return results[0] if outputs == 1 else results

    def cast(self, value, dtype, into=None):
        return self.op("Cast", value, to=tensor_type(dtype), into=into)

    def reduce_mean(self, value, axes, keepdims=1, **attributes):
        return self.reduce("ReduceMean", value, axes, keepdims, **attributes)

    def reduce(self, operator, value, axes, keepdims=1, **attributes):
        """`axes`: integers, the name of a constant (opset 18 on), or None for all. `keepdims`: None leaves the default."""
        if keepdims is not None:
            attributes["keepdims"] = keepdims
        if axes is None:
            return self.op(operator, value, **attributes)
        if self.opset < 18:
            return self.op(operator, value, axes=axes, **attributes)
        axes = axes if isinstance(axes, str) else self.integers(*axes)
        return self.op(operator, value, axes, **attributes)

    def unsqueeze(self, value, axes):
        if self.opset < 13:
            return self.op("Unsqueeze", value, axes=axes)
        return self.op("Unsqueeze", value, axes if isinstance(axes, str) else self.integers(*axes))

    def body(self):
        """A graph for If or Loop: it sees the names of this one."""
        return Model(self.opset, self.ir, self)

    def graph(self, name="g"):
        inputs = list(self.inputs)
        if self.ir < 4 and not self.outer:
            inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in self.initializers]
        return helper.make_graph(self.nodes, name, inputs, self.outputs, self.initializers)

    def proto(self):
        domains = dict.fromkeys(node.domain for node in self.nodes if node.domain)
        imports = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(d, 1) for d in domains]
        return helper.make_model(self.graph(), opset_imports=imports, ir_version=self.ir, producer_name="fuse tests")


def check(model):
    """The ONNX checker, with shape inference and data propagation."""
    onnx.checker.check_model(model, full_check=True)
