// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>

/// Constants that are added or multiplied one after the other become one.
namespace fuse::inline v0::rules {
namespace formula {

inline constexpr auto chained = dsl::var<"x">, other_constant = dsl::var<"d">;
inline constexpr auto constants = dsl::rest<"c">;

/// Whether `v` broadcasts to `largest`.
[[nodiscard]] inline bool fits_into(value_view v, value_view largest) {
  auto const shape = v.shape(), wanted = largest.shape();
  if (v.rank() < 0 || v.rank() > largest.rank()) return false;
  auto const ahead = wanted.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!(shape[i] == extent(1)) && !(shape[i] == wanted[ahead + i])) return false;
  return true;
}
/// Whether one of the constants that were captured is as large as all of them together.
[[nodiscard]] inline bool as_large_as_one(captured const* captures, condition const& what) {
  auto const each = [&](auto const& holds) {
    for (std::size_t i = 0; i < what.count; ++i)
      for (auto const& v : captures[i].values)
        if (!holds(v)) return false;
    return true;
  };
  return !each([&](auto const& largest) { return !each([&](auto const& v) { return fits_into(v, largest); }); });
}
template <fixed_string... Constants>
inline constexpr condition no_growth = dsl::condition_detail::make<Constants...>("no larger than one of them",
                                                                                 &as_large_as_one);

/// What an operator combines with a constant; none where it combines anything else.
[[nodiscard]] inline value_view combined(value_view made) {
  auto const is_known = [](value_view v) {
    double number = 0;
    return v.is_constant() || v.number(number);
  };
  auto const first = made.operand(0), second = made.operand(1);
  if (!first || !second || made.operand(2) || is_known(first) == is_known(second)) return {};
  return is_known(first) ? second : first;
}
/// Whether `y` combines a constant with what combines another one: asked before anything is opened.
inline constexpr auto ends_a_chain = dsl::pred<"y">([](auto y) { return bool(combined(combined(y))); });
/// Whether operators from `y` down to `x` each combine a constant with the one below, two at least, and nothing else
/// uses what is between.
inline constexpr auto one_below_the_other = dsl::pred<"y", "x">([](auto y, auto of) {
  auto below = combined(y);
  if (below.id() == of.id()) return false;
  for (int links = 0; links < 16 && below && below.users() == 1 && !below.is_output(); ++links) {
    below = combined(below);
    if (below.id() == of.id()) return true;
  }
  return false;
});

[[nodiscard]] constexpr rewrite_rule in_one(rule_name name, expression const& chain, expression const& made) {
  return name(chain.as<"y">())
      .where(dsl::is_constant<"c">.quiet(), dsl::floating<"x">.quiet())
      .where<"two constants">(ends_a_chain.quiet())
      .where<"constants above and below">(one_below_the_other.quiet())
      .where(no_growth<"c">)
      .replace(made)
      .stage(6)
      .quiet();
}

}  // namespace formula

inline constexpr auto factors_in_one =
    formula::in_one(rule<"factors-in-one">, formula::chained* formula::constants.not_empty(),
                    formula::chained* dsl::fold(formula::constants))
        .summary("constants that multiply a value one after the other are one");
inline constexpr auto factors_over_a_value =
    formula::in_one(rule<"factors-over-a-value">, formula::constants.not_empty() / formula::chained,
                    dsl::fold(formula::constants) / formula::chained)
        .summary("constants that multiply a quotient one after the other are one");
inline constexpr auto addends_in_one =
    formula::in_one(rule<"addends-in-one">, formula::chained + formula::constants.not_empty(),
                    formula::chained + dsl::fold(formula::constants))
        .summary("constants that are added one after the other are one");
inline constexpr auto addends_less_a_value =
    formula::in_one(rule<"addends-less-a-value">, formula::constants.not_empty() - formula::chained,
                    dsl::fold(formula::constants) - formula::chained)
        .summary("constants that are added to a difference one after the other are one");

/// Multiples of one value are one multiple.
inline constexpr auto sum_of_multiples =
    rule<"sum-of-multiples">((formula::chained * dsl::var<"c">).users(1) +
                             (formula::chained * formula::other_constant).users(1))
        .where(dsl::is_constant<"c">.quiet(), dsl::is_constant<"d">.quiet(), dsl::floating<"x">)
        .where(formula::no_growth<"c", "d">)
        .summary("a value times one constant and times another is that value times their sum")
        .replace(formula::chained * dsl::fold(dsl::var<"c"> + formula::other_constant))
        .stage(6)
        .quiet();

}  // namespace fuse::inline v0::rules
