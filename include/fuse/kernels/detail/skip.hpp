// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/detail/norm_arguments.hpp>
#include <fuse/kernels/view.hpp>

#include <cstddef>
#include <type_traits>

// The arguments that norms of a sum have in common.
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

template <class T>
constexpr matrix_view<T const> readonly(matrix_view<T> const& view) {
  return {view.data, view.rows, view.columns, view.row_stride};
}

template <class X, class Residual, class XBias, class Sum, class Y>
struct skip_arguments {
  static_assert(element<std::remove_const_t<X>>, "x has elements of type float, bfloat16 or float16");
  static_assert(element<std::remove_const_t<Residual>>, "residual has elements of type float, bfloat16 or float16");
  static_assert(element<Sum>, "sum has elements of type float, bfloat16 or float16, not const");
  static_assert(element<Y>, "y has elements of type float, bfloat16 or float16, not const");
  static_assert(!is_one_plus<XBias>, "x_bias is a range or none");

  using rows = added_rows<std::remove_const_t<X>, std::remove_const_t<Residual>, weight_for<XBias>, Sum>;
  static constexpr std::size_t element_bytes = sizeof(X) + sizeof(Residual) + sizeof(Sum) + sizeof(Y);

  matrix_view<X> x;
  matrix_view<Residual> residual;
  XBias const& x_bias;
  matrix_view<Sum> sum;
  matrix_view<Y> y;

  template <class... More>
  [[gnu::always_inline]] status fault_in_place(char const* kernel, More const&... more) const {
    return detail::fault_in_place(kernel, read_matrix("x", x), matrix_like("residual", readonly(residual), "x", x),
                                  matrix_like("sum", sum, "x", x), matrix_like("y", y, "x", x),
                                  weight_argument("x_bias", x_bias, x.columns), more...);
  }

  rows added() const {
    return {x.data, residual.data, weight_of(x_bias), sum.data, x.row_stride, residual.row_stride, sum.row_stride};
  }

  bool in_place() const { return same_elements(x, y) || same_elements(residual, y) || same_elements(sum, y); }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
