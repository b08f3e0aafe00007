// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/fixed_string.hpp>
#include <fuse/kernelgen/detail/expression_call.hpp>
#include <fuse/kernelgen/row_program.hpp>
#include <fuse/kernels/element.hpp>
#include <fuse/kernels/view.hpp>

#include <concepts>
#include <span>
#include <type_traits>

namespace fuse::inline v0 {

namespace kernelgen {

/// What a kernel gets for the capture `Name`.
template <fixed_string Name, class T>
struct named_argument {
  T value;
};

template <class T>
inline constexpr detail::input_kind kind_of = detail::input_kind::row_of_all;
template <>
inline constexpr detail::input_kind kind_of<float> = detail::input_kind::number;
template <class T>
inline constexpr detail::input_kind kind_of<kernels::matrix_view<T>> = detail::input_kind::row_of_each;

}  // namespace kernelgen

/// What a kernel gets for the capture of that name: `arg<"x">(view)` a row for each row of the result,
/// `arg<"scale">(range)` one row for all of them, `arg<"epsilon">(1e-5f)` a number. Elements are float, bfloat16 or
/// float16.
template <fixed_string Name, class T>
[[nodiscard]] constexpr auto arg(kernels::matrix_view<T> const& rows) {
  using element = std::remove_const_t<T>;
  static_assert(kernels::element<element>, "fuse: a kernel's rows have elements float, bfloat16 or float16");
  return kernelgen::named_argument<Name, kernels::matrix_view<element const>>{
      {rows.data, rows.rows, rows.columns, rows.row_stride}};
}
template <fixed_string Name, class Number>
  requires std::is_arithmetic_v<Number>
[[nodiscard]] constexpr auto arg(Number number) {
  return kernelgen::named_argument<Name, float>{static_cast<float>(number)};
}
template <fixed_string Name, class Range>
  requires requires(Range const& range) { std::span(range); }
[[nodiscard]] constexpr auto arg(Range const& range) {
  using element = typename decltype(std::span(range))::value_type;
  static_assert(kernels::element<element>, "fuse: a kernel's rows have elements float, bfloat16 or float16");
  return kernelgen::named_argument<Name, std::span<element const>>{std::span<element const>(range)};
}

}  // namespace fuse::inline v0
