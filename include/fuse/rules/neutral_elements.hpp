// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/identities.hpp>

/// Arithmetic that changes no number: 1 as a factor, 0 as an addend, operators applied twice.
namespace fuse::inline v0::rules {
namespace formula {

/// A number as it stands beside x; what `neutral` captures may be put together from several.
inline constexpr auto neutral_element = dsl::scalar<"neutral">;

/// What stands beside `of` in `y`, an operator of two operands: nothing where the operator is neither `either_side`
/// nor, with `of` as its first operand, `behind`.
[[nodiscard]] inline value_view beside(value_view of, value_view y, opcode either_side, opcode behind) {
  if (y.op() != either_side && y.op() != behind) return {};
  if (y.operand(0).id() == of.id()) return y.operand(1);
  return y.op() == either_side && y.operand(1).id() == of.id() ? y.operand(0) : value_view();
}
[[nodiscard]] inline bool is_uniformly(value_view of, double wanted) {
  double number = 0;
  return of.uniform(number) && number == wanted;
}
/// Whether an operand is that number everywhere: asked before anything is opened.
template <int Number>
inline constexpr auto has_operand = dsl::pred<"y">([](auto y) {
  return is_uniformly(y.operand(0), Number) || is_uniformly(y.operand(1), Number);
});
inline constexpr auto times_one =
    dsl::pred<"y", "x">([](auto y, auto of) { return is_uniformly(beside(of, y, opcode::mul, opcode::div), 1); });

/// Whether all elements are 0, of the sign that is wanted where they have one.
[[nodiscard]] inline bool is_zero(value_view of, bool negative) {
  if (!is_uniformly(of, 0)) return false;
  if (!is_floating(of.type())) return is_integer(of.type());
  auto const held = of.constant();  // the sign of what follows from constants is not known
  for (std::size_t i = 0; i < held.size(); ++i)
    if ((std::bit_cast<std::uint64_t>(held.number(i)) >> 63 != 0) != negative) return false;
  return held.size() != 0;
}
/// x + 0 is no x: it makes 0 of -0. x + -0 and x - 0 are.
inline constexpr auto plus_nothing = dsl::pred<"y", "x">(
    [](auto y, auto of) { return is_zero(beside(of, y, opcode::add, opcode::sub), y.op() == opcode::add); });

inline constexpr auto to_the_one =
    dsl::pred<"y">([](auto y) { return y.op() == opcode::pow && is_uniformly(y.operand(1), 1); });

inline constexpr auto decides_nothing = dsl::pred<"y", "other">(
    [](auto y, auto other) { return is_uniformly(other, y.op() == opcode::logical_and ? 1 : 0); });

/// Whether the condition of `y` is true everywhere, and `x` what it chooses then, or false likewise.
inline constexpr auto is_chosen = dsl::pred<"y", "x">([](auto y, auto of) {
  if (y.operand(1).id() == of.id()) return is_uniformly(y.operand(0), 1);
  return y.operand(2).id() == of.id() && is_uniformly(y.operand(0), 0);
});

[[nodiscard]] constexpr expression whole_number_of(expression const& of) {
  return dsl::either(expression(opcode::floor, of), expression(opcode::ceil, of), expression(opcode::round, of));
}
/// Whether `y` is minus an operand: asked before anything is opened.
inline constexpr auto is_negation = dsl::pred<"y">([](auto y) {
  auto const op = y.op();
  if (op == opcode::sub) return is_uniformly(y.operand(0), 0);
  bool const scales = op == opcode::mul || op == opcode::div;
  return op == opcode::neg || (scales && (is_uniformly(y.operand(0), -1) || is_uniformly(y.operand(1), -1)));
});
[[nodiscard]] constexpr expression as_inner(expression const& of) { return of.as<"inner">(); }

}  // namespace formula

inline constexpr auto times_one =
    rule<"times-one">(
        dsl::either(formula::kept * formula::neutral_element, formula::kept / formula::neutral_element).as<"y">())
        .where<"an operand is 1">(formula::has_operand<1>.quiet())
        .where<"the other operand is 1">(formula::times_one.quiet())
        .summary("x * 1 and x / 1 are x")
        .replace(formula::kept)
        .stage(6)
        .quiet();

inline constexpr auto plus_nothing =
    rule<"plus-nothing">((formula::kept + formula::neutral_element).as<"y">())
        .where<"an operand is 0">(formula::has_operand<0>.quiet())
        .where<"the other operand is 0, and the sign of 0 stays">(formula::plus_nothing.quiet())
        .summary("x - 0 and x + -0 are x")
        .replace(formula::kept)
        .stage(6)
        .quiet();

inline constexpr auto to_the_one = rule<"to-the-one">(dsl::either(dsl::pow(formula::kept, formula::neutral_element),
                                                                  dsl::pow(formula::kept, dsl::var<"exponent">))
                                                          .as<"y">())
                                       .where<"the exponent is 1">(formula::to_the_one.quiet())
                                       .summary("x to the power of 1 is x")
                                       .replace(formula::kept)
                                       .stage(6)
                                       .quiet();

inline constexpr auto and_true =
    rule<"and-true">(dsl::either(expression(opcode::logical_and, formula::kept, dsl::var<"other">),
                                 expression(opcode::logical_or, formula::kept, dsl::var<"other">))
                         .as<"y">())
        .where<"the other operand decides nothing">(formula::decides_nothing.quiet())
        .summary("x and true is x, and so is x or false")
        .replace(formula::kept)
        .stage(6)
        .quiet();

inline constexpr auto always_chosen =
    rule<"always-chosen">(
        dsl::either(expression(opcode::where, dsl::var<"condition">, formula::kept, dsl::var<"other">),
                    expression(opcode::where, dsl::var<"condition">, dsl::var<"other">, formula::kept))
            .as<"y">())
        .where<"the condition chooses it everywhere">(formula::is_chosen.quiet())
        .where(dsl::same_shape<"y", "x">.quiet())
        .summary("a selection under a condition that is true everywhere, or false, is one of its operands")
        .replace(formula::kept)
        .at_equal_cost()
        .stage(6)
        .quiet();

/// What changes nothing the second time.
inline constexpr auto applied_twice =
    rule<"applied-twice">(
        dsl::either(dsl::relu(formula::as_inner(dsl::relu(formula::kept))),
                    dsl::abs(formula::as_inner(dsl::abs(formula::kept))),
                    expression(opcode::sign, formula::as_inner(expression(opcode::sign, formula::kept))),
                    formula::whole_number_of(formula::as_inner(formula::whole_number_of(formula::kept)))))
        .summary("Relu, Abs, Sign, Floor, Ceil and Round change nothing the second time")
        .replace(dsl::var<"inner">)
        .stage(6)
        .quiet();

/// What changes everything back the second time.
inline constexpr auto not_twice =
    rule<"not-twice">(expression(opcode::logical_not, expression(opcode::logical_not, formula::kept)))
        .summary("Not undoes itself")
        .replace(formula::kept)
        .stage(6)
        .quiet();
inline constexpr auto negated_twice = rule<"negated-twice">((-(-formula::kept).as<"inner">()).as<"y">())
                                          .where<"it is a negation">(formula::is_negation.quiet())
                                          .summary("Neg undoes itself")
                                          .replace(formula::kept)
                                          .stage(6)
                                          .quiet();

}  // namespace fuse::inline v0::rules
