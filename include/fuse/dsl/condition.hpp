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
  span<value_view const> values{};  ///< none when absent, one (of a number: without a value), or the members of a rest
  double number = 0;                ///< of a scalar
  std::uint64_t axes = 0;           ///< of captured axes: bit k is the k-th axis from the last
  span<std::int64_t const> integers{};  ///< of a captured list
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
  bool silent;  ///< where it fails, that is no news

  /// For a condition that tells where the rule belongs at all: reports do not tell where it fails.
  [[nodiscard]] constexpr condition quiet() const {
    condition changed = *this;
    changed.silent = true;
    return changed;
  }
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

/// What predicates that take these captures have in common, made once for all of them.
template <fixed_string... Names>
inline constexpr condition asking = [] {
  condition made{};
  made.holds = &holds_for_each_member;
  if constexpr (sizeof...(Names) <= condition::capacity) ((made.captures[made.count++] = name_text<Names>), ...);
  return made;
}();

// A template for each count: what only an `if constexpr` would leave out, each predicate pays for.
template <std::size_t Count>
struct asking_about;
template <>
struct asking_about<1> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0]));
  }
};
template <>
struct asking_about<2> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0], of[1]));
  }
};
template <>
struct asking_about<3> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0], of[1], of[2]));
  }
};
template <>
struct asking_about<4> {
  template <class Function>
  static bool ask(value_view const* of) {
    return static_cast<bool>(Function{}(of[0], of[1], of[2], of[3]));
  }
};

/// What `pred` is for so many names. An object: a function template with these names would look for them, and be
/// compiled, once for each predicate.
template <std::size_t Count>
struct predicate_over {
  static_assert(Count >= 1 && Count <= condition::capacity, "fuse: a predicate names between one and four captures");
  condition about;

  template <class Function>
  [[nodiscard]] constexpr condition operator()(Function) const {
    static_assert(sizeof(Function) == 1, "fuse: the lambda of a predicate captures nothing");
    if constexpr (sizeof(Function) == 1)
      return asked_by(&asking_about<Count>::template ask<Function>);
    else
      return about;
  }

 private:
  [[nodiscard]] constexpr condition asked_by(bool (*ask)(value_view const*)) const {
    condition made = about;
    made.ask = ask;
    return made;
  }
};

}  // namespace detail

namespace dsl {

/// A predicate of the user's own, over the values of the captures that it names: `pred<"x", "w">([](auto x, auto w) {
/// ... })`. The lambda captures nothing. It receives `fuse::value_view`s; for a rest it is asked once per member; where
/// a capture is absent it is not asked and the condition holds. A number, or a parameter, is a view of no value that
/// has the number (`v.number(into)`) or the axes (`v.integers(into)`).
template <fixed_string... Names>
inline constexpr detail::predicate_over<sizeof...(Names)> pred{detail::asking<Names...>};

}  // namespace dsl
}  // namespace fuse::inline v0
