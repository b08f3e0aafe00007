// SPDX-License-Identifier: BSL-1.0

// Mean and deviation of a row in one pass: sums of the distance from a number near the mean, and of its square.
#if defined(FUSE_REWRITE_KERNELS_MOMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSE_REWRITE_KERNELS_MOMENTS_INL
#undef FUSE_REWRITE_KERNELS_MOMENTS_INL
#else
#define FUSE_REWRITE_KERNELS_MOMENTS_INL
#endif

#include <fuse/kernels/detail/lane_sums-inl.hpp>

#include <fuse/kernels/detail/exact.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

struct moment_totals {
  float pivot;
  double sum = 0, squares = 0;
};

// What adds up distances from a pivot; `Sign` is -1 where these are pivot - x.
template <int Sign>
struct adds_moments {
  static constexpr std::ptrdiff_t number_of_sums = 2;
  template <class V>
  using sums = moment_sums<V>;

  moment_totals totals;

  template <class V>
  HWY_ATTR HWY_INLINE void accumulate(V distance, moment_sums<V>& to) const {
    to.sum = add(to.sum, distance);
    to.squares = mul_add(distance, distance, to.squares);
  }
  HWY_ATTR HWY_INLINE void finish(moment_sums<double> const& more) {
    totals.sum += Sign * more.sum;
    totals.squares += more.squares;
  }
};

HWY_ATTR HWY_INLINE float finite_or_zero(float v) {
  if (!std::isfinite(v)) [[unlikely]] {
    return 0;
  }
  return v;
}

// The sum of 16 elements, each of the lower half added to the one as far into the upper, in float.
inline constexpr std::ptrdiff_t first_elements = 16;

#if HWY_TARGET == HWY_SCALAR
HWY_ATTR HWY_INLINE float sum_of_kept(float const* first) {
  auto const four = [first](std::ptrdiff_t i) { return (first[i] + first[i + 8]) + (first[i + 4] + first[i + 12]); };
  return (four(0) + four(2)) + (four(1) + four(3));
}
#else
template <class Four>
HWY_ATTR HWY_INLINE float sum_of_four(Four four) {
  auto const two = hn::Add(four, hn::Shuffle1032(four));
  return hn::GetLane(hn::Add(two, hn::Shuffle2301(two)));
}
HWY_ATTR HWY_INLINE float sum_of_kept(float const* first) {
  hn::FixedTag<float, 4> const d;
  auto const even = hn::Add(hn::Load(d, first), hn::Load(d, first + 8));
  auto const odd = hn::Add(hn::Load(d, first + 4), hn::Load(d, first + 12));
  return sum_of_four(hn::Add(even, odd));
}
#endif

// ... of `row(part, i)`, which has as many.
template <class Row>
HWY_ATTR HWY_INLINE float sum_of_first(Row const& row) {
  if constexpr (vector_lanes == first_elements) {
    return sum_of_four(four_of(row(whole(), 0)));
  } else if constexpr (2 * vector_lanes == first_elements) {
    return sum_of_four(four_of(hn::Add(row(whole(), 0), row(whole(), vector_lanes))));
  } else {
    HWY_ALIGN float first[first_elements];
    for (std::ptrdiff_t i = 0; i < first_elements; i += vector_lanes) whole().keep(row(whole(), i), first + i);
    return sum_of_kept(first);
  }
}

// The mean of the first elements of `row(part, i)`, which mostly is near that of all. For halves, of as many bits as
// one of them has: a half less it is a float, and so is a sum of these, but where halves are tiny beside the deviation.
// Less all bits of a mean, halves of one magnitude would all be rounded to the same side, and the mean of the row with
// them, by up to 2e-7 of the deviation: units in the last place of a result near 0.
template <bool Halves, class Row>
HWY_ATTR HWY_INLINE float first_mean(Row const& row, std::size_t columns) {
  float mean;
  if (columns >= first_elements) {
    mean = sum_of_first(row) * (1.0f / first_elements);
  } else {
    HWY_ALIGN float first[first_elements] = {};
    for (std::size_t i = 0; i < columns; i += vector_lanes) {
      between const part{0, HWY_MIN(columns - i, static_cast<std::size_t>(vector_lanes))};
      auto const at = static_cast<std::ptrdiff_t>(i);
      part.keep(row(part, at), first + i);
    }
    mean = sum_of_kept(first) / static_cast<float>(columns);
  }
  mean = finite_or_zero(mean);
  return Halves ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(mean) & 0xffffe000u) : mean;
}

// A pivot at this mean, of no bits but those of about 2^-8 of the deviation and more, for the reason above.
HWY_ATTR HWY_INLINE float near_mean(double mean, double variance) {
  double const large = product(0x1.8p44, std::sqrt(variance));
  return finite_or_zero(static_cast<float>((mean + large) - large));
}

// Mean and deviation of a row from the sums around a pivot; where they say too little, from `again(pivot)`, its sums
// around its own mean; where that does not help either, from `exactly()`.
template <class Again, class Exactly>
HWY_ATTR HWY_INLINE row_moments settled(moment_totals totals, double per_column, double epsilon, Again const& again,
                                        Exactly const& exactly) {
  for (int attempt = 0;; ++attempt) {
    double const shift = product(totals.sum, per_column), mean_square = product(totals.squares, per_column);
    // A comparison with what was computed before: one with the difference waits for it (2 ns of a row).
    double const square = product(shift, shift), variance = mean_square > square ? mean_square - square : 0;
    if (!is_comfortable(mean_square, epsilon)) break;
    if (square <= 2 * (variance + epsilon)) [[likely]] {
      return {totals.pivot, shift, inverse_root(variance + epsilon)};
    }
    if (attempt == 1) break;
    totals = again(near_mean(static_cast<double>(totals.pivot) + shift, variance));
  }
  return exactly();
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
