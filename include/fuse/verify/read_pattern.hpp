// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <fuse/dsl/expression.hpp>
#include <fuse/dsl/rule.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/operator.hpp>

// The pattern of a rule as a dialect reads it.
namespace fuse::inline v0::detail {

/// Operators that the dialect knows by a name are what that name means.
[[nodiscard]] inline expression with_neutral_operators(expression pattern, dialect const& names, int version) {
  for (std::size_t i = 0; i < pattern.size; ++i) {
    auto& t = pattern.terms[i];
    if (t.kind != term_kind::named) continue;
    auto const* row = names.row(names.code(std::string_view(t.name)), version);
    if (row == nullptr || row->op == opcode::opaque) continue;
    t.kind = term_kind::neutral;
    t.op = row->op;
  }
  return pattern;
}

/// Whether a version has the operator: the standard's own, where that has one at any version.
[[nodiscard]] inline bool is_written_at(dialect const& names, opcode op, int version) {
  auto const to = names.emitted(op, names.newest, target::standard) != nullptr ? target::standard : target::any;
  return names.emitted(op, version, to) != nullptr;
}

/// Whether sums and products are made of it, by whatever operators a version has.
[[nodiscard]] inline bool is_of_groups(opcode op) {
  return info(op).group != op_group::none || op == opcode::square || op == opcode::rsqrt;
}

/// Whether a version, or a function, has all operators that the right side may write.
[[nodiscard]] inline bool is_replaced_at(rewrite_rule const& rule, dialect const& names, int version) {
  for (std::size_t i = 0; i < rule.replacement.size; ++i)
    if (auto const& t = rule.replacement[i]; t.kind == term_kind::neutral && !is_of_groups(t.op))
      if (!is_written_at(names, t.op, version) && (names.stands_in == nullptr || !names.stands_in(t.op, 1)))
        return false;
  return true;
}

/// A version, drawn by `seed`, that has all operators of the pattern, and mostly all of the right side.
[[nodiscard]] inline int drawn_version(rewrite_rule const& rule, dialect const& names, std::uint64_t seed) {
  constexpr int wanted[] = {13, 17, 18, 20, 21, 23, 24};
  auto const last = std::size(wanted) - 1;
  bool const replaced = seed / std::size(wanted) % 4 != 0 && is_replaced_at(rule, names, wanted[last]);
  for (auto at = seed % std::size(wanted); at < last; ++at) {
    if (replaced && !is_replaced_at(rule, names, wanted[at])) continue;
    auto const pattern = with_neutral_operators(rule.pattern, names, wanted[at]);
    bool all = true;
    for (std::size_t i = 0; i < pattern.size; ++i)
      if (auto const& t = pattern[i]; t.kind == term_kind::neutral && !is_of_groups(t.op))
        all = all && is_written_at(names, t.op, wanted[at]);
    if (all) return wanted[at];
  }
  return wanted[last] < names.newest ? wanted[last] : names.newest;
}

}  // namespace fuse::inline v0::detail
