// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/infer/layout_of.hpp>
#include <fuse/program/lower_names.hpp>
#include <fuse/program/lower_pattern.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr lowering::lowering(lowered_rule& into, rewrite_rule const& rule, dialect const& names)
    : out(into), rule_(rule), names_(names) {
  out.name = rule.name;
  out.summary = rule.summary_text;
  out.stage = rule.stage_number;
  out.benefit = rule.benefit_value;
  out.equal_cost = rule.equal_cost;
  out.silent = rule.silent;
  if (rule.pattern.too_large || rule.replacement.too_large || rule.too_many)
    fail(rule_error::too_large, rule.name);
  else if (rule.replacement.size == 0)
    fail(rule_error::no_replacement, rule.name);
  for (std::size_t i = 0; i < rule.transparent_count; ++i) add_transparent(everywhere_, rule.transparent[i]);
  resolve();
  if (failed_) return;
  if (everywhere_.count != 0) everywhere_id_ = set_id(everywhere_);
  lower_roots(pattern_.root());
  out.size = size_;
  if (!failed_) lower_replacement();
}

// Roots

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
  value(main, r);
  if (several_roots_)
    for (int i = 1; i < t.children; ++i) further_root(t.child[i]);
  for (std::size_t i = 0; i < rule_.condition_count; ++i) add_condition(rule_.conditions[i]);
  for (int i = 0; i < (several_roots_ ? t.children : 1); ++i) name_root(several_roots_ ? t.child[i] : main);
  emit({.code = step::accept});
  unreached_ = size_;
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
/// one, as what stands between may be computed once more.
constexpr void lowering::further_root(std::uint8_t root) {
  if (is_other_result(root)) return fail(rule_error::result_as_root, rule_.name);
  if (out.root_count == sizeof(out.root_registers)) return fail(rule_error::too_large, rule_.name);
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

constexpr void lowering::add_condition(condition const& added) {
  std::uint8_t at = 0;
  for (; at < out.condition_count; ++at) {
    auto const& known = out.conditions[at].what;
    bool equal = known.name == added.name && known.count == added.count;
    for (std::size_t i = 0; equal && i < added.count; ++i) equal = known.captures[i] == added.captures[i];
    if (equal) break;
  }
  if (at == out.condition_count) {
    if (at == lowered_rule::condition_capacity) return fail(rule_error::too_large, rule_.name);
    out.conditions[at].what = added;
    for (std::size_t i = 0; i < added.count; ++i) {
      std::uint8_t found = no_slot;
      for (std::uint8_t s = 0; found == no_slot && s < out.slot_count; ++s)
        if (out.slot_names[s] == added.captures[i]) found = s;
      // "axes" is there for conditions whether a reduction captured it or not.
      if (found == no_slot && added.captures[i] != "axes" && !names(pattern_, added.captures[i]))
        return fail(rule_error::unbound_condition, added.captures[i]);
      out.conditions[at].slots[i] = found;
    }
    ++out.condition_count;
  } else {
    for (std::size_t i = 0; i < added.count; ++i)
      for (std::uint8_t s = 0; s < out.slot_count; ++s)
        if (out.slot_names[s] == added.captures[i]) out.conditions[at].slots[i] = s;
  }
  emit({.code = step::condition, .op = at});
}
constexpr bool lowering::names(expression const& in, static_text name) {
  for (std::uint16_t i = 0; i < in.size; ++i)
    if (in[i].name == name) return true;
  return false;
}

// Replacements

/// The first operands of an operator, and its attributes, are bound in every branch of an either.
constexpr void lowering::require_operands(expression const& in, term const& t, int required) {
  if (partly_ == 0) return;
  for (int i = 0; i < t.children; ++i) {
    auto const* given = &in[t.child[i]];
    if (given->kind == term_kind::attribute) {
      if (given->children == 0) continue;
      given = &in[given->child[0]];
    } else if (i >= required) {
      continue;
    }
    bool const one =
        given->kind == term_kind::capture || given->kind == term_kind::scalar || given->kind == term_kind::parameter;
    if (one && (partly_ >> known(given->name) & 1u) != 0) return fail(rule_error::not_in_all_branches, given->name);
  }
}

/// The slot of the axes that a row has: the one that is said, or the one captured parameter of the rule; none where
/// there is none.
constexpr std::uint8_t lowering::axes_of_row(expression const& in, term const& t) {
  if (t.children == 3) return known(in[t.child[2]].name);
  std::uint8_t found = no_slot;
  for (std::uint8_t i = 0; i < out.slot_count; ++i) {
    if (out.slot_kinds[i] != slot_kind::parameter) continue;
    if (found != no_slot) fail(rule_error::row_of_several_axes, out.slot_names[i]);
    found = i;
  }
  return found;
}

/// The operator of the pattern that a name stands for; false where it stands for none.
constexpr bool lowering::lower_again(term const& t, replacement_term& into) {
  for (std::uint16_t i = 0; i < pattern_.size; ++i) {
    auto const& named = pattern_[i];
    if (named.kind != term_kind::known_as || named.name != t.name) continue;
    auto const& known_as = pattern_[named.child[0]];
    auto const& is = known_as.kind == term_kind::result ? pattern_[known_as.child[0]] : known_as;
    bool const by_name = is.kind == term_kind::named || is.kind == term_kind::exact;
    if (!by_name && is.kind != term_kind::neutral) return false;
    auto const meant = by_name ? facts_of(names_, is.name) : facts_of(is.op);
    into.what = replacement_term::kind::again;
    into.slot = known(t.name);
    into.op = static_cast<std::uint16_t>(meant.op);
    into.index = is.kind == term_kind::exact || meant.op == opcode::opaque ? meant.code : std::uint16_t{0};
    return true;
  }
  return false;
}

constexpr void lowering::lower_replacement() {
  auto const& made = rule_.replacement;
  if (made.size > lowered_rule::replacement_capacity) return fail(rule_error::too_large, rule_.name);
  auto const& top = made.terms[made.size - 1];
  std::size_t const roots = top.kind == term_kind::roots ? top.children : 1u;
  if (top.kind == term_kind::alternatives)
    for (int i = 0; i < top.children; ++i)
      if (made.terms[top.child[i]].kind == term_kind::roots)
        return fail(rule_error::either_in_a_replacement, rule_.name);
  if (roots != out.root_count) return fail(rule_error::roots_and_replacements_differ, rule_.name);
  for (std::uint16_t i = 0; i < made.size; ++i) {
    auto const t = made.terms[i];
    replacement_term r{};
    for (int c = 0; c < t.children; ++c) {
      auto const& child = made.terms[t.child[c]];
      if (child.kind != term_kind::attribute) {
        r.child[r.children++] = t.child[c];
        continue;
      }
      if (r.parameter_count == 4) return fail(rule_error::too_large, rule_.name);
      auto& given = r.parameters[r.parameter_count++];
      given.name = child.name;
      given.number = child.number;
      given.integer = child.index == 1;
      given.slot = no_slot;
      given.term = no_slot;
      if (child.children == 1) {
        auto const& holder = made[child.child[0]];
        if (holder.kind == term_kind::number)
          given.number = holder.number;
        else if (captures(holder))
          given.slot = known(holder.name);
        else
          given.term = child.child[0];
      }
    }
    int const operands = t.children - t.attributes;
    using kind = replacement_term::kind;
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::scalar:
      case term_kind::rest:
      case term_kind::parameter:
        r.what = kind::slot;
        r.slot = known(t.name);
        if (out.slot_kinds[r.slot] == slot_kind::dimension) return fail(rule_error::two_uses_of_a_name, t.name);
        if ((root_names_ >> r.slot & 1u) != 0) return fail(rule_error::root_on_the_right, t.name);
        break;
      case term_kind::number:
        r.what = kind::number;
        r.number = t.number;
        break;
      case term_kind::named:
      case term_kind::exact: {
        auto const meant = facts_of(names_, t.name);
        if (meant.code == 0) return fail(rule_error::unknown_operator, t.name);
        if (operands > meant.data) return fail(rule_error::parameter_as_operand, t.name);
        bool const neutral = t.kind == term_kind::named && meant.op != opcode::opaque;
        if (t.attributes != 0) check_attributes(made, t, meant.code, false);
        r.what = neutral ? kind::neutral : kind::named;
        r.op = neutral ? static_cast<std::uint16_t>(meant.op) : meant.code;
        if (neutral && (operands < meant.least || operands > meant.most)) return fail_at_operands(t, meant);
        require_operands(made, t, neutral ? meant.least : operands);
        break;
      }
      case term_kind::neutral: {
        auto const meant = facts_of(t.op);
        if (operands < meant.least || operands > meant.most) return fail_at_operands(t, meant);
        r.what = kind::neutral;
        r.op = static_cast<std::uint16_t>(t.op);
        if (t.attributes != 0) check_attributes(made, t, 0, false);
        require_operands(made, t, meant.least);
        break;
      }
      case term_kind::again:
        if (!lower_again(t, r)) return fail(rule_error::again_of_no_operator, t.name);
        break;
      case term_kind::fold:
        r.what = kind::fold;
        r.index = t.index;
        break;
      case term_kind::or_else:
        if (!captures(made.terms[t.child[0]])) return fail(rule_error::or_else_of_no_capture, rule_.name);
        r.what = kind::or_else;
        break;
      case term_kind::along:
        r.what = kind::along;
        r.number = t.number;
        break;
      case term_kind::dimension:
        r.what = kind::dimension;
        r.number = t.number;
        r.slot = known(t.name);
        if (out.slot_kinds[r.slot] != (t.index != 0 ? slot_kind::dimension : slot_kind::value))
          return fail(rule_error::two_uses_of_a_name, t.name);
        break;
      case term_kind::rearranged:
        r.what = kind::rearranged;
        r.index = rearranged(t, false);
        break;
      case term_kind::list: r.what = kind::list; break;
      case term_kind::row:
        r.what = kind::row;
        r.number = t.number;
        r.slot = axes_of_row(made, t);
        r.children = 2;
        break;
      case term_kind::result:
        if (auto const& of = made[t.child[0]]; (!is_node(of) && of.kind != term_kind::again) || t.index > 255)
          return fail(rule_error::result_of_no_operator, rule_.name);
        r.what = kind::result;
        r.index = t.index;
        break;
      case term_kind::roots: r.what = kind::roots; break;
      case term_kind::alternatives:
        if (i + 1 != made.size) return fail(rule_error::either_in_a_replacement, rule_.name);
        r.what = kind::either;
        break;
      case term_kind::attribute: break;
      case term_kind::misused: return fail_at_misuse(t);
      default: return fail(rule_error::no_replacement, rule_.name);
    }
    out.replacement[i] = r;
  }
  out.replacement_size = static_cast<std::uint8_t>(made.size);
}

/// The lowered form of a rule in a dialect.
[[nodiscard]] constexpr lowered_rule lower(rewrite_rule const& rule, dialect const& names) {
  lowered_rule made{};
  lowering(made, rule, names);
  return made;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop
