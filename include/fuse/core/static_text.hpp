// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

namespace fuse::inline v0 {

/// A view of characters in static storage. An aggregate: where a std::string_view has a constructor, compilers run it
/// for every element of an array that nobody touches, and copy each of them ever after.
struct static_text {
  char const* first;
  std::size_t length;

  /// The text of a literal, or of what else lives as long.
  [[nodiscard]] static constexpr static_text of(std::string_view text) { return {text.data(), text.size()}; }

  // NOLINTNEXTLINE: it reads as what it is
  constexpr operator std::string_view() const { return {first, length}; }
  [[nodiscard]] constexpr char operator[](std::size_t at) const { return first[at]; }
  [[nodiscard]] constexpr char const* data() const { return first; }
  [[nodiscard]] constexpr bool empty() const { return length == 0; }
  [[nodiscard]] constexpr std::size_t size() const { return length; }

  // One step of constant evaluation, where std::string_view takes several per character.
  [[nodiscard]] friend constexpr bool operator==(static_text a, static_text b) {
    return a.length == b.length && (a.length == 0 || __builtin_memcmp(a.first, b.first, a.length) == 0);
  }
  [[nodiscard]] friend constexpr bool operator==(static_text a, std::string_view b) { return a == of(b); }
};

}  // namespace fuse::inline v0
