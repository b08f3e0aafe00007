// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/infer/layout_of.hpp>
#include <fuse/program/lower_conditions.hpp>
#include <fuse/program/lower_names.hpp>
#include <fuse/program/lower_pattern.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

// Roots of patterns: where they are entered, and how further ones are found.

constexpr void lowering::lower_roots(std::uint8_t root) {
  auto const& t = pattern_.terms[root];
  if (t.kind == term_kind::alternatives) {
    std::uint32_t common = ~0u, any = 0;
    for (int i = 0; i < t.children && !failed_; ++i) {
      lower_roots(t.child[i]);
      common &= bound_;
      any |= bound_;
    }
    partly_ |= any & ~common;
    bound_ = common;
    return;
  }
  next_register_ = 1;
  next_frame_ = 0;
  bound_ = 0;
  register_of_ = {};
  auto const first = size_;
  std::uint8_t main = root;
  several_roots_ = t.kind == term_kind::roots;
  if (several_roots_) main = t.child[0];
  if (pattern_.terms[main].kind == term_kind::alternatives) return fail(rule_error::unreachable_root, rule_.name);
  if (is_other_result(main)) return fail(rule_error::result_as_root, rule_.name);
  auto const r = new_register();
  out.root_registers[0] = r;
  out.root_count = 1;
  add_entries(main, first);
  // What tells most is asked before the root is opened, as a sum may be matched in many ways: conditions on its name,
  // unless a refusal is reported, and what else uses it. So is what is known before a further root is looked for.
  auto const outermost = main;
  for (; is_name(pattern_.terms[main]); main = pattern_.terms[main].child[0]) {
    register_of_.of[main] = r;
    named(main, r);
  }
  bool const alone = main != outermost;
  std::uint32_t asked = 0;
  if (alone) ask_ahead(asked);
  int next = 1;
  while (several_roots_ && alone && next < t.children && uses_a_name(t.child[next])) further_root(t.child[next++]);
  value(main, r, sign_use::strict, 0, alone);
  while (several_roots_ && next < t.children && !failed_) {
    ask_ahead(asked);
    further_root(t.child[next++]);
  }
  for (std::size_t i = 0; i < rule_.condition_count; ++i)
    if ((asked >> i & 1u) == 0) add_condition(rule_.conditions[i]);
  for (int i = 0; i < (several_roots_ ? t.children : 1); ++i) name_root(several_roots_ ? t.child[i] : root);
  emit({.code = step::accept});
  unreached_ = size_;
}
/// Asks the quiet conditions about what is bound, unless they were `asked`, which has a bit for each condition.
constexpr void lowering::ask_ahead(std::uint32_t& asked) {
  for (std::size_t i = 0; i < rule_.condition_count; ++i) {
    auto const& what = rule_.conditions[i];
    bool known = what.silent && what.count != 0 && (asked >> i & 1u) == 0;
    for (std::size_t k = 0; k < what.count && known; ++k) known = is_bound(what.captures[k]);
    if (!known) continue;
    add_condition(what);
    asked |= 1u << i;
  }
}
/// Whether a root is, on every way to match it, above a name that is bound.
constexpr bool lowering::uses_a_name(std::uint8_t root) {
  way found{};
  int branches = 0;
  if (!way_to_bound(root, false, branches, found)) return false;
  for (int i = 0; i < found.length; ++i)
    if (auto const kind = pattern_.terms[found.terms[i]].kind;
        kind == term_kind::alternatives || kind == term_kind::optional)
      return false;
  return true;
}
/// Notes the names that a root has by `as`.
constexpr void lowering::name_root(std::uint8_t at) {
  auto const& t = pattern_.terms[at];
  bool const around = t.kind == term_kind::known_as || t.kind == term_kind::users || t.kind == term_kind::through ||
                      t.kind == term_kind::alternatives;
  if (t.kind == term_kind::known_as) root_names_ |= 1u << slot(t.name, slot_kind::value);
  for (int i = 0; around && i < t.children; ++i) name_root(t.child[i]);
}

/// Whether a root is a result of its operator that is not the first: matching begins at first results.
constexpr bool lowering::is_other_result(std::uint8_t at) const {
  auto const& t = pattern_.terms[at];
  if (t.kind == term_kind::result) return t.index != 0;
  bool const around = t.kind == term_kind::known_as || t.kind == term_kind::users || t.kind == term_kind::through ||
                      t.kind == term_kind::wrapped || t.kind == term_kind::alternatives;
  for (int i = 0; around && i < t.children; ++i)
    if (is_other_result(t.child[i])) return true;
  return false;
}

constexpr void lowering::add_entry(std::uint16_t first, std::uint16_t tag, bool by_name, std::uint8_t strip) {
  for (std::uint16_t i = 0; i < out.entry_count; ++i)
    if (out.entries[i].first == first && out.entries[i].tag == tag && out.entries[i].by_name == by_name) return;
  if (out.entry_count == lowered_rule::entry_capacity) return fail(rule_error::too_large, rule_.name);
  out.entries[out.entry_count++] = {first, tag, by_name, strip};
}
constexpr void lowering::add_entries(std::uint8_t root, std::uint16_t first) {
  auto const& t = pattern_.terms[root];
  switch (t.kind) {
    case term_kind::neutral:
      if (group_[root] != op_group::none) {
        add_entries_of_group(root, first);
      } else {
        add_entry(first, static_cast<std::uint16_t>(t.op), false, 0);
        if (reduction_[root])
          for (auto op : {opcode::unsqueeze, opcode::reshape})
            add_entry(first, static_cast<std::uint16_t>(op), false, 0);
      }
      break;
    case term_kind::named:
    case term_kind::exact: add_entry(first, t.index, true, 0); break;
    case term_kind::wrapped: {
      auto const code = names_.code(t.name);
      if (code == 0) return fail(rule_error::unknown_operator, t.name);
      auto const op = names_.rows[code - 1u].op;
      add_entry(first, op == opcode::opaque ? code : static_cast<std::uint16_t>(op), op == opcode::opaque, 0);
      add_entries(t.child[0], first);
      break;
    }
    case term_kind::through: {
      through_set set{};
      auto inside = collect_set(root, set);
      add_transparent_entries(set, first);
      add_entries(inside, first);
      break;
    }
    case term_kind::users:
    case term_kind::known_as:
    case term_kind::result: add_entries(t.child[0], first); break;
    case term_kind::rearranged:
      for (auto const& known : operator_table)
        if (may_move_elements(known.op)) add_entry(first, static_cast<std::uint16_t>(known.op), false, 0);
      break;
    case term_kind::alternatives:  // of the one part that is left of a sum or product
      for (int i = 0; i < t.children; ++i) add_entries(t.child[i], first);
      break;
    default: return fail(rule_error::unreachable_root, rule_.name);
  }
  add_transparent_entries(everywhere_, first);
}
/// A sum or product, a product by -1 that stands for a sum, or the one part of it that is left where all others are
/// absent.
constexpr void lowering::add_entries_of_group(std::uint8_t root, std::uint16_t first) {
  auto const kind = group_[root];
  for (auto const& each : openings)
    if (each.kind == kind && (each.when != opens_with::alike || has_number_[root]))
      add_entry(first, static_cast<std::uint16_t>(each.op), false, 0);
  auto const found = parts_of(root, 1, kind);
  int required = found.has_number && found.number != (kind == op_group::product ? 1 : 0) ? 2 : 0;
  std::uint8_t one = 0;
  for (int i = 0; i < found.count; ++i) {
    auto const& one_of = pattern_.terms[found.all[i].term];
    if ((one_of.kind == term_kind::rest && one_of.index == 0) || one_of.kind == term_kind::optional) continue;
    bool const product = kind == op_group::sum && group_[found.all[i].term] == op_group::product;
    required += found.all[i].weight == 1 || (product && found.all[i].weight > 0) ? 1 : 2;
    one = found.all[i].term;
  }
  if (required == 1 && is_operator(one)) add_entries(one, first);
  for (int i = 0; required == 0 && i < found.count; ++i)
    if (auto const& one_of = pattern_.terms[found.all[i].term];
        one_of.kind == term_kind::optional && found.all[i].weight == 1 && is_operator(one_of.child[0]))
      add_entries(one_of.child[0], first);
}
/// Whether a term is found at an operator, which may be a root.
constexpr bool lowering::is_operator(std::uint8_t at) const {
  auto const& t = pattern_.terms[at];
  switch (t.kind) {
    case term_kind::neutral:
    case term_kind::named:
    case term_kind::exact: return true;
    case term_kind::alternatives: {
      bool all = true;
      for (int i = 0; i < t.children; ++i) all = all && is_operator(t.child[i]);
      return all;
    }
    case term_kind::wrapped:
    case term_kind::through:
    case term_kind::users:
    case term_kind::known_as:
    case term_kind::result: return is_operator(t.child[0]);
    default: return false;
  }
}
constexpr void lowering::add_transparent_entries(through_set const& set, std::uint16_t first) {
  for (std::size_t i = 0; i < set.count; ++i)
    add_entry(first, set.ops[i], set.by_name[i], everywhere_id_ != 0 ? everywhere_id_ : set_id(set));
}

/// A root that is found from what is bound: the users of a bound term, step by step up to the root, which is then
/// matched whole. There is a way for each branch of an either, from the first bound term below it; and from the last
/// one, as what stands between may be computed once more. What the roots before it are made of is found already.
constexpr void lowering::further_root(std::uint8_t root) {
  if (is_other_result(root)) return fail(rule_error::result_as_root, rule_.name);
  if (out.root_count == sizeof(out.root_registers)) return fail(rule_error::too_large, rule_.name);
  if (auto const at = register_of_.of[root]; at != 0) {
    out.root_registers[out.root_count++] = at;
    return;
  }
  way ways[max_ways]{};
  int count = 0;
  for (bool const last : {false, true})
    for (int branches = 0; branches < max_ways && count < max_ways; ++branches) {
      way found{};
      int left = branches;
      bool known = !way_to_bound(root, last, left, found) || left != 0;
      for (int i = 0; i < count && !known; ++i) known = ways[i] == found;
      if (!known) ways[count++] = found;
      if (count == 0) return fail(rule_error::unreachable_root, rule_.name);
    }
  auto const at = new_register();
  out.root_registers[out.root_count++] = at;
  lower_forks(count, false, [&](int i) { climb(ways[i], at); });
  if (!failed_) value(root, at);
}
/// The users from the bound end of a way up to its root, which goes to register `to`.
constexpr void lowering::climb(way const& along, std::uint8_t to) {
  auto const bound = along.terms[along.length - 1];
  auto at = register_of_.of[bound];
  if (at == 0) {
    at = new_register();
    emit({.code = step::recall, .a = at, .b = slot(pattern_[bound].name, slot_kind::value)});
  }
  std::uint16_t last = no_instruction;
  for (int i = along.length - 2; i >= 0; --i) {
    auto const& t = pattern_[along.terms[i]];
    // What may stand between, or nothing: an operator that is there or not, and what is looked through.
    bool const wraps = t.kind == term_kind::wrapped || t.kind == term_kind::through;
    if (!wraps && !is_node(t)) continue;
    through_set set = everywhere_;
    if (wraps) add_transparent(set, t.name);
    instruction made{.code = step::user, .a = at, .through = set.count == 0 ? std::uint8_t{0} : set_id(set)};
    int above = i - 1;
    while (above > 0 && is_name(pattern_[along.terms[above]])) --above;
    if (above >= 0 && pattern_[along.terms[above]].kind == term_kind::result)
      made.c = static_cast<std::uint8_t>(pattern_[along.terms[above]].index);
    if (wraps) {
      made.flags = instruction::optional;
    } else if (is_spelled(along.terms[i])) {
      // However many operators spell it; none where all but one part of it are absent.
      made.flags = instruction::climbs;
      while (i > 0 && (!is_node(pattern_[along.terms[i - 1]]) || is_spelled(along.terms[i - 1])) &&
             pattern_[along.terms[i - 1]].kind != term_kind::wrapped &&
             pattern_[along.terms[i - 1]].kind != term_kind::through)
        --i;
      if (i > 0 || last != no_instruction) made.flags |= instruction::optional;
    } else if (t.kind == term_kind::neutral) {
      made.op = static_cast<std::uint16_t>(t.op);
    } else {
      made.op = t.index;
      made.flags = instruction::named;
    }
    made.b = at = new_register();
    last = size_;
    emit(made);
  }
  if (last == no_instruction) return fail(rule_error::unreachable_root, rule_.name);
  if (!failed_) out.code[last].b = to;
}
// Whether a term says something of the one below it alone.
constexpr bool lowering::is_name(term const& t) { return t.kind == term_kind::known_as || t.kind == term_kind::users; }
// The way from `at` down to a term that has a register, root first: the first such one, or the `last` one below that.
// `branches` says which ones of eithers, and what is left of it says nothing.
constexpr bool lowering::way_to_bound(std::uint8_t at, bool last, int& branches, way& into) {
  if (into.length == way::capacity) return false;
  into.terms[into.length++] = at;
  auto const& t = pattern_[at];
  bool const bound = register_of_.of[at] != 0 || (t.kind == term_kind::capture && is_bound(t.name));
  if (bound && (!last || into.length == 1)) return into.length > 1;
  bool const either = t.kind == term_kind::alternatives;
  int const before = branches, only = either ? branches % t.children : 0;
  if (either) branches /= t.children;
  for (int i = 0; i < t.children; ++i)
    if ((!either || i == only) && pattern_[t.child[i]].kind != term_kind::attribute &&
        way_to_bound(t.child[i], last, branches, into))
      return true;
  if (bound) return true;
  branches = before;
  --into.length;
  return false;
}

constexpr bool lowering::is_bound(static_text name) const {
  for (std::uint8_t i = 0; i < out.slot_count; ++i)
    if (out.slot_names[i] == name) return (bound_ >> i & 1u) != 0;
  return false;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop
