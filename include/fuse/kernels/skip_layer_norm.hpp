// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/skip.hpp>
#include <fuse/kernels/layer_norm.hpp>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
using skip_layer_norm_targets = FUSE_REWRITE_KERNELS_COMPILED(layer_norm_rows, skip_layer_norm_calls);
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// `sum = x + residual + x_bias` and `y = layer_norm(sum)`, over each row.
///
/// - `x`, `residual`, `sum`, `y`: the same rows and columns; elements float, bfloat16, float16, not necessarily of one
///   type. Any two of them are the same elements (same address, row stride and type) or share none. Where `y` is `sum`,
///   the sum is not kept.
/// - `x_bias`: a contiguous range with an element for each column, added to the sum, or `none`.
/// - `scale`: a contiguous range with an element for each column, `one_plus(range)`, or `none`.
/// - `bias`: a range or `none`.
/// - `epsilon`: finite, at least 0.
/// - `statistics`: of the sum, whose mean and inverse deviation are written where a span is not empty.
/// - `how`: threads, and when `y` is read; see execution.hpp.
///
/// Additions are float, in the order of the formula. The norm is that of the sum as it is stored, rounded to its type,
/// and as exact as layer_norm. Allocates nothing. Unless the result is ok, nothing was read or written.
template <class X, class Residual, class XBias, class Scale, class Bias, class Sum, class Y,
          class Executor = calling_thread, class Targets = detail::skip_layer_norm_targets>
status skip_layer_norm(matrix_view<X> const& x, matrix_view<Residual> const& residual, XBias const& x_bias,
                       Scale const& scale, Bias const& bias, matrix_view<Sum> const& sum, matrix_view<Y> const& y,
                       float epsilon = 1e-5f, layer_norm_statistics const& statistics = {}, on<Executor> how = {}) {
  static_assert(!detail::is_one_plus<Bias>, "a bias is a range or none");
  using arguments = detail::skip_arguments<X, Residual, XBias, Sum, Y>;
  using weights = detail::weights_for<typename arguments::rows, std::remove_const_t<X>, XBias, Scale, Bias>;
  arguments const matrices{x, residual, x_bias, sum, y};
  status const found = matrices.fault_in_place(
      "skip_layer_norm", detail::weight_argument("scale", scale, x.columns),
      detail::weight_argument("bias", bias, x.columns), detail::statistic_argument("mean", statistics.mean, x.rows),
      detail::statistic_argument("inverse_deviation", statistics.inverse_deviation, x.rows),
      detail::epsilon_argument{"epsilon", epsilon});
  if (!found.ok()) return found;

  detail::layer_norm_call<typename arguments::rows, decltype(weights::scale(detail::weight_of(scale))),
                          decltype(weights::bias(detail::weight_of(bias))), Y>
      call;
  call.rows = matrices.added();
  call.y = y.data;
  call.columns = x.columns;
  call.y_stride = y.row_stride;
  call.scale = weights::scale(detail::weight_of(scale));
  call.bias = weights::bias(detail::weight_of(bias));
  call.epsilon = epsilon;
  call.mean = statistics.mean.data();
  call.inverse_deviation = statistics.inverse_deviation.data();
  call.streamed = detail::is_streamed(how.result, matrices.in_place(), y.rows * y.columns * sizeof(Y));
  call.way = how.way;
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, x.rows, x.columns * arguments::element_bytes);
  return {};
}

}  // namespace fuse::inline v0::kernels
