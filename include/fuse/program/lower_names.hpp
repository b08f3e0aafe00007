// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/infer/unchanged.hpp>
#include <fuse/program/lower_attributes.hpp>
#include <fuse/program/lower_parts.hpp>

namespace fuse::inline v0::detail {

// Names to operators. A `named` term of an operator with a meaning becomes the neutral one.
constexpr void lowering::resolve() {
  if (names_.has_structs) check_sources();
  pattern_ = rule_.pattern;
  for (int i = 0; i < pattern_.size; ++i) {  // (whose terms may become more)
    auto const at = static_cast<std::uint8_t>(i);
    auto const t = pattern_.terms[i];  // (copies: constant evaluation is slow at what it refers to)
    multiple_of_[i] = at;
    multiple_[i] = 1;
    if (lacks_what_it_needs(t)) return fail(rule_error::misplaced, rule_.name);
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
      case term_kind::misused: return fail_at_misuse(t);
      case term_kind::further: return fail(rule_error::too_large, rule_.name);
      default: priority_[i] = 3;
    }
    if (failed_) return;
  }
  count_times();
}
// A square is its operand twice, and so is what is added twice.
constexpr void lowering::count_times() {
  for (int i = pattern_.size; i-- > 0;) {
    if (i == pattern_.root()) times_[i] = 1;
    auto const t = pattern_.terms[i];
    if (times_[i] == 0 || t.children == 0) continue;
    bool const added = multiple_[i] == 2 || multiple_[i] == -2;
    bool const twice = t.op == opcode::square || t.op == opcode::pow || added || times_[i] > 1;
    for (int c = 0; c < t.children; ++c) times_[t.child[c]] = twice || times_[t.child[c]] != 0 ? 2 : 1;
  }
}
/// Whether nothing stands where something must: no operand that an operator may lack.
constexpr bool lowering::lacks_what_it_needs(term const& t) const {
  for (int c = 0; c < t.children; ++c) {
    if (pattern_.terms[t.child[c]].kind != term_kind::no_operand) continue;
    bool const by_meaning = t.kind == term_kind::neutral;
    if (!by_meaning && t.kind != term_kind::named && t.kind != term_kind::exact) return true;
    auto const known = by_meaning ? facts_of(t.op) : facts_of(names_, t.name);
    if (c < known.least || known.group != op_group::none) return true;
  }
  return t.kind == term_kind::no_operand && pattern_.size == 1;
}
constexpr void lowering::resolve_operator(std::uint8_t at, term const& t) {
  bool const by_meaning = t.kind == term_kind::neutral;
  auto const known = by_meaning ? facts_of(t.op) : facts_of(names_, t.name);
  if (!by_meaning) {
    if (known.code == 0) return fail(rule_error::unknown_operator, t.name);
    if (t.children - t.attributes > known.data) return fail(rule_error::parameter_as_operand, t.name);
    if (t.kind == term_kind::exact || known.op == opcode::opaque) {
      if (t.attributes != 0) check_attributes(pattern_, t, known.code, false);
      priority_[at] = 3;
      pattern_.terms[at].index = known.code;
      return;
    }
    pattern_.terms[at].kind = term_kind::neutral;
    pattern_.terms[at].op = known.op;
  }
  if (t.attributes != 0) check_attributes(pattern_, t, known.code, by_meaning);
  int const operands = t.children - t.attributes;
  if (operands < known.least || operands > known.most) return fail_at_operands(t, known);
  if (known.reduces && summing_of(known.op).of == 2 && !stands_again(at)) return spell_out(at, summing_of(known.op));
  priority_[at] = known.priority;
  // (Of one operand, an operator of any number of them is no sum.)
  bool const alone = known.op == opcode::sum_of && operands == 1;
  auto const group = opens_logarithm(pattern_.terms[at], known.op) ? op_group::product
                     : alone                                       ? op_group::none
                                                                   : known.group;
  if (known.op == opcode::pow && !opens_power(t)) {
    needs_[at] = 0;  // (it has the bits of a product, or none)
    return;
  }
  if (group != op_group::none) {
    group_[at] = group;
    resolve_multiple(at, t);
    needs_[at] = needs_of(t, known.op, group);
    return;
  }
  needs_[at] = known.bit;
  if (!may_keep_elements(known.op)) out.telling.add(known.op);
  if (known.reduces) out.reduces = reduction_[at] = true;
}

/// A sum of squares and its root become what they are by the table, terms of their own: so they are found in every
/// spelling.
constexpr void lowering::spell_out(std::uint8_t at, summing const& as) {
  auto sum = pattern_.terms[at];
  int const more = as.power == 1 ? 1 : 2;
  if (pattern_.size + more > static_cast<int>(expression::capacity)) return fail(rule_error::too_large, rule_.name);
  for (int i = pattern_.size; i-- > at;) {
    auto moved = pattern_.terms[i];
    for (int c = 0; c < moved.children; ++c)
      if (moved.child[c] >= at) moved.child[c] = static_cast<std::uint8_t>(moved.child[c] + more);
    pattern_.terms[i + more] = moved;
  }
  pattern_.size = static_cast<std::uint16_t>(pattern_.size + more);
  auto const put = [&](int place, opcode op, std::uint8_t of) {
    auto& made = pattern_.terms[place] = term{};
    made.kind = term_kind::neutral;
    made.op = op;
    made.children = 1;
    made.child[0] = of;
  };
  put(at, opcode::square, sum.child[0]);
  if (more == 2) put(at + 2, opcode::sqrt, static_cast<std::uint8_t>(at + 1));
  sum.kind = term_kind::neutral;
  sum.op = opcode::sum;
  sum.child[0] = at;
  pattern_.terms[at + 1] = sum;
  resolve_operator(at, pattern_.terms[at]);
}
/// Whether the right side has the operator at `at` again, which is then that one.
constexpr bool lowering::stands_again(std::uint8_t at) const {
  for (int i = at + 1; i < pattern_.size; ++i) {
    auto const& named = pattern_.terms[i];
    if (named.kind != term_kind::known_as || named.child[0] != at) continue;
    for (int k = 0; k < rule_.replacement.size; ++k)
      if (auto const& t = rule_.replacement.terms[k]; t.kind == term_kind::again && t.name == named.name) return true;
  }
  return false;
}

/// Whether `t` is the exponential of a multiple of a logarithm, which is a power.
constexpr bool lowering::opens_logarithm(term const& t, opcode op) const {
  if (opening_of(op, op_group::product).when != opens_with::logarithm) return false;
  auto const& of = pattern_.terms[multiple_of_[t.child[0]]];
  return of.kind == term_kind::neutral && of.op == opcode::log &&
         allows(opens_with::logarithm, 1, multiple_[t.child[0]]);
}

/// Whether a power is one of a number, which opens; else it is an operator of two operands.
constexpr bool lowering::opens_power(term const& t) const {
  auto const& exponent = pattern_.terms[t.child[1]];
  return exponent.kind == term_kind::number && exponent.tolerance == usual_tolerance &&
         allows(opens_with::power, 1, exponent.number);
}

constexpr void lowering::fail_at_misuse(term const& t) {
  constexpr rule_error errors[] = {rule_error::attribute_of_no_operator, rule_error::tolerance_of_no_number,
                                   rule_error::too_many_users, rule_error::exact_of_no_fold};
  fail(errors[t.index], t.name.empty() ? rule_.name : t.name);
}

constexpr void lowering::fail_at_operands(term const& t, operator_facts const& known) {
  fail(rule_error::wrong_operand_count, t.name.empty() ? static_text::of(name_of(known.op)) : t.name,
       static_cast<std::size_t>(t.operands() < known.least ? known.least : known.most));
}

}  // namespace fuse::inline v0::detail
