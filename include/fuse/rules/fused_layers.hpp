// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>

/// Layers that end with an activation, for runtimes that compute it while the elements are at hand.
namespace fuse::inline v0::rules {
namespace fused_layer_detail {

/// Layers that nothing else uses.
inline constexpr auto conv = formula::conv(formula::layer_input).as<"layer">().users(1);
inline constexpr auto gemm =
    expression(opcode::gemm, formula::layer_input, formula::weights, dsl::optional(formula::layer_bias))
        .as<"layer">()
        .users(1);
inline constexpr auto alpha = dsl::param<"alpha">, beta = dsl::param<"beta">;

[[nodiscard]] constexpr expression conv_with(layer_activation activation) {
  return dsl::again<"layer">(opcode::fused_conv, formula::layer_input, formula::weights, formula::layer_bias)
      .attr<"activation">(static_cast<int>(activation));
}
/// The numbers of its activation are a list.
[[nodiscard]] constexpr expression conv_with(layer_activation activation, expression const& numbers) {
  return conv_with(activation).attr<"activation_params">(numbers);
}
[[nodiscard]] constexpr expression gemm_with(layer_activation activation) {
  return dsl::again<"layer">(opcode::fused_gemm, formula::layer_input, formula::weights, formula::layer_bias)
      .attr<"activation">(static_cast<int>(activation));
}

[[nodiscard]] constexpr rewrite_rule fused(rule_name name, expression const& activated, expression const& made) {
  return name(activated)
      .where(dsl::floating<"layer">.quiet())
      .summary("an activation behind a layer is computed by it")
      .replace(made)
      .stage(7)
      .quiet();
}

}  // namespace fused_layer_detail

inline constexpr auto conv_relu = fused_layer_detail::fused(rule<"conv-relu">, dsl::relu(fused_layer_detail::conv),
                                                            fused_layer_detail::conv_with(layer_activation::relu));
inline constexpr auto conv_sigmoid =
    fused_layer_detail::fused(rule<"conv-sigmoid">, dsl::sigmoid(fused_layer_detail::conv),
                              fused_layer_detail::conv_with(layer_activation::sigmoid));
inline constexpr auto conv_tanh = fused_layer_detail::fused(rule<"conv-tanh">, dsl::tanh(fused_layer_detail::conv),
                                                            fused_layer_detail::conv_with(layer_activation::tanh));
inline constexpr auto conv_leaky_relu = fused_layer_detail::fused(
    rule<"conv-leaky-relu">,
    expression(opcode::leaky_relu, fused_layer_detail::conv).attr<"alpha">(fused_layer_detail::alpha),
    fused_layer_detail::conv_with(layer_activation::leaky_relu, dsl::list(fused_layer_detail::alpha)));
inline constexpr auto conv_clip = fused_layer_detail::fused(
    rule<"conv-clip">,
    dsl::clip(fused_layer_detail::conv).attr<"min">(dsl::param<"min">).attr<"max">(dsl::param<"max">),
    fused_layer_detail::conv_with(layer_activation::clip, dsl::list(dsl::param<"min">, dsl::param<"max">)));
inline constexpr auto conv_hard_sigmoid = fused_layer_detail::fused(
    rule<"conv-hard-sigmoid">,
    dsl::hard_sigmoid(fused_layer_detail::conv)
        .attr<"alpha">(fused_layer_detail::alpha)
        .attr<"beta">(fused_layer_detail::beta),
    fused_layer_detail::conv_with(layer_activation::hard_sigmoid,
                                  dsl::list(fused_layer_detail::alpha, fused_layer_detail::beta)));

inline constexpr auto gemm_relu = fused_layer_detail::fused(rule<"gemm-relu">, dsl::relu(fused_layer_detail::gemm),
                                                            fused_layer_detail::gemm_with(layer_activation::relu));
inline constexpr auto gemm_sigmoid =
    fused_layer_detail::fused(rule<"gemm-sigmoid">, dsl::sigmoid(fused_layer_detail::gemm),
                              fused_layer_detail::gemm_with(layer_activation::sigmoid));
inline constexpr auto gemm_tanh = fused_layer_detail::fused(rule<"gemm-tanh">, dsl::tanh(fused_layer_detail::gemm),
                                                            fused_layer_detail::gemm_with(layer_activation::tanh));
inline constexpr auto gemm_leaky_relu = fused_layer_detail::fused(
    rule<"gemm-leaky-relu">,
    expression(opcode::leaky_relu, fused_layer_detail::gemm).attr<"alpha">(fused_layer_detail::alpha),
    fused_layer_detail::gemm_with(layer_activation::leaky_relu).attr<"activation_alpha">(fused_layer_detail::alpha));
inline constexpr auto gemm_elu = fused_layer_detail::fused(
    rule<"gemm-elu">, expression(opcode::elu, fused_layer_detail::gemm).attr<"alpha">(fused_layer_detail::alpha),
    fused_layer_detail::gemm_with(layer_activation::elu).attr<"activation_alpha">(fused_layer_detail::alpha));
inline constexpr auto gemm_thresholded_relu = fused_layer_detail::fused(
    rule<"gemm-thresholded-relu">,
    expression(opcode::thresholded_relu, fused_layer_detail::gemm).attr<"alpha">(fused_layer_detail::alpha),
    fused_layer_detail::gemm_with(layer_activation::thresholded_relu)
        .attr<"activation_alpha">(fused_layer_detail::alpha));
inline constexpr auto gemm_hard_sigmoid =
    fused_layer_detail::fused(rule<"gemm-hard-sigmoid">,
                              dsl::hard_sigmoid(fused_layer_detail::gemm)
                                  .attr<"alpha">(fused_layer_detail::alpha)
                                  .attr<"beta">(fused_layer_detail::beta),
                              fused_layer_detail::gemm_with(layer_activation::hard_sigmoid)
                                  .attr<"activation_alpha">(fused_layer_detail::alpha)
                                  .attr<"activation_beta">(fused_layer_detail::beta));
inline constexpr auto gemm_softplus =
    fused_layer_detail::fused(rule<"gemm-softplus">, dsl::softplus(fused_layer_detail::gemm),
                              fused_layer_detail::gemm_with(layer_activation::softplus));
inline constexpr auto gemm_softsign =
    fused_layer_detail::fused(rule<"gemm-softsign">, expression(opcode::softsign, fused_layer_detail::gemm),
                              fused_layer_detail::gemm_with(layer_activation::softsign));

/// Convolutions and Gemms with the activations behind them, for onnxruntime.
inline constexpr auto fused_layers =
    rule_set<conv_relu, conv_sigmoid, conv_tanh, conv_leaky_relu, conv_clip, conv_hard_sigmoid, gemm_relu, gemm_sigmoid,
             gemm_tanh, gemm_leaky_relu, gemm_elu, gemm_thresholded_relu, gemm_hard_sigmoid, gemm_softplus,
             gemm_softsign>;

}  // namespace fuse::inline v0::rules
