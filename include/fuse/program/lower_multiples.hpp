// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/ops/algebra.hpp>
#include <fuse/program/lowering.hpp>

namespace fuse::inline v0::detail {

/// Whether a sum or product has a number, and which other term it is a multiple of.
constexpr void lowering::resolve_multiple(std::uint8_t at, term const& t) {
  if (group_[at] == op_group::sum) return resolve_multiple_sum(at, t);
  auto const op = pattern_.terms[at].op;
  int const factors = op == opcode::pow ? 1 : op == opcode::exp ? 0 : t.operands();  // an exponent is none
  int others = 0;                                                                    // that are no numbers
  std::uint8_t other = 0;
  double numbers = 1;
  for (int i = 0; i < factors; ++i) {
    auto const& factor = pattern_.terms[t.child[i]];
    bool const number = factor.kind == term_kind::number;
    has_number_[at] =
        has_number_[at] || (number && factor.number != 1) || has_number_[t.child[i]] || is_factor(t.child[i]);
    if (number && factor.tolerance == usual_tolerance) {
      numbers *= factor.number;
    } else {
      ++others;
      other = t.child[i];
    }
  }
  // (Not by a division: integers divide otherwise.)
  if (op != opcode::mul || others != 1 || numbers == 0 || !is_term(other)) return;
  multiple_of_[at] = multiple_of_[other];
  multiple_[at] = numbers * multiple_[other];
}
/// The same of a sum. Terms of different signs are no multiple of anything: nothing cancels.
constexpr void lowering::resolve_multiple_sum(std::uint8_t at, term const& t) {
  auto const how = opening_of(pattern_.terms[at].op, op_group::sum);
  auto const like = multiple_of_[t.child[0]];
  double sum = 0;
  for (int i = 0; i < t.operands(); ++i) {
    auto const times = multiple_[t.child[i]] * (i == 0 ? how.first : how.further);
    if (multiple_of_[t.child[i]] != like || (sum < 0 ? times > 0 : sum > 0 && times < 0)) return;
    sum += times;
  }
  if (!is_term(like)) return;
  multiple_of_[at] = like;
  multiple_[at] = sum;
}
/// Whether a term is one value, of which there may be several. (The terms of a sum stay together: one of them may be a
/// rest, or a number that is captured.)
constexpr bool lowering::is_term(std::uint8_t at) const {
  switch (pattern_.terms[at].kind) {
    case term_kind::capture:
    case term_kind::named:
    case term_kind::exact: return true;
    case term_kind::neutral: return group_[at] != op_group::sum || multiple_of_[at] != at;
    default: return false;
  }
}
/// Whether a sum is a number times one value, or minus a product: as a factor, it is both. (Minus another value is a
/// part of its own, whose sign may stand elsewhere among the factors.)
constexpr bool lowering::is_factor(std::uint8_t at) const {
  if (group_[at] != op_group::sum || multiple_of_[at] == at) return false;
  return multiple_[at] != -1 || group_[multiple_of_[at]] == op_group::product;
}

}  // namespace fuse::inline v0::detail
