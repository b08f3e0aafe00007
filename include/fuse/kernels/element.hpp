// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace fuse::inline v0::kernels {

/// Storage of a bfloat16: the upper half of a float. Arrays of any other 16-bit type with these bits may be looked at
/// as arrays of this one.
struct bfloat16 {
  std::uint16_t bits;
};

/// Storage of an IEEE binary16.
struct float16 {
  std::uint16_t bits;
};

/// What a kernel reads and writes. All arithmetic is done in float.
template <class T>
concept element = std::same_as<T, float> || std::same_as<T, bfloat16> || std::same_as<T, float16>;

// Inlined always: a linker would take one of those that sources compiled for different machines have.
[[nodiscard, gnu::always_inline]] constexpr float to_float(float value) { return value; }

[[nodiscard, gnu::always_inline]] constexpr float to_float(bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

[[nodiscard, gnu::always_inline]] constexpr float to_float(float16 value) {
  std::uint32_t const sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude << 13));
  if (magnitude < 0x0400u) {
    float const subnormal = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
}

/// Rounds to the nearest `T`, ties to even; a NaN stays one.
template <element T>
[[nodiscard, gnu::always_inline]] constexpr T from_float(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    if (value != value) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
    return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
  } else {
    std::uint32_t const sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u;
    } else if (magnitude >= (143u << 23)) {
      half = 0x7c00u;
    } else if (magnitude < (113u << 23)) {
      // Added to 0.5, the last bit of the sum is worth what the last bit of a subnormal is.
      half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
    } else {
      half = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    }
    return {static_cast<std::uint16_t>(sign | half)};
  }
}

}  // namespace fuse::inline v0::kernels
