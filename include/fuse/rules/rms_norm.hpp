// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/rules/norm_formulas.hpp>

namespace fuse::inline v0::rules {

/// x / sqrt(mean(x^2) + epsilon) * scale over the last axes, in any spelling, becomes one operator. Layer norms come
/// first: of a centred x they are the larger match.
inline constexpr auto rms_norm =
    rule<"rms-norm">(formula::x * formula::inverse_root_mean_square * formula::scale)
        .through<"cast", "identity">()
        .where(dsl::trailing_axes<"axes">, dsl::float32_epsilon<"epsilon">, dsl::row_vector<"scale", "x">)
        .summary("x / sqrt(mean(x * x) + epsilon) * scale over the last axes, in any spelling")
        .replace(dsl::rms_norm(formula::x, dsl::row(formula::scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(1);

/// An RMS norm times a row takes the row into its scale.
inline constexpr auto rms_norm_times_row =
    rule<"rms-norm-times-row">(formula::rms_norm_operator.users(1) * formula::scale.not_empty())
        .through<"identity">()
        .where(dsl::row_vector<"scale", "x">)
        .summary("an RMS norm takes a row that multiplies it into its scale")
        .replace(dsl::rms_norm(formula::x, dsl::row(formula::old_scale* formula::scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(2)
        .quiet();

/// An RMS norm of Flatten(x, k), reshaped to the shape of x, is one over the axes of x from k on.
inline constexpr auto rms_norm_of_flattened =
    rule<"rms-norm-of-flattened">(
        dsl::reshape(dsl::rms_norm(dsl::flatten(formula::x).attr<"axis">(dsl::param<"axes">), formula::old_scale)
                         .attr<"axis">(-1)
                         .attr<"epsilon">(formula::epsilon)
                         .users(1)))
        .through<"identity">()
        .where(dsl::trailing_axes<"axes">)
        .summary("an RMS norm between Flatten and Reshape is one over the axes that were flattened")
        .replace(dsl::rms_norm(formula::x, dsl::row(formula::old_scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .at_equal_cost()
        .stage(4)
        .quiet();

}  // namespace fuse::inline v0::rules
