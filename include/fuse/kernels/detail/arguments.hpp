// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/quantized.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// Two views of the same elements: what is computed may take the place of what it is computed from.
template <class X, class Y>
constexpr bool same_elements(matrix_view<X> const& x, matrix_view<Y> const& y) {
  if constexpr (std::is_same_v<std::remove_const_t<X>, Y>) {
    return x.data == y.data && (x.row_stride == y.row_stride || x.rows <= 1);
  } else {
    return false;
  }
}

/// What tells elements of one size apart.
enum class element_kind : std::uint8_t { other, float32, bfloat16, float16 };
template <class T>
inline constexpr element_kind kind_of = element_kind::other;
template <>
inline constexpr element_kind kind_of<float> = element_kind::float32;
template <>
inline constexpr element_kind kind_of<kernels::bfloat16> = element_kind::bfloat16;
template <>
inline constexpr element_kind kind_of<kernels::float16> = element_kind::float16;

/// What the parts of a quantized tensor are called.
struct quantized_names {
  char const *values, *scale, *zero_point;
};

/// Looks at the arguments of one call, at most 24, at none of the memory they lead to, and keeps the first fault.
class argument_check {
 public:
  explicit argument_check(char const* kernel) : kernel_(kernel) {}

  template <class T>
  void matrix(char const* name, matrix_view<T> const& view) {
    if (view.rows == 0) return;
    if (view.columns == 0) return fail(fault::no_columns, name);
    if (view.row_stride < view.columns) {
      return fail(fault::row_stride, name, "", view.row_stride, view.columns);
    }
    if (view.data == nullptr)
      return fail(fault::no_data, name, "", 0, static_cast<double>(view.rows) * static_cast<double>(view.columns));
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(view.row_stride, sizeof(T), &bytes) ||
        __builtin_mul_overflow(bytes, view.rows, &bytes) || bytes > PTRDIFF_MAX) {
      return fail(fault::too_large, name, "", view.rows, view.row_stride);
    }
    add({name, reinterpret_cast<std::uintptr_t>(view.data), view.columns * sizeof(T), view.row_stride * sizeof(T),
         view.rows, kind_of<std::remove_const_t<T>>, true, !std::is_const_v<T>});
  }

  template <class T, class U>
  void same_shape(char const* name, matrix_view<T> const& view, char const* other, matrix_view<U> const& expected) {
    if (view.rows != expected.rows) return fail(fault::rows, name, other, view.rows, expected.rows);
    if (view.columns != expected.columns) return fail(fault::columns, name, other, view.columns, expected.columns);
  }

  /// One element for each `of` ("row of x", "column of x"), of which there are `count`.
  template <class T>
  void vector(char const* name, std::span<T> elements, char const* of, std::size_t count) {
    if (elements.size() != count) return fail(fault::size, name, of, elements.size(), count);
    if (count == 0) return;
    if (elements.data() == nullptr) return fail(fault::no_data, name, "", 0, static_cast<double>(count));
    add({name, reinterpret_cast<std::uintptr_t>(elements.data()), count * sizeof(T), count * sizeof(T), 1,
         kind_of<std::remove_const_t<T>>, false, !std::is_const_v<T>});
  }

  /// The one number that stands for all elements of a tensor.
  template <class T>
  void scalar(char const* name, std::span<T> elements) {
    if (elements.size() != 1) return fail(fault::no_scalar, name, "", elements.size());
    vector(name, elements, "", 1);
  }

  template <class T>
  void quantized(quantized_names const& names, quantized_view<T> const& view) {
    matrix(names.values, view.values);
    scalar(names.scale, view.scale);
    scalar(names.zero_point, view.zero_point);
  }

  /// The same as a vector.
  template <class T>
  void quantized_vector(quantized_names const& names, quantized_view<T> const& view, char const* of,
                        std::size_t count) {
    if (view.values.rows != 1) return fail(fault::one_row, names.values, "", view.values.rows);
    vector(names.values, std::span(view.values.data, view.values.columns), of, count);
    scalar(names.scale, view.scale);
    scalar(names.zero_point, view.zero_point);
  }

  void epsilon(char const* name, float value) {
    if (!(value >= 0 && value <= __FLT_MAX__)) fail(fault::epsilon, name, "", static_cast<double>(value), 0);
  }

  void positive(char const* name, float value) {
    if (!(value > 0 && value <= __FLT_MAX__)) fail(fault::scale, name, "", static_cast<double>(value), 0);
  }

  /// What is written shares memory with nothing else.
  status const& finish() {
    forbid_overlap([](region const&, region const&) { return false; }, false);
    return first_;
  }

  /// ... but matrices may be the same elements as other ones.
  status const& finish_in_place() {
    forbid_overlap(are_same_elements, true);
    return first_;
  }

 protected:
  [[nodiscard]] bool is_ok() const { return first_.ok(); }

  template <class Found = double, class Expected = double>
  void fail(fault what, char const* argument, char const* other = "", Found found = {}, Expected expected = {}) {
    if (first_.ok()) {
      first_ = status(what, kernel_, argument, other, static_cast<double>(found), static_cast<double>(expected));
    }
  }

 private:
  struct region {
    char const* name;
    std::uintptr_t begin;
    std::size_t row_bytes, stride_bytes, rows;
    element_kind kind;
    bool is_matrix, written;
  };

  static bool are_same_elements(region const& a, region const& b) {
    return a.is_matrix && b.is_matrix && a.begin == b.begin && a.kind == b.kind && a.row_bytes == b.row_bytes &&
           a.rows == b.rows && (a.stride_bytes == b.stride_bytes || a.rows == 1);
  }

  template <class Allowed>
  void forbid_overlap(Allowed const& is_allowed, bool in_place) {
    for (std::size_t i = 0; i < count_; ++i) {
      region const& output = regions_[i];
      for (std::size_t j = 0; output.written && j < count_; ++j) {
        region const& other = regions_[j];
        if (i == j || !overlap(output, other) || is_allowed(output, other)) continue;
        fail(fault::overlap, output.name, other.name, 0, in_place && output.is_matrix && other.is_matrix);
      }
    }
  }

  static bool overlap(region const& a, region const& b) {
    std::uintptr_t const a_end = a.begin + (a.rows - 1) * a.stride_bytes + a.row_bytes;
    std::uintptr_t const b_end = b.begin + (b.rows - 1) * b.stride_bytes + b.row_bytes;
    if (a_end <= b.begin || b_end <= a.begin) return false;
    // Rows of one stride may lie between each other: columns of one matrix.
    std::size_t const stride = a.rows > 1 ? a.stride_bytes : b.stride_bytes;
    if (b.rows > 1 && b.stride_bytes != stride) return true;
    std::size_t const offset =
        b.begin >= a.begin ? (b.begin - a.begin) % stride : stride - 1 - (a.begin - b.begin - 1) % stride;
    return offset < a.row_bytes || stride - offset < b.row_bytes;
  }

  void add(region const& r) {
    if (count_ == most_regions) return fail(fault::too_many, r.name, "", count_ + 1, most_regions);
    regions_[count_++] = r;
  }

  static constexpr std::size_t most_regions = 24;

  char const* kernel_;
  status first_;
  region regions_[most_regions];
  std::size_t count_ = 0;
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
