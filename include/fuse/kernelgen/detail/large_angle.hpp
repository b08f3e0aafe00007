// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/isa.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA {

/// The bits of 2 / pi behind the point.
inline constexpr std::uint32_t two_by_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                              0xdb629599, 0x3c439041, 0xfe5163ab};

/// 32 bits of 2 / pi from bit `begin` on, which may lie before the point.
[[nodiscard]] constexpr std::uint32_t bits_of_two_by_pi(int begin) {
  std::uint32_t bits = 0;
  for (int i = begin; i < begin + 32; ++i) bits = bits << 1 | (i < 0 ? 0 : two_by_pi[i / 32] >> (31 - i % 32) & 1u);
  return bits;
}

/// An angle of more than 2^-3, or infinite or NaN, as right angles, modulo 4, and what is left of it. Exact products
/// with the bits of 2 / pi that count. M. H. Payne, R. N. Hanek: Radian reduction for trigonometric functions, 1983.
inline void reduce_large_angle(float angle, float& rest, std::int32_t& quarters) {
  auto const bits = std::bit_cast<std::uint32_t>(angle);
  int const exponent = static_cast<int>(bits >> 23) - 150;  // of the last bit
  quarters = 0;
  rest = std::numeric_limits<float>::quiet_NaN();
  if (exponent > 104) return;
  std::uint64_t const fraction = (bits & 0x7fffffu) | 0x800000u;
  // Right angles in units of 2^-62, modulo 4: what comes before a product with these bits of 2 / pi is a multiple of 4.
  int const begin = exponent - 2;
  std::uint64_t const upper = fraction * bits_of_two_by_pi(begin) << 32;
  std::uint64_t const middle = fraction * bits_of_two_by_pi(begin + 32);
  std::uint64_t const lower = fraction * bits_of_two_by_pi(begin + 64) >> 32;
  std::uint64_t const all = upper + middle + lower;
  std::uint64_t const nearest = (all + (std::uint64_t{1} << 61)) >> 62;
  quarters = static_cast<std::int32_t>(nearest & 3);
  auto const left = static_cast<std::int64_t>(all - (nearest << 62));
  rest = static_cast<float>(static_cast<double>(left) * 0x1.921fb54442d18p-62);
}

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA
