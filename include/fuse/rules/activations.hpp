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

inline constexpr auto swish = rule<"swish">(formula::swish)
                                  .through<"cast", "identity">()
                                  .where(dsl::floating<"x">)
                                  .summary("x * sigmoid(alpha * x): SiLU where alpha is 1, QuickGELU where it is 1.702")
                                  .replace(dsl::swish(formula::activated).attr<"alpha">(formula::alpha));
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
inline constexpr auto log_softmax =
    rule<"log-softmax">(formula::log_softmax)
        .through<"cast", "identity">()
        .where(dsl::floating<"x">)
        .summary("x - max(x) - log(sum(exp(x - max(x)))) along one axis, with or without the maximum")
        .replace(dsl::log_softmax(formula::activated).attr<"axis">(dsl::param<"axes">));

inline constexpr auto activations = rule_set<gelu, gelu_by_tanh, swish, mish, hard_swish, softmax, log_softmax>;
}  // namespace fuse::inline v0::rules
