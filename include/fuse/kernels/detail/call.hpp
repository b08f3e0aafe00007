// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call_types.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/view.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace fuse::inline v0::kernels::detail {

/// What is normalised: rows that are given.
template <class X>
struct given_rows {
  X const* x;
  std::size_t stride;
};

struct any_given_rows {
  template <class E, class W>
  using choices = type_list<given_rows<E>>;
};

/// What is normalised: sums, which are written.
template <class X, class Residual, class Bias, class Sum>
struct added_rows {
  X const* x;
  Residual const* residual;
  Bias bias;
  Sum* sum;
  std::size_t x_stride, residual_stride, sum_stride;
};

struct any_sums {
  template <class E, class W>
  using choices = type_list<added_rows<E, E, no_weight, E>>;
};
struct any_biased_sums {
  template <class E, class W>
  using choices = type_list<added_rows<E, E, no_weight, E>, added_rows<E, E, weight<W>, E>>;
};

/// A call whose arguments are checked, for the rows from `begin` to `end`. Pointers lead to row 0 of all, or to one row
/// where the name is a weight's. Members are written one by one: g++ clears an aggregate first, by vectors that overlap
/// what is stored after them, and who reads that waits (40 of the 65 ns that an RMS norm of 16 elements took).
template <class Rows, class Scale, class Bias, class Y>
struct layer_norm_call {
  Rows rows;
  Y* y;
  std::size_t columns, y_stride;
  Scale scale;
  Bias bias;
  float epsilon;
  float* mean;               // null: not wanted
  float* inverse_deviation;  // null: not wanted
  bool streamed;             // written past the caches
  row_way way;
  std::size_t begin = 0, end = 0;
};
struct layer_norm_calls : calls_of<layer_norm_call, any_given_rows, any_weight, any_weight, any_element> {};
struct skip_layer_norm_calls : calls_of<layer_norm_call, any_biased_sums, plain_weight, any_weight, any_element> {};

template <class Rows, class Scale, class Y>
struct rms_norm_call {
  Rows rows;
  Y* y;
  std::size_t columns, y_stride;
  Scale scale;
  float epsilon;
  float* inverse_rms;  // null: not wanted
  bool streamed;       // written past the caches
  row_way way;
  std::size_t begin = 0, end = 0;
};
struct rms_norm_calls : calls_of<rms_norm_call, any_given_rows, any_scale, any_element> {};
struct skip_rms_norm_calls : calls_of<rms_norm_call, any_sums, any_scale, any_element> {};

/// Whether all tensors of a call have elements of type bfloat16.
template <class T>
inline constexpr bool is_bfloat16 = std::is_same_v<T, bfloat16> || std::is_same_v<T, no_weight>;
template <template <class...> class Of, class... T>
inline constexpr bool is_bfloat16<Of<T...>> = (is_bfloat16<T> && ...);

/// Whether any tensor of a call has elements of type float.
template <class T>
inline constexpr bool has_floats = std::is_same_v<T, float>;
template <template <class...> class Of, class... T>
inline constexpr bool has_floats<Of<T...>> = (has_floats<T> || ...);

}  // namespace fuse::inline v0::kernels::detail

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

template <class Range>
using element_of = std::remove_cv_t<typename decltype(std::span(std::declval<Range const&>()))::element_type>;

template <class W>
inline constexpr bool is_one_plus = false;
template <class T>
inline constexpr bool is_one_plus<one_plus<T>> = true;

template <class W>
constexpr auto elements_of(W const& w) {
  if constexpr (is_one_plus<W>) {
    return w.difference;
  } else {
    return std::span<element_of<W> const>(w);
  }
}

template <class W>
constexpr auto weight_of(W const& w) {
  if constexpr (std::is_same_v<W, none_t>) {
    return no_weight{};
  } else if constexpr (is_one_plus<W>) {
    return one_plus_weight<element_of<decltype(w.difference)>>{w.difference.data()};
  } else {
    static_assert(element<element_of<W>>, "a scale or bias has elements of type float, bfloat16 or float16");
    return weight<element_of<W>>{elements_of(w).data()};
  }
}

template <class W>
using weight_for = decltype(weight_of(std::declval<W const&>()));

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
