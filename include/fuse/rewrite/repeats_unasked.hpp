// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>

#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// Whether an operator repeats the elements of an operand only where an attribute "broadcast" says so: ONNX below
/// operator set 7.
[[nodiscard]] inline bool repeats_when_asked(operator_row const& row, int version) {
  auto const& attributes = row.attributes->all;
  auto const at = row.attributes->find("broadcast");
  return at < attributes.size() && attributes[at].is_of(version);
}

/// Why such an operator does not take these operands without further attributes, or an empty text; as it is for others.
/// Shapes must then be provably the same; that of the third operand of a gemm is that of the product, which is not
/// looked at.
[[nodiscard]] inline std::string repeats_unasked(facts const& known, operator_row const& row, int version,
                                                 span<value_id const> operands) {
  if (!repeats_when_asked(row, version)) return {};
  bool const third = row.op == opcode::gemm;
  for (std::size_t i = third ? 2 : 1; i < operands.size(); ++i)
    if (operands[i] != absent && (third || operands[0] == absent || !known.same_shape(operands[0], operands[i])))
      return "at this operator set version " + std::string(row.name) +
             " repeats no elements unless an attribute says so, and its operands are not provably of one shape";
  return {};
}

}  // namespace fuse::inline v0::detail
