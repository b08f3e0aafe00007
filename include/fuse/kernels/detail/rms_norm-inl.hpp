// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernels/detail/exact.hpp>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {

// As for layer norm, double numbers above 32 steps.
template <class T>
HWY_ATTR HWY_INLINE double mean_square_of(T const* x, std::size_t columns) {
  lanes const d;
  std::size_t const n = hn::Lanes(d), step = 4 * n;
  double squares = 0;
  std::size_t i = 0;
  while (columns - i >= step) {
    std::size_t const end = i + std::min<std::size_t>((columns - i) / step, 32) * step;
    vec q0 = hn::Zero(d), q1 = q0, q2 = q0, q3 = q0;
    for (; i < end; i += step) {
      vec const v0 = load(x + i), v1 = load(x + i + n), v2 = load(x + i + 2 * n), v3 = load(x + i + 3 * n);
      q0 = hn::MulAdd(v0, v0, q0);
      q1 = hn::MulAdd(v1, v1, q1);
      q2 = hn::MulAdd(v2, v2, q2);
      q3 = hn::MulAdd(v3, v3, q3);
    }
    squares += sum_of(hn::Add(hn::Add(q0, q1), hn::Add(q2, q3)));
  }
  if (i < columns) {
    vec q = hn::Zero(d);
    for (; columns - i >= n; i += n) {
      vec const v = load(x + i);
      q = hn::MulAdd(v, v, q);
    }
    if (i < columns) {
      vec const v = load_first(columns - i, x + i);
      q = hn::MulAdd(v, v, q);
    }
    squares += sum_of(q);
  }
  return squares / static_cast<double>(columns);
}

template <class X, class Scale>
struct rms_norm_values {
  X const* x;
  vec inverse_rms;
  Scale scale;

  template <class Part>
  HWY_ATTR HWY_INLINE vec operator()(Part part, std::size_t i) const {
    return scaled(part, hn::Mul(part.get(x + i), inverse_rms), scale, i);
  }
};

template <class X, class Scale, class Y>
HWY_ATTR void run_rows(rms_norm_call<X, Scale, Y> const& call) {
  lanes const d;
  std::size_t const columns = call.columns;
  double const epsilon = static_cast<double>(call.epsilon);
  for (std::size_t row = call.begin; row < call.end; ++row) {
    X const* const x = call.x + row * call.x_stride;
    double mean_square = mean_square_of(x, columns);
    if (!is_comfortable(mean_square, epsilon)) mean_square = exact_mean_square(x, columns);
    float const inverse_rms = static_cast<float>(1 / std::sqrt(mean_square + epsilon));

    write_row(call, rms_norm_values<X, Scale>{x, hn::Set(d, inverse_rms), call.scale}, row);
    if (call.inverse_rms != nullptr) call.inverse_rms[row] = inverse_rms;
  }
  if (call.streamed) hwy::FlushStream();
}

struct rms_norm_rows : frame {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    run_rows(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
