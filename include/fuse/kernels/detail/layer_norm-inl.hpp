// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/exact.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

template <class V>
struct moment_sums {
  V sum, squares;
};

struct moment_totals {
  float pivot;
  double sum = 0, squares = 0;
};

// Sums of pivot - x and of its square: what is loaded comes second, since there an instruction takes it from memory.
// The first sum, of halves, is mostly exact: see near_mean.
template <bool Halves, class Source>
struct gathers_moments {
  Source source;
  vec pivot;
  moment_totals totals;

  template <class Part>
  HWY_ATTR HWY_INLINE auto get(Part part, std::size_t i) const {
    return part.elements(sub(pivot, source.get(part, i)));
  }
  template <class Part>
  HWY_ATTR HWY_INLINE moment_sums<typename Part::values> sums(Part part) const {
    return {part.zero(), part.zero()};
  }
  template <class Part, class V>
  HWY_ATTR HWY_INLINE void accumulate(Part, V difference, moment_sums<V>& to) const {
    to.sum = add(to.sum, difference);
    to.squares = mul_add(difference, difference, to.squares);
  }
  template <class V>
  HWY_ATTR HWY_INLINE void finish(moment_sums<V> const& a, moment_sums<V> const& b) {
    V const sum = add(a.sum, b.sum);
    totals.sum -= Halves ? double_sum_of(sum) : sum_of(sum);
    totals.squares += sum_of(add(a.squares, b.squares));
  }
};

template <class Row, class Scale, class Bias>
struct layer_norm_values {
  Row x;
  vec mean, factor, rest;  // factor is negative; of the mean, what float does not hold: rest is negative, and scaled
  Scale scale;
  Bias bias;

  template <class Part>
  HWY_ATTR HWY_INLINE auto normalised(Part part, std::size_t i) const {
    return mul_add(sub(mean, x.get(part, i)), factor, rest);
  }
  template <class Part, class V>
  HWY_ATTR HWY_INLINE V weighted(Part part, V n, std::size_t i) const {
    return affine(part, n, scale, bias, i);
  }
  template <class Part>
  HWY_ATTR HWY_INLINE auto operator()(Part part, std::size_t i) const {
    return weighted(part, normalised(part, i), i);
  }
};

HWY_ATTR HWY_INLINE float finite_or_zero(float v) {
  if (!std::isfinite(v)) [[unlikely]] {
    return 0;
  }
  return v;
}

// A pivot for rows whose mean is near `mean`. For halves it has no bits but those of about 2^-8 of the root of
// `mean_square` and more: a half less it is a float, and so is a sum of these, but where halves are tiny beside the
// deviation. Less all bits of a mean, halves of one magnitude would all be rounded to the same side, and the mean of
// the row with them, by up to 2e-7 of the deviation: units in the last place of a result near 0.
template <bool Halves>
HWY_ATTR HWY_INLINE float near_mean(float mean, double mean_square) {
  if constexpr (Halves) {
    // About 1.5 * 2^15 times the root, whose exponent is half of the square's.
    auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(mean_square));
    float const large = std::bit_cast<float>((bits >> 1) + 0x27800000u);
    return finite_or_zero((mean + large) - large);
  } else {
    return finite_or_zero(mean);
  }
}

// Few elements will do, and begin sooner. For halves, as many bits as one of them has.
template <bool Halves, class Row>
HWY_ATTR HWY_INLINE float first_pivot(Row const& row, std::size_t columns) {
  float const pivot =
      finite_or_zero(columns < 4 ? row.near(0) : 0.25f * ((row.near(0) + row.near(1)) + (row.near(2) + row.near(3))));
  return Halves ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(pivot) & 0xffffe000u) : pivot;
}

template <class Call>
struct layer_normalises {
  static constexpr int sums = 2;
  static constexpr bool halves = !reads_floats<Call>;

  Call const& call;
  double per_column;
  float pivot;  // near the mean of rows to come, as that of a row before mostly is

  template <class Other>
  HWY_ATTR HWY_INLINE layer_normalises<Other> of(Other const& other) const {
    return {other, per_column, pivot};
  }

  template <class Source>
  HWY_ATTR HWY_INLINE gathers_moments<halves, Source> gather(Source const& source) const {
    return {source, hn::Set(lanes(), pivot), {pivot}};
  }

  // One pass where the pivot was near the mean.
  template <class X>
  HWY_ATTR HWY_INLINE row_moments moments(moment_totals totals, X const* x) const {
    double const epsilon = static_cast<double>(call.epsilon);
    for (int attempt = 0;; ++attempt) {
      double const shift = totals.sum * per_column, mean_square = totals.squares * per_column;
      // A comparison with what was computed before: one with the difference waits for it (2 ns of a row).
      double const square = shift * shift, variance = mean_square > square ? mean_square - square : 0;
      if (!is_comfortable(mean_square, epsilon)) break;
      if (square <= 2 * (variance + epsilon)) return {totals.pivot, shift, inverse_root(variance + epsilon)};
      if (attempt == 1) break;
      float const about = near_mean<halves>(static_cast<float>(static_cast<double>(totals.pivot) + shift), variance);
      totals = gather_row<two_of<Call>>(layer_normalises{call, per_column, about}, given_row<X>{x}, call.columns,
                                        common_head(call));
    }
    return exact_moments(x, call.columns, epsilon);
  }

  HWY_ATTR HWY_INLINE auto values(moment_totals totals, std::size_t row) {
    lanes const d;
    auto const* const x = elements(call.rows, row);
    row_moments const m = moments(totals, x);
    float const mean = static_cast<float>(m.mean());
    double const rest = m.mean() - static_cast<double>(mean);
    if (call.mean != nullptr) call.mean[row] = mean;
    if (call.inverse_deviation != nullptr) call.inverse_deviation[row] = static_cast<float>(m.inverse_deviation);
    pivot = near_mean<halves>(mean, totals.squares * per_column);
    auto const again = reread(call.rows, row);
    return layer_norm_values<std::remove_const_t<decltype(again)>, decltype(call.scale), decltype(call.bias)>{
        again,
        hn::Set(d, mean),
        hn::Set(d, static_cast<float>(-m.inverse_deviation)),
        hn::Set(d, static_cast<float>(-rest * m.inverse_deviation)),
        call.scale,
        call.bias};
  }
};

template <class Rows, class Scale, class Bias, class Y>
HWY_ATTR HWY_INLINE auto with_kept(layer_norm_call<Rows, Scale, Bias, Y> const& call, kept_floats& floats) {
  using wide = two_of<layer_norm_call<Rows, Scale, Bias, Y>>;
  using kept_call = layer_norm_call<kept_rows<Rows>, typename kept_of<Scale>::type, typename kept_of<Bias>::type, Y>;
  return kept_call{floats.rows(call.rows),
                   call.y,
                   call.columns,
                   call.y_stride,
                   floats.scale<wide>(call.scale),
                   floats.bias<wide>(call.bias),
                   call.epsilon,
                   call.mean,
                   call.inverse_deviation,
                   call.streamed,
                   call.begin,
                   call.end};
}

struct layer_norm_rows : frame {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    float const pivot = first_pivot<!reads_floats<Call>>(unread(call.rows, call.begin), call.columns);
    normalise_rows(layer_normalises<Call>{call, 1 / static_cast<double>(call.columns), pivot}, call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
