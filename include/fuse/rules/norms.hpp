// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>

/// Layer norm and RMS norm, written once as formulas: every spelling of products, sums, squares and roots is the operators' own.
namespace fuse::inline v0::rules {

namespace norm_formula {

using namespace dsl;

inline constexpr auto x = var<"x">, factor = var<"factor">;
inline constexpr auto epsilon = dsl::scalar<"epsilon">;
inline constexpr auto scale = rest<"scale">, bias = rest<"bias">;

inline constexpr auto centred = x - mean(x);
inline constexpr auto variance = either(mean(square(centred)), mean(square(x)) - square(mean(x)));
inline constexpr auto deviation_inverse = rsqrt(variance + epsilon);

/// (x - mean) r, also multiplied out.
inline constexpr auto normalised = either(centred * deviation_inverse, x * deviation_inverse - mean(x) * deviation_inverse);
/// TensorFlow's form: the scale distributed over the difference.
inline constexpr auto distributed = x * deviation_inverse * factor - mean(x) * deviation_inverse * factor;

}  // namespace norm_formula

/// (x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias over the last axes.
inline constexpr auto layer_norm =
    rule<"layer-norm">(dsl::either(norm_formula::normalised * norm_formula::scale + norm_formula::bias,
                                   norm_formula::normalised * norm_formula::scale))
        .through<"Cast", "Identity">()
        .where(dsl::trailing_axes<"axes">, dsl::float32_epsilon<"epsilon">, dsl::row_vector<"scale", "x">, dsl::row_vector<"bias", "x">)
        .replace(dsl::layer_norm(norm_formula::x, dsl::row(norm_formula::scale, norm_formula::x), dsl::row_or_none(norm_formula::bias, norm_formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(norm_formula::epsilon))
        .benefit(2);

/// x r scale + (bias - mean r scale): the same norm as TensorFlow writes it.
inline constexpr auto layer_norm_distributed =
    rule<"layer-norm-distributed">(norm_formula::distributed + norm_formula::bias)
        .through<"Cast", "Identity">()
        .where(dsl::trailing_axes<"axes">, dsl::float32_epsilon<"epsilon">, dsl::row_vector<"factor", "x">, dsl::row_vector<"bias", "x">)
        .replace(dsl::layer_norm(norm_formula::x, dsl::row(norm_formula::factor, norm_formula::x), dsl::row_or_none(norm_formula::bias, norm_formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(norm_formula::epsilon))
        .benefit(2);

/// x / sqrt(mean(x^2) + epsilon) * scale over the last axes.
inline constexpr auto rms_norm =
    rule<"rms-norm">(norm_formula::x * dsl::rsqrt(dsl::mean(dsl::square(norm_formula::x)) + norm_formula::epsilon) * norm_formula::scale)
        .through<"Cast", "Identity">()
        .where(dsl::trailing_axes<"axes">, dsl::float32_epsilon<"epsilon">, dsl::row_vector<"scale", "x">)
        .replace(dsl::rms_norm(norm_formula::x, dsl::row(norm_formula::scale, norm_formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(norm_formula::epsilon))
        .stage(1);

inline constexpr auto norms = rule_set<layer_norm, layer_norm_distributed, rms_norm>;

}  // namespace fuse::inline v0::rules
