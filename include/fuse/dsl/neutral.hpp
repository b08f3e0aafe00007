// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

// The neutral operators, as functions: each matches every spelling of its meaning.
[[nodiscard]] constexpr expression sqrt(expression const& a) { return expression(opcode::sqrt, a); }
[[nodiscard]] constexpr expression rsqrt(expression const& a) { return expression(opcode::rsqrt, a); }
[[nodiscard]] constexpr expression reciprocal(expression const& a) { return expression(opcode::reciprocal, a); }
[[nodiscard]] constexpr expression square(expression const& a) { return expression(opcode::square, a); }
[[nodiscard]] constexpr expression pow(expression const& a, expression const& b) {
  return expression(opcode::pow, a, b);
}
[[nodiscard]] constexpr expression exp(expression const& a) { return expression(opcode::exp, a); }
[[nodiscard]] constexpr expression log(expression const& a) { return expression(opcode::log, a); }
[[nodiscard]] constexpr expression erf(expression const& a) { return expression(opcode::erf, a); }
[[nodiscard]] constexpr expression tanh(expression const& a) { return expression(opcode::tanh, a); }
[[nodiscard]] constexpr expression sigmoid(expression const& a) { return expression(opcode::sigmoid, a); }
[[nodiscard]] constexpr expression relu(expression const& a) { return expression(opcode::relu, a); }
[[nodiscard]] constexpr expression softplus(expression const& a) { return expression(opcode::softplus, a); }
[[nodiscard]] constexpr expression hard_sigmoid(expression const& a) { return expression(opcode::hard_sigmoid, a); }
[[nodiscard]] constexpr expression clip(expression const& a) { return expression(opcode::clip, a); }
/// GELU by erf and by tanh, with a bias that is added first or without.
[[nodiscard]] constexpr expression gelu(expression const& a) { return expression(opcode::gelu, a); }
[[nodiscard]] constexpr expression bias_gelu(expression const& a, expression const& bias) {
  return expression(opcode::bias_gelu, a, bias);
}
[[nodiscard]] constexpr expression fast_gelu(expression const& a) { return expression(opcode::fast_gelu, a); }
[[nodiscard]] constexpr expression fast_gelu(expression const& a, expression const& bias) {
  return expression(opcode::fast_gelu, a, bias);
}
[[nodiscard]] constexpr expression swish(expression const& a) { return expression(opcode::swish, a); }
[[nodiscard]] constexpr expression mish(expression const& a) { return expression(opcode::mish, a); }
[[nodiscard]] constexpr expression hard_swish(expression const& a) { return expression(opcode::hard_swish, a); }
[[nodiscard]] constexpr expression softmax(expression const& a) { return expression(opcode::softmax, a); }
[[nodiscard]] constexpr expression log_softmax(expression const& a) { return expression(opcode::log_softmax, a); }
[[nodiscard]] constexpr expression abs(expression const& a) { return expression(opcode::abs, a); }
[[nodiscard]] constexpr expression minimum(expression const& a, expression const& b) {
  return expression(opcode::minimum, a, b);
}
[[nodiscard]] constexpr expression maximum(expression const& a, expression const& b) {
  return expression(opcode::maximum, a, b);
}
/// Mean and sum over axes, with reduced axes kept as extents of 1 (whether the node keeps them or something restores
/// them).
[[nodiscard]] constexpr expression mean(expression const& a) { return expression(opcode::mean, a); }
[[nodiscard]] constexpr expression sum(expression const& a) { return expression(opcode::sum, a); }
/// The largest of all along axes, likewise, and the logarithms of the sum and of the sum of exponentials.
[[nodiscard]] constexpr expression reduce_max(expression const& a) { return expression(opcode::reduce_max, a); }
[[nodiscard]] constexpr expression log_sum(expression const& a) { return expression(opcode::log_sum, a); }
[[nodiscard]] constexpr expression log_sum_exp(expression const& a) { return expression(opcode::log_sum_exp, a); }
[[nodiscard]] constexpr expression matmul(expression const& a, expression const& b) {
  return expression(opcode::matmul, a, b);
}
[[nodiscard]] constexpr expression reshape(expression const& a) { return expression(opcode::reshape, a); }
[[nodiscard]] constexpr expression concat(expression const& a, expression const& b) {
  return expression(opcode::concat, a, b);
}
[[nodiscard]] constexpr expression gather(expression const& a, expression const& indices) {
  return expression(opcode::gather, a, indices);
}
/// (q - zero point) * scale.
template <class... Operands>
[[nodiscard]] constexpr expression dequantize(Operands const&... operands) {
  return expression(opcode::dequantize, operands...);
}
/// Repeats axes of one element until the shape is, broadcast, that of a list: `expand(x, list(1, 1, 4))`. On a right
/// side, nothing where `a` is absent.
[[nodiscard]] constexpr expression expand(expression const& a, expression const& shape) {
  return expression(opcode::expand, a, shape);
}
/// Elements of `a` where the condition holds, else those of `b`. On a right side, nothing where that is absent.
[[nodiscard]] constexpr expression where(expression const& condition, expression const& a, expression const& b) {
  return expression(opcode::where, condition, a, b);
}
[[nodiscard]] constexpr expression is_nan(expression const& a) { return expression(opcode::is_nan, a); }
[[nodiscard]] constexpr expression flatten(expression const& a) { return expression(opcode::flatten, a); }
[[nodiscard]] constexpr expression cast(expression const& a) { return expression(opcode::cast, a); }
template <class... Operands>
[[nodiscard]] constexpr expression layer_norm(Operands const&... operands) {
  return expression(opcode::layer_norm, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression rms_norm(Operands const&... operands) {
  return expression(opcode::rms_norm, operands...);
}
/// A norm of each channel, along axis 1, of each sample; and of each group of neighbouring channels, of which there are
/// as many as attribute "num_groups" says. Scale and bias are those of the channels.
[[nodiscard]] constexpr expression instance_norm(expression const& a, expression const& scale, expression const& bias) {
  return expression(opcode::instance_norm, a, scale, bias);
}
[[nodiscard]] constexpr expression group_norm(expression const& a, expression const& scale, expression const& bias) {
  return expression(opcode::group_norm, a, scale, bias);
}
template <class... Operands>
[[nodiscard]] constexpr expression skip_layer_norm(Operands const&... operands) {
  return expression(opcode::skip_layer_norm, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression embed_layer_norm(Operands const&... operands) {
  return expression(opcode::embed_layer_norm, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression qembed_layer_norm(Operands const&... operands) {
  return expression(opcode::qembed_layer_norm, operands...);
}
[[nodiscard]] constexpr expression rotary_embedding(expression const& x, expression const& cosines,
                                                    expression const& sines) {
  return expression(opcode::rotary_embedding, x, cosines, sines);
}
[[nodiscard]] constexpr expression rotary_embedding_at(expression const& x, expression const& positions,
                                                       expression const& cosines, expression const& sines) {
  return expression(opcode::rotary_embedding_at, x, positions, cosines, sines);
}
/// softmax(scale * q k^T + mask) v, of (batch, heads, length, size), or of (batch, length, heads * size) with
/// attributes "q_num_heads" and "kv_num_heads": (q, k, v, mask, past keys, past values), see `multi_head_attention`.
template <class... Operands>
[[nodiscard]] constexpr expression attention(Operands const&... operands) {
  return expression(opcode::attention, operands...);
}
/// The same of three axes, as onnxruntime has it: (q, k, v, none, none, mask, past keys, past values) with attribute
/// "num_heads"; keys and values of earlier calls are (batch, heads, length, size), and with them all keys and values
/// are further results.
template <class... Operands>
[[nodiscard]] constexpr expression multi_head_attention(Operands const&... operands) {
  return expression(opcode::multi_head_attention, operands...);
}
/// The same of columns of x w + bias, which are q, k and v, as onnxruntime has it: (x, w, bias, none, none, mask) with
/// attributes "num_heads" and "qkv_hidden_sizes".
template <class... Operands>
[[nodiscard]] constexpr expression projected_attention(Operands const&... operands) {
  return expression(opcode::projected_attention, operands...);
}
template <class... Operands>
[[nodiscard]] constexpr expression skip_rms_norm(Operands const&... operands) {
  return expression(opcode::skip_rms_norm, operands...);
}

}  // namespace fuse::inline v0::dsl

namespace fuse::inline v0 {

[[nodiscard]] constexpr expression operator+(expression const& a, expression const& b) {
  return expression(opcode::add, a, b);
}
[[nodiscard]] constexpr expression operator-(expression const& a, expression const& b) {
  return expression(opcode::sub, a, b);
}
[[nodiscard]] constexpr expression operator*(expression const& a, expression const& b) {
  return expression(opcode::mul, a, b);
}
[[nodiscard]] constexpr expression operator/(expression const& a, expression const& b) {
  return expression(opcode::div, a, b);
}
[[nodiscard]] constexpr expression operator-(expression const& a) { return expression(opcode::neg, a); }

}  // namespace fuse::inline v0
