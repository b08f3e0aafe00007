// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <type_traits>

#include <fuse/dsl/rule.hpp>
#include <fuse/ops/onnx.hpp>
#include <fuse/program/lower.hpp>
#include <fuse/program/program.hpp>
#include <fuse/program/requirements.hpp>

namespace fuse::inline v0 {

/// A set of rules and of other sets. Members are constants at namespace scope or `static constexpr` objects.
template <auto const&... Members>
struct rule_set_of {};

/// `inline constexpr auto mine = fuse::rule_set<fuse::rules::norms, my_rule>;`
template <auto const&... Members>
inline constexpr rule_set_of<Members...> rule_set{};

namespace detail {

template <auto const& Rule, auto const& Dialect>
inline constexpr lowered_rule lowered = lower(Rule, Dialect);

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
  static constexpr std::size_t value = (std::size_t{0} + ... + member_count<std::remove_cvref_t<decltype(Members)>>::value);
};

template <auto const& Member, auto const& Dialect, class T = std::remove_cvref_t<decltype(Member)>>
struct member_lowering {
  static_assert(std::is_same_v<T, rewrite_rule>, "fuse: a rule set holds rules and rule sets");
  static constexpr void list(lowered_rule const** into, std::size_t& at) {
    static_assert(check_rule<lowered<Member, Dialect>>());
    into[at++] = &lowered<Member, Dialect>;
  }
};
template <auto const& Member, auto const& Dialect, auto const&... Members>
struct member_lowering<Member, Dialect, rule_set_of<Members...>> {
  static constexpr void list(lowered_rule const** into, std::size_t& at) { (member_lowering<Members, Dialect>::list(into, at), ...); }
};

template <auto const& Set, auto const& Dialect>
inline constexpr auto lowered_rules = [] {
  lowered_list<member_count<std::remove_cvref_t<decltype(Set)>>::value> made;
  std::size_t at = 0;
  member_lowering<Set, Dialect>::list(made.at, at);
  return made;
}();

struct program_sizes {
  std::size_t code, entries, conditions, replacements;
};

template <std::size_t N>
constexpr program_sizes sizes_of(lowered_list<N> const& rules) {
  program_sizes sum{};
  for (std::size_t i = 0; i < N; ++i) {
    sum.code += rules.at[i]->size;
    sum.entries += rules.at[i]->entry_count;
    sum.conditions += rules.at[i]->condition_count;
    sum.replacements += rules.at[i]->replacement_size;
  }
  return sum;
}

template <auto const& Set, auto const& Dialect>
constexpr auto merge() {
  constexpr auto const& rules = lowered_rules<Set, Dialect>;
  constexpr auto count = member_count<std::remove_cvref_t<decltype(Set)>>::value;
  constexpr auto sizes = sizes_of(rules);
  using table = program_table<sizes.code, sizes.entries, count, sizes.conditions, sizes.replacements>;
  return merging<table>(rules.at, count).out;
}

template <auto const& Set, auto const& Dialect>
inline constexpr auto program_table_of = merge<Set, Dialect>();

}  // namespace detail

/// The program of a rule or rule set in a dialect, made at compile time, once.
template <auto const& Set, auto const& Dialect = onnx>
inline constexpr program program_of = detail::program_table_of<Set, Dialect>;

}  // namespace fuse::inline v0
