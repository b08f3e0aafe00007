// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/mixed.hpp>

namespace fuse::inline v0 {

/// An integer of shape arithmetic: known, or a symbol of an `extent_algebra` (infer/dimension.hpp). Equal means
/// provably equal; that two differ says nothing unless both are known. As a dimension it is never negative.
class extent {
 public:
  constexpr extent() = default;
  constexpr extent(std::int64_t number) : number_(number) {}  // NOLINT: a number is an extent

  [[nodiscard]] static constexpr extent of_symbol(std::uint32_t symbol) {
    extent made;
    made.symbol_ = symbol + 1;
    return made;
  }
  [[nodiscard]] constexpr bool known() const { return symbol_ == 0; }
  [[nodiscard]] constexpr std::int64_t value() const { return number_; }        ///< if known, else 0
  [[nodiscard]] constexpr std::uint32_t symbol() const { return symbol_ - 1; }  ///< if not known
  [[nodiscard]] friend constexpr bool operator==(extent, extent) = default;

  // For sequences that are kept once each.
  [[nodiscard]] friend constexpr std::uint64_t hashed(std::uint64_t h, extent e) {
    return detail::mixed(h, e.known() ? static_cast<std::uint64_t>(e.number_) : ~std::uint64_t{e.symbol_});
  }
  [[nodiscard]] friend constexpr bool same(extent a, extent b) { return a == b; }

 private:
  std::int64_t number_ = 0;
  std::uint32_t symbol_ = 0;
};

}  // namespace fuse::inline v0
