// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/program/lower_attributes.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

// Names to operators. A `named` term of an operator with a meaning becomes the neutral one.
constexpr void lowering::resolve() {
  if (names_.lists_attributes) check_sources();
  pattern_ = rule_.pattern;
  std::uint16_t const size = pattern_.size;
  for (std::uint16_t i = 0; i < size; ++i) {
    auto t = pattern_.terms[i];  // (copies: constant evaluation is slow at what it refers to)
    bool const neutral = t.kind == term_kind::neutral;
    if (!neutral) {
      if (t.kind != term_kind::named && t.kind != term_kind::exact) continue;
      auto const code = names_.code(t.name);
      if (code == 0) return fail(rule_error::unknown_operator, t.name);
      if (t.attributes != 0) check_attributes(pattern_, t, code, false);
      auto const op = t.kind == term_kind::named ? names_.rows[code - 1u].op : opcode::opaque;
      if (op == opcode::opaque) {
        pattern_.terms[i].index = code;
        continue;
      }
      pattern_.terms[i].kind = term_kind::neutral;
      pattern_.terms[i].op = t.op = op;
    } else if (t.attributes != 0) {
      check_attributes(pattern_, t, 0, true);
    }
    auto const known = info(t.op);
    check_operands(t, known);
    // A minus is a sum of one.
    if (t.op == opcode::neg)
      group_[i] = op_group::sum;
    else if (known.group != op_group::none)
      group_[i] = known.group;
    else if (known.shape == shape_rule::reduce)
      out.reduces = reduction_[i] = true;
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
constexpr std::uint8_t lowering::bound_slot(static_text name, slot_kind kind) {
  auto const s = slot(name, kind);
  bound_ |= 1u << s;
  return s;
}

// Emission

/// Writes an instruction. (Members that nobody names cost constant evaluation nothing, here and in every copy.)
constexpr void lowering::emit(instruction const& made) {
  if (out.size == lowered_rule::instruction_capacity) return fail(rule_error::too_large, rule_.name);
  if (pending_.count != 0) resolve_links();
  falls_through_ = true;
  out.code[out.size++] = made;
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
    if (!last) emit({.code = step::fork});
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

#pragma GCC diagnostic pop
