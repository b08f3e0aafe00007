// SPDX-License-Identifier: BSL-1.0

// The order in which the columns of a row are added up, which their number alone says: column i goes into lane i modulo
// 32, after what is there. After 1024 columns, and at the end, the lanes are added up, each of the lower half and the
// one as far into the upper: to 8 in float, to one in double, which goes to the row's total.
//
// It does not matter at which column lanes begin: the halves of a circle meet wherever it is cut. So lane 0 may be that
// of the first element in a line of a cache, although the row begins after it.
#if defined(FUSE_REWRITE_KERNELS_LANE_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_LANE_SUMS_INL
#undef FUSE_REWRITE_KERNELS_LANE_SUMS_INL
#else
#define FUSE_REWRITE_KERNELS_LANE_SUMS_INL
#endif

#include <fuse/kernels/detail/parts-inl.hpp>

#include <fuse/kernels/detail/plan.hpp>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

inline constexpr std::ptrdiff_t sum_lanes{lanes_of_sums}, columns_of_sums = 1024, float_lanes = 8;

// What is added up of a row, in lanes: `V` is a vector, two, all lanes in memory, or a number. `all(v)` has `v` for
// each sum; nothing that holds vectors is without a value, whose constructor would be one of the compiler's own target.
template <class V>
struct no_sums {
  HWY_ATTR HWY_INLINE static no_sums all(V) { return {}; }
};
template <class V>
struct square_sums {
  V squares;

  HWY_ATTR HWY_INLINE static square_sums all(V v) { return {v}; }
};
template <class V>
struct moment_sums {
  V sum, squares;

  HWY_ATTR HWY_INLINE static moment_sums all(V v) { return {v, v}; }
};
template <class T>
struct two_rows {
  T a, b;

  template <class V>
  HWY_ATTR HWY_INLINE static two_rows all(V v) {
    return {T::all(v), T::all(v)};
  }
};
template <class T>
two_rows(T, T) -> two_rows<T>;

// Calls `f` with each sum, and with the same one of the others.
template <class F, class... V>
HWY_ATTR HWY_INLINE void each_sum(F const&, no_sums<V>&...) {}
template <class F, class... V>
HWY_ATTR HWY_INLINE void each_sum(F const& f, square_sums<V>&... of) {
  f(of.squares...);
}
template <class F, class... V>
HWY_ATTR HWY_INLINE void each_sum(F const& f, moment_sums<V>&... of) {
  f(of.sum...);
  f(of.squares...);
}
template <class F, class... Sums>
HWY_ATTR HWY_INLINE void each_sum(F const& f, two_rows<Sums>&... of) {
  each_sum(f, of.a...);
  each_sum(f, of.b...);
}

// All lanes of a sum, in the order of the columns.
struct lane_memory {
  HWY_ALIGN float at[sum_lanes];

  HWY_ATTR HWY_INLINE double total() {
    for (std::ptrdiff_t half = sum_lanes / 2; half >= float_lanes; half /= 2) {
      for (std::ptrdiff_t lane = 0; lane < half; ++lane) at[lane] += at[lane + half];
    }
    auto const pair = [this](std::ptrdiff_t lane)
                          HWY_ATTR { return static_cast<double>(at[lane]) + static_cast<double>(at[lane + 4]); };
    return (pair(0) + pair(2)) + (pair(1) + pair(3));
  }
};

template <class Memory, class Totals>
HWY_ATTR HWY_INLINE void total_lanes(Memory& memory, Totals& totals) {
  each_sum([](auto& lanes_of, double& total) HWY_ATTR { total = lanes_of.total(); }, memory, totals);
}

#if FUSE_REWRITE_KERNELS_EVEN_ODD
// ... and the total of a sum in vectors of eight lanes and more.
template <class V>
HWY_ATTR HWY_INLINE auto four_of(V v) {
  hn::DFromV<V> const d;
  if constexpr (hn::MaxLanes(d) <= 4) {
    return v;
  } else {
    hn::Half<hn::DFromV<V>> const half;
    return four_of(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
template <class Four>
HWY_ATTR HWY_INLINE double total_of_eight(Four lower, Four upper) {
  hn::Half<hn::DFromV<Four>> const pair;
  hn::Rebind<double, hn::Half<hn::DFromV<Four>>> const d;
  auto const first =
      hn::Add(hn::PromoteTo(d, hn::LowerHalf(pair, lower)), hn::PromoteTo(d, hn::LowerHalf(pair, upper)));
  auto const last = hn::Add(hn::PromoteTo(d, hn::UpperHalf(pair, lower)), hn::PromoteTo(d, hn::UpperHalf(pair, upper)));
  auto const both = hn::Add(first, last);
  return hn::GetLane(hn::Add(both, hn::Shuffle01(both)));
}
template <class V>
HWY_ATTR HWY_INLINE double total_of(whole part, V v) {
  hn::Half<hn::DFromV<V>> const half;
  if constexpr (hn::MaxLanes(half) == 4) {
    return total_of_eight(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
  } else {
    return total_of(part, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
template <bool EvenOdd>
HWY_ATTR HWY_INLINE double total_of(two<EvenOdd>, vec_pair v) {
  if constexpr (EvenOdd) {
    auto const even = four_of(v.a), odd = four_of(v.b);
    hn::DFromV<std::remove_const_t<decltype(even)>> const d;
    return total_of_eight(hn::InterleaveLower(d, even, odd), hn::InterleaveUpper(d, even, odd));
  } else {
    return total_of(whole(), hn::Add(v.a, v.b));
  }
}
#endif

// What is done with a sum in a vector, or two: kept in the memory of all lanes, in the order of the columns, taken from
// there, added to another one. Other kinds of sums bring their own.
template <class Part, class V>
HWY_ATTR HWY_INLINE void keep_lanes(Part part, V v, lane_memory& to, std::ptrdiff_t lane) {
  part.keep_columns(v, to.at + lane);
}
template <class Part, class V>
HWY_ATTR HWY_INLINE void take_lanes(Part part, V& v, lane_memory const& from, std::ptrdiff_t lane) {
  v = part.kept_columns(from.at + lane);
}
template <class V>
HWY_ATTR HWY_INLINE void add_to(V& v, V const& more) {
  v = detail::HWY_NAMESPACE::add(v, more);
}

template <class Part>
inline constexpr std::ptrdiff_t width_of = vector_lanes* std::ptrdiff_t{Part::vectors};

// All lanes of all sums of a loop in registers: a tree, whose leaves are what the loop adds up of one of its parts.
template <class Part, class Gather, std::ptrdiff_t Lanes = sum_lanes>
struct lane_tree {
  using half = lane_tree<Part, Gather, Lanes / 2>;
  static constexpr std::ptrdiff_t lanes = Lanes, vectors = 2 * half::vectors;
  half lower, upper;

  HWY_ATTR HWY_INLINE static lane_tree zero() { return {half::zero(), half::zero()}; }
  // Adds up the columns from `i` on, and writes them.
  template <class Write>
  HWY_ATTR HWY_INLINE void visit(Part part, Gather const& gather, Write const& write, std::ptrdiff_t i) {
    lower.visit(part, gather, write, i);
    upper.visit(part, gather, write, i + Lanes / 2);
  }
  // ... of the columns from `begin` to `end` alone.
  template <class Write>
  HWY_ATTR HWY_INLINE void visit_some(Gather const& gather, Write const& write, std::ptrdiff_t i, std::ptrdiff_t begin,
                                      std::ptrdiff_t end) {
    lower.visit_some(gather, write, i, begin, end);
    upper.visit_some(gather, write, i + Lanes / 2, begin, end);
  }
  template <class Memory>
  HWY_ATTR HWY_INLINE void keep(Memory& to, std::ptrdiff_t lane = 0) {
    lower.keep(to, lane);
    upper.keep(to, lane + Lanes / 2);
  }
  template <class Memory>
  HWY_ATTR HWY_INLINE void take(Memory& from, std::ptrdiff_t lane = 0) {
    lower.take(from, lane);
    upper.take(from, lane + Lanes / 2);
  }
  HWY_ATTR HWY_INLINE void add(lane_tree& other) {
    lower.add(other.lower);
    upper.add(other.upper);
  }
  // Of vectors of eight lanes and more.
  template <class Totals>
  HWY_ATTR HWY_INLINE void total(Totals& to) {
    lower.add(upper);
    lower.total(to);
  }
};

template <class Part, class Gather, std::ptrdiff_t Lanes>
  requires(Lanes == width_of<Part>)
struct lane_tree<Part, Gather, Lanes> {
  using leaf = typename Gather::template sums<typename Part::values>;
  static constexpr std::ptrdiff_t lanes = Lanes, vectors = Gather::number_of_sums * Part::vectors;
  leaf sums;

  HWY_ATTR HWY_INLINE static lane_tree zero() { return {leaf::all(Part::zero())}; }
  template <class Visited, class Write>
  HWY_ATTR HWY_INLINE void visit(Visited part, Gather const& gather, Write const& write, std::ptrdiff_t i) {
    auto const values = gather.get(part, i);
    write(part, i);
    gather.accumulate(values, sums);
  }
  template <class Write>
  HWY_ATTR HWY_INLINE void visit_some(Gather const& gather, Write const& write, std::ptrdiff_t i, std::ptrdiff_t begin,
                                      std::ptrdiff_t end) {
    auto const from = HWY_MAX(begin - i, std::ptrdiff_t{0}), to = HWY_MIN(end - i, Lanes);
    if (from < to) {
      visit(typename Part::some{static_cast<std::size_t>(from), static_cast<std::size_t>(to)}, gather, write, i);
    }
  }
  template <class Memory>
  HWY_ATTR HWY_INLINE void keep(Memory& to, std::ptrdiff_t lane = 0) {
    each_sum([lane](auto& v, auto& memory) HWY_ATTR { keep_lanes(Part(), v, memory, lane); }, sums, to);
  }
  template <class Memory>
  HWY_ATTR HWY_INLINE void take(Memory& from, std::ptrdiff_t lane = 0) {
    each_sum([lane](auto& v, auto& memory) HWY_ATTR { take_lanes(Part(), v, memory, lane); }, sums, from);
  }
  HWY_ATTR HWY_INLINE void add(lane_tree& other) {
    each_sum([](auto& v, auto& w) HWY_ATTR { add_to(v, w); }, sums, other.sums);
  }
  template <class Totals>
  HWY_ATTR HWY_INLINE void total(Totals& to) {
    each_sum([](auto& v, double& total) HWY_ATTR { total = total_of(Part(), v); }, sums, to);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
