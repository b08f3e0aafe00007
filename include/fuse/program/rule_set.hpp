// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <fuse/dsl/rule.hpp>
#include <fuse/ops/onnx.hpp>
#include <fuse/program/lower.hpp>
#include <fuse/program/program.hpp>
#include <fuse/program/requirements.hpp>

namespace fuse::inline v0 {

template <auto const&... Members>
struct rule_set_of;

namespace detail {

template <class T>
inline constexpr bool is_rule_or_set = std::is_same_v<T, rewrite_rule>;
template <auto const&... Members>
inline constexpr bool is_rule_or_set<rule_set_of<Members...>> = true;

template <class... Members>
inline constexpr bool holds_rules_and_sets = (is_rule_or_set<std::remove_cvref_t<Members>> && ...);

}  // namespace detail

/// A set of rules and of other sets. Members are constants at namespace scope or `static constexpr` objects.
template <auto const&... Members>
struct rule_set_of {
  static_assert(detail::holds_rules_and_sets<decltype(Members)...>, "fuse: a rule set holds rules and rule sets");
};

/// `inline constexpr auto mine = fuse::rule_set<their_rules, my_rule>;`
template <auto const&... Members>
inline constexpr rule_set_of<Members...> rule_set{};

namespace detail {

// An object, not a temporary: compilers then remember what a name was found to mean.
template <auto const& Dialect>
inline constexpr dialect names_of = Dialect.names();

template <auto const& Rule, auto const& Dialect>
inline constexpr lowered_rule lowered = lower(Rule, names_of<Dialect>);

/// Stands for what is no rule, once that is said.
inline constexpr lowered_rule no_rule{};

/// Rules of nested sets in order, as pointers to their lowered forms.
template <std::size_t N>
struct lowered_list {
  lowered_rule const* at[N == 0 ? 1 : N]{};
};

template <class T>
struct member_count {
  static constexpr std::size_t value = 1;
};
template <auto const&... Members>
struct member_count<rule_set_of<Members...>> {
  static constexpr std::size_t value =
      (std::size_t{0} + ... + member_count<std::remove_cvref_t<decltype(Members)>>::value);
};

template <auto const& Member, auto const& Dialect, class T = std::remove_cvref_t<decltype(Member)>>
struct member_lowering {
  static constexpr void list(lowered_rule const** into, std::size_t& at) {
    if constexpr (std::is_same_v<T, rewrite_rule>)
      into[at++] = &lowered<Member, Dialect>;
    else
      into[at++] = &no_rule;
  }
};
template <auto const& Member, auto const& Dialect, auto const&... Members>
struct member_lowering<Member, Dialect, rule_set_of<Members...>> {
  static constexpr void list([[maybe_unused]] lowered_rule const** into, [[maybe_unused]] std::size_t& at) {
    if constexpr ((std::is_same_v<decltype(Members), rewrite_rule const&> && ...))
      ((into[at++] = &lowered<Members, Dialect>), ...);  // mostly so, and a template less for each rule
    else
      (member_lowering<Members, Dialect>::list(into, at), ...);
  }
};

template <auto const& Set, auto const& Dialect>
inline constexpr auto lowered_rules = [] {
  lowered_list<member_count<std::remove_cvref_t<decltype(Set)>>::value> made;
  std::size_t at = 0;
  member_lowering<Set, Dialect>::list(made.at, at);
  return made;
}();

/// The first rule of a set that has an error.
template <auto const& Set, auto const& Dialect>
inline constexpr lowered_rule const* first_wrong = [] {
  // By number: to g++ a comparison of addresses is no constant under -fsanitize=undefined.
  for (std::size_t i = 0; i < member_count<std::remove_cvref_t<decltype(Set)>>::value; ++i)
    if (lowered_rules<Set, Dialect>.at[i]->error != rule_error::none) return lowered_rules<Set, Dialect>.at[i];
  return &no_rule;
}();

template <auto const& Set, auto const& Dialect, std::size_t... I>
quoted<first_wrong<Set, Dialect>->name[I]...> quoted_rule(std::index_sequence<I...>);
template <auto const& Set, auto const& Dialect, std::size_t... I>
quoted<culprit_text(*first_wrong<Set, Dialect>, I).at_wanted...> quoted_culprit(std::index_sequence<I...>);

/// Whether the rules of a set meet the requirements: `met`, or the sentence that says why not.
template <auto const& Set, auto const& Dialect>
using require_rules = rule_requirement<
    first_wrong<Set, Dialect>->error,
    decltype(quoted_rule<Set, Dialect>(std::make_index_sequence<first_wrong<Set, Dialect>->name.size()>{})),
    decltype(quoted_culprit<Set, Dialect>(std::make_index_sequence<culprit_text(*first_wrong<Set, Dialect>).size>{}))>;

template <std::size_t N>
constexpr program_sizes sizes_of(lowered_list<N> const& rules) {
  program_sizes sum{};
  sum.rules = N;
  for (std::size_t i = 0; i < N; ++i) {
    lowered_rule const& rule = *rules.at[i];
    sum.code += rule.size;
    sum.entries += rule.entry_count;
    sum.conditions += rule.condition_count;
    sum.parameter_names += rule.parameter_name_count;
    sum.sets += rule.set_count;
    sum.replacements += rule.replacement_size;
    sum.rearrangements += rule.rearrangement_count;
  }
  return sum;
}

template <auto const& Set, auto const& Dialect>
constexpr auto merge() {
  constexpr auto const& rules = lowered_rules<Set, Dialect>;
  constexpr auto sizes = sizes_of(rules);
  return merging<program_table<sizes>>(rules.at, sizes.rules).out;
}

template <auto const& Set, auto const& Dialect>
inline constexpr auto program_table_of = merge<Set, Dialect>();

}  // namespace detail

/// The program of a rule or rule set in a dialect, made at compile time, once.
template <auto const& Set, auto const& Dialect = onnx>
inline constexpr program program_of = detail::program_table_of<Set, Dialect>;

}  // namespace fuse::inline v0
