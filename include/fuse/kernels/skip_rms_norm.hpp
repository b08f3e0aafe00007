// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/skip.hpp>
#include <fuse/kernels/rms_norm.hpp>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
using skip_rms_norm_targets = FUSE_REWRITE_KERNELS_COMPILED(rms_norm_rows, skip_rms_norm_calls);
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// `sum = x + residual + x_bias` and `y = rms_norm(sum)`, over each row.
///
/// - `x`, `residual`, `sum`, `y`: the same rows and columns; elements float, bfloat16, float16, not necessarily of one
///   type. Any two of them are the same elements (same address, row stride and type) or share none. Where `y` is `sum`,
///   the sum is not kept.
/// - `x_bias`: a contiguous range with an element for each column, added to the sum, or `none`.
/// - `scale`: a contiguous range with an element for each column, `one_plus(range)`, or `none`.
/// - `epsilon`: finite, at least 0.
/// - `inverse_rms`: `1 / sqrt(mean(sum * sum) + epsilon)` of each row; an empty span is not written.
/// - `how`: threads, and when `y` is read; see execution.hpp.
///
/// Additions are float, in the order of the formula. The norm is that of the sum as it is stored, rounded to its type,
/// and as exact as rms_norm. Allocates nothing. Unless the result is ok, nothing was read or written.
template <class X, class Residual, class XBias, class Scale, class Sum, class Y, class Executor = calling_thread,
          class Targets = detail::skip_rms_norm_targets>
status skip_rms_norm(matrix_view<X> const& x, matrix_view<Residual> const& residual, XBias const& x_bias,
                     Scale const& scale, matrix_view<Sum> const& sum, matrix_view<Y> const& y, float epsilon = 1e-5f,
                     std::span<float> inverse_rms = {}, on<Executor> how = {}) {
  using arguments = detail::skip_arguments<X, Residual, XBias, Sum, Y>;
  using weights = detail::weights_for<typename arguments::rows, std::remove_const_t<X>, XBias, Scale>;
  arguments const matrices{x, residual, x_bias, sum, y};
  status const found = matrices.fault_in_place("skip_rms_norm", detail::weight_argument("scale", scale, x.columns),
                                               detail::statistic_argument("inverse_rms", inverse_rms, x.rows),
                                               detail::epsilon_argument{"epsilon", epsilon});
  if (!found.ok()) return found;

  detail::rms_norm_call<typename arguments::rows, decltype(weights::scale(detail::weight_of(scale))), Y> call;
  call.rows = matrices.added();
  call.y = y.data;
  call.columns = x.columns;
  call.y_stride = y.row_stride;
  call.scale = weights::scale(detail::weight_of(scale));
  call.epsilon = epsilon;
  call.inverse_rms = inverse_rms.data();
  call.streamed = detail::is_streamed(how.result, matrices.in_place(), y.rows * y.columns * sizeof(Y));
  call.way = how.way;
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, x.rows, x.columns * arguments::element_bytes);
  return {};
}

}  // namespace fuse::inline v0::kernels
