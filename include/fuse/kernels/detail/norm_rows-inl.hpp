// SPDX-License-Identifier: BSL-1.0

// What all norms share: rows that are given or added up, and the order in which rows are gathered and written.
#if defined(FUSE_REWRITE_KERNELS_NORM_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#undef FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#else
#define FUSE_REWRITE_KERNELS_NORM_ROWS_INL
#endif

#include <fuse/kernels/detail/write_row-inl.hpp>

#include <fuse/kernels/detail/call.hpp>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// A row, as it is read the first time; `near` is about what an element will be.
template <class X>
struct given_row {
  X const* x;

  HWY_ATTR HWY_INLINE float near(std::size_t i) const { return to_float(x[i]); }
  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::size_t i) const {
    return part.get(x + i);
  }
};

template <class X, class Residual, class Bias, class Sum>
struct added_row {
  X const* x;
  Residual const* residual;
  Bias bias;
  Sum* sum;

  HWY_ATTR HWY_INLINE float near(std::size_t i) const { return to_float(x[i]) + to_float(residual[i]); }
  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::size_t i) const {
    auto const v = affine(part, add(part.get(x + i), part.get(residual + i)), no_weight{}, bias, i);
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

// A row, as it is read again.
template <class X>
HWY_ATTR HWY_INLINE X const* elements(given_rows<X> const& rows, std::size_t row) {
  return rows.x + row * rows.stride;
}
template <class X, class R, class B, class S>
HWY_ATTR HWY_INLINE S const* elements(added_rows<X, R, B, S> const& rows, std::size_t row) {
  return rows.sum + row * rows.sum_stride;
}

template <class Call>
using two_of = two<FUSE_REWRITE_KERNELS_EVEN_ODD && is_bfloat16<Call>>;

// Up to this much in a row, it, its results, and weights stay in the first cache beside the next row.
inline constexpr std::size_t pipelined_columns = 1536;

// Everything goes in and out by value: what has an address is loaded again after each store.
template <class Wide, class Norm, class Source>
HWY_ATTR HWY_NOINLINE auto gather_row(Norm norm, Source source, std::size_t columns) {
  auto gather = norm.gather(source);
  visit_row<Wide>(gather, writes_nothing{}, columns);
  return gather.totals;
}

// `norm.gather(source)` adds up what a row needs, `norm.values(totals, row)` are its results. The row after it is
// gathered while a short one is written: one loop has work for loads, stores and arithmetic alike.
template <class Norm, class Call>
HWY_ATTR HWY_INLINE void normalise_rows(Norm norm, Call const& call) {
  using wide = two_of<Call>;
  using output = std::remove_pointer_t<decltype(call.y)>;
  bool const pipelined = is_elaborate && call.columns <= pipelined_columns && !call.streamed;
  auto totals = gather_row<wide>(norm, unread(call.rows, call.begin), call.columns);
  for (std::size_t row = call.begin; row < call.end; ++row) {
    auto const values = norm.values(totals, row);
    bool const is_last = row + 1 == call.end;
    auto const next = unread(call.rows, is_last ? row : row + 1);
    if (pipelined && !is_last) {
      auto gather = norm.gather(next);
      output* const y = call.y + row * call.y_stride;
      visit_row<wide>(gather, writes<into_caches, std::remove_const_t<decltype(values)>, output>{{}, values, y},
                      call.columns);
      totals = gather.totals;
    } else {
      write_row<wide>(call, values, row, next.x);
      if (!is_last) totals = gather_row<wide>(norm, next, call.columns);
    }
  }
  if (call.streamed) hwy::FlushStream();
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
