// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/program/lower_writing.hpp>

namespace fuse::inline v0::detail {

/// More than six operators, each counted as often as it would be matched.
constexpr bool lowering::large(std::uint8_t at) const { return tree_size(at, 6) > 6; }

constexpr int lowering::tree_size(std::uint8_t at, int limit) const {
  auto const& t = pattern_[at];
  int size = t.kind == term_kind::neutral || t.kind == term_kind::named || t.kind == term_kind::exact ? 1 : 0;
  for (int i = 0; i < t.children && size <= limit; ++i) size += tree_size(t.child[i], limit);
  return size;
}

/// 0 to 3: operators, the more telling the less; 4 scalars, 5 captures, 6 what may be absent, 7 the rest.
constexpr std::uint8_t lowering::priority(std::uint8_t at) const {
  auto const& t = pattern_.terms[at];
  switch (t.kind) {
    case term_kind::capture: return 5;
    case term_kind::neutral: return reduction_[at] ? 1 : 2;
    case term_kind::scalar:
    case term_kind::number: return 4;
    case term_kind::optional: return 6;
    case term_kind::rest: return rest_priority;
    case term_kind::users:
    case term_kind::known_as:
    case term_kind::through: return priority(t.child[0]);
    default: return 3;
  }
}

/// Operators without which no sum or product of these parts can match, reached through sums and products alone.
constexpr std::uint64_t lowering::needs(parts const& of) {
  std::uint64_t all = 0;
  for (std::uint8_t i = 0; i < of.count; ++i) {
    all |= needs(of.all[i].term);
    if (static_cast<int>(of.all[i].weight) != of.all[i].weight) all |= root_bit;
  }
  return all;
}

/// The same, without those in sums and products among the parts. One part with exponent 1 needs no product around it.
constexpr std::uint64_t lowering::needs_directly(parts const& of, op_group kind) const {
  std::uint64_t all = 0;
  int required = of.has_number && of.number != (kind == op_group::product ? 1 : 0) ? 1 : 0;
  for (std::uint8_t i = 0; i < of.count; ++i) {
    auto const t = pattern_.terms[of.all[i].term];
    auto const weight = of.all[i].weight;
    if (t.kind == term_kind::rest || t.kind == term_kind::optional) continue;
    required += weight == 1 || weight == -1 ? 1 : 2;
    if (t.kind == term_kind::neutral && group_[of.all[i].term] == op_group::none) all |= operator_bit(t.op);
    if (static_cast<int>(weight) != weight) all |= root_bit;
  }
  return required < 2 ? all : all | (kind == op_group::sum ? sum_bit : product_bit);
}

constexpr std::uint64_t lowering::needs(std::uint8_t at) {
  if (needs_known_[at]) return needs_[at];
  auto const& t = pattern_[at];
  std::uint64_t found = 0;
  if (t.kind == term_kind::users || t.kind == term_kind::known_as || t.kind == term_kind::through) {
    found = needs(t.child[0]);
  } else if (t.kind == term_kind::alternatives) {
    found = ~std::uint64_t{0};
    for (int i = 0; i < t.children; ++i) found &= needs(t.child[i]);
  } else if (t.kind == term_kind::neutral && group_[at] == op_group::none) {
    found = operator_bit(t.op);
  } else if (t.kind == term_kind::neutral) {
    auto const inside = parts_of(at, 1, group_[at]);
    found = inside.overflow ? 0 : needs(inside);
  }
  needs_known_[at] = true;
  return needs_[at] = found;
}

/// The parts of a product or sum, with their exponents or signs, the most telling first.
constexpr lowering::parts lowering::parts_of(std::uint8_t at, double weight, op_group kind) {
  parts found{};
  if (kind == op_group::product) found.number = 1;
  collect(at, weight, kind, found);
  for (std::uint8_t i = 0; i < found.count; ++i) {
    auto moving = found.all[i];
    moving.priority = priority(moving.term);
    if (moving.priority < 4 && moving.weight != 1 && moving.weight != -1) moving.priority = 0;
    std::uint8_t to = i;
    for (; to > 0 && found.all[to - 1].priority > moving.priority; --to) found.all[to] = found.all[to - 1];
    found.all[to] = moving;
  }
  return found;
}
constexpr void lowering::collect(std::uint8_t at, double weight, op_group kind, parts& into) {
  auto const t = pattern_.terms[at];
  bool const whole = static_cast<int>(weight) == weight;
  if (t.kind == term_kind::neutral && kind == op_group::sum) {
    switch (t.op) {
      case opcode::add:
      case opcode::sum_of:
        for (int i = 0; i < t.operands(); ++i) collect(t.child[i], weight, kind, into);
        return;
      case opcode::sub: collect(t.child[0], weight, kind, into); return collect(t.child[1], -weight, kind, into);
      case opcode::neg: return collect(t.child[0], -weight, kind, into);
      default: break;
    }
  }
  if (t.kind == term_kind::neutral && kind == op_group::product && whole) {
    bool const unit = weight == 1 || weight == -1;
    switch (t.op) {
      case opcode::mul: collect(t.child[0], weight, kind, into); return collect(t.child[1], weight, kind, into);
      case opcode::div: collect(t.child[0], weight, kind, into); return collect(t.child[1], -weight, kind, into);
      case opcode::reciprocal: return collect(t.child[0], -weight, kind, into);
      case opcode::square: return collect(t.child[0], 2 * weight, kind, into);
      case opcode::sqrt:
        if (unit) return collect(t.child[0], weight / 2, kind, into);
        break;
      case opcode::rsqrt:
        if (unit) return collect(t.child[0], -weight / 2, kind, into);
        break;
      case opcode::pow:
        if (unit && pattern_[t.child[1]].kind == term_kind::number)
          return collect(t.child[0], weight * pattern_[t.child[1]].number, kind, into);
        break;
      default: break;
    }
  }
  if (t.kind == term_kind::number && (kind == op_group::sum || weight == 1 || weight == -1)) {
    into.has_number = true;
    if (static_cast<float>(t.tolerance) > into.tolerance) into.tolerance = static_cast<float>(t.tolerance);
    if (kind == op_group::sum)
      into.number += weight * t.number;
    else
      into.number = weight == 1 ? into.number * t.number : into.number / t.number;
    return;
  }
  for (std::uint8_t i = 0; i < into.count; ++i)
    if (into.all[i].term == at && t.kind != term_kind::rest) {
      into.all[i].weight += weight;
      return;
    }
  if (into.count == 24) {
    into.overflow = true;
    return;
  }
  into.all[into.count++] = {at, 0, weight};
}

}  // namespace fuse::inline v0::detail
