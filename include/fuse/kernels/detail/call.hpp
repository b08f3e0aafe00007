// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call_types.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/detail/plan.hpp>
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
struct layer_norm_calls : calls_of<layer_norm_call, any_given_rows, read_weight, read_weight, any_element> {};
struct skip_layer_norm_calls : calls_of<layer_norm_call, any_biased_sums, any_weight, any_weight, any_element> {};

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
struct rms_norm_calls : calls_of<rms_norm_call, any_given_rows, read_scale, any_element> {};
struct skip_rms_norm_calls : calls_of<rms_norm_call, any_sums, any_scale, any_element> {};

/// Whether all tensors of a call have elements of type bfloat16.
template <class T>
inline constexpr bool is_bfloat16 =
    std::is_same_v<T, bfloat16> || std::is_same_v<T, no_weight> || std::is_same_v<T, widened_weight>;
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

/// The weights of a call as they are.
struct exact_weights {
  template <class Weight>
  static constexpr Weight scale(Weight from) {
    return from;
  }
  template <class Weight>
  static constexpr Weight bias(Weight from) {
    return from;
  }
};

/// The elements of the first weight that there is, `E` where there is none.
template <class E, class... Weights>
struct weight_element {
  using type = E;
};
template <class E, class... Rest>
struct weight_element<E, no_weight, Rest...> : weight_element<E, Rest...> {};
template <class E, template <class> class Weight, class T, class... Rest>
struct weight_element<E, Weight<T>, Rest...> {
  using type = T;
};

/// `value` in all columns that a loop handles at once.
template <class T>
struct same_columns {
  T at[lanes_of_sums];

  constexpr explicit same_columns(float value) : at() {
    for (T& column : at) column = from_float<T>(value);
  }
};

/// ... each of them there or not.
template <class E, class... Weights>
struct optional_weights {
  using element = typename weight_element<E, Weights...>::type;
  // A product with 1 is the other factor, a sum with -0 the other term, 0 of either sign included.
  static constexpr same_columns<element> ones{1.0f}, minus_zeros{-0.0f};

  static constexpr optional_weight<element> scale(no_weight) { return {ones.at, 0}; }
  static constexpr optional_weight<element> bias(no_weight) { return {minus_zeros.at, 0}; }
  template <class T>
  static constexpr optional_weight<T> scale(weight<T> from) {
    return {from.data, -1};
  }
  template <class T>
  static constexpr optional_weight<T> bias(weight<T> from) {
    return {from.data, -1};
  }
  template <class T>
  static constexpr one_plus_weight<T> scale(one_plus_weight<T> from) {
    return from;
  }
};

/// A call of rows of floats that are read is compiled for each choice of weights; where a loop converts halves, or
/// reads sums again, one weight more takes no time. A bias of sums does.
template <class Rows>
inline constexpr bool has_exact_weights = std::is_same_v<Rows, given_rows<float>>;
template <class Rows, class E, class... W>
using weights_for = std::conditional_t<has_exact_weights<Rows>, exact_weights, optional_weights<E, weight_for<W>...>>;

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
