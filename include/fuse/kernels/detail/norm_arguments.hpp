// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/arguments.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

// The arguments of a norm, checked on a fast path, which accepts them where nothing is empty or huge and tensors lie
// before or after each other or are the same elements; and where it does not, by an argument_check, which names the
// fault, if there is one. The argument_check alone took a tenth to a fifth of the time of one row of 768.
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// Memory from `begin` to `end`; `stride` is a matrix's, for others 0.
struct span_of_memory {
  std::uintptr_t begin, end;
  std::size_t stride;
};

/// A matrix, of the shape that `other` has.
template <class T, class U>
struct matrix_argument {
  static constexpr element_kind kind = kind_of<std::remove_const_t<T>>;
  static constexpr bool is_written = !std::is_const_v<T>;

  char const* name;
  matrix_view<T> view;
  char const* other;
  matrix_view<U> expected;

  [[gnu::always_inline]] matrix_argument copy() const { return {name, view, other, expected}; }
  void check_with(argument_check& check) const {
    check.same_shape(name, view, other, expected);
    check.matrix(name, view);
  }
  [[gnu::always_inline]] bool passes_fast_path() const {
    // Of two such factors of elements, memory holds the product. One less than no rows is more.
    constexpr std::size_t limit = std::size_t{1} << (sizeof(std::size_t) * 4 - 2);
    static_assert(sizeof(T) <= 4);
    return view.rows == expected.rows && view.columns == expected.columns && view.data != nullptr &&
           view.rows - 1 < limit - 1 && view.columns - 1 < view.row_stride && view.row_stride < limit;
  }
  [[gnu::always_inline]] span_of_memory memory() const {
    auto const begin = reinterpret_cast<std::uintptr_t>(view.data);
    return {begin, begin + ((view.rows - 1) * view.row_stride + view.columns) * sizeof(T), view.row_stride};
  }
};
template <class T>
constexpr matrix_argument<T const, T const> read_matrix(char const* name, matrix_view<T> const& view) {
  return {name, view, name, view};
}
template <class T, class U>
constexpr matrix_argument<T, U> matrix_like(char const* name, matrix_view<T> const& view, char const* other,
                                            matrix_view<U> const& expected) {
  return {name, view, other, expected};
}

/// One element for each `of`, of which there are `count`; or none, where that may be.
template <class T, bool Optional>
struct vector_argument {
  static constexpr element_kind kind = element_kind::other;
  static constexpr bool is_written = !std::is_const_v<T>;

  char const* name;
  std::span<T> elements;
  char const* of;
  std::size_t count;

  [[gnu::always_inline]] vector_argument copy() const { return {name, elements, of, count}; }
  void check_with(argument_check& check) const {
    if (!Optional || !elements.empty()) check.vector(name, elements, of, count);
  }
  [[gnu::always_inline]] bool passes_fast_path() const {
    return (Optional && elements.empty()) || (elements.size() == count && elements.data() != nullptr);
  }
  [[gnu::always_inline]] span_of_memory memory() const {
    auto const begin = reinterpret_cast<std::uintptr_t>(elements.data());
    return {begin, begin + elements.size_bytes(), 0};
  }
};
struct no_argument {
  static constexpr element_kind kind = element_kind::other;
  static constexpr bool is_written = false;

  [[gnu::always_inline]] no_argument copy() const { return {}; }
  void check_with(argument_check&) const {}
  [[gnu::always_inline]] bool passes_fast_path() const { return true; }
  [[gnu::always_inline]] span_of_memory memory() const { return {}; }
};

/// A scale or bias of `columns` elements, or none.
template <class W>
constexpr auto weight_argument(char const* name, W const& w, std::size_t columns) {
  if constexpr (std::is_same_v<W, none_t>) {
    return no_argument{};
  } else {
    std::span const elements = elements_of(w);
    return vector_argument<typename decltype(elements)::element_type, false>{name, elements, "column of x", columns};
  }
}
/// A number for each of `rows` rows, or an empty span: not wanted.
constexpr vector_argument<float, true> statistic_argument(char const* name, std::span<float> elements,
                                                          std::size_t rows) {
  return {name, elements, "row of x", rows};
}

struct epsilon_argument {
  static constexpr element_kind kind = element_kind::other;
  static constexpr bool is_written = false;

  char const* name;
  float value;

  [[gnu::always_inline]] epsilon_argument copy() const { return {name, value}; }
  void check_with(argument_check& check) const { check.epsilon(name, value); }
  [[gnu::always_inline]] bool passes_fast_path() const { return value >= 0 && value <= __FLT_MAX__; }
  [[gnu::always_inline]] span_of_memory memory() const { return {}; }
};

template <class A, class B>
[[gnu::always_inline]] constexpr bool placement_allowed(A const& a, B const& b) {
  if constexpr (!A::is_written && !B::is_written) {
    return true;
  } else {
    span_of_memory const m = a.memory(), n = b.memory();
    if (m.end <= n.begin || n.end <= m.begin) return true;
    return A::kind != element_kind::other && A::kind == B::kind && m.begin == n.begin && m.stride == n.stride;
  }
}
constexpr bool placements_allowed() { return true; }
template <class First, class... Rest>
[[gnu::always_inline]] constexpr bool placements_allowed(First const& first, Rest const&... rest) {
  return (placement_allowed(first, rest) && ...) && placements_allowed(rest...);
}

template <class... Arguments>
[[gnu::cold, gnu::noinline]] status find_fault(char const* kernel, Arguments... arguments) {
  argument_check check(kernel);
  (arguments.check_with(check), ...);
  return check.finish_in_place();
}

/// The first fault in the arguments of `kernel`, whose matrices may be the same elements as other ones. The check gets
/// copies that are made where it is called, member by member: g++ writes to memory what has an address or is passed as
/// it is, read again or not (5 to 9 ns of one row of 768).
template <class... Arguments>
[[gnu::always_inline]] inline status fault_in_place(char const* kernel, Arguments const&... arguments) {
  if ((arguments.passes_fast_path() && ...) && placements_allowed(arguments...)) [[likely]] {
    return {};
  }
  return find_fault(kernel, arguments.copy()...);
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
