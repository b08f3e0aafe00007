// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/activation_formulas.hpp>
#include <fuse/rules/norm_formulas.hpp>
#include <fuse/rules/rotary.hpp>

/// Rules that only make sense in ONNX: calls of the functions that stand in for operators become these, where the
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

inline constexpr auto group_norm_call =
    rule<"group-norm-call">(dsl::exactly<"fuse::GroupNormalization">(formula::x, formula::old_scale, formula::old_bias)
                                .attr<"num_groups">(dsl::param<"num_groups">)
                                .attr<"epsilon">(formula::epsilon))
        .summary("a call of the function that stands in for a group norm becomes the operator, where the target has it")
        .replace(dsl::group_norm(formula::x, formula::old_scale, formula::old_bias)
                     .attr<"num_groups">(dsl::param<"num_groups">)
                     .attr<"epsilon">(formula::epsilon))
        .at_equal_cost()
        .quiet();

inline constexpr auto gelu_call =
    rule<"gelu-call">(dsl::exactly<"fuse::Gelu">(formula::activated))
        .summary("a call of the function that stands in for a GELU becomes the operator, where the target has it")
        .replace(dsl::gelu(formula::activated))
        .at_equal_cost()
        .quiet();

inline constexpr auto gelu_by_tanh_call =
    rule<"gelu-by-tanh-call">(dsl::exactly<"fuse::Gelu_tanh">(formula::activated))
        .summary(
            "a call of the function that stands in for a GELU by tanh becomes the operator, where the target has it")
        .replace(dsl::fast_gelu(formula::activated))
        .at_equal_cost()
        .quiet();

inline constexpr auto swish_call =
    rule<"swish-call">(dsl::exactly<"fuse::Swish">(formula::activated).attr<"alpha">(formula::alpha))
        .summary("a call of the function that stands in for a Swish becomes the operator, where the target has it")
        .replace(dsl::swish(formula::activated).attr<"alpha">(formula::alpha))
        .at_equal_cost()
        .quiet();

inline constexpr auto mish_call =
    rule<"mish-call">(dsl::exactly<"fuse::Mish">(formula::activated))
        .summary("a call of the function that stands in for a Mish becomes the operator, where the target has it")
        .replace(dsl::mish(formula::activated))
        .at_equal_cost()
        .quiet();

inline constexpr auto hard_swish_call =
    rule<"hard-swish-call">(dsl::exactly<"fuse::HardSwish">(formula::activated))
        .summary("a call of the function that stands in for a HardSwish becomes the operator, where the target has it")
        .replace(dsl::hard_swish(formula::activated))
        .at_equal_cost()
        .quiet();

inline constexpr auto rotary_embedding_call =
    rule<"rotary-embedding-call">(
        dsl::exactly<"fuse::RotaryEmbedding">(formula::turned, formula::cosines, formula::sines)
            .attr<"interleaved">(dsl::param<"interleaved">)
            .attr<"num_heads">(0))
        .summary(
            "a call of the function that stands in for a rotary embedding becomes the operator, where the target "
            "has it")
        .replace(dsl::rotary_embedding(formula::turned, formula::cosines, formula::sines)
                     .attr<"interleaved">(dsl::param<"interleaved">))
        .at_equal_cost()
        .quiet();
inline constexpr auto rotary_embedding_of_tokens_call =
    rule<"rotary-embedding-of-tokens-call">(
        dsl::exactly<"fuse::RotaryEmbedding">(formula::turned, formula::cosines, formula::sines)
            .attr<"interleaved">(dsl::param<"interleaved">)
            .attr<"num_heads">(dsl::param<"num_heads">))
        .where(dsl::rank<"x">(3))
        .summary("the same where the heads of a token lie side by side")
        .replace(dsl::rotary_embedding(formula::turned, formula::cosines, formula::sines)
                     .attr<"interleaved">(dsl::param<"interleaved">)
                     .attr<"num_heads">(dsl::param<"num_heads">))
        .at_equal_cost()
        .quiet();

/// All of them; and those of norms alone.
inline constexpr auto onnx_norm_functions = rule_set<layer_norm_call, rms_norm_call>;
inline constexpr auto onnx_functions =
    rule_set<onnx_norm_functions, group_norm_call, gelu_call, gelu_by_tanh_call, swish_call, mish_call, hard_swish_call,
             rotary_embedding_call, rotary_embedding_of_tokens_call>;

}  // namespace fuse::inline v0::rules
