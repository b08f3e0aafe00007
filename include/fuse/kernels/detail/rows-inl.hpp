// SPDX-License-Identifier: BSL-1.0

// The rows of a norm, which are given or added up.
#if defined(FUSE_REWRITE_KERNELS_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_ROWS_INL
#undef FUSE_REWRITE_KERNELS_ROWS_INL
#else
#define FUSE_REWRITE_KERNELS_ROWS_INL
#endif

#include <fuse/kernels/detail/parts-inl.hpp>

#include <fuse/kernels/detail/call.hpp>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// A row, as it is read the first time; `near` is what an element will be before it is stored.
template <class X>
struct given_row {
  X const* x;

  template <class Part>
  HWY_ATTR HWY_INLINE auto near(Part part, std::ptrdiff_t i) const {
    return part.get(x + i);
  }
  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::ptrdiff_t i) const {
    return near(part, i);
  }
};

template <class X, class Residual, class Bias, class Sum>
struct added_row {
  X const* x;
  Residual const* residual;
  Bias bias;
  Sum* sum;

  template <class Part>
  HWY_ATTR HWY_INLINE auto near(Part part, std::ptrdiff_t i) const {
    return affine(part, add(part.get(x + i), part.get(residual + i)), no_weight{}, bias, i);
  }
  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::ptrdiff_t i) const {
    auto const v = near(part, i);
    part.put(v, sum + i);
    // The norm is that of what is stored.
    if constexpr (std::is_same_v<Sum, float>) {
      return v;
    } else {
      return part.get(sum + i);
    }
  }
};

template <class X>
HWY_ATTR HWY_INLINE given_row<X> unread(given_rows<X> const& rows, std::size_t row) {
  return {rows.x + row * rows.stride};
}
template <class X, class R, class B, class S>
HWY_ATTR HWY_INLINE added_row<X, R, B, S> unread(added_rows<X, R, B, S> const& rows, std::size_t row) {
  return {rows.x + row * rows.x_stride, rows.residual + row * rows.residual_stride, rows.bias,
          rows.sum + row * rows.sum_stride};
}

// Whether rows are given, and no sums.
template <class Rows>
inline constexpr bool are_given = false;
template <class X>
inline constexpr bool are_given<given_rows<X>> = true;

// What a row consists of.
template <class X>
HWY_ATTR HWY_INLINE X const* elements(given_rows<X> const& rows, std::size_t row) {
  return rows.x + row * rows.stride;
}
template <class X, class R, class B, class S>
HWY_ATTR HWY_INLINE S const* elements(added_rows<X, R, B, S> const& rows, std::size_t row) {
  return rows.sum + row * rows.sum_stride;
}

// From one of these to the next.
template <class X>
HWY_ATTR HWY_INLINE std::size_t stride_of(given_rows<X> const& rows) {
  return rows.stride;
}
template <class X, class R, class B, class S>
HWY_ATTR HWY_INLINE std::size_t stride_of(added_rows<X, R, B, S> const& rows) {
  return rows.sum_stride;
}

// What is worth fetching of a row that is read soon.
template <class X>
HWY_ATTR HWY_INLINE X const* fetched(given_rows<X> const& rows, std::size_t row) {
  return rows.x + row * rows.stride;
}
template <class X, class R, class B, class S>
HWY_ATTR HWY_INLINE X const* fetched(added_rows<X, R, B, S> const& rows, std::size_t row) {
  return rows.x + row * rows.x_stride;
}

// A row, as it is read again.
template <class Rows>
HWY_ATTR HWY_INLINE auto reread(Rows const& rows, std::size_t row) {
  auto const* const x = elements(rows, row);
  return given_row<std::remove_cvref_t<decltype(*x)>>{x};
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
