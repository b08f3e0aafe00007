// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace fuse::inline v0::detail {

/// A hash of what `h` is the hash of, and of one word more.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
  h = (h ^ word) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

}  // namespace fuse::inline v0::detail
