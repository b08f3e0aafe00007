// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

#include <fuse/core/fixed_string.hpp>

namespace fuse::inline v0 {

/// A view of characters in static storage: a std::string_view without a constructor of its own. Compilers spend
/// nothing on the elements of an array of these that nobody touches.
struct static_text {
  char const* first;
  std::size_t length;

  static_text() = default;
  // NOLINTNEXTLINE: a text is one
  constexpr static_text(std::string_view text) : first(text.data()), length(text.size()) {}

  // NOLINTNEXTLINE: it reads as what it is
  constexpr operator std::string_view() const { return {first, length}; }
  [[nodiscard]] constexpr char const* data() const { return first; }
  [[nodiscard]] constexpr bool empty() const { return length == 0; }
  [[nodiscard]] constexpr std::size_t size() const { return length; }

  [[nodiscard]] friend constexpr bool operator==(static_text a, static_text b) { return detail::same_text(a, b); }
  [[nodiscard]] friend constexpr bool operator==(static_text a, std::string_view b) { return detail::same_text(a, b); }
};

}  // namespace fuse::inline v0
