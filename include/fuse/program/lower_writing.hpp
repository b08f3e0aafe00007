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
  int const size = pattern_.size;
  for (int i = 0; i < size; ++i) {
    auto const at = static_cast<std::uint8_t>(i);
    auto const t = pattern_.terms[i];  // (copies: constant evaluation is slow at what it refers to)
    // Priorities: 4 scalars, 5 captures, 6 what may be absent, 7 the rest.
    switch (t.kind) {
      case term_kind::capture: priority_[i] = 5; break;
      case term_kind::neutral:
      case term_kind::named:
      case term_kind::exact: resolve_operator(at, t); break;
      case term_kind::scalar:
      case term_kind::number: priority_[i] = 4; break;
      case term_kind::optional: priority_[i] = 6; break;
      case term_kind::rest: priority_[i] = rest_priority; break;
      case term_kind::users:
      case term_kind::known_as:
      case term_kind::through:
        priority_[i] = priority_[t.child[0]];
        needs_[i] = needs_[t.child[0]];
        break;
      case term_kind::alternatives: {
        auto shared = ~std::uint64_t{0};
        for (int c = 0; c < t.children; ++c) shared &= needs_[t.child[c]];
        needs_[i] = shared;
        priority_[i] = 3;
        break;
      }
      default: priority_[i] = 3;
    }
    if (failed_) return;
  }
}
constexpr void lowering::resolve_operator(std::uint8_t at, term const& t) {
  auto op = t.op;
  if (t.kind == term_kind::neutral) {
    if (t.attributes != 0) check_attributes(pattern_, t, 0, true);
  } else {
    auto const code = names_.code(t.name);
    if (code == 0) return fail(rule_error::unknown_operator, t.name);
    if (t.attributes != 0) check_attributes(pattern_, t, code, false);
    if (t.kind == term_kind::named) op = names_.rows[code - 1u].op;
    if (op == opcode::opaque) {
      priority_[at] = 3;
      pattern_.terms[at].index = code;
      return;
    }
    pattern_.terms[at].kind = term_kind::neutral;
    pattern_.terms[at].op = op;
  }
  auto const known = info(op);
  check_operands(t, known);
  priority_[at] = 2;
  // A minus is a sum of one.
  auto const group = op == opcode::neg ? op_group::sum : known.group;
  if (group != op_group::none) {
    group_[at] = group;
    needs_[at] = needs_of(t, op, group);
    return;
  }
  needs_[at] = operator_bit(op);
  if (known.shape == shape_rule::reduce) {
    out.reduces = reduction_[at] = true;
    priority_[at] = 1;
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
/// The same for a term that is always of this kind: its name is looked for once.
constexpr std::uint8_t lowering::bound_slot_of(std::uint8_t at, slot_kind kind) {
  auto s = slot_[at];
  if (s == 0) slot_[at] = s = static_cast<std::uint8_t>(slot(pattern_.terms[at].name, kind) + 1);
  --s;
  bound_ |= 1u << s;
  return s;
}

// Emission

/// Writes an instruction. (Members that nobody names cost constant evaluation nothing, here and in every copy.)
constexpr void lowering::emit(instruction const& made) {
  if (size_ == lowered_rule::instruction_capacity) return fail(rule_error::too_large, rule_.name);
  if (pending_ != 0) resolve_links();
  out.code[size_++] = made;
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
  std::uint32_t common = ~0u;
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
    if (last) break;
    joined = chained(detach(), joined);
    pend(fork, true);
  }
  if (may_skip) common &= before;
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

/// The slot of a name that the pattern binds.
constexpr std::uint8_t lowering::known(static_text name) {
  for (std::uint8_t i = 0; i < out.slot_count; ++i)
    if (out.slot_names[i] == name) return i;
  fail(rule_error::unbound_name, name);
  return 0;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop
