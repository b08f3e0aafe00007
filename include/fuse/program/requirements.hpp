// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/program/lowered_rule.hpp>

namespace fuse::inline v0 {

/// A name in a diagnostic, as characters: every compiler prints them readably.
template <char... Text>
struct quoted {};

namespace detail {

// Not an operator: compilers would tell how it evaluates.
template <rule_error Error, rule_error Other>
inline constexpr bool is_not = Error != Other;

/// What a rule must meet, a sentence each. The type's name, in the first "in instantiation of" line, has the rule and
/// the culprit; an object of this type in a function stops compilation there, if there is an error.
template <rule_error Error, class Rule, class Culprit>
struct rule_requirement {
  static constexpr bool met = Error == rule_error::none;
  static_assert(
      is_not<Error, rule_error::too_large>,
      "fuse: a rule has at most 128 distinct terms, 8 operands, 16 conditions and 24 names; this one has more");
  static_assert(is_not<Error, rule_error::unknown_operator>,
                "fuse: a rule names an operator that the dialect does not know");
  static_assert(is_not<Error, rule_error::wrong_operand_count>,
                "fuse: a rule gives an operator a wrong number of operands");
  static_assert(is_not<Error, rule_error::unbound_name>,
                "fuse: the right side of a rule uses a name that the pattern does not bind");
  static_assert(is_not<Error, rule_error::rest_twice>,
                "fuse: a rest stands once in a rule, as the last operand of an operator or in a product or sum");
  static_assert(
      is_not<Error, rule_error::no_replacement>,
      "fuse: a rule needs a right side made of captures, numbers and operators: rule<...>(pattern).replace(...)");
  static_assert(is_not<Error, rule_error::roots_and_replacements_differ>,
                "fuse: a rule with several roots needs as many replacements: replace(first, second)");
  static_assert(
      is_not<Error, rule_error::unreachable_root>,
      "fuse: the root of a pattern is an operator, and every further root uses something that the first one binds");
  static_assert(is_not<Error, rule_error::unbound_condition>,
                "fuse: a condition names a capture that the pattern does not bind");
  static_assert(is_not<Error, rule_error::two_uses_of_a_name>,
                "fuse: a rule uses one name for two kinds of captures (a value, a scalar, a rest, a parameter)");
};

}  // namespace detail
}  // namespace fuse::inline v0
