// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <fuse/program/lowered_rule.hpp>

namespace fuse::inline v0 {

/// A name in a diagnostic, as characters: every compiler prints them readably.
template <char... Text>
struct quoted {};

namespace detail {

template <class Rule>
inline constexpr bool never = false;

// Each of these is one sentence; the types in its "in instantiation of" line are the rule and the culprit.
template <class Rule, class Culprit>
struct rule_is_too_large {
  static_assert(never<Rule>, "fuse: a rule has at most 128 distinct terms, 16 conditions and 24 names; this one has more");
};
template <class Rule, class Culprit>
struct rule_names_an_operator_that_the_dialect_does_not_know {
  static_assert(never<Rule>, "fuse: a rule names an operator that the dialect does not know");
};
template <class Rule, class Culprit>
struct rule_gives_an_operator_a_wrong_number_of_operands {
  static_assert(never<Rule>, "fuse: a rule gives an operator a wrong number of operands");
};
template <class Rule, class Culprit>
struct rule_replaces_with_a_name_that_its_pattern_does_not_bind {
  static_assert(never<Rule>, "fuse: the right side of a rule uses a name that the pattern does not bind");
};
template <class Rule, class Culprit>
struct rule_has_a_rest_twice_or_where_no_rest_can_stand {
  static_assert(never<Rule>, "fuse: a rest stands once in a rule, as the last operand of an operator or in a product or sum");
};
template <class Rule, class Culprit>
struct rule_has_no_replacement {
  static_assert(never<Rule>, "fuse: a rule needs a right side made of captures, numbers and operators: rule<...>(pattern).replace(...)");
};
template <class Rule, class Culprit>
struct rule_needs_one_replacement_per_root {
  static_assert(never<Rule>, "fuse: a rule with several roots needs as many replacements: replace(first, second)");
};
template <class Rule, class Culprit>
struct rule_has_a_root_that_cannot_be_found {
  static_assert(never<Rule>, "fuse: the root of a pattern is an operator, and every further root uses something that the first one binds");
};
template <class Rule, class Culprit>
struct rule_has_a_condition_on_an_unbound_name {
  static_assert(never<Rule>, "fuse: a condition names a capture that the pattern does not bind");
};
template <class Rule, class Culprit>
struct rule_uses_one_name_for_two_kinds_of_captures {
  static_assert(never<Rule>, "fuse: a rule uses one name for two kinds of captures (a value, a scalar, a rest, a parameter)");
};

template <auto const& Lowered, class Rule, class Culprit>
constexpr bool meets_requirements() {
  constexpr auto error = Lowered.error;
  if constexpr (error == rule_error::too_large) (void)sizeof(rule_is_too_large<Rule, Culprit>);
  if constexpr (error == rule_error::unknown_operator) (void)sizeof(rule_names_an_operator_that_the_dialect_does_not_know<Rule, Culprit>);
  if constexpr (error == rule_error::wrong_operand_count) (void)sizeof(rule_gives_an_operator_a_wrong_number_of_operands<Rule, Culprit>);
  if constexpr (error == rule_error::unbound_name) (void)sizeof(rule_replaces_with_a_name_that_its_pattern_does_not_bind<Rule, Culprit>);
  if constexpr (error == rule_error::rest_twice) (void)sizeof(rule_has_a_rest_twice_or_where_no_rest_can_stand<Rule, Culprit>);
  if constexpr (error == rule_error::no_replacement) (void)sizeof(rule_has_no_replacement<Rule, Culprit>);
  if constexpr (error == rule_error::roots_and_replacements_differ) (void)sizeof(rule_needs_one_replacement_per_root<Rule, Culprit>);
  if constexpr (error == rule_error::unreachable_root) (void)sizeof(rule_has_a_root_that_cannot_be_found<Rule, Culprit>);
  if constexpr (error == rule_error::unbound_condition) (void)sizeof(rule_has_a_condition_on_an_unbound_name<Rule, Culprit>);
  if constexpr (error == rule_error::two_uses_of_a_name) (void)sizeof(rule_uses_one_name_for_two_kinds_of_captures<Rule, Culprit>);
  return error == rule_error::none;
}

template <auto const& Lowered, std::size_t... R, std::size_t... C>
constexpr bool explain_error(std::index_sequence<R...>, std::index_sequence<C...>) {
  return meets_requirements<Lowered, quoted<Lowered.name[R]...>, quoted<Lowered.culprit[C]...>>();
}

/// Stops compilation with one sentence when the rule has an error.
template <auto const& Lowered>
constexpr bool check_rule() {
  if constexpr (Lowered.error == rule_error::none)
    return true;
  else
    return explain_error<Lowered>(std::make_index_sequence<Lowered.name.size()>{}, std::make_index_sequence<Lowered.culprit.size()>{});
}

}  // namespace detail
}  // namespace fuse::inline v0
