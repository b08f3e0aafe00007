#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes include/fuse/ops/onnx_attributes.hpp: the attributes of each standard operator that the ONNX dialect has a row of, at any
operator set version, as the onnx package tells them.

    build/venv/bin/python scripts/onnx_attributes.py            writes it
    build/venv/bin/python scripts/onnx_attributes.py --check    fails where it is not what would be written
"""

import argparse
import pathlib
import re
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "include/fuse/ops/onnx.hpp"
RESULT = ROOT / "include/fuse/ops/onnx_attributes.hpp"
KINDS = {"INT": "integer", "FLOAT": "number", "STRING": "text", "INTS": "integers", "FLOATS": "numbers", "TENSOR": "tensor"}

HEAD = """\
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <fuse/ops/attribute_list.hpp>

// Made by scripts/onnx_attributes.py from the operators of the onnx package.

namespace fuse::inline v0::detail::onnx_rows {

namespace listed {
using enum attribute_kind;

// clang-format off
"""

MIDDLE = """\
// clang-format on
}  // namespace listed

struct operator_attributes {
  std::string_view name;
  attribute_list const* attributes;
};

// The standard operators in the order of their rows, each with the attributes that it has at some version.
// clang-format off
inline constexpr operator_attributes attributes[] = {
"""

TAIL = """\
};
// clang-format on

}  // namespace fuse::inline v0::detail::onnx_rows
"""


def schemas():
    """By operator: its attributes, each with the kind that it has in the newest version that has it."""
    known = {}
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda s: s.since_version):
        if schema.domain == "":
            attributes = known.setdefault(schema.name, {})
            for name, attribute in schema.attributes.items():
                attributes[name] = KINDS.get(attribute.type.name, "other")
    return known


def made():
    rows = re.search(r"operator_row rows\[\] = \{(.*?)\n\};", ROWS.read_text(encoding="utf-8"), re.DOTALL)[1]
    known, lists, operators = schemas(), {}, []
    for name in dict.fromkeys(re.findall(r'\{"(\w+)", opcode::', rows)):
        if name not in known:
            continue
        items = ", ".join(f'{{"{key}", {kind}}}' for key, kind in sorted(known[name].items()))
        operators.append((name, lists.setdefault(items, f"list{len(lists)}") if items else "none"))
    text = HEAD
    for items, name in lists.items():
        text += f"inline constexpr attribute_info {name}_all[] = {{{items}}};\n"
    text += "inline constexpr attribute_list none{}" + "".join(f", {name}{{{name}_all}}" for name in lists.values()) + ";\n"
    text += MIDDLE
    text += "".join(f'    {{"{name}", &listed::{of}}},\n' for name, of in operators)
    return text + TAIL


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        if RESULT.read_text(encoding="utf-8") != made():
            sys.exit(f"onnx_attributes: {RESULT.relative_to(ROOT)} is not what {pathlib.Path(__file__).name} makes of the onnx package")
        return
    RESULT.write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
