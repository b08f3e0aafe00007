// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <fuse/core/fixed_string.hpp>
#include <fuse/dsl/expression.hpp>
#include <fuse/infer/value_view.hpp>

namespace fuse::inline v0 {

/// What a capture of a rule holds when a condition looks at it.
struct captured {
  std::span<value_view const> values{};  ///< none when absent, one, or the members of a rest
  double number = 0;                     ///< of a scalar
  std::uint64_t axes = 0;                ///< of captured axes: bit k is the k-th axis from the last
  bool bound = false;
};

/// A named precondition. Data, and one function for all graphs: a rule with conditions is still one type.
struct condition {
  static constexpr std::size_t capacity = 4;
  std::string_view name{};
  bool (*holds)(captured const*, condition const&) = nullptr;
  std::string_view captures[capacity]{};
  std::size_t count = 0;
  double number = 0;
};

namespace dsl {

/// A predicate of the user's own, over the values of the captures that it names: `pred<"x", "w">([](auto x, auto w) { ... })`.
/// The lambda captures nothing. It receives `fuse::value_view`s; for a rest it is asked once per member; where a capture is
/// absent it is not asked and the condition holds.
template <fixed_string... Names, class Function>
[[nodiscard]] constexpr condition pred(Function) {
  static_assert(sizeof...(Names) >= 1 && sizeof...(Names) <= condition::capacity, "fuse: a predicate names between one and four captures");
  static_assert(sizeof(Function) == 1, "fuse: the lambda of a predicate captures nothing");
  condition made;
  made.holds = [](captured const* arguments, condition const&) {
    constexpr std::size_t count = sizeof...(Names);
    std::size_t longest = 1;
    for (std::size_t i = 0; i < count; ++i) {
      if (arguments[i].values.empty()) return true;
      if (arguments[i].values.size() > longest) longest = arguments[i].values.size();
    }
    for (std::size_t member = 0; member < longest; ++member) {
      auto const at = [&](std::size_t i) { return arguments[i].values[member < arguments[i].values.size() ? member : 0]; };
      bool const ok = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return static_cast<bool>(Function{}(at(I)...));
      }(std::make_index_sequence<count>{});
      if (!ok) return false;
    }
    return true;
  };
  ((made.captures[made.count++] = detail::name_text<Names>), ...);
  return made;
}

}  // namespace dsl
}  // namespace fuse::inline v0
