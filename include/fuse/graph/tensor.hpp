// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor_view.hpp>

namespace fuse::inline v0 {

/// A dense tensor that owns its elements: row-major, native byte order.
struct tensor {
  element_type type = element_type::unknown;
  std::vector<std::int64_t> shape{};
  std::vector<std::byte> bytes{};

  // NOLINTNEXTLINE: an owner reads as its view
  operator tensor_view() const { return {type, shape, bytes}; }

  [[nodiscard]] std::size_t size() const { return tensor_view(*this).size(); }
  [[nodiscard]] double number(std::size_t i) const { return tensor_view(*this).number(i); }

  friend bool operator==(tensor const&, tensor const&) = default;
};

namespace detail {

template <class T>
[[nodiscard]] constexpr element_type element_type_of() {
  static_assert(std::is_arithmetic_v<T>, "fuse: elements of a tensor are numbers");
  if constexpr (std::is_same_v<T, bool>) return element_type::boolean;
  if constexpr (std::is_same_v<T, float>) return element_type::float32;
  if constexpr (std::is_same_v<T, double>) return element_type::float64;
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1   ? element_type::int8
           : sizeof(T) == 2 ? element_type::int16
           : sizeof(T) == 4 ? element_type::int32
                            : element_type::int64;
  if constexpr (std::is_integral_v<T> && !std::is_signed_v<T> && !std::is_same_v<T, bool>)
    return sizeof(T) == 1   ? element_type::uint8
           : sizeof(T) == 2 ? element_type::uint16
           : sizeof(T) == 4 ? element_type::uint32
                            : element_type::uint64;
}

/// Rounds once: through a float rounded to odd, which keeps what the second rounding must know.
[[nodiscard]] inline std::uint16_t double_to_bfloat16(double number) {
  auto nearest = static_cast<float>(number);
  if (static_cast<double>(nearest) != number && number == number) {
    bool const away = number < 0 ? static_cast<double>(nearest) < number : static_cast<double>(nearest) > number;
    nearest = std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - (away ? 1u : 0u)) | 1u);
  }
  return float_to_bfloat16(nearest);
}

template <class Round>
[[nodiscard]] std::vector<std::byte> bytes_of(span<double const> numbers, Round const& round) {
  using element = decltype(round(0.0));
  std::vector<std::byte> made(numbers.size() * sizeof(element));
  auto* to = made.data();
  for (double const number : numbers) {
    element const rounded = round(number);
    std::memcpy(to, &rounded, sizeof rounded);
    to += sizeof rounded;
  }
  return made;
}
template <class T>
[[nodiscard]] std::vector<std::byte> bytes_of(span<double const> numbers) {
  return bytes_of(numbers, [](double number) { return static_cast<T>(number); });
}

}  // namespace detail

/// A tensor of the element type of T with a copy of `elements`, as many as `shape` says.
template <class T>
[[nodiscard]] tensor make_tensor(std::vector<std::int64_t> shape, span<T const> elements) {
  auto const* first = reinterpret_cast<std::byte const*>(elements.data());
  return {detail::element_type_of<T>(), std::move(shape), {first, first + elements.size_bytes()}};
}

/// A tensor of element type `type` with each number rounded to it, once. Numbers must lie in the range of an integer
/// type. Types without numbers (string, complex, other) give a null tensor.
[[nodiscard]] inline tensor make_tensor(element_type type, std::vector<std::int64_t> shape,
                                        span<double const> numbers) {
  auto const of = [&](std::vector<std::byte> bytes) { return tensor{type, std::move(shape), std::move(bytes)}; };
  switch (type) {
    case element_type::float64: return of(detail::bytes_of<double>(numbers));
    case element_type::float32: return of(detail::bytes_of<float>(numbers));
    case element_type::float16: return of(detail::bytes_of(numbers, &detail::double_to_half));
    case element_type::bfloat16: return of(detail::bytes_of(numbers, &detail::double_to_bfloat16));
    case element_type::int64: return of(detail::bytes_of<std::int64_t>(numbers));
    case element_type::int32: return of(detail::bytes_of<std::int32_t>(numbers));
    case element_type::int16: return of(detail::bytes_of<std::int16_t>(numbers));
    case element_type::int8: return of(detail::bytes_of<std::int8_t>(numbers));
    case element_type::uint64: return of(detail::bytes_of<std::uint64_t>(numbers));
    case element_type::uint32: return of(detail::bytes_of<std::uint32_t>(numbers));
    case element_type::uint16: return of(detail::bytes_of<std::uint16_t>(numbers));
    case element_type::uint8: return of(detail::bytes_of<std::uint8_t>(numbers));
    case element_type::boolean:
      return of(detail::bytes_of(numbers, [](double number) { return static_cast<std::uint8_t>(number != 0); }));
    default: return {};
  }
}

}  // namespace fuse::inline v0
