// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/program/rule_set.hpp>
#include <fuse/rules/activations.hpp>
#include <fuse/rules/attention.hpp>
#include <fuse/rules/batch_norm.hpp>
#include <fuse/rules/canonical.hpp>
#include <fuse/rules/embeddings.hpp>
#include <fuse/rules/fused_layers.hpp>
#include <fuse/rules/group_norm.hpp>
#include <fuse/rules/linear.hpp>
#include <fuse/rules/norms.hpp>
#include <fuse/rules/onnx_functions.hpp>
#include <fuse/rules/padding.hpp>
#include <fuse/rules/parallel_layers.hpp>
#include <fuse/rules/rotary.hpp>
#include <fuse/rules/rotated_layers.hpp>
#include <fuse/rules/skip_norms.hpp>

namespace fuse::inline v0::rules {

/// Every rule that comes with fuse. What a target or a dialect has no operator for stays as it is. (What rounds weights
/// is no rule, and asked for by name: rules/quantise_embeddings.hpp.)
inline constexpr auto all =
    rule_set<norms, group_norms, embeddings, skip_norms, activations, rotated_layers, rotary, attentions, batch_norm,
             onnx_functions, canonical, linear, padding, fused_layers, parallel_layers>;

}  // namespace fuse::inline v0::rules
