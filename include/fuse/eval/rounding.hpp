// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>

#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/graph/tensor_view.hpp>

namespace fuse::inline v0::detail {

/// The nearest value of a floating type.
[[nodiscard]] inline double rounded(double x, element_type type) {
  switch (type) {
    case element_type::float32: return static_cast<double>(static_cast<float>(x));
    case element_type::float16: return half_to_double(double_to_half(x));
    case element_type::bfloat16: {
      auto const bits = static_cast<std::uint32_t>(double_to_bfloat16(x)) << 16;
      return static_cast<double>(std::bit_cast<float>(bits));
    }
    default: return x;
  }
}

/// By how much of itself a number may be rounded to a floating type; 0 where the type has doubles, or integers.
[[nodiscard]] constexpr double rounding_of(element_type type) {
  switch (type) {
    case element_type::float32: return 0x1p-24;
    case element_type::float16: return 0x1p-11;
    case element_type::bfloat16: return 0x1p-8;
    default: return 0;
  }
}

}  // namespace fuse::inline v0::detail
