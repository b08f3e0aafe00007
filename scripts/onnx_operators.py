#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes include/fuse/ops/onnx_operators.hpp: of each standard operator that the ONNX dialect has a row of, the attributes that it has at
any operator set version, the first version that has it, and the element types that it takes and gives from which version on, as the onnx
package tells them.

    build/venv/bin/python scripts/onnx_operators.py            writes it
    build/venv/bin/python scripts/onnx_operators.py --check    fails where it is not what would be written
"""

import argparse
import pathlib
import re
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "include/fuse/ops/onnx.hpp"
RESULT = ROOT / "include/fuse/ops/onnx_operators.hpp"
# In the order of fuse::element_type; all others are one.
TYPES = ["", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32", "uint64",
         "complex64", "complex128", "bfloat16"]
OTHER = len(TYPES)
MOST_OPERANDS = 5
KINDS = {"INT": "integer", "FLOAT": "number", "STRING": "text", "INTS": "integers", "FLOATS": "numbers", "TENSOR": "tensor"}

HEAD = """\
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <fuse/core/span.hpp>
#include <fuse/ops/attribute_list.hpp>
#include <fuse/ops/element_types.hpp>

// Made by scripts/onnx_operators.py from the operators of the onnx package.

namespace fuse::inline v0::detail::onnx_rows {

namespace listed {
using enum attribute_kind;

// clang-format off
"""

MIDDLE = """\
// clang-format on
}  // namespace listed

struct standard_operator {
  std::string_view name;
  int since;
  attribute_list const* attributes;
  span<element_types const> types;
};

// The standard operators in the order of their rows.
// clang-format off
inline constexpr standard_operator standard[] = {
"""

TAIL = """\
};
// clang-format on

}  // namespace fuse::inline v0::detail::onnx_rows
"""


def mask(kind, constraints):
    """A bit for each element type that a formal operand of this kind may have; 0 where that is any, or no tensor."""
    bits = 0
    for allowed in constraints.get(kind, [kind]):
        if not allowed.startswith("tensor("):
            return 0
        name = allowed[len("tensor("):-1]
        bits |= 1 << (TYPES.index(name) if name in TYPES else OTHER)
    return bits


def types_of(schema):
    """(operands, result, whether the last operand stands for any number of them)"""
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    operands = [mask(i.type_str, constraints) for i in schema.inputs][:MOST_OPERANDS]
    variadic = bool(schema.inputs) and schema.inputs[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
    return tuple(operands), mask(schema.outputs[0].type_str, constraints) if schema.outputs else 0, variadic


class Operator:
    def __init__(self, since):
        self.since, self.attributes, self.types = since, {}, []


def operators():
    known = {}
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda s: s.since_version):
        if schema.domain != "":
            continue
        operator = known.setdefault(schema.name, Operator(schema.since_version))
        for name in operator.attributes.keys() - schema.attributes.keys():
            if operator.attributes[name][2] == 0:
                operator.attributes[name][2] = schema.since_version
        for name, attribute in schema.attributes.items():  # the kind that it has in the newest version that has it
            first = 1 if schema.since_version == operator.since else schema.since_version  # what it was born with
            known_since = operator.attributes.get(name, [None, first])[1]
            before = operator.attributes.get(name, [None, first, 0, 0])[3]
            required = (before or schema.since_version) if attribute.required else 0
            operator.attributes[name] = [KINDS.get(attribute.type.name, "other"), known_since, 0, required]
        types = types_of(schema)
        if not operator.types or operator.types[-1][1] != types:
            operator.types.append((schema.since_version, types))
    return known


def made():
    rows = re.search(r"operator_row rows\[\] = \{(.*?)\n\};", ROWS.read_text(encoding="utf-8"), re.DOTALL)[1]
    known, lists, types, listed = operators(), {}, {}, []
    for name in dict.fromkeys(re.findall(r'\{"(\w+)", opcode::', rows)):
        if name not in known:
            continue
        operator = known[name]
        items = ", ".join(f'{{"{key}", {kind}' + (f", {since}, {until}" + (f", {required}" if required else "") if until or required
                                                         else f", {since}" if since > 1 else "") + "}"
                          for key, (kind, since, until, required) in sorted(operator.attributes.items()))
        versions = ", ".join("{" + f"{since}, {{{', '.join(map(hex, operands))}}}, {result:#x}, {str(variadic).lower()}" + "}"
                             for since, (operands, result, variadic) in operator.types)
        listed.append((name, operator.since, lists.setdefault(items, f"list{len(lists)}") if items else "none",
                       types.setdefault(versions, f"types{len(types)}")))
    text = HEAD
    for items, name in lists.items():
        text += f"inline constexpr attribute_info {name}_all[] = {{{items}}};\n"
    text += "inline constexpr attribute_list none{}" + "".join(f", {name}{{{name}_all}}" for name in lists.values()) + ";\n"
    for versions, name in types.items():
        text += f"inline constexpr element_types {name}[] = {{{versions}}};\n"
    text += MIDDLE
    text += "".join(f'    {{"{name}", {since}, &listed::{of}, listed::{typed}}},\n' for name, since, of, typed in listed)
    return text + TAIL


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        if RESULT.read_text(encoding="utf-8") != made():
            sys.exit(f"onnx_operators: {RESULT.relative_to(ROOT)} is not what {pathlib.Path(__file__).name} makes of the onnx package")
        return
    RESULT.write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
