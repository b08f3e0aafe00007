// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

// Sums and products that say whether they fit; where they do not, the result is left as it was.
namespace fuse::inline v0::detail {

[[nodiscard]] constexpr bool checked_add(std::int64_t a, std::int64_t b, std::int64_t& sum) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  if (b > 0 ? a > most - b : a < least - b) return false;
  sum = a + b;
  return true;
}
[[nodiscard]] constexpr bool checked_multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  if (a != 0 && b != 0) {
    if (a == least || b == least) {
      if (a != 1 && b != 1) return false;
    } else {
      auto const room = most / (b < 0 ? -b : b);
      if (a > room || a < -room) return false;
    }
  }
  product = a * b;
  return true;
}

}  // namespace fuse::inline v0::detail
