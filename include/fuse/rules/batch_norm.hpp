// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>

namespace fuse::inline v0::rules {
namespace formula {

inline constexpr auto layer_input = dsl::var<"x">, weights = dsl::var<"w">, layer_bias = dsl::var<"b">;
inline constexpr auto channel_scale = dsl::var<"scale">, channel_bias = dsl::var<"bias">;
inline constexpr auto channel_mean = dsl::var<"mean">, channel_variance = dsl::var<"variance">;
inline constexpr auto bias_factor = dsl::param<"factor of b">;

/// With statistics that are known, y -> factor y + shift for each channel. S. Ioffe, C. Szegedy: Batch Normalization,
/// arXiv:1502.03167, section 3.1.
inline constexpr auto channel_factor = channel_scale / dsl::sqrt(channel_variance + dsl::param<"epsilon">);
inline constexpr auto channel_shift = channel_bias - channel_mean * channel_factor;

/// A batch norm of a layer that nothing else uses, which the name "layer" stands for.
[[nodiscard]] constexpr expression batch_norm_of(expression const& layer) {
  return expression(opcode::batch_norm, layer.as<"layer">().users(1), channel_scale, channel_bias, channel_mean,
                    channel_variance)
      .attr<"epsilon">(dsl::param<"epsilon">)
      .attr<"training_mode">(0);
}
/// The layer with other weights, and a bias.
[[nodiscard]] constexpr expression layer_with(expression const& new_weights, expression const& new_bias) {
  return dsl::again<"layer">(layer_input, dsl::fold(new_weights), dsl::fold(new_bias));
}
/// A Gemm with weights that lie one way or the other, whose bias, if it has one, is multiplied by a factor.
template <class... Added>
[[nodiscard]] constexpr expression gemm(int transposed, Added const&... added) {
  return expression(opcode::gemm, layer_input, weights, added...).attr<"beta">(bias_factor).attr<"transB">(transposed);
}
inline constexpr auto gemm_shift = channel_shift / bias_factor;
inline constexpr auto gemm_bias = layer_bias * dsl::along<-1>(channel_factor) + dsl::along<-1>(gemm_shift);

}  // namespace formula

namespace batch_norm_detail {

/// A rule that multiplies a layer's weights along axis `Axis`, its output channels.
template <int Axis>
[[nodiscard]] constexpr rewrite_rule into(rewrite_rule of, expression const& new_bias) {
  using namespace formula;
  return of
      .where(dsl::is_constant<"w">, dsl::is_constant<"scale">, dsl::is_constant<"bias">, dsl::is_constant<"mean">,
             dsl::is_constant<"variance">)
      .replace(layer_with(weights * dsl::along<Axis>(channel_factor), new_bias));
}

}  // namespace batch_norm_detail

/// A batch norm behind a convolution goes into its weights and bias.
inline constexpr auto batch_norm_into_conv = batch_norm_detail::into<0>(
    rule<"batch-norm-into-conv">(
        formula::batch_norm_of(expression(opcode::conv, formula::layer_input, formula::weights, formula::layer_bias)))
        .where(dsl::is_constant<"b">)
        .summary("a batch norm goes into the weights and the bias of the convolution before it"),
    formula::layer_bias* formula::channel_factor + formula::channel_shift);
inline constexpr auto batch_norm_into_conv_without_bias = batch_norm_detail::into<0>(
    rule<"batch-norm-into-conv-without-bias">(
        formula::batch_norm_of(expression(opcode::conv, formula::layer_input, formula::weights)))
        .summary("a batch norm goes into the weights of the convolution before it, which gets a bias"),
    formula::channel_shift);

/// The same for transposed convolutions of one group: their weights have the output channels along the second axis.
inline constexpr auto batch_norm_into_conv_transpose = batch_norm_detail::into<1>(
    rule<"batch-norm-into-conv-transpose">(
        formula::batch_norm_of(
            expression(opcode::conv_transpose, formula::layer_input, formula::weights, formula::layer_bias)))
        .where(dsl::is_constant<"b">)
        .summary("a batch norm goes into the weights and the bias of the transposed convolution before it"),
    formula::layer_bias* formula::channel_factor + formula::channel_shift);
inline constexpr auto batch_norm_into_conv_transpose_without_bias = batch_norm_detail::into<1>(
    rule<"batch-norm-into-conv-transpose-without-bias">(
        formula::batch_norm_of(expression(opcode::conv_transpose, formula::layer_input, formula::weights)))
        .summary("a batch norm goes into the weights of the transposed convolution before it, which gets a bias"),
    formula::channel_shift);

/// A batch norm behind a Gemm.
inline constexpr auto batch_norm_into_gemm = batch_norm_detail::into<1>(
    rule<"batch-norm-into-gemm">(formula::batch_norm_of(formula::gemm(0, formula::layer_bias)))
        .where(dsl::is_constant<"b">)
        .summary("a batch norm goes into the weights and the bias of the Gemm before it"),
    formula::gemm_bias);
inline constexpr auto batch_norm_into_gemm_without_bias = batch_norm_detail::into<1>(
    rule<"batch-norm-into-gemm-without-bias">(formula::batch_norm_of(formula::gemm(0)))
        .summary("a batch norm goes into the weights of the Gemm before it, which gets a bias"),
    formula::gemm_shift);
inline constexpr auto batch_norm_into_transposed_gemm = batch_norm_detail::into<0>(
    rule<"batch-norm-into-transposed-gemm">(formula::batch_norm_of(formula::gemm(1, formula::layer_bias)))
        .where(dsl::is_constant<"b">)
        .summary("a batch norm goes into the transposed weights and the bias of the Gemm before it"),
    formula::gemm_bias);
inline constexpr auto batch_norm_into_transposed_gemm_without_bias = batch_norm_detail::into<0>(
    rule<"batch-norm-into-transposed-gemm-without-bias">(formula::batch_norm_of(formula::gemm(1)))
        .summary("a batch norm goes into the transposed weights of the Gemm before it, which gets a bias"),
    formula::gemm_shift);

/// A product of matrices becomes one of other weights, and a sum. Its columns are channels where it has two axes.
inline constexpr auto batch_norm_into_matmul =
    rule<"batch-norm-into-matmul">(formula::batch_norm_of(dsl::matmul(formula::layer_input, formula::weights)))
        .where(dsl::rank<"x">(2), dsl::is_constant<"w">, dsl::is_constant<"scale">, dsl::is_constant<"bias">,
               dsl::is_constant<"mean">, dsl::is_constant<"variance">)
        .summary("a batch norm goes into the weights of the matrix product before it, and becomes a sum")
        .replace(dsl::again<"layer">(formula::layer_input,
                                     dsl::fold(formula::weights* dsl::along<1>(formula::channel_factor))) +
                 dsl::fold(formula::channel_shift));
inline constexpr auto batch_norm_into_matmul_with_bias =
    rule<"batch-norm-into-matmul-with-bias">(
        formula::batch_norm_of(dsl::matmul(formula::layer_input, formula::weights).as<"product">().users(1) +
                               formula::layer_bias))
        .where(dsl::rank<"x">(2), dsl::is_constant<"w">, dsl::is_constant<"b">, dsl::is_constant<"scale">,
               dsl::is_constant<"bias">, dsl::is_constant<"mean">, dsl::is_constant<"variance">)
        .summary("a batch norm goes into the weights and the bias of the matrix product before it")
        .replace(dsl::again<"product">(formula::layer_input,
                                       dsl::fold(formula::weights* dsl::along<1>(formula::channel_factor))) +
                 dsl::fold(formula::layer_bias * dsl::along<-1>(formula::channel_factor) +
                           dsl::along<-1>(formula::channel_shift)));

/// Batch norms at inference, into the layer before each. What is rounded is the layer's new constants, once.
inline constexpr auto batch_norm =
    rule_set<batch_norm_into_conv, batch_norm_into_conv_without_bias, batch_norm_into_conv_transpose,
             batch_norm_into_conv_transpose_without_bias, batch_norm_into_gemm, batch_norm_into_gemm_without_bias,
             batch_norm_into_transposed_gemm, batch_norm_into_transposed_gemm_without_bias, batch_norm_into_matmul,
             batch_norm_into_matmul_with_bias>;

}  // namespace fuse::inline v0::rules
