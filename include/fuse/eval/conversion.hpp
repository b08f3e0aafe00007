// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/dense.hpp>
#include <fuse/eval/rounding.hpp>

namespace fuse::inline v0 {

namespace detail {

/// The number of an integer type that differs by a multiple of 2 to its bits, as arithmetic in that type has it.
[[nodiscard]] inline std::int64_t wrapped(std::int64_t x, element_type type) {
  switch (type) {
    case element_type::int8: return static_cast<std::int8_t>(x);
    case element_type::int16: return static_cast<std::int16_t>(x);
    case element_type::int32: return static_cast<std::int32_t>(x);
    case element_type::uint8: return static_cast<std::uint8_t>(x);
    case element_type::uint16: return static_cast<std::uint16_t>(x);
    case element_type::uint32: return static_cast<std::uint32_t>(x);
    default: return x;
  }
}

/// An integer of a type as a double.
[[nodiscard]] inline double real(std::int64_t x, element_type type) {
  return type == element_type::uint64 ? static_cast<double>(static_cast<std::uint64_t>(x)) : static_cast<double>(x);
}

/// A number towards 0, in an integer type; what 64 bits cannot hold becomes what they hold that is nearest.
[[nodiscard]] inline std::int64_t truncated(double x, element_type type) {
  if (x != x) return 0;
  if (type == element_type::uint64 && x >= 0x1p63)
    return static_cast<std::int64_t>(x >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(x));
  if (x >= 0x1p63) return INT64_MAX;
  if (x < -0x1p63) return INT64_MIN;
  return wrapped(static_cast<std::int64_t>(x), type);
}

/// The smallest and the largest number of an integer type of at most 32 bits.
[[nodiscard]] inline double least_of(element_type type) {
  return is_unsigned(type) ? 0 : -static_cast<double>(std::int64_t{1} << (size_of(type) * 8 - 1));
}
[[nodiscard]] inline double most_of(element_type type) {
  return static_cast<double>((std::int64_t{1} << (size_of(type) * 8 - (is_unsigned(type) ? 0 : 1))) - 1);
}

/// Whether there are numbers of a type.
[[nodiscard]] inline bool computed_in(element_type type) {
  return is_floating(type) || is_integer(type) || type == element_type::boolean;
}

/// `x` as a cast to `type` has it, but not rounded: integers are wrapped, fractions cut off, truth is what is not 0.
[[nodiscard]] inline dense converted(dense x, element_type type) {
  bool const from_whole = x.whole(), to_whole = is_integer(type);
  auto const from = std::exchange(x.type, type);
  if (from_whole && to_whole) {
    for (auto& v : x.integers) v = wrapped(v, type);
  } else if (from_whole) {
    x.elements.reserve(x.integers.size());
    for (auto v : x.integers) x.elements.push_back(real(v, from));
    x.integers.clear();
  } else if (to_whole) {
    x.integers.reserve(x.elements.size());
    for (auto v : x.elements) x.integers.push_back(truncated(v, type));
    x.elements.clear();
  }
  if (type == element_type::boolean)
    for (auto& v : x.elements) v = v != 0 ? 1 : 0;
  return x;
}

/// In doubles, whatever it was.
[[nodiscard]] inline dense in_doubles(dense const& x) { return converted(x, element_type::float64); }

[[nodiscard]] inline std::vector<std::int64_t> integers_of(dense const& from) {
  return from.whole() ? from.integers : converted(from, element_type::int64).integers;
}

}  // namespace detail

/// Each element rounded to the element type, for whoever computes as a runtime does; in place.
inline void round_to_type(dense& x) {
  if (x.type == element_type::float64) return;
  for (auto& v : x.elements) v = detail::rounded(v, x.type);
}

}  // namespace fuse::inline v0
