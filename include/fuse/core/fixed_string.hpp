// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace fuse::inline v0 {

/// A string literal as a template argument: `op<"Div">`. Equal texts are equal types.
template <std::size_t N>
struct fixed_string {
  char text[N];

  // NOLINTNEXTLINE: implicit on purpose, a literal names itself
  constexpr fixed_string(char const (&literal)[N]) : fixed_string(literal, std::make_index_sequence<N>{}) {}

  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }

 private:
  // All characters at once: a loop takes constant evaluation ten times as long.
  template <std::size_t... I>
  constexpr fixed_string(char const (&literal)[N], std::index_sequence<I...>) : text{literal[I]...} {}
};

}  // namespace fuse::inline v0
