// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/exact.hpp>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// Mean and variance from sums of x - pivot and of its square. Float vectors are added up for 32 steps at most, double
// numbers above that, so that long rows lose nothing.
template <class T>
HWY_ATTR HWY_INLINE row_moments moments_about(float pivot, T const* x, std::size_t columns) {
  lanes const d;
  std::size_t const n = hn::Lanes(d), step = 4 * n;
  vec const k = hn::Set(d, pivot);
  double sum = 0, squares = 0;
  std::size_t i = 0;
  while (columns - i >= step) {
    std::size_t const end = i + std::min<std::size_t>((columns - i) / step, 32) * step;
    vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
    for (; i < end; i += step) {
      vec const d0 = hn::Sub(load(x + i), k), d1 = hn::Sub(load(x + i + n), k);
      vec const d2 = hn::Sub(load(x + i + 2 * n), k), d3 = hn::Sub(load(x + i + 3 * n), k);
      s0 = hn::Add(s0, d0);
      s1 = hn::Add(s1, d1);
      s2 = hn::Add(s2, d2);
      s3 = hn::Add(s3, d3);
      q0 = hn::MulAdd(d0, d0, q0);
      q1 = hn::MulAdd(d1, d1, q1);
      q2 = hn::MulAdd(d2, d2, q2);
      q3 = hn::MulAdd(d3, d3, q3);
    }
    sum += sum_of(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
    squares += sum_of(hn::Add(hn::Add(q0, q1), hn::Add(q2, q3)));
  }
  if (i < columns) {
    vec s = hn::Zero(d), q = s;
    for (; columns - i >= n; i += n) {
      vec const difference = hn::Sub(load(x + i), k);
      s = hn::Add(s, difference);
      q = hn::MulAdd(difference, difference, q);
    }
    if (i < columns) {
      auto const inside = hn::FirstN(d, columns - i);
      vec const difference = hn::IfThenElseZero(inside, hn::Sub(load_first(columns - i, x + i), k));
      s = hn::Add(s, difference);
      q = hn::MulAdd(difference, difference, q);
    }
    sum += sum_of(s);
    squares += sum_of(q);
  }
  double const count = static_cast<double>(columns), shift = sum / count;
  return {pivot, shift, std::max(squares / count - shift * shift, 0.0)};
}

// One pass where the pivot is near the mean, which the mean of the row before mostly is.
template <class T>
HWY_ATTR HWY_INLINE row_moments moments_of(float pivot, T const* x, std::size_t columns, double epsilon) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    row_moments const m = moments_about(pivot, x, columns);
    if (!is_comfortable(m.variance + m.shift * m.shift, epsilon)) break;
    if (m.shift * m.shift <= 2 * (m.variance + epsilon)) return m;
    pivot = static_cast<float>(static_cast<double>(pivot) + m.shift);
  }
  return exact_moments(x, columns);
}

template <class T>
HWY_ATTR HWY_INLINE float first_pivot(T const* x, std::size_t columns) {
  std::size_t const count = std::min(columns, hn::Lanes(lanes()));
  vec const values = count == hn::Lanes(lanes()) ? load(x) : load_first(count, x);
  float const pivot = static_cast<float>(sum_of(values) / static_cast<double>(count));
  return std::isfinite(pivot) ? pivot : 0;
}

template <class X, class Scale, class Bias>
struct layer_norm_values {
  X const* x;
  vec pivot, shift, inverse_deviation;
  Scale scale;
  Bias bias;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::size_t i) const {
    vec const n = hn::Mul(hn::Sub(hn::Sub(part.get(x + i), pivot), shift), inverse_deviation);
    return affine(part, n, scale, bias, i);
  }
};

template <class X, class Scale, class Bias, class Y>
HWY_ATTR void run_rows(layer_norm_call<X, Scale, Bias, Y> const& call) {
  lanes const d;
  std::size_t const columns = call.columns;
  double const epsilon = static_cast<double>(call.epsilon);
  float pivot = first_pivot(call.x + call.begin * call.x_stride, columns);
  for (std::size_t row = call.begin; row < call.end; ++row) {
    X const* const x = call.x + row * call.x_stride;
    row_moments const m = moments_of(pivot, x, columns, epsilon);
    float const mean = static_cast<float>(static_cast<double>(m.pivot) + m.shift);
    float const inverse_deviation = static_cast<float>(1 / std::sqrt(m.variance + epsilon));
    pivot = std::isfinite(mean) ? mean : 0;

    write_row(call,
              layer_norm_values<X, Scale, Bias>{x, hn::Set(d, m.pivot), hn::Set(d, static_cast<float>(m.shift)),
                                                hn::Set(d, inverse_deviation), call.scale, call.bias},
              row);
    if (call.mean != nullptr) call.mean[row] = mean;
    if (call.inverse_deviation != nullptr) call.inverse_deviation[row] = inverse_deviation;
  }
  if (call.streamed) hwy::FlushStream();
}

struct layer_norm_rows : frame {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    run_rows(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
