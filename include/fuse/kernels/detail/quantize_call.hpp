// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call_types.hpp>

#include <cstddef>

namespace fuse::inline v0::kernels::detail {

// `x` is what is read, `y` what is written.
template <class Q, class Y>
struct dequantize_call {
  Q const* x;
  Y* y;
  std::size_t columns, x_stride, y_stride;
  float scale;
  Q zero_point;
  bool streamed;
  std::size_t begin = 0, end = 0;
};

template <class X, class Q>
struct quantize_call {
  X const* x;
  Q* y;
  std::size_t columns, x_stride, y_stride;
  float scale;
  Q zero_point;
  std::size_t begin = 0, end = 0;
};
using quantize_calls =
    all_of<calls_of<dequantize_call, any_byte, any_element>, calls_of<quantize_call, any_element, any_byte>>;

}  // namespace fuse::inline v0::kernels::detail
