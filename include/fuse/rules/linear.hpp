// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>

/// Layers and what is linear around them. What stands behind a layer is in batch_norm.hpp.
namespace fuse::inline v0::rules {
namespace formula {

inline constexpr auto other_weights = dsl::var<"v">, other_bias = dsl::var<"other bias">;
inline constexpr auto scaled_input = (layer_input * factors.not_empty()).users(1);
inline constexpr auto shifted_input = (layer_input + addends.not_empty()).users(1);

[[nodiscard]] constexpr rewrite_rule behind_constants(rule_name name, expression const& layer) {
  return name(layer.as<"layer">())
      .where(dsl::is_constant<"w">.quiet(), dsl::floating<"layer">.quiet())
      .where<"nothing else uses the weights">(used_once<"w">)
      .stage(6)
      .quiet();
}
/// A layer of multiplied input, whose input channels are axis `Channels` of what goes in and `Axis` of the weights.
template <int Channels, int Axis>
[[nodiscard]] constexpr rewrite_rule of_scaled(rule_name name, expression const& layer) {
  return behind_constants(name, layer)
      .where(dsl::is_constant<"factor">.quiet(), dsl::along_axis<"factor", "x">(Channels))
      .summary("constants that multiply what goes into a layer go into its weights")
      .replace(dsl::again<"layer">(layer_input, dsl::fold(weights * dsl::along<Axis>(factors)), layer_bias));
}
/// A layer of input to which something was added; `made` is what takes its place.
template <int Channels>
[[nodiscard]] constexpr rewrite_rule of_shifted(rule_name name, expression const& layer, expression const& made) {
  return behind_constants(name, layer)
      .where(dsl::is_constant<"shift">.quiet(), dsl::is_constant<"b">.quiet(), dsl::along_axis<"shift", "x">(Channels))
      .summary("constants that are added to what goes into a layer go into its bias")
      .replace(made);
}
[[nodiscard]] constexpr expression with_bias(expression const& sums) {
  return dsl::again<"layer">(layer_input, weights, dsl::fold(known_bias + sums));
}

}  // namespace formula

inline constexpr auto scale_before_conv =
    formula::of_scaled<1, 1>(rule<"scale-before-conv">, formula::conv(formula::scaled_input).attr<"group">(1));
inline constexpr auto scale_before_gemm =
    formula::of_scaled<1, 0>(rule<"scale-before-gemm">, formula::gemm(0, formula::scaled_input).attr<"transA">(0));
inline constexpr auto scale_before_transposed_gemm = formula::of_scaled<1, 1>(
    rule<"scale-before-transposed-gemm">, formula::gemm(1, formula::scaled_input).attr<"transA">(0));
inline constexpr auto scale_before_matmul =
    formula::behind_constants(rule<"scale-before-matmul">, dsl::matmul(formula::scaled_input, formula::weights))
        .where(dsl::rank<"w">(2).quiet(), dsl::is_constant<"factor">.quiet(), dsl::along_axis<"factor", "x">(-1))
        .summary("constants that multiply what goes into a matrix product go into its weights")
        .replace(formula::layer_with(formula::weights * dsl::along<0>(formula::factors)));

inline constexpr auto shift_before_conv =
    formula::of_shifted<1>(rule<"shift-before-conv">,
                           formula::conv(formula::shifted_input).attr<"group">(1).attr<"pads">(dsl::param<"pads">),
                           formula::with_bias(formula::summed_by_first(formula::addends)))
        .where<"nothing is padded">(formula::no_padding);
inline constexpr auto shift_before_gemm = formula::of_shifted<1>(
    rule<"shift-before-gemm">,
    formula::gemm(0, formula::shifted_input).attr<"transA">(0).attr<"alpha">(formula::product_factor),
    formula::with_bias(dsl::along<-1>(formula::summed_by_last(formula::addends) * formula::over_bias_factor)));
inline constexpr auto shift_before_transposed_gemm = formula::of_shifted<1>(
    rule<"shift-before-transposed-gemm">,
    formula::gemm(1, formula::shifted_input).attr<"transA">(0).attr<"alpha">(formula::product_factor),
    formula::with_bias(dsl::along<-1>(formula::summed_by_first(formula::addends) * formula::over_bias_factor)));
/// Behind a product that has a bias: alone, it would be a sum before and behind.
inline constexpr auto shift_before_matmul =
    formula::behind_constants(rule<"shift-before-matmul">,
                              dsl::matmul(formula::shifted_input, formula::weights).users(1) + formula::layer_bias)
        .where(dsl::rank<"w">(2).quiet(), dsl::is_constant<"shift">.quiet(), dsl::is_constant<"b">.quiet(),
               dsl::along_axis<"shift", "x">(-1))
        .summary("constants that are added to what goes into a matrix product go into its bias")
        .replace(dsl::matmul(formula::layer_input, formula::weights) +
                 dsl::fold(formula::layer_bias + dsl::along<-1>(formula::summed_by_last(formula::addends))));

/// Layers of one input that are added are one.
inline constexpr auto sum_of_matmuls =
    rule<"sum-of-matmuls">(dsl::matmul(formula::layer_input, formula::weights).users(1) +
                           dsl::matmul(formula::layer_input, formula::other_weights).users(1) + formula::addends)
        .where(dsl::is_constant<"w">.quiet(), dsl::is_constant<"v">.quiet(), dsl::floating<"x">.quiet(),
               dsl::same_shape<"w", "v">)
        .where<"nothing else uses the weights">(formula::used_once<"w">)
        .where<"nothing else uses the other weights">(formula::used_once<"v">)
        .summary("matrix products of one value that are added are one product")
        .replace(dsl::matmul(formula::layer_input, dsl::fold(formula::weights + formula::other_weights)) +
                 formula::addends)
        .stage(6)
        .quiet();

/// A product of two matrices and a row is a Gemm.
inline constexpr auto matmul_into_gemm =
    rule<"matmul-into-gemm">(dsl::matmul(formula::layer_input, formula::weights).as<"layer">().users(1) +
                             formula::layer_bias)
        .where(dsl::rank<"x">(2).quiet(), dsl::rank<"w">(2).quiet(), dsl::floating<"x">.quiet(),
               dsl::is_constant<"w">.quiet(), dsl::along_axis<"b", "layer">(-1))
        .summary("a product of two matrices and a row are one Gemm")
        .replace(expression(opcode::gemm, formula::layer_input, formula::weights, formula::layer_bias))
        .stage(7)
        .quiet();

/// Constants before layers, layers beside each other, and what makes one operator of a layer. None makes a model
/// larger.
inline constexpr auto linear =
    rule_set<scale_before_conv, scale_before_gemm, scale_before_transposed_gemm, scale_before_matmul, shift_before_conv,
             shift_before_gemm, shift_before_transposed_gemm, shift_before_matmul, sum_of_matmuls, matmul_into_gemm>;

}  // namespace fuse::inline v0::rules
