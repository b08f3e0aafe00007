// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fuse/core/span.hpp>
#include <fuse/graph/element_type.hpp>

namespace fuse::inline v0 {

namespace detail {

/// IEEE 754 binary16 to double, exact.
[[nodiscard]] constexpr double half_to_double(std::uint16_t bits) {
  double const sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  int const exponent = (bits >> 10) & 0x1f;
  double const fraction = static_cast<double>(bits & 0x3ffu);
  if (exponent == 31) {
    auto const special = fraction == 0 ? 0x7ff0000000000000u : 0x7ff8000000000000u;
    return sign * std::bit_cast<double>(special);
  }
  double scale = exponent == 0 ? 1.0 / 16777216.0 : 1.0 / 33554432.0;  // 2^-24, 2^-25
  for (int i = 0; i < exponent; ++i) scale *= 2;
  return sign * (exponent == 0 ? fraction : fraction + 1024.0) * scale;
}

/// Rounds a double to the nearest value with `kept` bits of significand in the range of the type, ties to even; returns
/// its bits.
[[nodiscard]] inline std::uint16_t double_to_half(double value) {
  auto const bits = std::bit_cast<std::uint64_t>(value);
  auto const sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000u);
  double const magnitude = value < 0 ? -value : value;
  if (!(magnitude == magnitude)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00u);
  int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent < -14) exponent = -14;
  double unit = 1.0 / 1024.0;  // distance of neighbours at exponent 0
  for (int i = exponent; i < 0; ++i) unit /= 2;
  for (int i = 0; i < exponent; ++i) unit *= 2;
  double const quotient = magnitude / unit;  // exact: unit is a power of two
  auto whole = static_cast<std::uint32_t>(quotient);
  double const rest = quotient - whole;
  if (rest > 0.5 || (rest == 0.5 && (whole & 1u) != 0)) ++whole;
  // `whole` counts units from zero; adding the exponent field carries over by itself when rounding reaches the next
  // power of two.
  std::uint32_t const field = whole < 1024 ? whole : whole + static_cast<std::uint32_t>(exponent + 14) * 1024;
  return static_cast<std::uint16_t>(sign | field);
}

[[nodiscard]] inline std::uint16_t float_to_bfloat16(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

/// A dense tensor in memory that somebody else owns: row-major, native byte order, possibly unaligned. Valid as long as
/// its graph is unchanged.
struct tensor_view {
  element_type type = element_type::unknown;
  span<std::int64_t const> shape{};
  span<std::byte const> bytes{};

  /// Elements that the bytes hold; 0 for a null view.
  [[nodiscard]] std::size_t size() const { return size_of(type) == 0 ? 0 : bytes.size() / size_of(type); }

  /// Whether there is a tensor at all (an empty one counts).
  [[nodiscard]] explicit operator bool() const { return type != element_type::unknown; }

  template <class T>
  [[nodiscard]] T raw(std::size_t i) const {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    return element;
  }

  /// Element `i` as a double (64-bit integers lose their low bits; use `integer` for them); NaN for a type without a
  /// number.
  [[nodiscard]] double number(std::size_t i) const {
    switch (type) {
      case element_type::float32: return static_cast<double>(raw<float>(i));
      case element_type::float64: return raw<double>(i);
      case element_type::float16: return detail::half_to_double(raw<std::uint16_t>(i));
      case element_type::bfloat16:
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw<std::uint16_t>(i)) << 16));
      case element_type::uint64: return static_cast<double>(raw<std::uint64_t>(i));
      case element_type::complex64:
      case element_type::complex128:
      case element_type::string:
      case element_type::unknown:
      case element_type::other: return std::bit_cast<double>(std::uint64_t{0x7ff8000000000000u});
      default: return static_cast<double>(integer(i));
    }
  }

  /// Calls `visit(x)` for each element as a double, in order, until one is false; whether none was.
  template <class Visit>
  bool all_numbers(Visit const& visit) const {
    auto const count = size();
    auto const of = [&]<class T>(T) {
      for (std::size_t i = 0; i < count; ++i)
        if (!visit(static_cast<double>(raw<T>(i)))) return false;
      return true;
    };
    if (type == element_type::float32) return of(0.0f);
    if (type == element_type::float64) return of(0.0);
    for (std::size_t i = 0; i < count; ++i)
      if (!visit(number(i))) return false;
    return true;
  }

  /// Element `i` of an integer or boolean tensor; 0 for other types.
  [[nodiscard]] std::int64_t integer(std::size_t i) const {
    switch (type) {
      case element_type::int64: return raw<std::int64_t>(i);
      case element_type::int32: return raw<std::int32_t>(i);
      case element_type::int16: return raw<std::int16_t>(i);
      case element_type::int8: return raw<std::int8_t>(i);
      case element_type::uint64: return static_cast<std::int64_t>(raw<std::uint64_t>(i));
      case element_type::uint32: return raw<std::uint32_t>(i);
      case element_type::uint16: return raw<std::uint16_t>(i);
      case element_type::uint8:
      case element_type::boolean: return raw<std::uint8_t>(i);
      default: return 0;
    }
  }
};

namespace detail {

/// Whether two tensors have the same element type, shape and bytes.
[[nodiscard]] inline bool same_contents(tensor_view const& a, tensor_view const& b) {
  if (a.type != b.type || a.shape.size() != b.shape.size() || a.bytes.size() != b.bytes.size()) return false;
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] != b.shape[i]) return false;
  return a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

}  // namespace detail

}  // namespace fuse::inline v0
