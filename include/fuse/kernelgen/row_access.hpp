// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/element.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fuse::inline v0::kernelgen {

/// The element types of rows that are known at run time only: of kernels, and of what rows are made from beside them.
/// Results are of kernels' types or boolean.
enum class row_element : std::uint8_t { float32, bfloat16, float16, boolean, int32, int64 };

template <kernels::element T>
inline constexpr row_element element_of = std::is_same_v<T, float>               ? row_element::float32
                                          : std::is_same_v<T, kernels::bfloat16> ? row_element::bfloat16
                                                                                 : row_element::float16;
[[nodiscard]] constexpr std::size_t size_of(row_element type) {
  switch (type) {
    case row_element::boolean: return 1;
    case row_element::bfloat16:
    case row_element::float16: return 2;
    case row_element::int64: return 8;
    default: return 4;
  }
}

/// From an index to a place: the index is read as digits, the most significant first, each of which moves by a stride.
/// No digits: everything is at one place.
struct digits {
  static constexpr std::size_t most = 8;

  std::size_t extents[most]{};
  std::ptrdiff_t strides[most]{};  ///< in elements
  std::size_t count = 0;

  [[nodiscard]] friend constexpr bool operator==(digits const&, digits const&) = default;

  [[nodiscard]] constexpr std::ptrdiff_t at(std::size_t index) const {
    std::ptrdiff_t place = 0;
    for (std::size_t i = count; i-- > 0; index /= extents[i])
      place += static_cast<std::ptrdiff_t>(i == 0 ? index : index % extents[i]) * strides[i];
    return place;
  }
  /// One after the other.
  [[nodiscard]] constexpr bool contiguous() const { return count == 1 && strides[0] == 1; }
};

/// Where the elements of an input or a result lie: that of row r and column c at `data` + rows.at(r) + columns.at(c).
/// An input that is one number for each row has no digits of columns.
template <class Byte>
struct basic_row_access {
  Byte* data = nullptr;
  row_element element = row_element::float32;
  digits rows{}, columns{};

  /// The first element of a row.
  [[nodiscard]] constexpr Byte* at(std::size_t row) const {
    return data + rows.at(row) * static_cast<std::ptrdiff_t>(size_of(element));
  }
};
using row_access = basic_row_access<std::byte const>;
using result_access = basic_row_access<std::byte>;

}  // namespace fuse::inline v0::kernelgen
