// SPDX-License-Identifier: BSL-1.0

// Compiled once for each target: no include guard, and nothing outside of the namespace that names the target.
#include <fuse/kernels/kernels-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace own::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace fk = fuse::kernels::HWY_NAMESPACE;
using fk::vec;

// e^v for v <= 0: 2^n * e^r with n whole and |r| <= log(2) / 2, where six terms of the series are within 2e-7.
HWY_ATTR HWY_INLINE vec exp_of(vec v) {
  fk::lanes const d;
  auto const in_range = hn::Ge(v, hn::Set(d, -87.0f));
  auto const n = hn::Round(hn::Mul(v, hn::Set(d, 1.44269504f)));
  auto const r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), v));
  vec sum = hn::Set(d, 1.0f / 720);
  for (float const term : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) {
    sum = hn::MulAdd(sum, r, hn::Set(d, term));
  }
  hn::RebindToSigned<fk::lanes> const di;
  auto const power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  // NaN is not in range, but stays.
  auto const result = hn::IfThenElseZero(in_range, hn::Mul(sum, hn::BitCast(d, power)));
  return hn::IfThenElse(hn::Eq(v, v), result, v);
}

template <class X, class Y>
HWY_ATTR void softmax_row(X const* x, Y* y, std::size_t columns) {
  fk::lanes const d;
  std::size_t const n = hn::Lanes(d), end = columns - columns % n, rest = columns - end;

  vec most = hn::Set(d, fuse::kernels::to_float(x[0]));
  for (std::size_t i = 0; i < end; i += n) most = hn::Max(most, fk::load(x + i));
  for (std::size_t i = end; i < columns; ++i) most = hn::Max(most, hn::Set(d, fuse::kernels::to_float(x[i])));
  most = hn::MaxOfLanes(d, most);

  // The sum is of what a half type rounds to nothing as well: each power is computed twice, none is stored.
  vec sums = hn::Zero(d);
  for (std::size_t i = 0; i < end; i += n) sums = hn::Add(sums, exp_of(hn::Sub(fk::load(x + i), most)));
  if (rest > 0) {
    vec const powers = exp_of(hn::Sub(fk::load_first(rest, x + end), most));
    sums = hn::Add(sums, hn::IfThenElseZero(hn::FirstN(d, rest), powers));
  }
  vec const factor = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, sums));

  for (std::size_t i = 0; i < end; i += n) {
    fk::store(hn::Mul(exp_of(hn::Sub(fk::load(x + i), most)), factor), y + i);
  }
  if (rest > 0) {
    fk::store_first(rest, hn::Mul(exp_of(hn::Sub(fk::load_first(rest, x + end), most)), factor), y + end);
  }
}

// What is dispatched to.
struct softmax_rows {
  template <class Call>
  HWY_ATTR static void run(Call const& call) {
    for (std::size_t row = call.begin; row < call.end; ++row) {
      softmax_row(call.x + row * call.x_stride, call.y + row * call.y_stride, call.columns);
    }
  }
};

}  // namespace own::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
