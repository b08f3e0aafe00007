// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

namespace fuse::inline v0 {

/// A string literal as a template argument: `op<"Div">`. Equal texts are equal types.
template <std::size_t N>
struct fixed_string {
  char text[N]{};

  // NOLINTNEXTLINE: implicit on purpose, a literal names itself
  constexpr fixed_string(char const (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }

  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

}  // namespace fuse::inline v0
