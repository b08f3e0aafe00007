// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/arguments.hpp>
#include <fuse/kernels/detail/quantize_call.hpp>
#include <fuse/kernels/detail/run_all_rows.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/quantized.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/kernels/view.hpp>

#include <type_traits>

#ifndef FUSE_REWRITE_KERNELS_SEPARATE
#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernels/detail/quantize-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
using quantize_targets = FUSE_REWRITE_KERNELS_COMPILED(quantize_rows, quantize_calls);
inline constexpr quantized_names names_of_q{"q", "q.scale", "q.zero_point"};
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// `y = (q - zero_point) * scale`, in float.
///
/// - `q`: elements int8 or uint8.
/// - `y`: as many rows and columns; elements float, bfloat16, float16. It shares no memory with `q`.
/// - `how`: threads, and when `y` is read; see execution.hpp.
///
/// Allocates nothing. Unless the result is ok, nothing was read or written.
template <class Q, class Y, class Executor = calling_thread, class Targets = detail::quantize_targets>
status dequantize(quantized_view<Q> const& q, matrix_view<Y> const& y, on<Executor> how = {}) {
  using stored = std::remove_const_t<Q>;
  static_assert(quantized_element<stored>, "q has elements of type int8 or uint8");
  static_assert(element<Y>, "y has elements of type float, bfloat16 or float16, not const");

  detail::argument_check check("dequantize");
  check.quantized(detail::names_of_q, quantized_view<stored const>{q.values, q.scale, q.zero_point});
  check.same_shape("y", y, "q", q.values);
  check.matrix("y", y);
  if (status const& checked = check.finish(); !checked.ok()) return checked;

  detail::dequantize_call<stored, Y> call{
      q.values.data,   y.data,
      y.columns,       q.values.row_stride,
      y.row_stride,    q.scale[0],
      q.zero_point[0], detail::is_streamed(how.result, false, y.rows * y.columns * sizeof(Y))};
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, y.rows, y.columns * (sizeof(Q) + sizeof(Y)));
  return {};
}

/// `q = round(x / scale) + zero_point`, ties to even, the nearest that `q` can hold where it cannot hold that. A NaN
/// becomes the zero point.
///
/// - `x`: elements float, bfloat16, float16.
/// - `q`: as many rows and columns; elements int8 or uint8, a finite scale above 0. It shares no memory with `x`.
/// - `how`: threads; see execution.hpp.
///
/// Allocates nothing. Unless the result is ok, nothing but the scale was read, nothing was written.
template <class X, class Q, class Executor = calling_thread, class Targets = detail::quantize_targets>
status quantize(matrix_view<X> const& x, quantized_view<Q> const& q, on<Executor> how = {}) {
  using input = std::remove_const_t<X>;
  static_assert(element<input>, "x has elements of type float, bfloat16 or float16");
  static_assert(quantized_element<Q>, "q has elements of type int8 or uint8, not const");

  detail::argument_check check("quantize");
  check.matrix("x", matrix_view<input const>(x.data, x.rows, x.columns, x.row_stride));
  check.same_shape("q", q.values, "x", x);
  check.quantized(detail::names_of_q, q);
  if (status const& checked = check.finish(); !checked.ok()) return checked;
  check.positive("q.scale", q.scale[0]);
  if (status const& checked = check.finish(); !checked.ok()) return checked;

  detail::quantize_call<input, Q> call{x.data,     q.values.data,  x.columns, x.row_stride, q.values.row_stride,
                                       q.scale[0], q.zero_point[0]};
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, x.rows, x.columns * (sizeof(X) + sizeof(Q)));
  return {};
}

}  // namespace fuse::inline v0::kernels
