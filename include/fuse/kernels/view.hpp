// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/element.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace fuse::inline v0::kernels {

/// Rows of contiguous elements: element (r, c) is `data[r * row_stride + c]`.
template <class T>
struct matrix_view {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t row_stride = 0;  ///< in elements, at least `columns`

  constexpr matrix_view() = default;
  constexpr matrix_view(T* data_, std::size_t rows_, std::size_t columns_)
      : matrix_view(data_, rows_, columns_, columns_) {}
  constexpr matrix_view(T* data_, std::size_t rows_, std::size_t columns_, std::size_t row_stride_)
      : data(data_), rows(rows_), columns(columns_), row_stride(row_stride_) {}

  /// The same elements, only to be read.
  constexpr operator matrix_view<T const>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, row_stride};
  }
};

/// What numbers the rows of a table.
template <class T>
concept token_id = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// Stands where a kernel could take a scale or a bias, and gets none.
struct none_t {};
inline constexpr none_t none{};

/// A scale that is stored as its difference from one.
template <element T>
struct one_plus {
  std::span<T const> difference;

  template <class Range>
  constexpr explicit one_plus(Range const& range) : difference(range) {}
};

template <class Range>
one_plus(Range const&) -> one_plus<typename decltype(std::span(std::declval<Range const&>()))::value_type>;

}  // namespace fuse::inline v0::kernels
