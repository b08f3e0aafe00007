# SPDX-License-Identifier: BSL-1.0
"""Fields newer than the ONNX that fuse-onnx was built with: read as the newest onnx package reads them, kept to the byte.

What the parser of the package refuses gets status 1 and one sentence; all else is kept, and the norm beside it is found.
"""

import itertools
import pathlib
import random
import re
import tempfile
import unittest

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, helper, numpy_helper

import judge
from test_bad_input import VALID, field

SEED = 20

# What ONNX 1.12 had; whatever else the newest package has is newer.
OLD = {
    "AttributeProto": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 20, 21, 22, 23},
    "ValueInfoProto": {1, 2, 3},
    "NodeProto": {1, 2, 3, 4, 5, 6, 7},
    "TrainingInfoProto": {1, 2, 3, 4},
    "ModelProto": {1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25},
    "StringStringEntryProto": {1, 2},
    "TensorAnnotation": {1, 2},
    "GraphProto": {1, 2, 5, 10, 11, 12, 13, 14, 15},
    "TensorProto": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
    "TensorProto.Segment": {1, 2},
    "SparseTensorProto": {1, 2, 3},
    "TensorShapeProto": {1},
    "TensorShapeProto.Dimension": {1, 2, 3},
    "TypeProto": {1, 4, 5, 6, 7, 8, 9},
    "TypeProto.Tensor": {1, 2},
    "TypeProto.Sequence": {1},
    "TypeProto.Map": {1, 2},
    "TypeProto.Optional": {1},
    "TypeProto.SparseTensor": {1, 2},
    "TypeProto.Opaque": {1, 2},
    "OperatorSetIdProto": {1, 2},
    "FunctionProto": {1, 4, 5, 6, 7, 8, 9, 10},
}

NODE = helper.make_node("Tanh", ["x"], ["spare"], "spare").SerializeToString()
FUNCTION = helper.make_function("acme", "Spare", ["a", "x"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 17)]).SerializeToString()
TENSOR = numpy_helper.from_array(np.ones(2, np.float32), "spare weight").SerializeToString()
VALUE = helper.make_tensor_value_info("x", TensorProto.FLOAT, (4, 7)).SerializeToString()
ENTRY = field(9, field(1, b"key") + field(2, b"value"))  # metadata_props of a node


def graph(content):
    """The model with more in its graph: protobuf merges a message that comes twice."""
    return VALID + field(7, content)


# Where a message of each kind can stand: its other fields follow.
PLACES = {
    "ModelProto": lambda extra: VALID + extra,
    "GraphProto": graph,
    "NodeProto": lambda extra: graph(field(1, NODE + extra)),
    "FunctionProto": lambda extra: VALID + field(25, FUNCTION + extra),
    "TensorProto": lambda extra: graph(field(5, TENSOR + extra)),
    "ValueInfoProto": lambda extra: graph(field(13, VALUE + extra)),
}


def in_attribute(number, content, type_number):
    """A node with an attribute of this content."""
    return graph(field(1, NODE + field(5, field(1, b"held") + field(number, content) + b"\xa0\x01" + bytes([type_number]))))


def in_branch(content):
    return in_attribute(6, content, 5)


def in_training(content):
    return VALID + field(20, field(2, content))


def tensor(extra):
    return TENSOR + extra.replace(b"\x4a", b"\x82\x01", 1)  # entries of a tensor have number 16


def value(extra):
    return VALUE + extra.replace(b"\x4a", b"\x22", 1)  # 4


# The other places of these messages, each filled with an entry.
DEEP = {
    "a node of a branch": lambda e: in_branch(field(1, NODE + e)),
    "a node of training": lambda e: in_training(field(1, NODE + e)),
    "a node of a function": lambda e: VALID + field(25, FUNCTION + field(7, NODE + e)),
    "a tensor of a node": lambda e: in_attribute(5, tensor(e), 4),
    "a list of tensors": lambda e: in_attribute(10, tensor(e), 9),
    "a list of graphs": lambda e: in_attribute(11, field(1, NODE + e), 10),
    "the values of a sparse tensor": lambda e: in_attribute(22, field(1, tensor(e)), 11),
    "the indices of a sparse tensor": lambda e: in_attribute(23, field(2, tensor(e)), 12),
    "a sparse initializer": lambda e: graph(field(15, field(1, tensor(e)))),
    "an input": lambda e: graph(field(11, value(e).replace(b"\x0a\x01x", b"\x0a\x01u", 1))),
    "an output of a branch": lambda e: in_branch(field(1, NODE) + field(12, value(e).replace(b"\x0a\x01x", b"\x0a\x05spare", 1))),
    "a value of a function": lambda e: VALID + field(25, FUNCTION + field(12, value(e))),
    "a tensor of a function's default": lambda e: VALID + field(25, FUNCTION + field(11, field(1, b"held") + field(5, tensor(e)))),
    "a node of a function's default": lambda e: VALID + field(25, FUNCTION + field(11, field(1, b"held") + field(6, field(1, NODE + e)))),
}


def newer():
    """(name of the message, field) of the newest package."""
    for name, message in onnx.onnx_ml_pb2.DESCRIPTOR.message_types_by_name.items():
        for nested in (message, *message.nested_types):
            known = nested.full_name.removeprefix("onnx.")
            yield from ((known, f) for f in nested.fields if known in OLD and f.number not in OLD[known])


def fill(message, depth):
    """Sets every field, those of messages inside down to a depth."""
    for f in message.DESCRIPTOR.fields:
        if f.message_type:
            if depth > 0:
                inner = getattr(message, f.name)
                inner = inner.add() if f.is_repeated else inner
                inner.SetInParent()
                fill(inner, depth - 1)
            continue
        sample = {f.TYPE_STRING: "süß", f.TYPE_BYTES: b"\xff\x00", f.TYPE_ENUM: 1, f.TYPE_FLOAT: 1.5, f.TYPE_DOUBLE: 1.5}.get(f.type, 300)
        if f.is_repeated:
            getattr(message, f.name).extend([sample, sample])
        else:
            setattr(message, f.name, sample)


def payload(f):
    if not f.message_type:
        return "süß".encode()
    message = getattr(onnx, f.message_type.name)()
    fill(message, 2 if f.message_type.name == "AttributeProto" else 5)
    return message.SerializeToString()


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def key(number, wire):
    return varint(number << 3 | wire)


def damages(f, rng):
    """(what, bytes of the field): whole and damaged, the lengths around it right."""
    whole = payload(f)
    yield "whole", field(f.number, whole)
    yield "empty", field(f.number, b"")
    yield "twice", field(f.number, whole) * 2
    yield "no UTF-8", field(f.number, whole.replace("ü".encode(), b"\xff\xfe"))
    yield "a field of nobody inside", field(f.number, whole + field(9001, b"of nobody"))
    yield "a group inside", field(f.number, whole + key(77, 3) + b"\x08\x01" + key(77, 4))
    yield "a group without an end inside", field(f.number, whole + key(77, 3) + b"\x08\x01")
    yield "another group's end inside", field(f.number, whole + key(77, 3) + b"\x08\x01" + key(78, 4))
    yield "packed numbers", field(f.number, whole + b"\x12\x03\x01\x82\x01")
    yield "packed numbers cut off", field(f.number, whole + b"\x12\x02\x01\x82")
    for wire, content in ((0, b"\x05"), (1, b"12345678"), (5, b"1234"), (3, b"\x08\x01" + key(f.number, 4))):
        yield f"wire type {wire}", key(f.number, wire) + content
    places = range(1, len(whole)) if len(whole) < 60 else sorted(rng.sample(range(1, len(whole)), 60))
    for size in places:
        yield f"cut off after {size}", field(f.number, whole[:size])
    for _ in range(60):
        at, mask = rng.randrange(len(whole)), rng.choice((1, 2, 3, 4, 5, 6, 7, 0x80, 0xff, 0x20))
        yield f"byte {at} ^ {mask}", field(f.number, whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1:])


def readable(data):
    try:
        onnx.load_model_from_string(data)
    except DecodeError:
        return False
    return True


class NewerFieldsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="fuse-newer-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def judged(self, case):
        """What is wrong with the answer to a model, or None. `kept`: what the result must hold, as it was or as the package writes it."""
        data, kept = case
        source, result = self.folder / "damaged.in.onnx", self.folder / "out.onnx"
        source.write_bytes(data)
        run = judge.serve("optimize", source, "-o", result)
        good = readable(data)
        if run.code != (0 if good else 1):
            return f"status {run.code} where the package {'reads' if good else 'refuses'} it: {run.err}"
        if not good:
            if result.exists() or not re.fullmatch(r"fuse-onnx: [^\n]*\.in\.onnx (has|is) [^\n]{10,300}\n", run.err):
                return f"a file, or no sentence: {run.err}"
            return None
        found = result.read_bytes()
        result.unlink()
        if run.err or judge.norms(onnx.load_model_from_string(found)) != {"layer": 1}:
            return f"no norm: {run.err}"
        written = onnx.load_model_from_string(found).SerializeToString()
        return None if kept[0] in found or kept[-1] in written else "the field is lost"

    def judge_all(self, cases):
        """`cases`: name, (bytes, (what must be kept, ...))."""
        for name, case in cases:
            with self.subTest(name, seed=SEED):
                self.assertIsNone(self.judged(case))
        return sum(readable(data) for _, (data, _) in cases)

    def test_every_newer_field(self):
        rng, cases = random.Random(SEED), []
        for message, f in newer():
            self.assertIn(message, PLACES, "a message with newer fields: fuse has no row for it")
            for what, extra in damages(f, rng):
                data = PLACES[message](extra)
                # A parser that knows the field need not write it as it was.
                kept = (extra, getattr(onnx, message).FromString(extra).SerializeToString()) if readable(data) else ()
                cases.append((f"{message}.{f.name}: {what}", (data, kept)))
        good = self.judge_all(cases)
        self.assertGreater(good, 300)
        self.assertGreater(len(cases) - good, 300)

    def test_every_place(self):
        cases = []
        for name, place in DEEP.items():
            cases += [(name, (place(ENTRY), (b"value",)))]
            cases += [(f"{name}, cut off after {size}", (place(field(9, ENTRY[2:2 + size])), ())) for size in (1, 3, 6, 11)]
        self.assertEqual(self.judge_all(cases), len(DEEP))

    def test_messages_as_deep_as_protobuf_reads(self):
        """Graphs within attributes, of a function's nodes and of its defaults, with up to three messages at the end; around the limit."""
        ends = {"a node": b"", "an attribute": field(5, field(1, b"a")), "an entry": ENTRY,
                "a tensor": field(5, field(1, b"a") + field(5, TENSOR))}
        cases = []
        for levels, (end, last) in itertools.product(range(29, 36), ends.items()):
            content = field(1, NODE + last)
            for _ in range(levels):
                content = field(1, field(4, b"If") + field(2, b"spare") + field(5, field(1, b"held") + b"\xa0\x01\x05" + field(6, content)))
            cases.append((f"{end} in {levels} graphs", (VALID + field(25, FUNCTION + content.replace(b"\x0a", b"\x3a", 1)), (last,))))
            cases.append((f"{end} in {levels} graphs of a default", (VALID + field(25, FUNCTION + field(11, field(6, content))), (last,))))
        good = self.judge_all(cases)
        self.assertTrue(0 < good < len(cases), good)

    def test_groups_as_deep_as_protobuf_reads(self):
        cases = [(f"{count} groups", (graph(field(1, NODE + field(10, key(77, 3) * count + key(77, 4) * count))), (b"",))) for count in range(90, 104)]
        good = self.judge_all(cases)
        self.assertTrue(0 < good < len(cases), good)

    def test_the_sentence(self):
        """It names the field, unless the installed ONNX knows the field itself."""
        for extra, expected in (
                (field(10, field(2, field(2, b"\x01\x82"))),
                 "'device_configurations.sharding_spec.device' of node 'spare' is no list of integers: it is cut off at its byte 1"),
                (field(9, b"\x0a\x7fkey"),
                 "'metadata_props' of node 'spare' is no StringStringEntryProto: a part at its byte 0 announces 127 bytes, and has 3")):
            (self.folder / "in.onnx").write_bytes(PLACES["NodeProto"](extra))
            run = judge.serve("optimize", self.folder / "in.onnx", "-o", self.folder / "out.onnx")
            self.assertEqual(run.code, 1)
            begin = f"fuse-onnx: {self.folder}/in.onnx "
            self.assertIn(run.err, (f"{begin}has a damaged field: {expected}\n", f"{begin}is no ONNX model: protobuf cannot decode it\n"))


if __name__ == "__main__":
    unittest.main()
