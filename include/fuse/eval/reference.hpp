// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/attention.hpp>
#include <fuse/eval/broadcasting.hpp>
#include <fuse/eval/call.hpp>
#include <fuse/eval/carried.hpp>
#include <fuse/eval/convolution.hpp>
#include <fuse/eval/einsum.hpp>
#include <fuse/eval/elementwise.hpp>
#include <fuse/eval/indexing.hpp>
#include <fuse/eval/layout.hpp>
#include <fuse/eval/linear.hpp>
#include <fuse/eval/losses.hpp>
#include <fuse/eval/making.hpp>
#include <fuse/eval/normalisation.hpp>
#include <fuse/eval/ordering.hpp>
#include <fuse/eval/pooling.hpp>
#include <fuse/eval/quantisation.hpp>
#include <fuse/eval/recurrent.hpp>
#include <fuse/eval/reduction.hpp>
#include <fuse/eval/resizing.hpp>

namespace fuse::inline v0 {

namespace detail {

/// The operands that an operator has in floating types, a bit each, as far as it computes with doubles alone.
[[nodiscard]] constexpr std::uint32_t floating_operands(opcode op) {
  constexpr std::uint32_t all = ~std::uint32_t{0};
  switch (op) {
    case opcode::softmax:
    case opcode::log_softmax:
    case opcode::hardmax:
    case opcode::layer_norm:
    case opcode::rms_norm:
    case opcode::skip_layer_norm:
    case opcode::skip_rms_norm:
    case opcode::batch_norm:
    case opcode::instance_norm:
    case opcode::group_norm:
    case opcode::lp_normalization:
    case opcode::mean_variance_norm:
    case opcode::local_response_norm:
    case opcode::conv:
    case opcode::fused_conv:
    case opcode::fused_gemm:
    case opcode::conv_transpose:
    case opcode::global_max_pool:
    case opcode::global_lp_pool:
    case opcode::linear:
    case opcode::fused_matmul:
    case opcode::swiglu:
    case opcode::causal_conv:
    case opcode::linear_attention:
    case opcode::dynamic_quantize: return all;
    case opcode::lstm:
    case opcode::gru:
    case opcode::rnn: return all & ~(1u << 4);  // lengths
    case opcode::attention: return 0b110111;
    case opcode::multi_head_attention: return 0b11100111;
    case opcode::projected_attention: return 0b100111;
    case opcode::rotary_embedding: return 0b111;
    case opcode::rotary_embedding_at: return 0b1101;
    case opcode::embed_layer_norm: return 0b1111100;
    case opcode::qembed_layer_norm: return 0b1111100000000;
    case opcode::quantize:
    case opcode::dequantize: return 0b10;
    case opcode::qlinear_matmul:
    case opcode::qlinear_conv: return 0b1010010;
    default: return 0;
  }
}

[[nodiscard]] inline bool has_integers_for_floats(call const& c) {
  auto const wanted = floating_operands(c.op);
  for (std::size_t i = 0; i < c.operands.size() && i < 32; ++i)
    if ((wanted >> i & 1u) != 0 && c.operands[i] != nullptr && c.operands[i]->whole()) return true;
  return false;
}

}  // namespace detail

/// Computes what `op` makes of its operands (null: absent), as the ONNX operator of that meaning says. Integers are
/// exact and wrap around as their type does; all else is computed in double precision, and not rounded to narrow types
/// (`round_to_type` does that). `results` comes with as many entries as the operator has results here, each with its
/// element type, if that is known; it gets their shapes and elements. Nothing is promised of `results` unless it is
/// done. Linear in the elements; products, convolutions and poolings as their plain loops. What has bodies is evaluated
/// with a graph (eval/graph.hpp).
[[nodiscard]] inline evaluation evaluate(opcode op, span<dense const* const> operands,
                                         operator_parameters const& parameters, std::vector<dense>& results) {
  detail::call const c{op, operands, parameters, results};
  if (results.empty() || detail::has_integers_for_floats(c)) return evaluation::misfit;
  switch (op) {
    case opcode::where: return detail::evaluate_where(c);
    case opcode::cast:
    case opcode::cast_like: return detail::evaluate_cast(c);
    case opcode::dropout: return detail::evaluate_dropout(c);
    case opcode::swiglu: return detail::evaluate_swiglu(c);
    case opcode::arg_max:
    case opcode::arg_min: return detail::evaluate_arg(c);
    case opcode::top_k: return detail::evaluate_top_k(c);
    case opcode::cumulative_sum:
    case opcode::cumulative_product: return detail::evaluate_cumulative(c);
    case opcode::matmul:
    case opcode::gemm:
    case opcode::fused_gemm:
    case opcode::fused_matmul:
    case opcode::linear: return detail::evaluate_linear(c);
    case opcode::einsum: return detail::evaluate_einsum(c);
    case opcode::conv:
    case opcode::fused_conv:
    case opcode::conv_transpose: return detail::evaluate_convolution(c);
    case opcode::matmul_integer:
    case opcode::conv_integer:
    case opcode::qlinear_matmul:
    case opcode::qlinear_conv: return detail::evaluate_quantised_linear(c);
    case opcode::quantize: return detail::evaluate_quantize(c);
    case opcode::dequantize: return detail::evaluate_dequantize(c);
    case opcode::dynamic_quantize: return detail::evaluate_dynamic_quantize(c);
    case opcode::max_pool:
    case opcode::average_pool:
    case opcode::lp_pool: return detail::evaluate_pool(c);
    case opcode::global_max_pool:
    case opcode::global_lp_pool: return detail::evaluate_global_pool(c);
    case opcode::resize: return detail::evaluate_resize(c);
    case opcode::lstm:
    case opcode::gru:
    case opcode::rnn: return detail::evaluate_recurrent(c);
    case opcode::softmax:
    case opcode::log_softmax:
    case opcode::hardmax: return detail::evaluate_softmax(c);
    case opcode::layer_norm:
    case opcode::rms_norm:
    case opcode::skip_layer_norm:
    case opcode::skip_rms_norm: return detail::evaluate_norm(c);
    case opcode::embed_layer_norm:
    case opcode::qembed_layer_norm: return detail::evaluate_embed_norm(c);
    case opcode::batch_norm:
    case opcode::instance_norm: return detail::evaluate_channel_norm(c);
    case opcode::group_norm: return detail::evaluate_group_norm(c);
    case opcode::lp_normalization: return detail::evaluate_lp_normalization(c);
    case opcode::mean_variance_norm: return detail::evaluate_mean_variance_norm(c);
    case opcode::local_response_norm: return detail::evaluate_local_response_norm(c);
    case opcode::attention: return detail::evaluate_attention(c);
    case opcode::multi_head_attention: return detail::evaluate_multi_head_attention(c);
    case opcode::projected_attention: return detail::evaluate_projected_attention(c);
    case opcode::linear_attention: return detail::evaluate_linear_attention(c);
    case opcode::causal_conv: return detail::evaluate_causal_conv(c);
    case opcode::tensor_scatter: return detail::evaluate_tensor_scatter(c);
    case opcode::nll_loss:
    case opcode::cross_entropy_loss: return detail::evaluate_loss(c);
    case opcode::rotary_embedding: return detail::evaluate_rotary_embedding(c);
    case opcode::rotary_embedding_at: return detail::evaluate_rotary_embedding_at(c);
    case opcode::gather:
    case opcode::gather_elements:
    case opcode::gather_nd:
    case opcode::scatter_nd:
    case opcode::scatter_elements:
    case opcode::one_hot:
    case opcode::compress:
    case opcode::reverse_sequence: return detail::evaluate_indexing(c);
    case opcode::constant:
    case opcode::constant_of_shape:
    case opcode::shape:
    case opcode::size:
    case opcode::range:
    case opcode::eye_like:
    case opcode::trilu:
    case opcode::non_zero: return detail::evaluate_making(c);
    default: break;
  }
  auto const& known = info(op);
  if (known.shape == shape_function::reduce) return detail::evaluate_reduction(c);
  if (known.kind == op_kind::elementwise) return detail::evaluate_unary(c);
  if (known.kind == op_kind::broadcast) return detail::evaluate_broadcasting(c);
  return detail::evaluate_layout(c);
}

}  // namespace fuse::inline v0
