// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/norm_formulas.hpp>

namespace fuse::inline v0::rules {

/// Norms of each channel, or of each group of channels, of each sample. D. Ulyanov and others: Instance Normalization,
/// arXiv:1607.08022; Y. Wu, K. He: Group Normalization, arXiv:1803.08494. Axis 1 is that of channels.
namespace formula {

/// A norm of groups of channels: the elements of each sample in other axes, of which the second one is that of groups,
/// and all behind it are normalised; then again in their own.
inline constexpr auto groups = dsl::rearrange<"n (...) -> n (...)">(x).as<"groups">();
inline constexpr auto norm_of_groups =
    dsl::either(dsl::instance_norm(groups, old_scale, old_bias).attr<"epsilon">(epsilon),
                dsl::layer_norm(groups, old_scale, dsl::optional(old_bias))
                    .attr<"axis">(dsl::param<"axes">)
                    .attr<"epsilon">(epsilon));
inline constexpr auto normalised_groups =
    dsl::rearrange<"n (...) -> n (...)">(norm_of_groups.users(1)).as<"normalised">();

inline constexpr auto whole_channels = dsl::pred<"groups", "x">([](auto grouped, auto of) {
  auto const channels = of.shape()[1], count = grouped.shape()[1];
  return channels.known() && count.known() && count.value() > 0 && channels.value() > count.value() &&
         channels.value() % count.value() == 0;
});
inline constexpr auto single_channels =
    dsl::pred<"groups", "x">([](auto grouped, auto of) { return grouped.shape()[1] == of.shape()[1]; });

/// What a norm of groups, and a scale and a bias of channels behind it, must be to be one operator.
[[nodiscard]] constexpr rewrite_rule of_groups(rule_name name) {
  using namespace dsl;
  return name(either(normalised_groups * scale.not_empty() + bias, normalised_groups + bias.not_empty()))
      .through<"identity">()
      .where<"the norm has no scale of its own">(everywhere<"old scale">(1))
      .where<"the norm has no bias of its own">(everywhere<"old bias">(0))
      .where(axes_from<"axes", "groups">(2), same_shape<"normalised", "x">, along_axis<"scale", "x">(1),
             along_axis<"bias", "x">(1), float32_epsilon<"epsilon">)
      .stage(1);
}
/// They are rows of the channels, whatever their shapes.
inline constexpr auto scale_of_channels = dsl::row_along<1>(scale, x);
inline constexpr auto bias_of_channels = dsl::row_along<1>(dsl::or_else(bias, 0), x);

}  // namespace formula

/// (x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias over all axes behind that of channels, with a scale and a
/// bias for each channel, in any spelling, becomes one operator. (Layer norms come first, of what is one as well.)
inline constexpr auto instance_norm =
    rule<"instance-norm">(formula::scaled_norm)
        .through<"identity">()
        .where(dsl::axes_from<"axes", "x">(2).quiet(), dsl::along_axis<"scale", "x">(1),
               dsl::along_axis<"factor", "x">(1), dsl::along_axis<"bias", "x">(1), dsl::float32_epsilon<"epsilon">)
        .summary("(x - mean(x)) / sqrt(variance(x) + epsilon) * scale + bias over the axes behind the channels")
        .replace(dsl::instance_norm(formula::x, dsl::row_along<1>(formula::scale* formula::factor, formula::x),
                                    formula::bias_of_channels)
                     .attr<"epsilon">(formula::epsilon))
        .benefit(1);

/// The same of groups of channels, once their norm is one operator, which is how PyTorch exports it.
inline constexpr auto group_norm =
    formula::of_groups(rule<"group-norm">)
        .where<"each group is of as many whole channels">(formula::whole_channels)
        .summary("a norm of groups of channels, with a scale and a bias of channels behind it, is one operator")
        .replace(dsl::group_norm(formula::x, formula::scale_of_channels, formula::bias_of_channels)
                     .attr<"num_groups">(dsl::dim<"groups", 1>)
                     .attr<"epsilon">(formula::epsilon));

/// Where each group is one channel, or nothing is regrouped at all, it is an instance norm.
inline constexpr auto scaled_instance_norm =
    formula::of_groups(rule<"scaled-instance-norm">)
        .where<"each group is one channel">(formula::single_channels)
        .summary("a norm of single channels, with a scale and a bias of channels behind it, is one operator")
        .replace(dsl::instance_norm(formula::x, formula::scale_of_channels, formula::bias_of_channels)
                     .attr<"epsilon">(formula::epsilon))
        .quiet();

/// Norms of channels and of groups of channels.
inline constexpr auto group_norms = rule_set<instance_norm, group_norm, scaled_instance_norm>;

}  // namespace fuse::inline v0::rules
