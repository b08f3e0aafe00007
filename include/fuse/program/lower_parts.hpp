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

/// What a product or sum needs below it, once its operands are known. A root, or a power that is not whole, is a
/// factor's; where two operands have one, the powers may add up to whole ones.
constexpr std::uint64_t lowering::needs_of(term const& t, opcode op, op_group group) {
  auto const first = needs_[t.child[0]];
  if (op == opcode::sqrt || op == opcode::rsqrt) return first | root_bit;
  if (op == opcode::pow) {
    auto const by = pattern_.terms[t.child[1]];
    return static_cast<int>(by.number) == by.number ? first : first | root_bit;
  }
  auto all = first;
  int const operands = t.children - t.attributes;
  for (int i = 1; i < operands; ++i) all |= needs_[t.child[i]];
  if (group == op_group::sum || operands < 2 || (first & needs_[t.child[1]] & root_bit) == 0) return all;
  parts found{};
  collect(t.child[0], 1, group, found);
  collect(t.child[1], op == opcode::div ? -1 : 1, group, found);
  all = 0;
  for (int i = 0; i < found.count; ++i) {
    all |= needs_[found.all[i].term];
    if (static_cast<int>(found.all[i].weight) != found.all[i].weight) all |= root_bit;
  }
  return all;
}

/// The same, without those in sums and products among the parts. One part with exponent 1 needs no product around it.
constexpr std::uint64_t lowering::needs_directly(parts const& of, op_group kind) const {
  std::uint64_t all = 0;
  int required = of.has_number && of.number != (kind == op_group::product ? 1 : 0) ? 1 : 0;
  int const count = of.count;
  for (int i = 0; i < count; ++i) {
    auto const p = of.all[i];
    auto const kind_of_part = pattern_.terms[p.term].kind;
    if ((kind_of_part == term_kind::rest && pattern_.terms[p.term].index == 0) || kind_of_part == term_kind::optional)
      continue;
    required += p.weight == 1 || p.weight == -1 ? 1 : 2;
    if (kind_of_part == term_kind::neutral && group_[p.term] == op_group::none) all |= needs_[p.term];
    if (static_cast<int>(p.weight) != p.weight) all |= root_bit;
  }
  return required < 2 ? all : all | (kind == op_group::sum ? sum_bit : product_bit);
}

/// The parts of a product or sum, with their exponents or signs, the most telling first.
constexpr lowering::parts lowering::parts_of(std::uint8_t at, double weight, op_group kind) {
  parts found{};
  if (kind == op_group::product) found.number = 1;
  collect(at, weight, kind, found);
  int const count = found.count;
  for (int i = 0; i < count; ++i) {
    auto moving = found.all[i];
    moving.priority = priority_[moving.term];
    if (moving.priority < 4 && moving.weight != 1 && moving.weight != -1) moving.priority = 0;
    int to = i;
    for (; to > 0 && found.all[to - 1].priority > moving.priority; --to) found.all[to] = found.all[to - 1];
    found.all[to] = moving;
  }
  return found;
}
constexpr void lowering::collect(std::uint8_t at, double weight, op_group kind, parts& into) {
  auto const t = pattern_.terms[at];
  bool const opens = group_[at] == kind;  // or it is a rest
  if (opens && kind == op_group::sum) {
    switch (t.op) {
      case opcode::add:
      case opcode::sum_of:
        for (int i = 0; i < t.operands(); ++i) collect(t.child[i], weight, kind, into);
        return;
      case opcode::sub: collect(t.child[0], weight, kind, into); return collect(t.child[1], -weight, kind, into);
      case opcode::neg: return collect(t.child[0], -weight, kind, into);
      default: break;
    }
  } else if (opens && static_cast<int>(weight) == weight) {
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
  } else if (t.kind == term_kind::number && (kind == op_group::sum || weight == 1 || weight == -1)) {
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
