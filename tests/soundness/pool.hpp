// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formula.hpp"

namespace soundness {

/// What the elements of the graphs of a rule are.
enum class elements { floats, either, integers };

/// A rule of the pool, and what its graphs may be made of.
struct member {
  fuse::rewrite_rule const* rule = nullptr;
  elements among = elements::floats;
  bool spelled = true;  ///< every spelling is found, but where parts of it are constants
};

/// Rules by hand that name no operator of a dialect.
namespace pool {

using namespace fuse::dsl;
using fuse::rewrite_rule;

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, w = var<"w">;
inline constexpr auto s = scalar<"s">, t = scalar<"t">;
inline constexpr auto r = rest<"r">;
inline constexpr auto axes = param<"axes">;
inline constexpr auto const& made = op<"test::Formula">;

/// The pattern becomes one operator, whose number says which formula it computes.
template <int Number>
constexpr rewrite_rule as_one(fuse::rule_name named, expression const& pattern, expression const& right) {
  return named(pattern).replace(right.attr<"rule">(Number)).at_equal_cost().benefit(Number % 3);
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
inline constexpr auto r16 = as_one<16>(fuse::rule<"optionally-gated">, tanh(x) * optional(sigmoid(y)), made(x, y));
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

inline constexpr auto r45 = as_one<45>(fuse::rule<"alone-product">, (x * y).users(1) + exp(z), made(x, y, z));
inline constexpr auto tanh_x = tanh(x).as<"t">();
inline constexpr auto r46 = as_one<46>(fuse::rule<"kept">, tanh_x* y + sigmoid(tanh(x)), made(var<"t">, y));
inline constexpr auto r47 =
    fuse::rule<"pair">(roots(tanh(x) * y, sigmoid(x) + y))
        .replace(made(x, y).attr<"rule">(47).attr<"part">(0), made(x, y).attr<"rule">(47).attr<"part">(1))
        .at_equal_cost();
inline constexpr auto r48 =
    as_one<48>(fuse::rule<"row">, (x - mean(x)) * r, made(x, row(r, x, axes)).attr<"axes">(axes))
        .where(trailing_axes<"axes">, row_vector<"r", "x">);
inline constexpr auto r49 = as_one<49>(fuse::rule<"optional-and-rest">, exp(x) * optional(tanh(y)) * r, made(x, y, r));
inline constexpr auto r50 =
    as_one<50>(fuse::rule<"either-root">, either(tanh(x) * exp(y), tanh(x) / exp(-y)), made(x, y));
inline constexpr auto r51 =
    as_one<51>(fuse::rule<"through-element">, abs(through<"cast", "identity">(tanh(x))), made(x));
inline constexpr auto r52 = as_one<52>(fuse::rule<"between">, minimum(x, maximum(y, z)), made(x, y, z));
inline constexpr auto r53 = as_one<53>(
    fuse::rule<"sums-of-means">,
    sum(mean(x* y).attr<"axes">(param<"p">)).attr<"axes">(param<"q">) / (mean(y).attr<"axes">(param<"p">) + s) + x * y,
    made(x, y).attr<"s">(s).attr<"p">(param<"p">).attr<"q">(param<"q">));
inline constexpr auto r54 =
    as_one<54>(fuse::rule<"number-twice">, tanh(x* s) + sigmoid(y + s), made(x, y).attr<"s">(s));
inline constexpr auto r55 = fuse::rule<"product-of-matrices">(tanh(matmul(x, w)) * s)
                                .replace(op<"test::Product">(x, w).attr<"rule">(55).attr<"s">(s))
                                .at_equal_cost();
inline constexpr auto r56 =
    as_one<56>(fuse::rule<"deep">, tanh(x + sigmoid(x * exp(-abs(y - tanh(x))))) - z, made(x, y, z));
inline constexpr auto r57 =
    as_one<57>(fuse::rule<"wide">, tanh(x) + sigmoid(y) - exp(z) + abs(w) * s, made(x, y, z, w).attr<"s">(s));
inline constexpr auto r58 = as_one<58>(fuse::rule<"minus-rest">, tanh(x) - (exp(y) + r), made(x, y, r));
inline constexpr auto r59 = as_one<59>(fuse::rule<"by-rest">, tanh(x) / (exp(y) * r), made(x, y, r));
// What a quiet condition asks for is looked for ahead.
inline constexpr auto r60 =
    as_one<60>(fuse::rule<"times-shifted">, (tanh(x) + y) * exp(z), made(x, y, z)).where(is_constant<"y">.quiet());
inline constexpr auto r61 =
    as_one<61>(fuse::rule<"plus-scaled">, tanh(x) * y + exp(z), made(x, y, z)).where(is_constant<"y">.quiet());
inline constexpr auto r62 = as_one<62>(fuse::rule<"rest-in-root">, abs(x) / sqrt(exp(y) + r.not_empty()), made(x, y, r))
                                .where(is_constant<"r">.quiet());

// Right sides of operators that everybody knows: the equation is true. Whether it pays is the cost model's business.
inline constexpr auto mean_of_sum =
    fuse::rule<"mean-of-sum">(mean(x) + mean(y)).replace(mean(x + y).attr<"axes">(axes)).at_equal_cost();
inline constexpr auto scaled_before =
    fuse::rule<"scaled-before">(matmul(x, w) * s).replace(matmul(x * s, w)).at_equal_cost();
inline constexpr auto folded = fuse::rule<"folded">((tanh(x) + y) * z)
                                   .where(is_constant<"y">, is_constant<"z">)
                                   .replace(tanh(x) * z + fold(y * z))
                                   .at_equal_cost();
inline constexpr auto subtracted = fuse::rule<"subtracted">(x - y).replace(x - y).at_equal_cost();
inline constexpr auto ramp_twice = fuse::rule<"ramp-twice">(relu(relu(x))).replace(relu(x));
inline constexpr auto exp_of_sum = fuse::rule<"exp-of-sum">(exp(x) * exp(y)).replace(exp(x + y)).at_equal_cost();

}  // namespace pool

inline constexpr member neutral_members[] = {{&pool::r0, elements::either},
                                             {&pool::r1, elements::either},
                                             {&pool::r2, elements::either},
                                             {&pool::r3},
                                             {&pool::r4},
                                             {&pool::r5},
                                             {&pool::r6},
                                             {&pool::r7},
                                             {&pool::r8},
                                             {&pool::r9},
                                             {&pool::r10},
                                             {&pool::r11},
                                             {&pool::r12},
                                             {&pool::r13},
                                             {&pool::r14},
                                             {&pool::r15},
                                             {&pool::r16},
                                             {&pool::r17, elements::either},
                                             {&pool::r18},
                                             {&pool::r19},
                                             {&pool::r20},
                                             {&pool::r21},
                                             {&pool::r22, elements::either},
                                             {&pool::r23},
                                             {&pool::r24, elements::either},
                                             {&pool::r25},
                                             {&pool::r26},
                                             {&pool::r27, elements::either},
                                             {&pool::r28},
                                             {&pool::r29, elements::either, false},
                                             {&pool::r30},
                                             {&pool::r31},
                                             {&pool::r32},
                                             {&pool::r33},
                                             {&pool::r34},
                                             {&pool::r35, elements::floats, false},
                                             {&pool::r36},
                                             {&pool::r37},
                                             {&pool::r38},
                                             {&pool::r39},
                                             {&pool::r40},
                                             {&pool::r41, elements::floats, false},
                                             {&pool::r42},
                                             {&pool::r43, elements::either},
                                             {&pool::r44, elements::either},
                                             {&pool::r45, elements::floats, false},
                                             {&pool::r46},
                                             {&pool::r47, elements::floats, false},
                                             {&pool::r48, elements::floats, false},
                                             {&pool::r49},
                                             {&pool::r50},
                                             {&pool::r51},
                                             {&pool::r52, elements::either},
                                             {&pool::r53},
                                             {&pool::r54},
                                             {&pool::r55},
                                             {&pool::r56},
                                             {&pool::r57},
                                             {&pool::r58},
                                             {&pool::r59},
                                             {&pool::r60, elements::floats, false},
                                             {&pool::r61, elements::floats, false},
                                             {&pool::r62, elements::floats, false},
                                             {&pool::mean_of_sum, elements::floats, false},
                                             {&pool::scaled_before, elements::floats, false},
                                             {&pool::folded, elements::floats, false},
                                             {&pool::subtracted, elements::floats, false},
                                             {&pool::ramp_twice},
                                             {&pool::exp_of_sum, elements::floats, false}};

namespace detail {

template <auto const& Members, std::size_t... I>
constexpr auto set_of(std::index_sequence<I...>) {
  return fuse::rule_set_of<*Members[I].rule...>{};
}

}  // namespace detail

/// The rules of a list as one set.
template <auto const& Members>
inline constexpr auto set_of = detail::set_of<Members>(std::make_index_sequence<std::size(Members)>{});

/// What the operator of a right side computes: the pattern of its rule, over what its operands and attributes are.
[[nodiscard]] inline array evaluate(member const& of, std::vector<array const*> const& in,
                                    corpus::parameters const& attributes) {
  auto const& right = of.rule->replacement;
  auto const part = static_cast<int>(attributes.number({"part"}, 0));
  auto const* root = &right[right.root()];
  if (root->kind == term_kind::alternatives) root = &right[root->child[0]];  // all say the same
  if (root->kind == term_kind::roots) root = &right[root->child[part]];
  meanings with;
  for (int i = 0; i < root->operands(); ++i) {
    auto const* operand = &right[root->child[i]];
    if (operand->kind == term_kind::row) operand = &right[operand->child[0]];
    if (static_cast<std::size_t>(i) < in.size() && in[static_cast<std::size_t>(i)] != nullptr)
      with.values[std::string(operand->name)] = *in[static_cast<std::size_t>(i)];
  }
  for (auto const& [name, a] : attributes.all) {
    if (auto const* list = std::get_if<std::vector<std::int64_t>>(&a.content)) with.axes[name] = *list;
    if (auto const* one = std::get_if<double>(&a.content)) with.numbers[name] = *one;
    if (auto const* one = std::get_if<std::int64_t>(&a.content)) with.numbers[name] = static_cast<double>(*one);
  }
  return formula(of.rule->pattern, with).value(part);
}

}  // namespace soundness
