// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/program/lower_names.hpp>
#include <fuse/program/lower_pattern.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

// Right sides.

/// The first operands of an operator, and its attributes, are bound in every branch of an either.
constexpr void lowering::require_operands(expression const& in, term const& t, int required) {
  if (partly_ == 0) return;
  int at = 0;  // of the operands, of which those of a term of their own come last
  for (int i = 0; i < t.children; ++i) {
    auto const* given = &in[t.child[i]];
    if (given->kind == term_kind::attribute) {
      if (given->children == 0) continue;
      given = &in[given->child[0]];
    } else if (given->kind == term_kind::further) {
      require_operands(in, *given, required - at);
      at += given->children;
      continue;
    } else if (at++ >= required) {
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
  std::uint64_t replaced = 0;  // terms that are what the rule replaces
  for (std::uint16_t i = 0; i < made.size; ++i) {
    auto const t = made.terms[i];
    replacement_term r{};
    term const* taken_over = nullptr;  // the operator whose attributes this one has
    for (int c = 0; c < t.children; ++c) {
      auto const& child = made.terms[t.child[c]];
      // (What is rearranged may be made from what is below it.)
      if ((replaced >> t.child[c] & 1u) != 0 && t.kind != term_kind::rearranged)
        return fail(rule_error::root_on_the_right, child.name);
      if (c < t.operands()) {
        r.child[r.children++] = t.child[c];
        continue;
      }
      if (child.kind == term_kind::again) {
        taken_over = &child;
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
    int operands = t.operands();
    for (int c = 0; c < t.operands(); ++c)
      if (auto const& child = made[t.child[c]]; child.kind == term_kind::further) operands += child.children - 1;
    using kind = replacement_term::kind;
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::scalar:
      case term_kind::rest:
      case term_kind::parameter:
        r.what = kind::slot;
        r.slot = known(t.name);
        if (out.slot_kinds[r.slot] == slot_kind::dimension) return fail(rule_error::two_uses_of_a_name, t.name);
        if ((root_names_ >> r.slot & 1u) != 0) replaced |= std::uint64_t{1} << i;
        if (replaced != 0 && i + 1 == made.size) return fail(rule_error::root_on_the_right, t.name);
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
        if (taken_over == nullptr) break;
        if (!lower_again(*taken_over, r)) return fail(rule_error::again_of_no_operator, taken_over->name);
        r.number = meant.code;
        break;
      }
      case term_kind::neutral: {
        auto const meant = facts_of(t.op);
        if (operands < meant.least || operands > meant.most) return fail_at_operands(t, meant);
        r.what = kind::neutral;
        r.op = static_cast<std::uint16_t>(t.op);
        if (t.attributes != 0) check_attributes(made, t, 0, false);
        require_operands(made, t, is_nothing_of_nothing(t.op) ? 0 : meant.least);
        if (taken_over == nullptr) break;
        if (!lower_again(*taken_over, r)) return fail(rule_error::again_of_no_operator, taken_over->name);
        r.number = -static_cast<double>(t.op);
        break;
      }
      case term_kind::again:
        if (!lower_again(t, r)) return fail(rule_error::again_of_no_operator, t.name);
        if (t.attributes != 0) {
          auto stands = t;
          stands.op = static_cast<opcode>(r.op);
          check_attributes(made, stands, r.index, false);
        }
        break;
      case term_kind::fold:
        r.what = kind::fold;
        r.index = t.index;
        break;
      case term_kind::or_else:
        if (!captures(made.terms[t.child[0]])) return fail(rule_error::or_else_of_no_capture, rule_.name);
        r.what = kind::or_else;
        break;
      case term_kind::optional:
        if (made.terms[t.child[0]].kind != term_kind::fold) return fail(rule_error::optional_of_no_fold, rule_.name);
        r.what = kind::optional;
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
      case term_kind::no_operand: r.what = kind::no_operand; break;
      case term_kind::further: r.what = kind::further; break;
      case term_kind::row:
        r.what = kind::row;
        r.number = t.number;
        r.index = t.index;
        r.slot = t.index != 0 ? no_slot : axes_of_row(made, t);
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

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop
