// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>

#include "formula.hpp"

namespace soundness {

/// What a right side becomes: the pattern itself as one operator, over what its names captured. Which rule's it is
/// stands in an attribute.
inline constexpr fuse::operator_row rows[] = {
    {.name = "test::Formula", .result = {.shape = fuse::result_info::kind::broadcast}}};
inline constexpr auto dialect = fuse::onnx.with(rows);

struct graph : fuse::graph {
  explicit graph(int version = 17) : fuse::graph(version) {}
};

/// A rule of the pool, and what its graphs may be made of.
struct member {
  fuse::rewrite_rule const* rule;
  bool integers = false;  ///< holds among integers, too
  bool spelled = true;    ///< every spelling is found, but where parts of it are constants
};

namespace pool {

using namespace fuse::dsl;
using fuse::rewrite_rule;

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, w = var<"w">;
inline constexpr auto s = scalar<"s">, t = scalar<"t">;
inline constexpr auto r = rest<"r">;
inline constexpr auto axes = param<"axes">;
inline constexpr auto const& made = op<"test::Formula">;

template <int Number>
constexpr rewrite_rule as_one(fuse::rule_name named, expression const& pattern, expression const& right) {
  return named(pattern).replace(right.attr<"rule">(Number)).at_equal_cost();
}

inline constexpr auto r0 = as_one<0>(fuse::rule<"scaled">, x* s, made(x).attr<"s">(s));
inline constexpr auto r1 = as_one<1>(fuse::rule<"shifted">, x + s, made(x).attr<"s">(s));
inline constexpr auto r2 = as_one<2>(fuse::rule<"multiply-add">, x* y + z, made(x, y, z));
inline constexpr auto r3 = as_one<3>(fuse::rule<"difference-by">, (x - y) / z, made(x, y, z));
inline constexpr auto r4 = as_one<4>(fuse::rule<"by-root">, x / sqrt(y), made(x, y));
inline constexpr auto r5 = as_one<5>(fuse::rule<"by-shifted-root">, x* rsqrt(y + s), made(x, y).attr<"s">(s));
inline constexpr auto r6 = as_one<6>(fuse::rule<"softmax">, exp(x) / sum(exp(x)), made(x).attr<"axes">(axes));
inline constexpr auto r7 = as_one<7>(fuse::rule<"by-length">, x / sqrt(sum(square(x))), made(x).attr<"axes">(axes));
inline constexpr auto r8 =
    as_one<8>(fuse::rule<"by-mean-length">, x / sqrt(mean(square(x)) + s), made(x).attr<"axes">(axes).attr<"s">(s));
inline constexpr auto r9 = as_one<9>(fuse::rule<"gated-and-added">, tanh(x) * sigmoid(y) + x, made(x, y));
inline constexpr auto r10 = as_one<10>(fuse::rule<"silu">, x* sigmoid(x), made(x));
inline constexpr auto r11 = as_one<11>(fuse::rule<"swish">, x* sigmoid(x* s), made(x).attr<"s">(s));
inline constexpr auto r12 = as_one<12>(fuse::rule<"half-gated">, 0.5 * x * (1 + tanh(y)), made(x, y));
inline constexpr auto r13 = as_one<13>(fuse::rule<"tanh-times">, tanh(x) * r, made(x, r));
inline constexpr auto r14 = as_one<14>(fuse::rule<"exp-plus">, exp(x) + r, made(x, r));
inline constexpr auto r15 = as_one<15>(fuse::rule<"tanh-shifted">, tanh(x) + optional(s), made(x).attr<"s">(s));
inline constexpr auto r16 = as_one<16>(fuse::rule<"maybe-gated">, tanh(x) * optional(sigmoid(y)), made(x, y));
inline constexpr auto r17 = as_one<17>(fuse::rule<"squared-difference">, square(x - y), made(x, y));
inline constexpr auto r18 = as_one<18>(fuse::rule<"two-squares">, square(tanh(x)) + square(y), made(x, y));
inline constexpr auto r19 = as_one<19>(fuse::rule<"minus-exp">, -exp(x), made(x));
inline constexpr auto r20 = as_one<20>(fuse::rule<"centred">, x - mean(x), made(x).attr<"axes">(axes));
inline constexpr auto r21 = as_one<21>(fuse::rule<"standardised">, (x - mean(x)) * rsqrt(mean(square(x - mean(x))) + s),
                                       made(x).attr<"axes">(axes).attr<"s">(s));
inline constexpr auto r22 = as_one<22>(fuse::rule<"larger-times">, maximum(x, y) * z, made(x, y, z));
inline constexpr auto r23 = as_one<23>(fuse::rule<"larger-tanh">, maximum(tanh(x), y), made(x, y));
inline constexpr auto r24 = as_one<24>(fuse::rule<"plus-sum">, x + sum(x * y), made(x, y).attr<"axes">(axes));
inline constexpr auto r25 = as_one<25>(fuse::rule<"log-ratio">, log(x) - log(y), made(x, y));
inline constexpr auto r26 = as_one<26>(fuse::rule<"exp-times-exp">, exp(x) * exp(y), made(x, y));
inline constexpr auto r27 = as_one<27>(fuse::rule<"product-less">, x* y* z - w, made(x, y, z, w));
inline constexpr auto r28 = as_one<28>(fuse::rule<"one-by-sum">, reciprocal(x + y), made(x, y));
inline constexpr auto r29 = as_one<29>(fuse::rule<"cube-times">, pow(x, 3) * y, made(x, y));
inline constexpr auto r30 = as_one<30>(fuse::rule<"by-two">, x / y / z, made(x, y, z));
inline constexpr auto r31 = as_one<31>(fuse::rule<"root-plus">, sqrt(x* y) + z, made(x, y, z));
inline constexpr auto r32 = as_one<32>(fuse::rule<"gated-sum">, tanh(x + y) * sigmoid(x + y), made(x, y));
inline constexpr auto r33 = as_one<33>(fuse::rule<"scaled-twice">, tanh(x) * s + exp(y) * s, made(x, y).attr<"s">(s));
inline constexpr auto r34 =
    as_one<34>(fuse::rule<"two-numbers">, abs(x) * s - tanh(y) / t, made(x, y).attr<"s">(s).attr<"t">(t));
inline constexpr auto r35 = as_one<35>(fuse::rule<"alone">, tanh(x).users(1) * exp(y), made(x, y));
inline constexpr auto r36 =
    as_one<36>(fuse::rule<"either-way">, either(tanh(x) * y, y / reciprocal(tanh(x))) + z, made(x, y, z));
inline constexpr auto r37 =
    as_one<37>(fuse::rule<"through-multiply-add">, x* tanh(y) + z, made(x, y, z)).through<"cast", "identity">();
inline constexpr auto r38 =
    as_one<38>(fuse::rule<"through-by-length">, x / sqrt(sum(square(x)) + s), made(x).attr<"axes">(axes).attr<"s">(s))
        .through<"cast", "identity">();
inline constexpr auto r39 =
    as_one<39>(fuse::rule<"through-centred">, tanh(x - mean(x)), made(x).attr<"axes">(axes)).through<"identity">();
inline constexpr auto r40 = as_one<40>(fuse::rule<"through-softmax">, exp(x) / sum(exp(x)), made(x).attr<"axes">(axes))
                                .through<"identity", "expand">();
inline constexpr auto r41 = as_one<41>(fuse::rule<"distributed">, x* r - mean(x) * r, made(x, r).attr<"axes">(axes));
inline constexpr auto r42 =
    as_one<42>(fuse::rule<"two-axes">, sum(x).attr<"axes">(param<"p">) * sum(x).attr<"axes">(param<"q">) + x,
               made(x).attr<"p">(param<"p">).attr<"q">(param<"q">));
inline constexpr auto r43 = as_one<43>(fuse::rule<"tripled">, 3 * x - 2, made(x));
inline constexpr auto r44 = as_one<44>(fuse::rule<"product-of-sums">, (x + y) * (z - w), made(x, y, z, w));

inline constexpr auto by_hand =
    fuse::rule_set<r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21,
                   r22, r23, r24, r25, r26, r27, r28, r29, r30, r31, r32, r33, r34, r35, r36, r37, r38, r39, r40, r41,
                   r42, r43, r44>;

}  // namespace pool

inline constexpr member members[] = {{&pool::r0, true},  {&pool::r1, true},  {&pool::r2, true},
                                     {&pool::r3},        {&pool::r4},        {&pool::r5},
                                     {&pool::r6},        {&pool::r7},        {&pool::r8},
                                     {&pool::r9},        {&pool::r10},       {&pool::r11},
                                     {&pool::r12},       {&pool::r13},       {&pool::r14},
                                     {&pool::r15},       {&pool::r16},       {&pool::r17, true},
                                     {&pool::r18},       {&pool::r19},       {&pool::r20},
                                     {&pool::r21},       {&pool::r22, true}, {&pool::r23},
                                     {&pool::r24, true}, {&pool::r25},       {&pool::r26},
                                     {&pool::r27, true}, {&pool::r28},       {&pool::r29, true, false},
                                     {&pool::r30},       {&pool::r31},       {&pool::r32},
                                     {&pool::r33},       {&pool::r34},       {&pool::r35, false, false},
                                     {&pool::r36},       {&pool::r37},       {&pool::r38},
                                     {&pool::r39},       {&pool::r40},       {&pool::r41, false, false},
                                     {&pool::r42},       {&pool::r43, true}, {&pool::r44, true}};

/// What the operators of right sides compute: the pattern of their rule.
[[nodiscard]] inline std::optional<array> evaluate(member const& of, std::vector<array const*> const& in,
                                                   corpus::parameters const& attributes) {
  auto const& right = of.rule->replacement;
  auto const& root = right[right.root()];
  meanings with;
  for (int i = 0; i < root.operands(); ++i)
    if (static_cast<std::size_t>(i) < in.size() && in[static_cast<std::size_t>(i)] != nullptr)
      with.values[std::string(right[root.child[i]].name)] = *in[static_cast<std::size_t>(i)];
  for (auto const& [name, a] : attributes.all) {
    if (auto const* list = std::get_if<std::vector<std::int64_t>>(&a.content)) with.axes[name] = *list;
    if (auto const* one = std::get_if<double>(&a.content)) with.numbers[name] = *one;
  }
  return formula(of.rule->pattern, with).value();
}

}  // namespace soundness

template <>
struct fuse::graph_traits<soundness::graph> : fuse::graph_traits<fuse::graph> {
  static constexpr auto& dialect = soundness::dialect;
};
