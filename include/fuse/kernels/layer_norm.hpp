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
#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernels/detail/layer_norm-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
using layer_norm_targets = FUSE_REWRITE_KERNELS_COMPILED(layer_norm_rows, layer_norm_calls);
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// Where to put the statistics of each row; an empty span is not written.
struct layer_norm_statistics {
  std::span<float> mean;
  std::span<float> inverse_deviation;  ///< 1 / sqrt(variance + epsilon)
};

/// `y = (x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias`, over each row.
///
/// - `x`, `y`: the same rows and columns; elements float, bfloat16, float16, not necessarily of one type. They are the
///   same elements (same address, row stride and type) or share none.
/// - `scale`: a contiguous range with an element for each column, `one_plus(range)`, or `none`.
/// - `bias`: a range or `none`.
/// - `epsilon`: finite, at least 0.
/// - `how`: threads, and when `y` is read; see execution.hpp.
///
/// Arithmetic is float, sums of long rows are double: within 1e-6 of the exact normalised value where |mean| is at most
/// 1e5 deviations. Allocates nothing. Unless the result is ok, nothing was read or written.
/// Algorithm: one pass for sum and sum of squares of the distance from the mean of the row's first elements, repeated
/// around the row's own mean where that was too far. A row's bits are a function of the row: docs/kernels/numerics.md
template <class X, class Scale, class Bias, class Y, class Executor = calling_thread,
          class Targets = detail::layer_norm_targets>
status layer_norm(matrix_view<X> const& x, Scale const& scale, Bias const& bias, matrix_view<Y> const& y,
                  float epsilon = 1e-5f, layer_norm_statistics const& statistics = {}, on<Executor> how = {}) {
  using input = std::remove_const_t<X>;
  static_assert(element<input>, "x has elements of type float, bfloat16 or float16");
  static_assert(element<Y>, "y has elements of type float, bfloat16 or float16, not const");
  static_assert(!detail::is_one_plus<Bias>, "a bias is a range or none");

  status const found = detail::fault_in_place(
      "layer_norm", detail::read_matrix("x", x), detail::matrix_like("y", y, "x", x),
      detail::weight_argument("scale", scale, x.columns), detail::weight_argument("bias", bias, x.columns),
      detail::statistic_argument("mean", statistics.mean, x.rows),
      detail::statistic_argument("inverse_deviation", statistics.inverse_deviation, x.rows),
      detail::epsilon_argument{"epsilon", epsilon});
  if (!found.ok()) return found;
  bool const in_place = detail::same_elements(x, y);

  using rows = detail::given_rows<input>;
  using weights = detail::weights_for<rows, input, Scale, Bias>;
  detail::layer_norm_call<rows, decltype(weights::scale(detail::weight_of(scale))),
                          decltype(weights::bias(detail::weight_of(bias))), Y>
      call;
  call.rows = {x.data, x.row_stride};
  call.y = y.data;
  call.columns = x.columns;
  call.y_stride = y.row_stride;
  call.scale = weights::scale(detail::weight_of(scale));
  call.bias = weights::bias(detail::weight_of(bias));
  call.epsilon = epsilon;
  call.mean = statistics.mean.data();
  call.inverse_deviation = statistics.inverse_deviation.data();
  call.streamed = detail::is_streamed(how.result, in_place, y.rows * y.columns * sizeof(Y));
  call.way = how.way;
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, x.rows, x.columns * (sizeof(X) + sizeof(Y)));
  return {};
}

}  // namespace fuse::inline v0::kernels
