// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_norm.hpp>
#include <fuse/rules/rms_norm.hpp>

namespace fuse::inline v0::rules {

/// Layer norms and RMS norms, by stages: layer norms, RMS norms, rows that they absorb, statistics that are used
/// elsewhere, and the flattening around them.
inline constexpr auto norms =
    rule_set<layer_norm, rms_norm, rms_norm_of_centred, layer_norm_times_row, layer_norm_plus_row, rms_norm_times_row,
             layer_norm_mean, layer_norm_inverse_deviation, layer_norm_of_flattened, rms_norm_of_flattened>;

}  // namespace fuse::inline v0::rules
