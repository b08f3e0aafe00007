// SPDX-License-Identifier: BSL-1.0

// What a pass over a row adds up, or keeps the largest of, in the lanes and the order of the kernels' sums.

#include <fuse/kernelgen/detail/row_steps-inl.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {
using kernels::detail::HWY_NAMESPACE::between;
using kernels::detail::HWY_NAMESPACE::lane_memory;
using kernels::detail::HWY_NAMESPACE::sum_lanes;
using kernels::detail::HWY_NAMESPACE::vector_lanes;
using kernels::detail::HWY_NAMESPACE::whole;

inline constexpr float lowest = -std::numeric_limits<float>::infinity();

// The largest of what a lane has seen, in the place of a sum. Its zero has no sign that counts: that of the whole row
// is +0.
template <class V>
struct largest {
  V of;
};

// The largest so far and another number; NaN stays. Processors' maximum gives the second of two where one is NaN.
HWY_ATTR HWY_INLINE vec larger_so_far(vec so_far, vec v) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  return hn::IfThenElse(hn::Eq(so_far, so_far), hn::Max(so_far, v), so_far);
#else
  return larger(so_far, v);
#endif
}
HWY_ATTR HWY_INLINE double larger_number(double a, double b) { return a != a || b <= a ? a : b; }

template <>
struct largest<lane_memory> {
  lane_memory of;

  HWY_ATTR HWY_INLINE double total() const {
    double most = static_cast<double>(of.at[0]);
    for (std::ptrdiff_t lane = 1; lane < sum_lanes; ++lane) {
      most = larger_number(most, static_cast<double>(of.at[lane]));
    }
    return most;
  }
};
template <class Part>
HWY_ATTR HWY_INLINE void keep_lanes(Part part, largest<vec> const& v, largest<lane_memory>& to, std::ptrdiff_t lane) {
  part.keep_columns(v.of, to.of.at + lane);
}
template <class Part>
HWY_ATTR HWY_INLINE void take_lanes(Part part, largest<vec>& v, largest<lane_memory> const& from, std::ptrdiff_t lane) {
  v.of = part.kept_columns(from.of.at + lane);
}
HWY_ATTR HWY_INLINE void add_to(largest<vec>& v, largest<vec> const& more) { v.of = larger_so_far(v.of, more.of); }

HWY_ATTR HWY_INLINE double total_of(whole, largest<vec> v) {
  if (!hn::AllTrue(lanes(), hn::Eq(v.of, v.of))) [[unlikely]] {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(hn::GetLane(hn::MaxOfLanes(lanes(), v.of)));
}

// What one lane, or total, of a fold begins with.
template <class V>
HWY_ATTR HWY_INLINE V lowest_of(V) {
  return all(lowest);
}
HWY_ATTR HWY_INLINE lane_memory lowest_of(lane_memory memory) {
  for (float& at : memory.at) at = lowest;
  return memory;
}

// All folds of a pass; `IsLargest` says of each whether it keeps the largest.
template <class V, bool... IsLargest>
struct folds {
  HWY_ATTR HWY_INLINE static folds all(V) { return {}; }
};
template <class V, bool... Rest>
struct folds<V, false, Rest...> {
  V first;
  folds<V, Rest...> rest;

  HWY_ATTR HWY_INLINE static folds all(V zero) { return {zero, folds<V, Rest...>::all(zero)}; }
};
template <class V, bool... Rest>
struct folds<V, true, Rest...> {
  std::conditional_t<std::is_same_v<V, double>, double, largest<V>> first;
  folds<V, Rest...> rest;

  HWY_ATTR HWY_INLINE static folds all(V zero) { return {{lowest_of(zero)}, folds<V, Rest...>::all(zero)}; }
};

template <class F, class... V>
HWY_ATTR HWY_INLINE void each_sum(F const&, folds<V>&...) {}
template <class F, class... V, bool First, bool... Rest>
HWY_ATTR HWY_INLINE void each_sum(F const& f, folds<V, First, Rest...>&... of) {
  f(of.first...);
  each_sum(f, of.rest...);
}

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
