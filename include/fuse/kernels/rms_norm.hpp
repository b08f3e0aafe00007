// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call.hpp>
#include <fuse/kernels/detail/norm_arguments.hpp>
#include <fuse/kernels/detail/run_all_rows.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/kernels/view.hpp>

#include <span>
#include <type_traits>

#ifndef FUSE_REWRITE_KERNELS_SEPARATE
#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernels/detail/rms_norm-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
using rms_norm_targets = FUSE_REWRITE_KERNELS_COMPILED(rms_norm_rows, rms_norm_calls);
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// `y = x / sqrt(mean(x * x) + epsilon) * scale`, over each row.
///
/// - `x`, `y`: the same rows and columns; elements float, bfloat16, float16, not necessarily of one type. They are the
///   same elements (same address, row stride and type) or share none.
/// - `scale`: a contiguous range with an element for each column, `one_plus(range)`, or `none`.
/// - `epsilon`: finite, at least 0.
/// - `inverse_rms`: `1 / sqrt(mean(x * x) + epsilon)` of each row; an empty span is not written.
/// - `how`: threads, and when `y` is read; see execution.hpp.
///
/// Arithmetic is float, sums of long rows are double. Allocates nothing. Unless the result is ok, nothing was read or
/// written.
template <class X, class Scale, class Y, class Executor = calling_thread, class Targets = detail::rms_norm_targets>
status rms_norm(matrix_view<X> const& x, Scale const& scale, matrix_view<Y> const& y, float epsilon = 1e-5f,
                std::span<float> inverse_rms = {}, on<Executor> how = {}) {
  using input = std::remove_const_t<X>;
  static_assert(element<input>, "x has elements of type float, bfloat16 or float16");
  static_assert(element<Y>, "y has elements of type float, bfloat16 or float16, not const");

  status const found = detail::fault_in_place(
      "rms_norm", detail::read_matrix("x", x), detail::matrix_like("y", y, "x", x),
      detail::weight_argument("scale", scale, x.columns),
      detail::statistic_argument("inverse_rms", inverse_rms, x.rows), detail::epsilon_argument{"epsilon", epsilon});
  if (!found.ok()) return found;
  bool const in_place = detail::same_elements(x, y);

  using rows = detail::given_rows<input>;
  using weights = detail::weights_for<rows, input, Scale>;
  detail::rms_norm_call<rows, decltype(weights::scale(detail::weight_of(scale))), Y> call;
  call.rows = {x.data, x.row_stride};
  call.y = y.data;
  call.columns = x.columns;
  call.y_stride = y.row_stride;
  call.scale = weights::scale(detail::weight_of(scale));
  call.epsilon = epsilon;
  call.inverse_rms = inverse_rms.data();
  call.streamed = detail::is_streamed(how.result, in_place, y.rows * y.columns * sizeof(Y));
  call.way = how.way;
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, x.rows, x.columns * (sizeof(X) + sizeof(Y)));
  return {};
}

}  // namespace fuse::inline v0::kernels
