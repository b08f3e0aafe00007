// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/program/lowering.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

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
/// The same for a term that is always of this kind: its name is looked for once.
constexpr std::uint8_t lowering::bound_slot_of(std::uint8_t at, slot_kind kind) {
  auto s = slot_[at];
  if (s == 0) slot_[at] = s = static_cast<std::uint8_t>(slot(pattern_.terms[at].name, kind) + 1);
  --s;
  bound_ |= 1u << s;
  return s;
}
/// The same for a rest of a product, a sum, or (none) a list of operands: everywhere in a rule of the same.
constexpr std::uint8_t lowering::bound_rest(std::uint8_t at, op_group of) {
  if (slot_[at] == 0)
    group_[at] = of;
  else if (group_[at] != of)
    fail(rule_error::two_uses_of_a_name, pattern_.terms[at].name);
  return bound_slot_of(at, slot_kind::rest);
}

/// A slot of no name. `known` is 1 + the slot, once there is one.
constexpr std::uint8_t lowering::nameless_slot(std::uint8_t& known, slot_kind kind) {
  if (known == 0) {
    if (out.slot_count == lowered_rule::name_capacity) {
      fail(rule_error::too_large, rule_.name);
      return 0;
    }
    out.slot_kinds[out.slot_count] = kind;
    known = ++out.slot_count;
  }
  return static_cast<std::uint8_t>(known - 1);
}
/// That for the node of an operator that occurs again.
constexpr std::uint8_t lowering::node_slot(std::uint8_t at) { return nameless_slot(node_slot_[at], slot_kind::value); }

// Emission

/// Writes an instruction. (Members that nobody names cost constant evaluation nothing, here and in every copy.)
constexpr void lowering::emit(instruction const& made) {
  if (size_ == lowered_rule::instruction_capacity) return fail(rule_error::too_large, rule_.name);
  if (pending_ != 0) resolve_links();
  out.code[size_] = made;
  if (free_ && (made.through != 0 || made.code == step::group || made.code == step::reduction))
    out.code[size_].flags |= instruction::free;
  ++size_;
}
/// What the first of a chain leads to.
constexpr std::uint16_t& lowering::led_by(links chain) {
  auto& first = out.code[(chain - 1) / 2];
  return chain % 2 != 0 ? first.next : first.other;
}
constexpr void lowering::resolve_links() {
  while (pending_ != 0) {
    auto& led = led_by(pending_);
    auto const skipped = size_ - (pending_ - 1) / 2 - 1;
    pending_ = led;
    led = static_cast<std::uint16_t>(skipped);
  }
}
constexpr void lowering::pend(std::size_t at, bool other) {
  if (failed_) return;
  auto const made = static_cast<links>(2 * at + (other ? 2 : 1));
  led_by(made) = pending_;
  pending_ = made;
}
/// Both chains as one.
constexpr lowering::links lowering::chained(links chain, links then) {
  if (chain == 0) return then;
  auto last = chain;
  for (auto after = led_by(last); after != 0; after = led_by(last)) last = after;
  led_by(last) = then;
  return chain;
}
/// Takes the ways that lead on from here, so that something else can be emitted first.
constexpr lowering::links lowering::detach() {
  if (unreached_ != size_) pend(size_ - 1u, false);
  unreached_ = size_;
  auto const taken = pending_;
  pending_ = 0;
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
  links joined = 0;
  std::uint32_t common = ~0u, any = 0;
  auto const before = bound_;
  auto const registers = register_of_;                                    // what a branch finds is not known after it
  auto const first_register = next_register_, first_frame = next_frame_;  // branches use the same ones
  auto last_register = next_register_, last_frame = next_frame_;
  for (int i = 0; i < count; ++i) {
    bool const last = i + 1 == count && !may_skip;
    auto const fork = size_;
    if (!last) emit({.code = step::fork});
    bound_ = before;
    next_register_ = first_register;
    next_frame_ = first_frame;
    form(i);
    if (failed_) return;
    if (next_register_ > last_register) last_register = next_register_;
    if (next_frame_ > last_frame) last_frame = next_frame_;
    register_of_ = registers;
    common &= bound_;
    any |= bound_;
    if (last) break;
    joined = chained(detach(), joined);
    pend(fork, true);
  }
  if (may_skip) common &= before;
  if (!may_skip) partly_ |= any & ~common;
  pending_ = chained(joined, pending_);
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

/// A notation, read; its names are slots.
constexpr std::uint16_t lowering::rearranged(term const& t, bool in_pattern) {
  rearrangement made{};
  bool read = true;
  if (t.index == 0)
    read = notation_reader().read(t.name, made);
  else
    made = part_of(t.name, static_cast<std::uint8_t>(t.number), static_cast<std::uint8_t>(t.tolerance), t.index == 2);
  if (!read) fail(rule_error::wrong_notation, t.name);
  for (std::uint8_t i = 0; i < made.name_count && !failed_; ++i)
    made.slots[i] = in_pattern ? bound_slot(made.names[i], slot_kind::dimension) : dimension_slot(made.names[i]);
  if (failed_) return 0;
  for (std::uint8_t i = 0; i < out.rearrangement_count; ++i)
    if (out.rearrangements[i] == made) return i;
  if (out.rearrangement_count == lowered_rule::rearrangement_capacity) {
    fail(rule_error::too_large, rule_.name);
    return 0;
  }
  out.rearrangements[out.rearrangement_count] = made;
  return out.rearrangement_count++;
}
/// That of an extent which the pattern captures; none where the value that is rearranged tells it.
constexpr std::uint8_t lowering::dimension_slot(static_text name) {
  for (std::uint8_t i = 0; i < out.slot_count; ++i) {
    if (!(out.slot_names[i] == name)) continue;
    if (out.slot_kinds[i] != slot_kind::dimension) fail(rule_error::two_uses_of_a_name, name);
    return i;
  }
  return no_slot;
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
