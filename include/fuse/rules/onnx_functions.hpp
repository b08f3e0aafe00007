// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/norm_formulas.hpp>

/// Rules that only make sense in ONNX: calls of the functions that stand in for norms become the operators, where the
/// target has them. Elsewhere nothing would change, and nothing does.
namespace fuse::inline v0::rules {

inline constexpr auto layer_norm_call =
    rule<"layer-norm-call">(
        dsl::exactly<"fuse::LayerNormalization">(formula::x, formula::old_scale, dsl::optional(formula::old_bias))
            .attr<"axis">(dsl::param<"axes">)
            .attr<"epsilon">(formula::epsilon))
        .summary("a call of the function that stands in for a layer norm becomes the operator, where the target has it")
        .replace(formula::layer_norm_again)
        .at_equal_cost()
        .quiet();

inline constexpr auto rms_norm_call =
    rule<"rms-norm-call">(dsl::exactly<"fuse::RMSNormalization">(formula::x, formula::old_scale)
                              .attr<"axis">(dsl::param<"axes">)
                              .attr<"epsilon">(formula::epsilon))
        .summary("a call of the function that stands in for an RMS norm becomes the operator, where the target has it")
        .replace(formula::rms_norm_operator)
        .at_equal_cost()
        .quiet();

inline constexpr auto onnx_norm_functions = rule_set<layer_norm_call, rms_norm_call>;

}  // namespace fuse::inline v0::rules
