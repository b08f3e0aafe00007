// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/activation_formulas.hpp>

namespace fuse::inline v0::rules {

/// x * Phi(x) by erf, in any spelling, becomes one operator.
inline constexpr auto gelu = rule<"gelu">(formula::gelu)
                                 .through<"cast", "identity">()
                                 .where(dsl::floating<"x">)
                                 .summary("0.5 * x * (1 + erf(x / sqrt(2))), in any spelling")
                                 .replace(dsl::gelu(formula::activated));

/// The same by tanh, which is another function: it is off by up to 5e-4.
inline constexpr auto gelu_by_tanh =
    rule<"gelu-by-tanh">(formula::gelu_by_tanh)
        .through<"cast", "identity">()
        .where(dsl::floating<"x">)
        .summary("0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), in any spelling")
        .replace(dsl::fast_gelu(formula::activated));

inline constexpr auto silu = rule<"silu">(formula::silu)
                                 .through<"cast", "identity">()
                                 .where(dsl::floating<"x">)
                                 .summary("x * sigmoid(x), also called Swish")
                                 .replace(dsl::swish(formula::activated).attr<"alpha">(1.0));

inline constexpr auto swish = rule<"swish">(formula::swish)
                                  .through<"cast", "identity">()
                                  .where(dsl::floating<"x">, dsl::float32_number<"alpha">())
                                  .summary("x * sigmoid(alpha * x), QuickGELU where alpha is 1.702")
                                  .replace(dsl::swish(formula::activated).attr<"alpha">(formula::alpha));

/// The same with the minus sign in the number.
inline constexpr auto swish_of_minus_alpha =
    rule<"swish-of-minus-alpha">(formula::swish_of_minus_alpha)
        .through<"cast", "identity">()
        .where(dsl::floating<"x">, dsl::float32_number<"minus alpha">())
        .summary("x / (1 + exp(-alpha * x))")
        .replace(dsl::swish(formula::activated).attr<"alpha">(-1 * formula::minus_alpha));

inline constexpr auto mish = rule<"mish">(formula::mish)
                                 .through<"cast", "identity">()
                                 .where(dsl::floating<"x">)
                                 .summary("x * tanh(softplus(x)), in any spelling")
                                 .replace(dsl::mish(formula::activated));
inline constexpr auto hard_swish = rule<"hard-swish">(formula::hard_swish)
                                       .through<"cast", "identity">()
                                       .where(dsl::floating<"x">)
                                       .summary("x * clip(x + 3, 0, 6) / 6, in any spelling")
                                       .replace(dsl::hard_swish(formula::activated));
inline constexpr auto softmax =
    rule<"softmax">(formula::softmax)
        .through<"cast", "identity">()
        .where(dsl::floating<"x">)
        .summary("exp(x - max(x)) / sum(exp(x - max(x))) along one axis, with or without the maximum")
        .replace(dsl::softmax(formula::activated).attr<"axis">(dsl::param<"axes">));
inline constexpr auto log_softmax = rule<"log-softmax">(formula::log_softmax)
                                        .through<"cast", "identity">()
                                        .where(dsl::floating<"x">)
                                        .summary("x - log(sum(exp(x))) along one axis")
                                        .replace(dsl::log_softmax(formula::activated).attr<"axis">(dsl::param<"axes">));
inline constexpr auto log_softmax_of_shifted =
    rule<"log-softmax-of-shifted">(formula::log_softmax_of_shifted)
        .through<"cast", "identity">()
        .where(dsl::floating<"x">)
        .summary("x - max(x) - log(sum(exp(x - max(x)))) along one axis")
        .replace(dsl::log_softmax(formula::activated).attr<"axis">(dsl::param<"axes">))
        .benefit(1);

/// An operator does not need the maximum taken away: it does so itself.
inline constexpr auto softmax_of_shifted =
    rule<"softmax-of-shifted">(dsl::softmax(formula::shifted).attr<"axis">(dsl::param<"axes">))
        .through<"identity">()
        .summary("a Softmax of x - max(x) is one of x")
        .replace(dsl::softmax(formula::activated).attr<"axis">(dsl::param<"axes">))
        .stage(1)
        .quiet();
inline constexpr auto log_softmax_operator_of_shifted =
    rule<"log-softmax-operator-of-shifted">(dsl::log_softmax(formula::shifted).attr<"axis">(dsl::param<"axes">))
        .through<"identity">()
        .summary("a LogSoftmax of x - max(x) is one of x")
        .replace(dsl::log_softmax(formula::activated).attr<"axis">(dsl::param<"axes">))
        .stage(1)
        .quiet();

/// The logarithm of a Softmax that is an operator.
inline constexpr auto log_of_softmax =
    rule<"log-of-softmax">(dsl::log(dsl::softmax(formula::activated).attr<"axis">(dsl::param<"axis">)))
        .through<"cast", "identity">()
        .summary("the logarithm of a Softmax is one operator")
        .replace(dsl::log_softmax(formula::activated).attr<"axis">(dsl::param<"axis">))
        .stage(1)
        .quiet();

/// A GELU of a sum takes a row that is added into its operator, where the target has one with a bias.
inline constexpr auto bias_gelu =
    rule<"bias-gelu">(dsl::gelu((formula::activated + formula::gelu_bias).users(1)).attr<"approximate">(0))
        .through<"identity">()
        .where(dsl::row_vector<"bias", "x">)
        .summary("a GELU takes a row that is added before it as its bias")
        .replace(dsl::bias_gelu(formula::activated, dsl::row(formula::gelu_bias, formula::activated)))
        .stage(5);
inline constexpr auto bias_gelu_by_tanh =
    rule<"bias-gelu-by-tanh">(formula::gelu_operator_by_tanh((formula::activated + formula::gelu_bias).users(1)))
        .through<"identity">()
        .where(dsl::row_vector<"bias", "x">)
        .summary("a GELU by tanh takes a row that is added before it as its bias")
        .replace(dsl::fast_gelu(formula::activated, dsl::row(formula::gelu_bias, formula::activated)))
        .stage(5);
/// It takes the bias of a layer before it, whose product is one of tokens then.
inline constexpr auto bias_gelu_of_layer =
    rule<"bias-gelu-of-layer">(dsl::gelu(formula::biased_layer).attr<"approximate">(0))
        .through<"identity">()
        .where(dsl::row_vector<"bias", "x">)
        .summary("a GELU takes the bias of a layer before it, which needs no rows without one")
        .replace(dsl::bias_gelu(formula::product_of_tokens, dsl::row(formula::gelu_bias, formula::activated)))
        .at_equal_cost()
        .stage(5);
inline constexpr auto bias_gelu_of_layer_by_tanh =
    rule<"bias-gelu-of-layer-by-tanh">(formula::gelu_operator_by_tanh(formula::biased_layer))
        .through<"identity">()
        .where(dsl::row_vector<"bias", "x">)
        .summary("a GELU by tanh takes the bias of a layer before it, which needs no rows without one")
        .replace(dsl::fast_gelu(formula::product_of_tokens, dsl::row(formula::gelu_bias, formula::activated)))
        .at_equal_cost()
        .stage(5);

inline constexpr auto activations =
    rule_set<gelu, gelu_by_tanh, silu, swish, swish_of_minus_alpha, mish, hard_swish, softmax, log_softmax_of_shifted,
             log_softmax, log_of_softmax, softmax_of_shifted, log_softmax_operator_of_shifted, bias_gelu,
             bias_gelu_by_tanh, bias_gelu_of_layer, bias_gelu_of_layer_by_tanh>;
}  // namespace fuse::inline v0::rules
