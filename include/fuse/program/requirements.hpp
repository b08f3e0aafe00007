// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <fuse/core/fixed_string.hpp>
#include <fuse/program/lowered_rule.hpp>

namespace fuse::inline v0 {

/// A name in a diagnostic, as characters: every compiler prints them readably.
template <char... Text>
struct quoted {};

namespace detail {

/// The culprit of a rule as a diagnostic tells it, a character at a time: "factor: gemm has number alpha, integer
/// transA" where an attribute is wrong. Counts the characters, and keeps number `wanted`.
class culprit_text {
 public:
  std::size_t size = 0;
  char at_wanted = 0;

  constexpr explicit culprit_text(lowered_rule const& rule, std::size_t wanted = 0) : wanted_(wanted) {
    add(rule.culprit);
    if (rule.error != rule_error::unknown_attribute && rule.error != rule_error::attribute_of_another_kind) return;
    add(": ");
    add(rule.owner);
    std::string_view before = " has ";
    for (auto const& one : rule.attributes->all) {
      add(before);
      add(name_of(one.kind));
      add(" ");
      add(one.name);
      before = ", ";
    }
    if (rule.attributes->all.size() == 0) add(" has none");
  }

 private:
  constexpr void add(std::string_view text) {
    if (wanted_ >= size && wanted_ < size + text.size()) at_wanted = text[wanted_ - size];
    size += text.size();
  }
  std::size_t wanted_;
};

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
      "fuse: a rule has at most 128 distinct terms, 64 on its right side, 8 operands and attributes of an operator of "
      "its pattern, 4 roots, "
      "16 conditions, 12 rearrangements and 24 names; this one has more");
  static_assert(is_not<Error, rule_error::unknown_operator>,
                "fuse: a rule names an operator that the dialect does not know");
  static_assert(is_not<Error, rule_error::wrong_operand_count>,
                "fuse: a rule gives an operator a wrong number of operands");
  static_assert(is_not<Error, rule_error::unbound_name>,
                "fuse: the right side of a rule uses a name that the pattern does not bind");
  static_assert(is_not<Error, rule_error::rest_not_last>,
                "fuse: a rest stands as the last operand of an operator, or in a product or sum");
  static_assert(
      is_not<Error, rule_error::no_replacement>,
      "fuse: a rule needs a right side made of captures, numbers and operators: rule<...>(pattern).replace(...)");
  static_assert(is_not<Error, rule_error::either_in_a_replacement>,
                "fuse: either stands on a right side for the whole of it, that of a rule with one root");
  static_assert(is_not<Error, rule_error::roots_and_replacements_differ>,
                "fuse: a rule with several roots needs as many replacements: replace(first, second)");
  static_assert(
      is_not<Error, rule_error::unreachable_root>,
      "fuse: the root of a pattern is an operator, and every further root uses something that the first one binds");
  static_assert(is_not<Error, rule_error::unbound_condition>,
                "fuse: a condition names a capture that the pattern does not bind");
  static_assert(
      is_not<Error, rule_error::two_uses_of_a_name>,
      "fuse: a rule uses one name for two kinds of captures (a value, a scalar, a parameter, an extent, a rest of a "
      "product, of a sum or of operands)");
  static_assert(is_not<Error, rule_error::unknown_attribute>,
                "fuse: a rule, or its dialect, names an attribute that the operator does not have");
  static_assert(is_not<Error, rule_error::attribute_of_another_kind>,
                "fuse: a rule wants an attribute to be what it cannot hold");
  static_assert(is_not<Error, rule_error::row_of_several_axes>,
                "fuse: a rule captures several parameters: say which one is a row's axes, row(v, x, param<...>)");
  static_assert(is_not<Error, rule_error::root_on_the_right>,
                "fuse: the right side of a rule uses the name of what it replaces: it would read itself");
  static_assert(
      is_not<Error, rule_error::attribute_of_no_operator>,
      "fuse: .attr stands behind an operator; a capture, a number or what is looked through has no attributes");
  static_assert(is_not<Error, rule_error::tolerance_of_no_number>,
                "fuse: .within stands behind a number; nothing else has a tolerance");
  static_assert(is_not<Error, rule_error::too_many_users>, "fuse: .users takes a number from 0 to 65535");
  static_assert(is_not<Error, rule_error::parameter_as_operand>,
                "fuse: a rule gives an operator more operands than are data in its dialect: the others are parameters, "
                "which .attr names");
  static_assert(is_not<Error, rule_error::not_in_all_branches>,
                "fuse: the right side of a rule needs a name that not every branch of an either binds");
  static_assert(is_not<Error, rule_error::parameter_as_value>,
                "fuse: a parameter stands in .attr, where it captures one; it is no operand");
  static_assert(
      is_not<Error, rule_error::cancels>,
      "fuse: a sum or product takes back what it adds or multiplies: nothing of a graph cancels, so that this "
      "matches nothing");
  static_assert(
      is_not<Error, rule_error::result_as_root>,
      "fuse: the root of a pattern is the first result of its operator: matching begins there, and result<1> of an "
      "operator stands below another one");
  static_assert(is_not<Error, rule_error::again_of_no_operator>,
                "fuse: again stands for an operator of the pattern, to which .as gives that name");
  static_assert(is_not<Error, rule_error::optional_of_no_fold>,
                "fuse: on the right side optional stands around a fold of what may be absent: optional(fold(-b))");
  static_assert(is_not<Error, rule_error::or_else_of_no_capture>,
                "fuse: or_else begins with a capture, which may be absent: or_else(c, 0)");
  static_assert(is_not<Error, rule_error::exact_of_no_fold>,
                "fuse: .exact stands behind fold; nothing else is rounded");
  static_assert(is_not<Error, rule_error::wrong_notation>,
                "fuse: rearrange takes names, 1, groups in brackets and ..., on both sides of one ->; each name stands "
                "once on a side, all of the left stand on the right, and (...) stands on the right alone");
  static_assert(is_not<Error, rule_error::list_of_no_numbers>,
                "fuse: a list in a pattern has numbers for entries; param captures a list as it is");
  static_assert(
      is_not<Error, rule_error::result_of_no_operator>,
      "fuse: result<0> to result<255> stand around an operator; a name or a count of users stands around that");
  static_assert(
      is_not<Error, rule_error::misplaced>,
      "fuse: fold, row, dim, or_else, again and what is computed stand on the right side of a rule, roots around its "
      "whole pattern, and none in the place of an operand that an operator may lack");
};

template <fixed_string Name, std::size_t... I>
quoted<Name.text[I]...> quoted_name(std::index_sequence<I...>);

/// What reading a match must meet.
template <class Name, bool Bound>
struct match_has_no_capture_of_that_name {
  static_assert(Bound, "fuse: the rule has no capture of that name");
};

}  // namespace detail
}  // namespace fuse::inline v0
