// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>

/// Layers that end with an activation, for runtimes that compute it while the elements are at hand.
namespace fuse::inline v0::rules {
namespace fused_layer_detail {

/// What comes behind a layer that nothing else uses, as the parameter `activation` of the layer.
[[nodiscard]] constexpr rewrite_rule with_activation(rule_name name, opcode activation, expression const& layer,
                                                     expression const& made) {
  return name(expression(activation, layer.as<"layer">().users(1)))
      .where(dsl::floating<"layer">.quiet())
      .replace(made)
      .stage(7)
      .quiet();
}

[[nodiscard]] constexpr rewrite_rule behind_conv(rule_name name, opcode activation, int number) {
  return with_activation(name, activation, formula::conv(formula::layer_input),
                         dsl::again<"layer", "com.microsoft::FusedConv">(
                             formula::layer_input, formula::weights, formula::layer_bias)
                             .attr<"activation">(number))
      .summary("an activation behind a convolution is computed by it");
}
[[nodiscard]] constexpr rewrite_rule behind_gemm(rule_name name, opcode activation, int number) {
  expression const gemm(opcode::gemm, formula::layer_input, formula::weights, dsl::optional(formula::layer_bias));
  return with_activation(name, activation, gemm,
                         dsl::again<"layer", "com.microsoft::FusedGemm">(
                             formula::layer_input, formula::weights, formula::layer_bias)
                             .attr<"activation">(number))
      .summary("an activation behind a Gemm is computed by it");
}

}  // namespace fused_layer_detail

inline constexpr auto conv_relu = fused_layer_detail::behind_conv(rule<"conv-relu">, opcode::relu, 1);
inline constexpr auto conv_sigmoid = fused_layer_detail::behind_conv(rule<"conv-sigmoid">, opcode::sigmoid, 2);
inline constexpr auto conv_tanh = fused_layer_detail::behind_conv(rule<"conv-tanh">, opcode::tanh, 3);
inline constexpr auto gemm_relu = fused_layer_detail::behind_gemm(rule<"gemm-relu">, opcode::relu, 1);
inline constexpr auto gemm_sigmoid = fused_layer_detail::behind_gemm(rule<"gemm-sigmoid">, opcode::sigmoid, 2);
inline constexpr auto gemm_tanh = fused_layer_detail::behind_gemm(rule<"gemm-tanh">, opcode::tanh, 3);

/// Convolutions and Gemms with the activations behind them, for onnxruntime.
inline constexpr auto fused_layers =
    rule_set<conv_relu, conv_sigmoid, conv_tanh, gemm_relu, gemm_sigmoid, gemm_tanh>;

}  // namespace fuse::inline v0::rules
