// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>

namespace fuse::inline v0::rules {
namespace formula {

inline constexpr auto channel_scale = dsl::var<"scale">, channel_bias = dsl::var<"bias">;
inline constexpr auto channel_mean = dsl::var<"mean">, channel_variance = dsl::var<"variance">;

/// With statistics that are known, y -> factor y + shift for each channel. S. Ioffe, C. Szegedy: Batch Normalization,
/// arXiv:1502.03167, section 3.1.
inline constexpr auto channel_factor = channel_scale / dsl::sqrt(channel_variance + dsl::param<"epsilon">);
inline constexpr auto channel_shift = channel_bias - channel_mean * channel_factor;

/// A batch norm of what nothing else uses.
[[nodiscard]] constexpr expression batch_norm_of(expression const& value) {
  return expression(opcode::batch_norm, value, channel_scale, channel_bias, channel_mean, channel_variance)
      .attr<"epsilon">(dsl::param<"epsilon">)
      .attr<"training_mode">(0);
}

}  // namespace formula

namespace batch_norm_detail {

[[nodiscard]] constexpr rewrite_rule of_constants(rewrite_rule const& of) {
  return of.where(dsl::is_constant<"w">, dsl::is_constant<"b">);
}
/// For rules that are at home where there are constants.
[[nodiscard]] constexpr rewrite_rule of_constants_alone(rewrite_rule const& of) {
  return of.where(dsl::is_constant<"w">.quiet(), dsl::is_constant<"b">.quiet());
}
[[nodiscard]] constexpr rewrite_rule of_known_statistics(rewrite_rule const& of) {
  return of.where(dsl::is_constant<"scale">, dsl::is_constant<"bias">, dsl::is_constant<"mean">,
                  dsl::is_constant<"variance">);
}
/// A batch norm behind a layer, which goes into its weights along axis `Axis`, its output channels, and into its bias.
template <int Axis>
[[nodiscard]] constexpr rewrite_rule behind(rule_name name, expression const& layer, expression const& new_bias) {
  return of_known_statistics(of_constants(name(formula::batch_norm_of(layer.as<"layer">().users(1)))))
      .summary("a batch norm goes into the weights and the bias of the layer before it")
      .replace(formula::layer_with(formula::weights * dsl::along<Axis>(formula::channel_factor), new_bias));
}
/// A batch norm before a layer; `new_bias` has what the layer makes of the shift.
template <int Axis>
[[nodiscard]] constexpr rewrite_rule before(rule_name name, expression const& layer, expression const& new_bias) {
  return of_known_statistics(of_constants(name(layer.as<"layer">())))
      .summary("a batch norm goes into the weights and the bias of the layer behind it")
      .replace(formula::layer_with(formula::weights * dsl::along<Axis>(formula::channel_factor), new_bias))
      .stage(1)
      .quiet();
}

/// Numbers by which the channels of a layer, axis `Channels` of its result, are multiplied.
template <int Axis, int Channels>
[[nodiscard]] constexpr rewrite_rule scaled(rule_name name, expression const& layer, expression const& bias) {
  return of_constants_alone(name(layer.as<"layer">().users(1) * formula::factors.not_empty()))
      .where<"nothing else uses the weights">(formula::used_once<"w">)
      .where(dsl::floating<"layer">, dsl::along_axis<"factor", "layer">(Channels).quiet())
      .summary("constants that multiply the channels of a layer go into its weights and its bias")
      .replace(formula::layer_with(formula::weights * dsl::along<Axis>(formula::factors),
                                   bias * dsl::along<-1>(formula::factors)))
      .quiet();
}
/// Numbers that are added to them.
template <int Channels>
[[nodiscard]] constexpr rewrite_rule shifted(rule_name name, expression const& layer, expression const& by) {
  return of_constants_alone(name(layer.as<"layer">().users(1) + formula::addends.not_empty()))
      .where(dsl::floating<"layer">, dsl::along_axis<"shift", "layer">(Channels).quiet())
      .summary("constants that are added to the channels of a layer go into its bias")
      .replace(dsl::again<"layer">(formula::layer_input, formula::weights, dsl::fold(formula::known_bias + by)))
      .quiet();
}

/// A matrix product, perhaps with a bias, that nothing else uses; and another one that computes its batch norm.
inline constexpr auto matmul_layer = dsl::matmul(formula::layer_input, formula::weights).as<"layer">().users(1);
inline constexpr auto biased_matmul = dsl::either(matmul_layer, (matmul_layer + formula::layer_bias).users(1));
inline constexpr auto normed_matmul =
    formula::layer_with(formula::weights * dsl::along<-1>(formula::channel_factor)) +
    dsl::fold(formula::known_bias * dsl::along<-1>(formula::channel_factor) + dsl::along<-1>(formula::channel_shift));
[[nodiscard]] constexpr expression turned(expression const& value) {
  return dsl::op<"Transpose">(value).attr<"perm">(dsl::list(0, 2, 1));
}
inline constexpr auto norm_of_turned = formula::batch_norm_of(turned(biased_matmul).users(1));
[[nodiscard]] constexpr rewrite_rule into_turned_matmul(rule_name name, expression const& pattern,
                                                        expression const& made) {
  return of_known_statistics(of_constants(name(pattern)))
      .where(dsl::rank<"x">(3), dsl::rank<"w">(2))
      .summary("a batch norm whose channels were turned goes into the weights of the matrix product before it")
      .replace(made);
}

inline constexpr auto conv_bias = formula::known_bias * formula::channel_factor + formula::channel_shift;
inline constexpr auto gemm_bias = formula::known_bias * dsl::along<-1>(formula::channel_factor) +
                                  dsl::along<-1>(formula::channel_shift / formula::bias_factor);

}  // namespace batch_norm_detail

/// A batch norm behind a convolution goes into its weights and bias.
inline constexpr auto batch_norm_into_conv = batch_norm_detail::behind<0>(
    rule<"batch-norm-into-conv">, formula::conv(formula::layer_input), batch_norm_detail::conv_bias);
/// The same for transposed convolutions of one group: their weights have the output channels along the second axis.
inline constexpr auto batch_norm_into_conv_transpose =
    batch_norm_detail::behind<1>(rule<"batch-norm-into-conv-transpose">, formula::conv_transpose(formula::layer_input),
                                 batch_norm_detail::conv_bias);
/// A batch norm behind a Gemm.
inline constexpr auto batch_norm_into_gemm = batch_norm_detail::behind<1>(
    rule<"batch-norm-into-gemm">, formula::gemm(0, formula::layer_input), batch_norm_detail::gemm_bias);
inline constexpr auto batch_norm_into_transposed_gemm = batch_norm_detail::behind<0>(
    rule<"batch-norm-into-transposed-gemm">, formula::gemm(1, formula::layer_input), batch_norm_detail::gemm_bias);

/// A product of matrices becomes one of other weights, and a sum. Its columns are channels where it has two axes.
inline constexpr auto batch_norm_into_matmul =
    batch_norm_detail::of_known_statistics(batch_norm_detail::of_constants(rule<"batch-norm-into-matmul">(
                                               formula::batch_norm_of(batch_norm_detail::biased_matmul))))
        .where(dsl::rank<"x">(2))
        .summary("a batch norm goes into the weights of the matrix product before it, and becomes a sum")
        .replace(batch_norm_detail::normed_matmul);

/// The same of three axes, whose channels are turned to the second one for the batch norm, and perhaps back.
inline constexpr auto batch_norm_of_turned_into_matmul =
    batch_norm_detail::into_turned_matmul(rule<"batch-norm-of-turned-into-matmul">, batch_norm_detail::norm_of_turned,
                                          batch_norm_detail::turned(batch_norm_detail::normed_matmul));
inline constexpr auto batch_norm_between_turns_into_matmul = batch_norm_detail::into_turned_matmul(
    rule<"batch-norm-between-turns-into-matmul">, batch_norm_detail::turned(batch_norm_detail::norm_of_turned.users(1)),
    batch_norm_detail::normed_matmul);

/// A batch norm before a layer goes into it where it is exact: where nothing is padded.
inline constexpr auto batch_norm_before_conv =
    batch_norm_detail::before<1>(
        rule<"batch-norm-before-conv">,
        formula::conv(formula::batch_norm_of(formula::layer_input)).attr<"group">(1).attr<"pads">(dsl::param<"pads">),
        formula::known_bias + formula::summed_by_first(formula::channel_shift))
        .where<"nothing is padded">(formula::no_padding);
inline constexpr auto batch_norm_before_gemm = batch_norm_detail::before<0>(
    rule<"batch-norm-before-gemm">,
    formula::gemm(0, formula::batch_norm_of(formula::layer_input))
        .attr<"transA">(0)
        .attr<"alpha">(formula::product_factor),
    formula::known_bias + dsl::along<-1>(formula::summed_by_last(formula::channel_shift) * formula::over_bias_factor));
inline constexpr auto batch_norm_before_transposed_gemm = batch_norm_detail::before<1>(
    rule<"batch-norm-before-transposed-gemm">,
    formula::gemm(1, formula::batch_norm_of(formula::layer_input))
        .attr<"transA">(0)
        .attr<"alpha">(formula::product_factor),
    formula::known_bias + dsl::along<-1>(formula::summed_by_first(formula::channel_shift) * formula::over_bias_factor));
inline constexpr auto batch_norm_before_matmul =
    batch_norm_detail::of_known_statistics(
        rule<"batch-norm-before-matmul">(
            dsl::matmul(formula::batch_norm_of(formula::layer_input), formula::weights).as<"layer">()))
        .where(dsl::is_constant<"w">, dsl::rank<"x">(2), dsl::rank<"w">(2))
        .summary("a batch norm goes into the weights of the matrix product behind it, and becomes a sum")
        .replace(formula::layer_with(formula::weights * dsl::along<0>(formula::channel_factor)) +
                 dsl::fold(formula::summed_by_last(formula::channel_shift)))
        .stage(1)
        .quiet();

/// The same of numbers that multiply the channels of a layer or are added to them, one operator after the other: a
/// batch norm that is spelled out, in any bracketing, is two to four of these.
inline constexpr auto scale_into_conv =
    batch_norm_detail::scaled<0, 1>(rule<"scale-into-conv">, formula::conv(formula::layer_input), formula::known_bias);
inline constexpr auto shift_into_conv = batch_norm_detail::shifted<1>(
    rule<"shift-into-conv">, formula::conv(formula::layer_input), dsl::along<-1>(formula::addends));
inline constexpr auto scale_into_conv_transpose = batch_norm_detail::scaled<1, 1>(
    rule<"scale-into-conv-transpose">, formula::conv_transpose(formula::layer_input), formula::known_bias);
inline constexpr auto shift_into_conv_transpose = batch_norm_detail::shifted<1>(
    rule<"shift-into-conv-transpose">, formula::conv_transpose(formula::layer_input), dsl::along<-1>(formula::addends));
inline constexpr auto scale_into_gemm = batch_norm_detail::scaled<1, 1>(
    rule<"scale-into-gemm">, formula::gemm(0, formula::layer_input), formula::known_bias);
inline constexpr auto scale_into_transposed_gemm = batch_norm_detail::scaled<0, 1>(
    rule<"scale-into-transposed-gemm">, formula::gemm(1, formula::layer_input), formula::known_bias);
inline constexpr auto shift_into_gemm = batch_norm_detail::shifted<1>(
    rule<"shift-into-gemm">,
    expression(opcode::gemm, formula::layer_input, formula::weights, dsl::optional(formula::layer_bias))
        .attr<"beta">(formula::bias_factor),
    dsl::along<-1>(formula::addends) / formula::bias_factor);
inline constexpr auto scale_into_matmul =
    rule<"scale-into-matmul">(dsl::matmul(formula::layer_input, formula::weights).as<"layer">().users(1) *
                              formula::factors.not_empty())
        .where(dsl::is_constant<"w">.quiet(), dsl::floating<"layer">, dsl::rank<"w">(2),
               dsl::along_axis<"factor", "layer">(-1).quiet())
        .where<"nothing else uses the weights">(formula::used_once<"w">)
        .summary("constants that multiply the columns of a matrix product go into its weights")
        .replace(formula::layer_with(formula::weights * dsl::along<-1>(formula::factors)))
        .quiet();
inline constexpr auto scale_into_matmul_with_bias =
    rule<"scale-into-matmul-with-bias">(
        (dsl::matmul(formula::layer_input, formula::weights).as<"layer">().users(1) + formula::addends.not_empty())
            .users(1) *
        formula::factors.not_empty())
        .where(dsl::is_constant<"w">.quiet(), dsl::floating<"layer">, dsl::rank<"w">(2),
               dsl::along_axis<"factor", "layer">(-1).quiet(), dsl::along_axis<"shift", "layer">(-1).quiet())
        .where<"nothing else uses the weights">(formula::used_once<"w">)
        .summary("constants that multiply the columns of a matrix product and its bias go into both")
        .replace(formula::layer_with(formula::weights * dsl::along<-1>(formula::factors)) +
                 dsl::fold(dsl::along<-1>(formula::addends) * dsl::along<-1>(formula::factors)))
        .quiet();
inline constexpr auto sum_of_biases =
    batch_norm_detail::of_constants_alone(
        rule<"sum-of-biases">(dsl::matmul(formula::layer_input, formula::weights).as<"layer">() + formula::layer_bias +
                              formula::addends.not_empty()))
        .where(dsl::floating<"layer">, dsl::along_axis<"b", "layer">(-1).quiet(),
               dsl::along_axis<"shift", "layer">(-1).quiet())
        .summary("constants that are added to the columns of a matrix product are one")
        .replace(dsl::var<"layer"> + dsl::fold(dsl::along<-1>(formula::layer_bias) + dsl::along<-1>(formula::addends)))
        .quiet();

/// Batch norms at inference, into the layer before each, or else behind it. What is rounded is the layer's new
/// constants, once.
inline constexpr auto batch_norm =
    rule_set<batch_norm_into_conv, batch_norm_into_conv_transpose, batch_norm_into_gemm,
             batch_norm_into_transposed_gemm, batch_norm_into_matmul, batch_norm_between_turns_into_matmul,
             batch_norm_of_turned_into_matmul, scale_into_conv, shift_into_conv, scale_into_conv_transpose,
             shift_into_conv_transpose, scale_into_gemm, scale_into_transposed_gemm, shift_into_gemm, scale_into_matmul,
             scale_into_matmul_with_bias, sum_of_biases, batch_norm_before_conv, batch_norm_before_gemm,
             batch_norm_before_transposed_gemm, batch_norm_before_matmul>;

}  // namespace fuse::inline v0::rules
