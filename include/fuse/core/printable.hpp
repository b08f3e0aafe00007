// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

namespace fuse::inline v0 {

/// `text` as one line that a terminal shows and does not obey: control characters, and bytes that are no UTF-8, as
/// `\x1b`. Names in models may hold anything. Linear.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  auto const byte_at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size();) {
    auto const first = byte_at(i);
    // How long the character is; 0 for none. Those from U+0080 to U+009F are control characters.
    std::size_t length = first < 0x80   ? 1
                         : first < 0xc2 ? 0
                         : first < 0xe0 ? 2
                         : first < 0xf0 ? 3
                         : first < 0xf5 ? 4
                                        : 0;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte_at(i + k) & 0xc0u) != 0x80u) length = 0;
    bool const control = first < 0x20 || first == 0x7f || (first == 0xc2 && byte_at(i + 1) < 0xa0);
    if (length != 0 && !control) {
      shown.append(text.substr(i, length));
      i += length;
      continue;
    }
    for (std::size_t k = 0; k < (length == 0 ? 1 : length); ++k, ++i) {
      shown += "\\x";
      shown += digits[byte_at(i) >> 4];
      shown += digits[byte_at(i) & 15u];
    }
  }
  return shown;
}

}  // namespace fuse::inline v0
