// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>

#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// Whether the extents of `b` are the last ones of `a`, or it has one element and no more axes.
[[nodiscard]] inline bool repeats_along_first_axes(facts const& known, value_id a, value_id b) {
  if (!known.has_rank(a) || !known.has_rank(b)) return false;
  auto const whole = known.shape(a), part = known.shape(b);
  if (part.size() > whole.size()) return false;
  bool last = true, single = true;
  for (std::size_t i = 0; i < part.size(); ++i) {
    last = last && part[i] == whole[whole.size() - part.size() + i];
    single = single && part[i] == extent(1);
  }
  return last || single;
}

/// Why an operator whose operands have one shape does not take these, or an empty text; as it is for others. `asked`:
/// an attribute says that the second operand is repeated along axes that it lacks. Shapes must be provably so; that of
/// the third operand of a gemm is that of the product, which is not looked at.
[[nodiscard]] inline std::string repeats_unasked(facts const& known, operator_row const& row,
                                                 span<value_id const> operands, bool asked = false) {
  if (!row.one_shape) return {};
  bool const third = row.op == opcode::gemm;
  if (third && asked) return {};
  for (std::size_t i = third ? 2 : 1; i < operands.size(); ++i) {
    if (operands[i] == absent) continue;
    if (third || operands[0] == absent || !known.same_shape(operands[0], operands[i]))
      if (!asked || operands[0] == absent || !repeats_along_first_axes(known, operands[0], operands[i]))
        return "at this operator set version " + std::string(row.name) +
               (asked ? " repeats its second operand along the first axes alone, and its operands are not provably so"
                      : " repeats no elements unless an attribute says so, and its operands are not provably of one "
                        "shape");
  }
  return {};
}

}  // namespace fuse::inline v0::detail
