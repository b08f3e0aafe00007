// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/static_text.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/instruction.hpp>

namespace fuse::inline v0::detail {

/// What lowering asks of an operator. Made by functions of constants alone, whose results compilers remember: rules by
/// the hundreds name the same operators.
struct operator_facts {
  opcode op;
  std::uint16_t code;  ///< of its name in the dialect; 0: none
  op_group group;
  bool reduces, commutative, broadcasts;
  std::int8_t least, most;  ///< operands
  std::int8_t data = 127;   ///< ... that are no parameters in the dialect, at any version
  std::uint8_t priority;    ///< of a part that it makes, see resolve
  std::uint64_t bit;
};

[[nodiscard]] constexpr operator_facts facts_of(opcode op) {
  auto const known = info(op);
  operator_facts made{};
  made.op = op;
  made.bit = operator_bit(op);
  made.group = known.group;
  made.reduces = known.shape == shape_function::reduce;
  made.commutative = known.commutative;
  // (What quantisation multiplies by may lie along an axis.)
  made.broadcasts = (known.kind == op_kind::elementwise || known.kind == op_kind::broadcast) &&
                    op != opcode::quantize && op != opcode::dequantize;
  made.least = known.least;
  made.most = known.most < 0 ? std::int8_t{127} : known.most;
  made.priority = made.reduces ? 1 : 2;
  return made;
}

/// The same by a name; `code` is 0 for one that the dialect does not know.
[[nodiscard]] constexpr operator_facts facts_of(dialect const& names, static_text name) {
  auto const code = names.code(name);
  auto made = facts_of(code == 0 ? opcode::opaque : names.rows[code - 1u].op);
  made.code = code;
  if (code == 0) return made;
  // (Where a version has parameters among the operands, an older one mostly has attributes instead.)
  int data = -1;
  auto const& first = names.rows[code - 1u];
  for (std::size_t i = 0; i <= first.more; ++i)
    if (auto const stated = names.rows[code - 1u + i].operands; stated > data) data = stated;
  if (data >= 0) made.data = static_cast<std::int8_t>(data);
  return made;
}

}  // namespace fuse::inline v0::detail
