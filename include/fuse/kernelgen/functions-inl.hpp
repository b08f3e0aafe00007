// SPDX-License-Identifier: BSL-1.0

// Functions of vectors of float, by polynomials of our own: the same bits on every target with fused multiply-add,
// special values as the C standard says. Coefficients are those of the least largest relative error.
// docs/kernels/expression.md has the errors, tests/kernelgen/functions.cpp what they are tested for.

#include <fuse/kernels/kernels-inl.hpp>

#include <fuse/kernelgen/detail/large_angle.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::lanes;
using kernels::HWY_NAMESPACE::vec;
using lanes_i32 = hn::RebindToSigned<lanes>;

// A product that is rounded before anything is added to it: where the processor has fused multiply-add, compilers
// would make one operation of a product and a sum, each where it likes.
HWY_ATTR HWY_INLINE vec rounded(vec v) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  asm("" : "+v"(v.raw));
#elif HWY_ARCH_ARM_A64 && HWY_TARGET <= HWY_NEON
  asm("" : "+w"(v.raw));
#endif
  return v;
}
HWY_ATTR HWY_INLINE vec product(vec a, vec b) { return rounded(hn::Mul(a, b)); }

HWY_ATTR HWY_INLINE vec all(float number) { return hn::Set(lanes(), number); }

// c0 + c1 v + c2 v^2 ...
HWY_ATTR HWY_INLINE vec polynomial(vec, float c0) { return all(c0); }
template <class... Rest>
HWY_ATTR HWY_INLINE vec polynomial(vec v, float c0, Rest... rest) {
  return hn::MulAdd(polynomial(v, rest...), v, all(c0));
}

// A whole number as an integer; anything where it is NaN or too large, which without vectors C++ does not define.
HWY_ATTR HWY_INLINE hn::Vec<lanes_i32> integers(vec n) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  n = hn::IfThenElseZero(hn::Le(hn::Abs(n), all(0x1p30f)), n);
#endif
  return hn::ConvertTo(lanes_i32(), n);
}

// At least or at most a number, and NaN where it is one, which Highway's Max and Min keep where it comes last, but for
// those without vectors.
HWY_ATTR HWY_INLINE vec at_least(float least, vec v) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Lt(v, all(least)), all(least), v);
#else
  return hn::Max(all(least), v);
#endif
}
HWY_ATTR HWY_INLINE vec at_most(float most, vec v) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Gt(v, all(most)), all(most), v);
#else
  return hn::Min(all(most), v);
#endif
}

// A float of this size has no bits behind the point: what is added to it is rounded to a whole number, which its last
// bits are. `Bias` is in them beforehand.
template <int Bias>
inline constexpr float rounds = 0x1.8p23f + static_cast<float>(Bias);

// 2^n, of n + 127 in the last bits of an integer.
HWY_ATTR HWY_INLINE vec power_of_two(hn::Vec<lanes_i32> biased) {
  return hn::BitCast(lanes(), hn::ShiftLeft<23>(biased));
}

// log(2), as a number whose products with whole numbers of 9 bits float holds, and what is left.
inline constexpr float upper_log_of_2 = 0x1.62e4p-1f, lower_log_of_2 = 0x1.7f7d1cp-20f;

// e^v as (1 + r + r^2 cubes) 2^n, where v = n log(2) + r: `cubes` is a polynomial of degree 4 in r.
struct power_of_e {
  vec r, cubes;
  hn::Vec<lanes_i32> whole;  // its last bits are n + Bias
};
template <int Bias>
HWY_ATTR HWY_INLINE power_of_e reduce_exponent(vec v) {
  vec const whole = hn::MulAdd(v, all(1.44269504f), all(rounds<Bias>)), n = hn::Sub(whole, all(rounds<Bias>));
  vec const r = hn::NegMulAdd(n, all(lower_log_of_2), hn::NegMulAdd(n, all(upper_log_of_2), v));
  vec const cubes = polynomial(r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.123a20p-7f, 0x1.6a23d0p-10f);
  return {r, cubes, hn::BitCast(lanes_i32(), whole)};
}

HWY_ATTR HWY_INLINE vec power_of_rest(power_of_e power) {
  return hn::MulAdd(power.r, hn::MulAdd(power.r, power.cubes, all(1)), all(1));
}

// 2^n is two factors, so that the last product alone is rounded where the result is subnormal or too large.
HWY_ATTR HWY_INLINE vec exp(vec v) {
  auto const power = reduce_exponent<2 * 127>(at_least(-104, at_most(89, v)));
  auto const half = hn::ShiftRight<1>(power.whole);
  return product(hn::Mul(power_of_rest(power), power_of_two(half)), power_of_two(hn::Sub(power.whole, half)));
}
// The same, bit by bit, of numbers that are at most 0: one of the factors is a constant.
HWY_ATTR HWY_INLINE vec exp_of_at_most_0(vec v) {
  auto const power = reduce_exponent<127 + 32>(at_least(-104, v));
  return product(hn::Mul(power_of_rest(power), power_of_two(power.whole)), all(0x1p-32f));
}

// v = 2^n m with m from sqrt(1/2) to sqrt(2), and log(m) by a polynomial of degree 11 in m - 1.
HWY_ATTR HWY_INLINE vec log(vec v) {
  auto const is_small = hn::Lt(v, all(0x1p-126f));
  auto const bits = hn::BitCast(lanes_i32(), hn::IfThenElse(is_small, hn::Mul(v, all(0x1p23f)), v));
  auto const exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(lanes_i32(), 0x3f3504f3)));
  vec const r = hn::Sub(hn::BitCast(lanes(), hn::Sub(bits, hn::ShiftLeft<23>(exponent))), all(1));
  vec const n = hn::Sub(hn::ConvertTo(lanes(), exponent), hn::IfThenElseZero(is_small, all(23)));
  vec const square = hn::Mul(r, r);
  vec const cubes = polynomial(r, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a4b6p-3f, -0x1.555c4ep-3f, 0x1.233768p-3f,
                               -0x1.fc2208p-4f, 0x1.e6f06ap-4f, -0x1.de3c16p-4f, 0x1.1457a8p-4f);
  vec rest = hn::MulAdd(hn::Mul(cubes, r), square, hn::Mul(n, all(lower_log_of_2)));
  rest = hn::NegMulAdd(all(0.5f), square, rest);
  vec result = hn::MulAdd(n, all(upper_log_of_2), hn::Add(r, rest));
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  no_number = std::numeric_limits<float>::quiet_NaN();
  result = hn::IfThenElse(hn::Eq(v, all(infinity)), v, result);
  result = hn::IfThenElse(hn::Eq(v, all(0)), all(-infinity), result);
  result = hn::IfThenElse(hn::Lt(v, all(0)), all(no_number), result);
  return hn::IfThenElse(hn::Eq(v, v), result, v);
}

// Of e^2v - 1, which is as exact as v where that is small: there by it, divided by two more, from .55 on less from 1,
// which is exact where that is large.
HWY_ATTR HWY_INLINE vec tanh(vec v) {
  vec const size = hn::Abs(v), most = at_most(10, size);
  auto const power = reduce_exponent<127>(hn::Add(most, most));
  vec const scale = power_of_two(power.whole);
  vec const rest = hn::MulAdd(hn::Mul(power.r, power.r), power.cubes, power.r);
  vec const more = hn::MulAdd(scale, rest, hn::Sub(scale, all(1)));
  auto const is_small = hn::Lt(size, all(0.55f));
  vec const quotient = hn::Div(hn::IfThenElse(is_small, more, all(-2)), hn::Add(more, all(2)));
  return hn::CopySignToAbs(hn::IfThenElse(is_small, quotient, hn::Add(quotient, all(1))), v);
}

// Of exp(-|v|), which does not overflow.
HWY_ATTR HWY_INLINE vec sigmoid(vec v) {
  vec const power = exp_of_at_most_0(hn::Or(v, all(-0.0f)));
  return hn::Div(hn::IfThenElse(hn::Ge(v, all(0)), all(1), power), hn::Add(all(1), power));
}

// Below .9 a polynomial, from there 1 - 2^p, where p is one, too; from 4 on that is 1.
HWY_ATTR HWY_INLINE vec erf(vec v) {
  vec const square = hn::Mul(v, v);
  vec const cubes = polynomial(square, 0x1.06eba6p-3f, -0x1.8126eep-2f, 0x1.ce1c1ep-4f, -0x1.b6a7c6p-6f, 0x1.47f6fep-8f,
                               -0x1.3d5ffap-11f);
  vec const size = hn::Abs(v), small = hn::MulAdd(cubes, size, size), most = at_most(4, size);
  vec const slope = polynomial(most, -0x1.a0cbd4p0f, -0x1.d590c8p-1f, -0x1.3715c2p-3f, 0x1.0eb790p-5f, -0x1.307228p-8f,
                               0x1.44a382p-12f);
  vec const whole = hn::MulAdd(slope, most, all(rounds<127>));
  vec const r = hn::MulSub(slope, most, hn::Sub(whole, all(rounds<127>)));
  vec const power =
      polynomial(r, 1.0f, 0x1.62e42ap-1f, 0x1.ebf9c2p-3f, 0x1.c6b6dcp-5f, 0x1.3ce8c0p-7f, 0x1.5bd898p-10f);
  vec const large = hn::NegMulAdd(power, power_of_two(hn::BitCast(lanes_i32(), whole)), all(1));
  return hn::CopySignToAbs(hn::IfThenElse(hn::Lt(size, all(0.9f)), small, large), v);
}

// An angle of at least 0 as n right angles and what is left, which is at most half of one.
struct reduced_angle {
  vec rest;
  hn::Vec<lanes_i32> quarters;
};
// Up to here three numbers together are a right angle of enough bits; where products with them are rounded, no angle is
// reduced by them.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64
inline constexpr float large_angle = 0x1p17f;
#else
inline constexpr float large_angle = 0x1.921fb4p-1f;
#endif

HWY_ATTR HWY_INLINE reduced_angle reduce_angle(vec angle) {
  vec const n = hn::Round(hn::Mul(angle, all(0x1.45f306p-1f)));
  vec rest = hn::NegMulAdd(n, all(0x1.921fb4p0f), angle);
  rest = hn::NegMulAdd(n, all(0x1.4442d0p-24f), rest);
  rest = hn::NegMulAdd(n, all(0x1.846988p-48f), rest);
  auto quarters = integers(n);
  auto const is_moderate = hn::Le(angle, all(large_angle));
  if (!hn::AllTrue(lanes(), is_moderate)) [[unlikely]] {
    constexpr std::size_t most = static_cast<std::size_t>(kernels::detail::HWY_NAMESPACE::vector_lanes);
    HWY_ALIGN float angles[most], rests[most];
    HWY_ALIGN std::int32_t counts[most];
    hn::Store(angle, lanes(), angles);
    hn::Store(rest, lanes(), rests);
    hn::Store(quarters, lanes_i32(), counts);
    for (std::size_t i = 0; i < most; ++i)
      if (!(angles[i] <= large_angle)) reduce_large_angle(angles[i], rests[i], counts[i]);
    return {hn::Load(lanes(), rests), hn::Load(lanes_i32(), counts)};
  }
  return {rest, quarters};
}

// The sine of an angle of at least 0 and so many right angles.
HWY_ATTR HWY_INLINE vec sin_of(reduced_angle angle, int more) {
  lanes_i32 const di;
  vec const r = angle.rest, square = hn::Mul(r, r);
  vec const cubes = polynomial(square, -0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00f74p-13f, 0x1.6ccf5ep-19f);
  vec const sine = hn::MulAdd(cubes, hn::Mul(square, r), r);
  vec const fourths = polynomial(square, -0.5f, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e86ap-16f);
  vec const cosine = hn::MulAdd(fourths, square, all(1));
  auto const quarters = hn::Add(angle.quarters, hn::Set(di, more));
  auto const is_odd = hn::RebindMask(lanes(), hn::Ne(hn::And(quarters, hn::Set(di, 1)), hn::Zero(di)));
  auto const sign = hn::ShiftLeft<30>(hn::And(quarters, hn::Set(di, 2)));
  return hn::Xor(hn::IfThenElse(is_odd, cosine, sine), hn::BitCast(lanes(), sign));
}
HWY_ATTR HWY_INLINE vec sin(vec v) {
  vec const size = hn::Abs(v);
  return hn::Xor(sin_of(reduce_angle(size), 0), hn::And(v, all(-0.0f)));
}
HWY_ATTR HWY_INLINE vec cos(vec v) { return sin_of(reduce_angle(hn::Abs(v)), 1); }

}  // namespace fuse::inline v0::kernelgen::inline FUSE_REWRITE_ISA::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
