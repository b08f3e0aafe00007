// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/ops/algebra.hpp>
#include <fuse/program/lower_multiples.hpp>
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
  auto const how = opening_of(op, group);
  if (how.when == opens_with::logarithm) return needs_[pattern_.terms[multiple_of_[t.child[0]]].child[0]] | root_bit;
  if (how.when == opens_with::unit) return first | root_bit;
  if (how.when == opens_with::power)
    return is_whole_weight(pattern_.terms[t.child[1]].number) ? first : first | root_bit;
  auto all = first;
  int const operands = t.children - t.attributes;
  for (int i = 1; i < operands; ++i) all |= needs_[t.child[i]];
  if (group == op_group::sum || operands < 2 || (first & needs_[t.child[1]] & root_bit) == 0) return all;
  parts found{};
  collect(t.child[0], 1, group, found);
  collect(t.child[1], how.further, group, found);
  all = 0;
  for (int i = 0; i < found.count; ++i) {
    all |= needs_[found.all[i].term];
    if (!is_whole_weight(found.all[i].weight)) all |= root_bit;
  }
  return all;
}

/// The same, without those in sums and products among the parts. One part with exponent 1 needs no product around it,
/// nor does it where that is `added`: its number may be a coefficient, outside of it.
constexpr std::uint64_t lowering::needs_directly(parts const& of, op_group kind, bool added) const {
  std::uint64_t all = 0;
  int required = !added && of.has_number && of.number != (kind == op_group::product ? 1 : 0) ? 1 : 0;
  int const count = of.count;
  for (int i = 0; i < count; ++i) {
    auto const p = of.all[i];
    auto const kind_of_part = pattern_.terms[p.term].kind;
    if ((kind_of_part == term_kind::rest && pattern_.terms[p.term].index == 0) || kind_of_part == term_kind::optional)
      continue;
    // (The number of a product that is added several times may be among its factors.)
    bool const once = p.weight == 1 || p.weight == -1 || (kind == op_group::sum && group_[p.term] == op_group::product);
    required += once ? 1 : 2;
    if (kind_of_part == term_kind::neutral && group_[p.term] == op_group::none) all |= needs_[p.term];
    if (kind == op_group::product && !is_whole_weight(p.weight)) all |= root_bit;
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
  if (group_[at] == kind && t.kind == term_kind::neutral) {  // or it is a rest
    auto const how = opening_of(t.op, kind);
    auto first = t.child[0];
    double exponent = 1;
    if (how.when == opens_with::logarithm) {
      exponent = multiple_[first];
      first = pattern_.terms[multiple_of_[first]].child[0];
    } else if (how.when == opens_with::power) {
      exponent = pattern_.terms[t.child[1]].number;
    }
    if (allows(how.when, weight, exponent)) {
      collect(first, weight * how.first * exponent, kind, into);
      for (int i = 1; how.further != 0 && i < t.operands(); ++i) collect(t.child[i], weight * how.further, kind, into);
      return;
    }
    if (how.when == opens_with::one_over && pattern_.terms[first].kind == term_kind::number &&
        pattern_.terms[first].number == 1)
      return collect(t.child[1], weight * how.further, kind, into);
  } else if (t.kind == term_kind::number && (kind == op_group::sum || is_small(weight))) {
    if (kind == op_group::product) return add_number(t.number, weight, into, t.tolerance);
    widen(into, t.tolerance);
    into.number += weight * t.number;
    return;
  } else if (multiple_of_[at] != at && group_[at] != kind) {
    auto const times = multiple_[at];
    if (kind == op_group::sum) return collect(multiple_of_[at], weight * times, kind, into);
    if (is_factor(at) && is_small(weight)) {
      add_number(times, weight, into);
      return collect(multiple_of_[at], weight, kind, into);
    }
  }
  add_part(at, weight, kind, into);
}
/// By which number two products of the same factors differ; 0: they have others.
constexpr double lowering::ratio(std::uint8_t a, std::uint8_t b) {
  if (group_[a] != op_group::product) return 0;
  parts of_a{}, of_b{};
  of_a.number = of_b.number = 1;
  collect(a, 1, op_group::product, of_a);
  collect(b, 1, op_group::product, of_b);
  auto const usual = static_cast<float>(usual_tolerance);
  if (of_a.count != of_b.count || of_a.tolerance > usual || of_b.tolerance > usual) return 0;
  for (int i = 0; i < of_a.count; ++i) {
    bool found = false;
    for (int k = 0; k < of_b.count && !found; ++k)
      found = of_a.all[i].term == of_b.all[k].term && of_a.all[i].weight == of_b.all[k].weight;
    if (!found || pattern_.terms[of_a.all[i].term].kind == term_kind::rest) return 0;
  }
  return of_b.number / of_a.number;
}
/// Notes a number that is within a tolerance.
constexpr void lowering::widen(parts& of, double tolerance) {
  of.has_number = true;
  if (static_cast<float>(tolerance) > of.tolerance) of.tolerance = static_cast<float>(tolerance);
}
/// One more number of a product.
constexpr void lowering::add_number(double number, double weight, parts& into, double tolerance) {
  widen(into, tolerance);
  for (double w = weight; w != 0; w += w > 0 ? -1 : 1)
    into.number = w > 0 ? into.number * number : into.number / number;
}
/// Like terms add up: those of a sum, whole powers of a product. The root of what may be negative, squared, is not
/// that.
constexpr void lowering::add_part(std::uint8_t at, double weight, op_group kind, parts& into) {
  auto const t = pattern_.terms[at];
  for (std::uint8_t i = 0; i < into.count && t.kind != term_kind::rest; ++i) {
    if (into.all[i].term != at) {
      if (kind != op_group::sum || group_[at] != op_group::product) continue;
      auto const times = ratio(into.all[i].term, at);
      if (times == 0) continue;
      weight *= times;
    }
    auto const known = into.all[i].weight;
    if (kind == op_group::product && !(is_whole_weight(known) && is_whole_weight(weight))) continue;
    if ((known < 0) != (weight < 0)) return fail(rule_error::cancels, t.name.empty() ? rule_.name : t.name);
    into.all[i].weight = known + weight;
    return;
  }
  if (into.count == 24) {
    into.overflow = true;
    return;
  }
  into.all[into.count++] = {at, 0, weight};
}

}  // namespace fuse::inline v0::detail
