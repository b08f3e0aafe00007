// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/view.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

namespace fuse::inline v0::kernels {

/// What a quantized tensor stores.
template <class T>
concept quantized_element = std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t>;

/// A tensor of 8-bit numbers, each of which stands for `(value - zero_point) * scale`. A vector is a matrix of one row.
template <class T>
struct quantized_view {
  matrix_view<T> values;
  std::span<float const> scale;                             ///< one element
  std::span<std::remove_const_t<T> const> zero_point = {};  ///< one element
};

}  // namespace fuse::inline v0::kernels
