// SPDX-License-Identifier: BSL-1.0

// Two rows that are visited together: they share the scale and bias that a loop loads, and while the sums of one are
// waited for, the other is worked on.
#if defined(FUSE_REWRITE_KERNELS_TWO_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_TWO_ROWS_INL
#undef FUSE_REWRITE_KERNELS_TWO_ROWS_INL
#else
#define FUSE_REWRITE_KERNELS_TWO_ROWS_INL
#endif

#include <fuse/kernels/detail/write_row-inl.hpp>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class Gather>
struct gathers_two {
  static constexpr std::ptrdiff_t number_of_sums = 2 * Gather::number_of_sums;
  template <class V>
  using sums = two_rows<typename Gather::template sums<V>>;

  two_rows<Gather> rows;

  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::ptrdiff_t i) const {
    return two_rows{rows.a.get(part, i), rows.b.get(part, i)};
  }
  template <class V, class Sums>
  HWY_ATTR HWY_INLINE void accumulate(two_rows<V> const& values, two_rows<Sums>& to) const {
    rows.a.accumulate(values.a, to.a);
    rows.b.accumulate(values.b, to.b);
  }
  template <class Totals>
  HWY_ATTR HWY_INLINE void finish(two_rows<Totals> const& totals) {
    rows.a.finish(totals.a);
    rows.b.finish(totals.b);
  }
};

// y[i] = value(part, i) for both, whose weights are the same: they are loaded once, as neither is stored before.
template <class Way, class Value, class Y>
struct writes_two {
  static constexpr std::ptrdiff_t most_sums = vector_registers / 4;

  Way way;
  two_rows<Value> values;
  two_rows<Y*> y;

  template <class Part>
  HWY_ATTR HWY_INLINE void operator()(Part part, std::ptrdiff_t i) const {
    auto const a = values.a.normalised(part, i), b = values.b.normalised(part, i);
    auto const weighted_a = values.a.weighted(part, a, i), weighted_b = values.a.weighted(part, b, i);
    way.put(part, weighted_a, y.a, i);
    way.put(part, weighted_b, y.b, i);
  }
};

// What writes row `row` of a call, or this one and the next.
template <class Way, class Call, class Value>
HWY_ATTR HWY_INLINE auto writes_of(Way way, Call const& call, std::size_t row, Value const& value) {
  return writes<Way, Value, std::remove_pointer_t<decltype(call.y)>>{way, value, call.y + row * call.y_stride};
}
template <class Way, class Call, class Value>
HWY_ATTR HWY_INLINE auto writes_of(Way way, Call const& call, std::size_t row, two_rows<Value> const& values) {
  auto* const y = call.y + row * call.y_stride;
  return writes_two<Way, Value, std::remove_pointer_t<decltype(call.y)>>{way, values, {y, y + call.y_stride}};
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
