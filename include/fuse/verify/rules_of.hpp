// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <vector>

#include <fuse/dsl/rule.hpp>
#include <fuse/program/rule_set.hpp>

namespace fuse::inline v0 {

namespace detail {

template <auto const& Member, class T = std::remove_cvref_t<decltype(Member)>>
struct rules_of_member {
  static void list(std::vector<rewrite_rule const*>& into) { into.push_back(&Member); }
};
template <auto const& Member, auto const&... Members>
struct rules_of_member<Member, rule_set_of<Members...>> {
  static void list(std::vector<rewrite_rule const*>& into) { (rules_of_member<Members>::list(into), ...); }
};

}  // namespace detail

/// The rules of a set as they are written, those of nested sets in their places; or one rule.
template <auto const& Rules>
[[nodiscard]] std::vector<rewrite_rule const*> rules_of() {
  std::vector<rewrite_rule const*> all;
  detail::rules_of_member<Rules>::list(all);
  return all;
}

}  // namespace fuse::inline v0
