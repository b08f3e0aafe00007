// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

#include "pool.hpp"

namespace soundness {

/// Rules by hand that name operators as ONNX does.
namespace pool::named {

inline constexpr auto a = op<"Softmax">(x);
inline constexpr auto r100 =
    as_one<100>(fuse::rule<"chosen">, op<"Where">(op<"Less">(x, y), z, w) * exp(x), made(x, y, z, w));
inline constexpr auto r101 = as_one<101>(fuse::rule<"last-softmax">, op<"Softmax">(x).attr<"axis">(-1) * y, made(x, y));
inline constexpr auto r102 =
    as_one<102>(fuse::rule<"any-softmax">, tanh(a.attr<"axis">(param<"axis">)), made(x).attr<"axis">(param<"axis">));
inline constexpr auto turned = op<"Transpose">(x);
inline constexpr auto r103 =
    as_one<103>(fuse::rule<"turned-twice">, tanh(turned.as<"t">()) * sigmoid(turned), made(var<"t">));
inline constexpr auto top = op<"TopK">(x);
inline constexpr auto r104 =
    as_one<104>(fuse::rule<"both-of-top">, tanh(result<0>(top).as<"v">()) * cast(result<1>(top).as<"i">()),
                made(var<"v">, var<"i">));
inline constexpr auto halves = op<"Split">(x);
inline constexpr auto r105 =
    as_one<105>(fuse::rule<"gated-half">, result<0>(halves).as<"u">() * sigmoid(result<1>(halves).as<"v">()),
                made(var<"u">, var<"v">));
inline constexpr auto r106 =
    as_one<106>(fuse::rule<"blended">, tanh(op<"test::Blend">(x, exp(y)).attr<"by">(2)) + z, made(x, y, z));
inline constexpr auto r107 = as_one<107>(fuse::rule<"any-blend">, exp(op<"test::Blend">(x, y).attr<"by">(scalar<"by">)),
                                         made(x, y).attr<"by">(scalar<"by">));
inline constexpr auto r108 = as_one<108>(fuse::rule<"remainder">, op<"Mod">(x, y) + z, made(x, y, z));
inline constexpr auto r109 = as_one<109>(fuse::rule<"exactly">, exactly<"Sub">(x, exactly<"Mul">(y, z)), made(x, y, z));
inline constexpr auto r110 =
    as_one<110>(fuse::rule<"leaky">, op<"Where">(op<"Greater">(x, 0), x, x* s), made(x).attr<"s">(s));
inline constexpr auto r111 = as_one<111>(fuse::rule<"many">, op<"Sum">(tanh(x), y, z) * w, made(x, y, z, w));
inline constexpr auto r112 = as_one<112>(fuse::rule<"largest">, op<"Max">(tanh(x), y, z), made(x, y, z));
inline constexpr auto r113 =
    as_one<113>(fuse::rule<"with-or-without-ramp">, tanh(with_or_without<"Relu">(exp(x))), made(x));
inline constexpr auto r114 = as_one<114>(fuse::rule<"clipped">, op<"Clip">(x).attr<"min">(s).attr<"max">(t) * tanh(y),
                                         made(x, y).attr<"s">(s).attr<"t">(t));
inline constexpr auto r115 =
    as_one<115>(fuse::rule<"chosen-twice">, op<"Where">(op<"Less">(x, y), x* z, y* z), made(x, y, z));

inline constexpr auto apart =
    fuse::rule<"gemm-apart">(
        op<"Gemm">(x, w, z).attr<"alpha">(1.0).attr<"beta">(1.0).attr<"transA">(0).attr<"transB">(0))
        .replace(matmul(x, w) + z)
        .at_equal_cost();
inline constexpr auto doubled = fuse::rule<"gemm-doubled">(op<"Gemm">(x, w, optional(z))
                                                               .attr<"alpha">(1.0)
                                                               .attr<"beta">(1.0)
                                                               .attr<"transA">(param<"transA">)
                                                               .attr<"transB">(param<"transB">) *
                                                           2.0)
                                    .replace(op<"Gemm">(x, w, z)
                                                 .attr<"alpha">(2.0)
                                                 .attr<"beta">(2.0)
                                                 .attr<"transA">(param<"transA">)
                                                 .attr<"transB">(param<"transB">));
inline constexpr auto one_softmax =
    fuse::rule<"one-softmax">(exp(x) / sum(exp(x)) + y).replace(op<"Softmax">(x).attr<"axis">(axes) + y);
inline constexpr auto tanh_of_chosen = fuse::rule<"tanh-of-chosen">(op<"Where">(op<"Less">(x, y), tanh(y), tanh(x)))
                                           .replace(op<"Tanh">(op<"Where">(op<"Less">(x, y), y, x)));
inline constexpr auto flat = fuse::rule<"flat">(op<"Max">(op<"Max">(x, y), z)).replace(op<"Max">(x, y, z));

}  // namespace pool::named

inline constexpr member named_members[] = {{&pool::named::r100},
                                           {&pool::named::r101},
                                           {&pool::named::r102},
                                           {&pool::named::r103},
                                           {&pool::named::r104},
                                           {&pool::named::r105},
                                           {&pool::named::r106},
                                           {&pool::named::r107},
                                           {&pool::named::r108, elements::integers},
                                           {&pool::named::r109, elements::either, false},
                                           {&pool::named::r110},
                                           {&pool::named::r111},
                                           {&pool::named::r112},
                                           {&pool::named::r113},
                                           {&pool::named::r114},
                                           {&pool::named::r115},
                                           {&pool::named::apart, elements::floats, false},
                                           {&pool::named::doubled, elements::floats, false},
                                           {&pool::named::one_softmax, elements::floats, false},
                                           {&pool::named::tanh_of_chosen},
                                           {&pool::named::flat}};

/// ... and as the second dialect does: there the axis of a softmax is the first of several, and parameters are
/// attributes.
namespace pool::second_named {

inline constexpr auto r200 =
    as_one<200>(fuse::rule<"second-last-softmax">, op<"shares">(x).attr<"axis">(-1) * y, made(x, y));
inline constexpr auto turned = op<"reordered">(x);
inline constexpr auto r201 =
    as_one<201>(fuse::rule<"second-turned-twice">, tanh(turned.as<"t">()) * sigmoid(turned), made(var<"t">));
inline constexpr auto r202 =
    as_one<202>(fuse::rule<"second-blended">, tanh(op<"test::Blend">(x, exp(y)).attr<"by">(2)) + z, made(x, y, z));
inline constexpr auto one_softmax =
    fuse::rule<"second-one-softmax">(exp(x) / sum(exp(x)) + y).replace(op<"shares">(x).attr<"axis">(axes) + y);
inline constexpr auto tanh_of_chosen =
    fuse::rule<"second-tanh-of-chosen">(op<"select">(op<"below">(x, y), tanh(y), tanh(x)))
        .replace(tanh(op<"select">(op<"below">(x, y), y, x)));
inline constexpr auto r205 =
    as_one<205>(fuse::rule<"second-exactly">, exactly<"minus">(x, exactly<"times">(y, z)), made(x, y, z));

}  // namespace pool::second_named

inline constexpr member second_named_members[] = {
    {&pool::second_named::r200},           {&pool::second_named::r201},
    {&pool::second_named::r202},           {&pool::second_named::one_softmax, elements::floats, false},
    {&pool::second_named::tanh_of_chosen}, {&pool::second_named::r205, elements::either, false}};

template <std::size_t N, std::size_t M>
constexpr std::array<member, N + M> joined(member const (&a)[N], member const (&b)[M]) {
  std::array<member, N + M> all{};
  std::size_t at = 0;
  for (auto const& m : a) all[at++] = m;
  for (auto const& m : b) all[at++] = m;
  return all;
}

/// The rules by hand of either dialect.
inline constexpr auto members = joined(neutral_members, named_members);
inline constexpr auto second_members = joined(neutral_members, second_named_members);
static_assert(members.size() >= 55 && second_members.size() >= 55);

}  // namespace soundness
