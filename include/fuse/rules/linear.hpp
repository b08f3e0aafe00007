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

/// A Gemm with a bias, of the same parameters as another that has these.
[[nodiscard]] constexpr expression gemm_by(expression const& by, expression const& added) {
  expression const made(opcode::gemm, layer_input, by, added);
  return made.attr<"alpha">(dsl::param<"alpha">).attr<"beta">(dsl::param<"beta">).attr<"transA">(dsl::param<"transA">);
}
/// Of two layers with one input, whose weights nothing else uses.
[[nodiscard]] constexpr rewrite_rule two_layers(rule_name name, expression const& layers) {
  return name(layers)
      .where(dsl::is_constant<"w">.quiet(), dsl::is_constant<"v">.quiet(), dsl::floating<"x">.quiet())
      .where<"nothing else uses the weights">(used_once<"w">)
      .where<"nothing else uses the other weights">(used_once<"v">)
      .stage(6)
      .quiet();
}
/// Their results side by side, and others behind; both of them are one.
[[nodiscard]] constexpr rewrite_rule side_by_side(rule_name name, expression const& one, expression const& other,
                                                  expression const& both) {
  auto const joined = [](auto const&... operands) {
    return expression(opcode::concat, operands..., dsl::rest<"others">).template attr<"axis">(-1);
  };
  return two_layers(name, joined(one.users(1), other.users(1))).replace(joined(both));
}
inline constexpr auto columns_of_both = dsl::fold(dsl::concat(weights, other_weights).attr<"axis">(1));
inline constexpr auto rows_of_both = dsl::fold(dsl::concat(weights, other_weights).attr<"axis">(0));
inline constexpr auto biases_of_both = dsl::fold(dsl::concat(layer_bias, other_bias).attr<"axis">(-1));

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

inline constexpr auto sum_of_gemms =
    formula::two_layers(rule<"sum-of-gemms">, formula::gemm_by(formula::weights, formula::layer_bias)
                                                      .attr<"transB">(dsl::param<"transB">)
                                                      .as<"layer">()
                                                      .users(1) +
                                                  formula::gemm_by(formula::other_weights, formula::other_bias)
                                                      .attr<"transB">(dsl::param<"transB">)
                                                      .users(1) +
                                                  formula::addends)
        .where(dsl::is_constant<"b">.quiet(), dsl::is_constant<"other bias">.quiet(), dsl::same_shape<"w", "v">)
        .summary("Gemms of one value that are added are one")
        .replace(dsl::again<"layer">(formula::layer_input, dsl::fold(formula::weights + formula::other_weights),
                                     dsl::fold(formula::layer_bias + formula::other_bias)) +
                 formula::addends);

/// Layers of one input whose results stand side by side are one, with their columns side by side.
inline constexpr auto concat_of_matmuls =
    formula::side_by_side(rule<"concat-of-matmuls">, dsl::matmul(formula::layer_input, formula::weights),
                          dsl::matmul(formula::layer_input, formula::other_weights),
                          dsl::matmul(formula::layer_input, formula::columns_of_both))
        .where(dsl::rank<"w">(2).quiet(), dsl::rank<"v">(2).quiet())
        .summary("matrix products of one value side by side are one product");
inline constexpr auto concat_of_biased_matmuls =
    formula::side_by_side(rule<"concat-of-biased-matmuls">,
                          dsl::matmul(formula::layer_input, formula::weights).users(1) + formula::layer_bias,
                          dsl::matmul(formula::layer_input, formula::other_weights).users(1) + formula::other_bias,
                          dsl::matmul(formula::layer_input, formula::columns_of_both) + formula::biases_of_both)
        .where(dsl::rank<"w">(2).quiet(), dsl::rank<"v">(2).quiet(), dsl::is_constant<"b">.quiet(),
               dsl::is_constant<"other bias">.quiet())
        .summary("matrix products of one value with biases, side by side, are one product with a bias");
inline constexpr auto concat_of_gemms =
    formula::side_by_side(rule<"concat-of-gemms">,
                          formula::gemm_by(formula::weights, formula::layer_bias).attr<"transB">(0).as<"layer">(),
                          formula::gemm_by(formula::other_weights, formula::other_bias).attr<"transB">(0),
                          dsl::again<"layer">(formula::layer_input, formula::columns_of_both, formula::biases_of_both))
        .where(dsl::is_constant<"b">.quiet(), dsl::is_constant<"other bias">.quiet())
        .summary("Gemms of one value side by side are one");
inline constexpr auto concat_of_transposed_gemms =
    formula::side_by_side(rule<"concat-of-transposed-gemms">,
                          formula::gemm_by(formula::weights, formula::layer_bias).attr<"transB">(1).as<"layer">(),
                          formula::gemm_by(formula::other_weights, formula::other_bias).attr<"transB">(1),
                          dsl::again<"layer">(formula::layer_input, formula::rows_of_both, formula::biases_of_both))
        .where(dsl::is_constant<"b">.quiet(), dsl::is_constant<"other bias">.quiet())
        .summary("Gemms of one value whose weights are transposed, side by side, are one");

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
             shift_before_gemm, shift_before_transposed_gemm, shift_before_matmul, sum_of_matmuls, sum_of_gemms,
             concat_of_matmuls, concat_of_biased_matmuls, concat_of_gemms, concat_of_transposed_gemms,
             matmul_into_gemm>;

}  // namespace fuse::inline v0::rules
