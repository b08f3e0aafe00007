// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/rules/norm_formulas.hpp>

namespace fuse::inline v0::rules {

/// (x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias over the last axes, in any spelling, becomes one
/// operator.
inline constexpr auto layer_norm =
    rule<"layer-norm">(formula::scaled_norm)
        .through<"cast", "identity">()
        .where(dsl::trailing_axes<"axes">, dsl::float32_epsilon<"epsilon">, dsl::row_vector<"scale", "x">,
               dsl::row_vector<"factor", "x">, dsl::row_vector<"bias", "x">)
        .summary("(x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias over the last axes, in any spelling")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::scale* formula::factor, formula::x),
                                 dsl::row_or_none(formula::bias, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .benefit(2);

/// An RMS norm of a centred x is a layer norm without bias: PyTorch's exporter writes layer norms so at operator
/// set 23.
inline constexpr auto rms_norm_of_centred =
    rule<"rms-norm-of-centred">(dsl::rms_norm(formula::centred, formula::old_scale)
                                    .attr<"axis">(dsl::param<"axes">)
                                    .attr<"epsilon">(formula::epsilon))
        .through<"cast", "identity">()
        .where(dsl::trailing_axes<"axes">)
        .summary("an RMS norm of x - mean(x) is a layer norm of x")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::old_scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(1)
        .quiet();

/// A layer norm times a row takes the row into its scale and bias.
inline constexpr auto layer_norm_times_row =
    rule<"layer-norm-times-row">(formula::layer_norm_operator.users(1) * formula::scale.not_empty())
        .through<"identity">()
        .where(dsl::row_vector<"scale", "x">)
        .summary("a layer norm takes a row that multiplies it into its scale and bias")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::old_scale* formula::scale, formula::x),
                                 dsl::row_or_none(formula::old_bias* formula::scale, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(2)
        .quiet();

/// A layer norm plus a row takes the row into its bias.
inline constexpr auto layer_norm_plus_row =
    rule<"layer-norm-plus-row">(formula::layer_norm_operator.users(1) + formula::bias.not_empty())
        .through<"identity">()
        .where(dsl::row_vector<"bias", "x">)
        .summary("a layer norm takes a row that is added to it into its bias")
        .replace(dsl::layer_norm(formula::x, formula::old_scale,
                                 dsl::row_or_none(formula::bias + formula::old_bias, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .stage(2)
        .quiet();

/// A mean that is computed beside a layer norm becomes its second result. The statistics come after all norms, or the
/// second of two norms that share them would be lost. Where the last place of a mean decides, it stays as it is.
inline constexpr auto layer_norm_mean =
    rule<"layer-norm-mean">(dsl::roots(dsl::mean(formula::x).as<"mean">(), formula::layer_norm_operator))
        .through<"cast", "identity">()
        .where<"nothing squares the mean">(dsl::pred<"mean">([](auto mean) { return !formula::squared(mean); }))
        .summary("a mean computed beside a layer norm becomes its second result")
        .replace(dsl::result<1>(formula::layer_norm_again), dsl::result<0>(formula::layer_norm_again))
        .stage(3)
        .quiet();

/// An inverse deviation that is computed beside a layer norm becomes its third result.
inline constexpr auto layer_norm_inverse_deviation =
    rule<"layer-norm-inverse-deviation">(dsl::roots(formula::inverse_deviation, formula::layer_norm_operator))
        .through<"cast", "identity">()
        .summary("an inverse deviation computed beside a layer norm becomes its third result")
        .replace(dsl::result<2>(formula::layer_norm_again), dsl::result<0>(formula::layer_norm_again))
        .stage(3)
        .quiet();

/// A layer norm of Flatten(x, k), reshaped to the shape of x, is one over the axes of x from k on.
inline constexpr auto layer_norm_of_flattened =
    rule<"layer-norm-of-flattened">(
        dsl::reshape(dsl::layer_norm(dsl::flatten(formula::x).attr<"axis">(dsl::param<"axes">), formula::old_scale,
                                     dsl::optional(formula::old_bias))
                         .attr<"axis">(-1)
                         .attr<"epsilon">(formula::epsilon)
                         .users(1)))
        .through<"identity">()
        .where(dsl::trailing_axes<"axes">)
        .summary("a layer norm between Flatten and Reshape is one over the axes that were flattened")
        .replace(dsl::layer_norm(formula::x, dsl::row(formula::old_scale, formula::x),
                                 dsl::row_or_none(formula::old_bias, formula::x))
                     .attr<"axis">(dsl::param<"axes">)
                     .attr<"epsilon">(formula::epsilon))
        .at_equal_cost()
        .stage(4)
        .quiet();

}  // namespace fuse::inline v0::rules
