// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/core/fixed_string.hpp>
#include <fuse/core/span.hpp>
#include <fuse/dsl/expression.hpp>
#include <fuse/infer/value_view.hpp>

namespace fuse::inline v0 {

/// What a capture of a rule holds when a condition looks at it.
struct captured {
  span<value_view const> values{};  ///< none when absent, one, or the members of a rest
  double number = 0;                ///< of a scalar
  std::uint64_t axes = 0;           ///< of captured axes: bit k is the k-th axis from the last
  bool bound = false;
};

/// A named precondition. Data, and one function for all graphs: a rule with conditions is still one type.
struct condition {
  static constexpr std::size_t capacity = 4;
  static_text name;
  bool (*holds)(captured const*, condition const&);
  bool (*ask)(value_view const*);  ///< of a predicate of the user's own
  static_text captures[capacity];
  std::size_t count;
  double number;
};

namespace detail {

/// Asks a predicate once per member of the longest capture. Nothing that depends on the predicate: hundreds of them
/// cost little.
inline bool holds_for_each_member(captured const* captures, condition const& what) {
  std::size_t longest = 1;
  for (std::size_t i = 0; i < what.count; ++i) {
    if (captures[i].values.empty()) return true;
    if (captures[i].values.size() > longest) longest = captures[i].values.size();
  }
  value_view arguments[condition::capacity];
  for (std::size_t member = 0; member < longest; ++member) {
    for (std::size_t i = 0; i < what.count; ++i)
      arguments[i] = captures[i].values[member < captures[i].values.size() ? member : 0];
    if (!what.ask(arguments)) return false;
  }
  return true;
}

/// The names of captures, once for all predicates that take them.
template <fixed_string... Names>
inline constexpr static_text capture_names[] = {{Names.text, sizeof(Names.text) - 1}...};

[[nodiscard]] constexpr condition asking(bool (*ask)(value_view const*), static_text const* names, std::size_t count) {
  condition made{};
  made.holds = &holds_for_each_member;
  made.ask = ask;
  for (std::size_t i = 0; i < count; ++i) made.captures[made.count++] = names[i];
  return made;
}

template <class Function, std::size_t Count>
bool ask(value_view const* of) {
  if constexpr (Count == 1) return static_cast<bool>(Function{}(of[0]));
  if constexpr (Count == 2) return static_cast<bool>(Function{}(of[0], of[1]));
  if constexpr (Count == 3) return static_cast<bool>(Function{}(of[0], of[1], of[2]));
  if constexpr (Count == 4) return static_cast<bool>(Function{}(of[0], of[1], of[2], of[3]));
}

}  // namespace detail

namespace dsl {

/// A predicate of the user's own, over the values of the captures that it names: `pred<"x", "w">([](auto x, auto w) {
/// ... })`. The lambda captures nothing. It receives `fuse::value_view`s; for a rest it is asked once per member; where
/// a capture is absent it is not asked and the condition holds.
template <fixed_string... Names, class Function>
[[nodiscard]] constexpr condition pred(Function) {
  static_assert(sizeof...(Names) >= 1 && sizeof...(Names) <= condition::capacity,
                "fuse: a predicate names between one and four captures");
  static_assert(sizeof(Function) == 1, "fuse: the lambda of a predicate captures nothing");
  if constexpr (sizeof(Function) == 1 && sizeof...(Names) >= 1 && sizeof...(Names) <= condition::capacity)
    return detail::asking(&detail::ask<Function, sizeof...(Names)>, detail::capture_names<Names...>, sizeof...(Names));
  else
    return {};
}

}  // namespace dsl
}  // namespace fuse::inline v0
