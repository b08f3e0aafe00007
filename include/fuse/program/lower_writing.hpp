// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/program/lower_attributes.hpp>

namespace fuse::inline v0::detail {

// Names to operators. A `named` term of an operator with a meaning becomes the neutral one.
constexpr void lowering::resolve() {
  if (names_.lists_attributes) check_sources();
  pattern_ = rule_.pattern;
  for (std::uint16_t i = 0; i < pattern_.size; ++i) {
    auto const kind = pattern_.terms[i].kind;
    if (kind != term_kind::neutral && kind != term_kind::named && kind != term_kind::exact) continue;
    auto t = pattern_.terms[i];
    if (kind == term_kind::neutral) {
      check_attributes(pattern_, t, 0, true);
    } else {
      auto const code = names_.code(t.name);
      if (code == 0) return fail(rule_error::unknown_operator, t.name);
      check_attributes(pattern_, t, code, false);
      auto const op = names_.rows[code - 1u].op;
      t.index = code;
      if (kind == term_kind::named && op != opcode::opaque) {
        t.kind = term_kind::neutral;
        t.op = op;
        t.index = 0;
      }
      pattern_.terms[i] = t;
    }
    if (t.kind != term_kind::neutral) continue;
    auto const& known = info(t.op);
    check_operands(t, known);
    // A minus is a sum of one.
    group_[i] = t.op == opcode::neg ? op_group::sum : known.group;
    if (known.shape == shape_rule::reduce) out.reduces = reduction_[i] = true;
  }
}

constexpr void lowering::check_operands(term const& t, operator_info const& known) {
  int const operands = t.children - t.attributes;
  if (operands < known.least || (known.most >= 0 && operands > known.most))
    fail(rule_error::wrong_operand_count, t.name.empty() ? static_text::of(known.name) : t.name,
         static_cast<std::size_t>(operands < known.least ? known.least : known.most));
}

/// An operator to look through: by its name in the dialect, or by its neutral name, which holds in every dialect.
constexpr void lowering::add_transparent(through_set& set, static_text name) {
  if (set.count == through_set::capacity) return fail(rule_error::too_large, rule_.name);
  auto const code = names_.code(name);
  auto const op = code == 0 ? op_named(name) : names_.rows[code - 1u].op;
  if (code == 0 && op == opcode::opaque) return fail(rule_error::unknown_operator, name);
  set.by_name[set.count] = op == opcode::opaque;
  set.ops[set.count++] = op == opcode::opaque ? code : static_cast<std::uint16_t>(op);
}
constexpr std::uint8_t lowering::set_id(through_set const& set) {
  for (std::uint8_t i = 0; i < out.set_count; ++i)
    if (out.sets[i] == set) return static_cast<std::uint8_t>(i + 1);
  if (out.set_count == lowered_rule::set_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.sets[out.set_count++] = set;
  return out.set_count;
}

constexpr std::uint8_t lowering::slot(static_text name, slot_kind kind) {
  for (std::uint8_t i = 0; i < out.slot_count; ++i)
    if (out.slot_names[i] == name) {
      if (out.slot_kinds[i] != kind) fail(rule_error::two_uses_of_a_name, name);
      return i;
    }
  if (out.slot_count == lowered_rule::name_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.slot_names[out.slot_count] = name;
  out.slot_kinds[out.slot_count] = kind;
  return out.slot_count++;
}
constexpr void lowering::bind(std::uint8_t at) { bound_ |= 1u << at; }

// Emission

/// Writes an instruction; the caller may fill in more of it. (One call: constant evaluation takes longer for calls
/// than for what they do.)
constexpr instruction& lowering::emit(step code, int a, int b, int c, int op, int count, std::uint8_t through) {
  if (out.size == lowered_rule::instruction_capacity) {
    fail(rule_error::too_large, rule_.name);
    return out.code[0];
  }
  if (pending_.count != 0) resolve_links();
  falls_through_ = true;
  return out.code[out.size++] = {code,
                                 static_cast<std::uint8_t>(a),
                                 static_cast<std::uint8_t>(b),
                                 static_cast<std::uint8_t>(c),
                                 static_cast<std::uint16_t>(op),
                                 static_cast<std::uint8_t>(count),
                                 through,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0};
}
constexpr void lowering::resolve_links() {
  for (std::uint8_t i = 0; i < pending_.count; ++i) {
    auto const from = pending_.all[i];
    auto const skipped = static_cast<std::uint16_t>(out.size - from.at - 1);
    (from.other ? out.code[from.at].other : out.code[from.at].next) = skipped;
  }
  pending_.count = 0;
}
constexpr void lowering::add(links& to, link made) {
  if (to.count == 24)
    fail(rule_error::too_large, rule_.name);
  else
    to.all[to.count++] = made;
}
constexpr void lowering::add(links& to, links const& more) {
  for (std::uint8_t i = 0; i < more.count; ++i) add(to, more.all[i]);
}
constexpr void lowering::pend(link made) { add(pending_, made); }
constexpr void lowering::pend(links const& more) { add(pending_, more); }
/// Takes the ways that lead on from here, so that something else can be emitted first.
constexpr lowering::links lowering::detach() {
  if (falls_through_) pend(link{static_cast<std::uint16_t>(out.size - 1), false});
  falls_through_ = false;
  auto const taken = pending_;
  pending_ = {};
  return taken;
}

constexpr std::uint8_t lowering::new_register() {
  if (next_register_ == 255) fail(rule_error::too_large, rule_.name);
  return next_register_++;
}
/// So many, one after the other; the first of them.
constexpr std::uint8_t lowering::new_registers(int count) {
  auto const first = next_register_;
  if (first + count > 255) fail(rule_error::too_large, rule_.name);
  next_register_ = static_cast<std::uint8_t>(first + count);
  return first;
}

/// Lowers forms one after the other, each from the same state, and goes on where any of them ends.
template <class Form>
constexpr void lowering::lower_forks(int count, bool may_skip, Form&& form) {
  links joined{};
  std::uint32_t common = ~0u;
  auto const before = bound_;
  auto const registers = register_of_;                                    // what a branch finds is not known after it
  auto const first_register = next_register_, first_frame = next_frame_;  // branches use the same ones
  auto last_register = next_register_, last_frame = next_frame_;
  for (int i = 0; i < count; ++i) {
    bool const last = i + 1 == count && !may_skip;
    auto const fork = out.size;
    if (!last) emit(step::fork);
    bound_ = before;
    next_register_ = first_register;
    next_frame_ = first_frame;
    form(i);
    if (failed()) return;
    if (next_register_ > last_register) last_register = next_register_;
    if (next_frame_ > last_frame) last_frame = next_frame_;
    register_of_ = registers;
    common &= bound_;
    if (last) break;
    add(joined, detach());
    pend(link{fork, true});
  }
  if (may_skip) common &= before;
  pend(joined);
  bound_ = common;
  next_register_ = last_register;
  next_frame_ = last_frame;
}

constexpr std::uint16_t lowering::parameter_name(static_text name) {
  for (std::uint16_t i = 0; i < out.parameter_name_count; ++i)
    if (out.parameter_names[i] == name) return i;
  if (out.parameter_name_count == lowered_rule::name_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.parameter_names[out.parameter_name_count] = name;
  return out.parameter_name_count++;
}

/// The slot of a name that the pattern binds.
constexpr std::uint8_t lowering::known(static_text name) {
  for (std::uint8_t i = 0; i < out.slot_count; ++i)
    if (out.slot_names[i] == name) return i;
  fail(rule_error::unbound_name, name);
  return 0;
}

}  // namespace fuse::inline v0::detail
