// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/core/span.hpp>
#include <fuse/ops/operator_parameters.hpp>

namespace fuse::inline v0 {

/// The neutral operators: what fuse knows the meaning of, under whatever name a dialect gives it. `opaque` is every
/// other operator.
// clang-format off
enum class opcode : std::uint16_t {
  opaque,
  // arithmetic
  add, sub, mul, div, neg, reciprocal, sqrt, rsqrt, pow, square, abs, exp, log, erf, sin, cos, tanh, sigmoid, relu, gelu, silu,
  softplus, leaky_relu, elu, hard_sigmoid, hard_swish, prelu, tan, asin, acos, atan, sinh,
  cosh, asinh, acosh, atanh, selu, celu, thresholded_relu, softsign, mish, swish, shrink, fast_gelu, quick_gelu, bias_gelu, floor, ceil, round, sign, minimum, maximum, mod, clip, sum_of,
  mean_of, bitwise_and, bitwise_or, bitwise_xor, bitwise_not,
  // logic and choice
  equal, less, less_or_equal, greater, greater_or_equal, logical_and, logical_or, logical_xor, logical_not, where, is_nan, is_inf,
  // types
  cast, cast_like, identity, dropout,
  // shapes
  constant, constant_of_shape, shape, size, range, reshape, flatten, squeeze, unsqueeze, transpose, concat, split, slice, gather,
  gather_elements, gather_nd, scatter_nd, scatter_elements, expand, tile, pad, trilu, one_hot, non_zero, cumulative_sum, top_k,
  depth_to_space, space_to_depth, reverse_sequence, eye_like, opaque_layout,
  // reductions
  mean, sum, product, reduce_max, reduce_min, sum_square, l1_norm, l2_norm, log_sum, log_sum_exp, arg_max, arg_min,
  // linear algebra and pooling
  matmul, gemm, linear, einsum, matmul_integer, conv, conv_transpose, conv_integer, max_pool, average_pool, global_max_pool, resize,
  fused_matmul, qlinear_matmul, qlinear_conv, lstm, gru, rnn,
  // normalisation
  softmax, log_softmax, batch_norm, instance_norm, group_norm, layer_norm, rms_norm, skip_layer_norm, skip_rms_norm,
  embed_layer_norm, qembed_layer_norm, rotary_embedding, rotary_embedding_at, attention, multi_head_attention, projected_attention, hardmax, lp_normalization, mean_variance_norm, local_response_norm,
  // quantisation
  quantize, dequantize, dynamic_quantize,
  // control flow
  if_else, loop, scan,
  // further operators of each of these kinds
  bit_shift, swiglu, cumulative_product, compress, lp_pool, global_lp_pool,
  tensor_scatter, causal_conv, linear_attention, nll_loss, cross_entropy_loss, fused_conv, fused_gemm,
  count_,
};
// clang-format on

/// A set of neutral operators, one bit for each.
struct opcode_set {
  std::uint64_t words[(static_cast<std::size_t>(opcode::count_) + 63) / 64];

  constexpr void add(opcode op) {
    words[static_cast<std::size_t>(op) / 64] |= std::uint64_t{1} << static_cast<std::size_t>(op) % 64;
  }
  constexpr void add(opcode_set const& others) {
    std::size_t at = 0;
    for (auto& word : words) word |= others.words[at++];
  }
  [[nodiscard]] constexpr bool has(opcode op) const {
    return (words[static_cast<std::size_t>(op) / 64] >> static_cast<std::size_t>(op) % 64 & 1u) != 0;
  }
  [[nodiscard]] constexpr bool empty() const {
    for (auto const word : words)
      if (word != 0) return false;
    return true;
  }
};

/// How an operator may be grouped with its neighbours: whether an element of its result is made of one element of each
/// operand (elementwise; broadcast, where one may serve several), of one at another place (injective), of many
/// (reduction), or of many by a loop of its own that can go on with what it made (anchor).
enum class op_kind : std::uint8_t { opaque, elementwise, broadcast, injective, reduction, anchor };

/// The word for a kind, such as "elementwise".
[[nodiscard]] constexpr std::string_view name_of(op_kind kind) {
  constexpr std::string_view names[] = {"opaque", "elementwise", "broadcast", "injective", "reduction", "anchor"};
  return names[static_cast<std::size_t>(kind)];
}

/// Operators whose operands match as a signed multiset in any bracketing, and the group each belongs to: the sums (with
/// subtraction and negation as inverses) and the products (with division, reciprocal and powers).
enum class op_group : std::uint8_t { none, sum, product };

/// What fused layers compute of each element in the end: their parameter "activation".
enum class layer_activation : std::uint8_t {
  none,
  relu,
  sigmoid,
  tanh,
  leaky_relu,
  clip,
  hard_sigmoid,
  hard_swish,
  elu,
  softplus,
  softsign,
  thresholded_relu
};

/// The shape of an operator's results, by the operands' shapes; `infer/` has the functions.
enum class shape_function : std::uint8_t { unknown, same_as_first, broadcast, reduce, own };

/// The element type of an operator's results.
enum class type_function : std::uint8_t { unknown, same_as_first, boolean, own };

/// What fuse knows of a neutral operator.
struct operator_info {
  opcode op = opcode::opaque;
  std::string_view name{};
  op_kind kind = op_kind::opaque;
  std::int8_t least = 0, most = -1;  ///< operands; most = -1: any number
  bool commutative = false;
  op_group group = op_group::none;
  shape_function shape = shape_function::unknown;
  type_function type = type_function::unknown;
  span<parameter_info const> parameters{};
  std::uint8_t of_first_result = 0;  ///< operands, a bit each, that no other result depends on
  std::uint8_t least_results = 1;
};

namespace detail {

constexpr operator_info unary(opcode op, std::string_view name) {
  return {op,
          name,
          op_kind::elementwise,
          1,
          1,
          false,
          op_group::none,
          shape_function::same_as_first,
          type_function::same_as_first,
          {}};
}
constexpr operator_info unary(opcode op, std::string_view name, op_group group) {
  auto info = unary(op, name);
  info.group = group;
  return info;
}
constexpr operator_info unary(opcode op, std::string_view name, span<parameter_info const> parameters) {
  auto info = unary(op, name);
  info.parameters = parameters;
  return info;
}
constexpr operator_info binary(opcode op, std::string_view name, bool commutative, op_group group = op_group::none) {
  return {
      op, name, op_kind::broadcast, 2, 2, commutative, group, shape_function::broadcast, type_function::same_as_first,
      {}};
}
constexpr operator_info comparison(opcode op, std::string_view name, bool commutative) {
  return {op,
          name,
          op_kind::broadcast,
          2,
          2,
          commutative,
          op_group::none,
          shape_function::broadcast,
          type_function::boolean,
          {}};
}
constexpr operator_info reduction(opcode op, std::string_view name) {
  return {op,
          name,
          op_kind::reduction,
          1,
          1,
          false,
          op_group::none,
          shape_function::reduce,
          type_function::same_as_first,
          reduction_parameters};
}
constexpr operator_info other(opcode op, std::string_view name, op_kind kind, int least, int most,
                              span<parameter_info const> parameters = {}) {
  return {op,
          name,
          kind,
          static_cast<std::int8_t>(least),
          static_cast<std::int8_t>(most),
          false,
          op_group::none,
          shape_function::own,
          type_function::own,
          parameters};
}
constexpr operator_info with_results(int least, operator_info info) {
  info.least_results = static_cast<std::uint8_t>(least);
  return info;
}
// A reduction whose result has the shape and type of its first operand.
constexpr operator_info same_shape_reduction(opcode op, std::string_view name, int least, int most,
                                             span<parameter_info const> parameters, std::uint8_t of_first_result = 0) {
  auto info = other(op, name, op_kind::reduction, least, most, parameters);
  info.of_first_result = of_first_result;
  info.shape = shape_function::same_as_first;
  info.type = type_function::same_as_first;
  return info;
}

}  // namespace detail

/// The operator table, in any order; `info(op)` finds a row.
// clang-format off
inline constexpr operator_info operator_table[] = {
    detail::binary(opcode::add, "add", true, op_group::sum),
    detail::binary(opcode::sub, "sub", false, op_group::sum),
    detail::binary(opcode::mul, "mul", true, op_group::product),
    detail::binary(opcode::div, "div", false, op_group::product),
    detail::unary(opcode::neg, "neg", op_group::sum),  // also a factor of -1
    detail::unary(opcode::reciprocal, "reciprocal", op_group::product),
    detail::unary(opcode::sqrt, "sqrt", op_group::product),
    detail::unary(opcode::rsqrt, "rsqrt", op_group::product),
    detail::binary(opcode::pow, "pow", false, op_group::product),
    detail::unary(opcode::square, "square", op_group::product),
    detail::unary(opcode::abs, "abs"),
    detail::unary(opcode::exp, "exp"),
    detail::unary(opcode::log, "log"),
    detail::unary(opcode::erf, "erf"),
    detail::unary(opcode::sin, "sin"),
    detail::unary(opcode::cos, "cos"),
    detail::unary(opcode::tanh, "tanh"),
    detail::unary(opcode::sigmoid, "sigmoid"),
    detail::unary(opcode::relu, "relu"),
    detail::unary(opcode::gelu, "gelu", detail::gelu_parameters),
    detail::unary(opcode::silu, "silu"),
    detail::unary(opcode::softplus, "softplus"),
    detail::unary(opcode::leaky_relu, "leaky_relu", detail::leaky_relu_parameters),
    detail::unary(opcode::elu, "elu", detail::elu_parameters),
    detail::unary(opcode::hard_sigmoid, "hard_sigmoid", detail::hard_sigmoid_parameters),
    detail::unary(opcode::hard_swish, "hard_swish"),
    detail::binary(opcode::prelu, "prelu", false),
    detail::unary(opcode::tan, "tan"),
    detail::unary(opcode::asin, "asin"),
    detail::unary(opcode::acos, "acos"),
    detail::unary(opcode::atan, "atan"),
    detail::unary(opcode::sinh, "sinh"),
    detail::unary(opcode::cosh, "cosh"),
    detail::unary(opcode::asinh, "asinh"),
    detail::unary(opcode::acosh, "acosh"),
    detail::unary(opcode::atanh, "atanh"),
    detail::unary(opcode::selu, "selu"),
    detail::unary(opcode::celu, "celu"),
    detail::unary(opcode::thresholded_relu, "thresholded_relu", detail::thresholded_relu_parameters),
    detail::unary(opcode::softsign, "softsign"),
    detail::unary(opcode::mish, "mish"),
    detail::unary(opcode::swish, "swish", detail::swish_parameters),
    detail::unary(opcode::shrink, "shrink"),
    detail::unary(opcode::quick_gelu, "quick_gelu"),
    detail::other(opcode::fast_gelu, "fast_gelu", op_kind::broadcast, 1, 2),
    detail::other(opcode::bias_gelu, "bias_gelu", op_kind::broadcast, 2, 2),
    detail::unary(opcode::floor, "floor"),
    detail::unary(opcode::ceil, "ceil"),
    detail::unary(opcode::round, "round"),
    detail::unary(opcode::sign, "sign"),
    {opcode::minimum, "minimum", op_kind::broadcast, 1, -1, true, op_group::none, shape_function::broadcast, type_function::same_as_first, {}},
    {opcode::maximum, "maximum", op_kind::broadcast, 1, -1, true, op_group::none, shape_function::broadcast, type_function::same_as_first, {}},
    {opcode::sum_of, "sum_of", op_kind::broadcast, 1, -1, true, op_group::sum, shape_function::broadcast, type_function::same_as_first, {}},
    {opcode::mean_of, "mean_of", op_kind::broadcast, 1, -1, true, op_group::none, shape_function::broadcast, type_function::same_as_first, {}},
    detail::binary(opcode::mod, "mod", false),
    detail::binary(opcode::bitwise_and, "bitwise_and", true),
    detail::binary(opcode::bitwise_or, "bitwise_or", true),
    detail::binary(opcode::bitwise_xor, "bitwise_xor", true),
    detail::unary(opcode::bitwise_not, "bitwise_not"),
    {opcode::clip, "clip", op_kind::elementwise, 1, 3, false, op_group::none, shape_function::same_as_first, type_function::same_as_first, detail::clip_parameters},
    detail::comparison(opcode::equal, "equal", true),
    detail::comparison(opcode::less, "less", false),
    detail::comparison(opcode::less_or_equal, "less_or_equal", false),
    detail::comparison(opcode::greater, "greater", false),
    detail::comparison(opcode::greater_or_equal, "greater_or_equal", false),
    detail::comparison(opcode::logical_and, "logical_and", true),
    detail::comparison(opcode::logical_or, "logical_or", true),
    detail::comparison(opcode::logical_xor, "logical_xor", true),
    {opcode::logical_not, "logical_not", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::boolean, {}},
    {opcode::where, "where", op_kind::broadcast, 3, 3, false, op_group::none, shape_function::broadcast, type_function::own, {}},
    {opcode::is_nan, "is_nan", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::boolean, {}},
    {opcode::is_inf, "is_inf", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::boolean, {}},
    {opcode::cast, "cast", op_kind::elementwise, 1, 1, false, op_group::none, shape_function::same_as_first, type_function::own, {}},
    {opcode::cast_like, "cast_like", op_kind::elementwise, 2, 2, false, op_group::none, shape_function::same_as_first, type_function::own, {}},
    detail::unary(opcode::identity, "identity"),
    detail::other(opcode::dropout, "dropout", op_kind::elementwise, 1, 3),
    detail::other(opcode::constant, "constant", op_kind::opaque, 0, 0),
    detail::other(opcode::constant_of_shape, "constant_of_shape", op_kind::injective, 1, 1),
    detail::other(opcode::shape, "shape", op_kind::opaque, 1, 1),
    detail::other(opcode::size, "size", op_kind::opaque, 1, 1),
    detail::other(opcode::range, "range", op_kind::opaque, 3, 3),
    detail::other(opcode::reshape, "reshape", op_kind::injective, 1, 2, detail::reshape_parameters),
    detail::other(opcode::flatten, "flatten", op_kind::injective, 1, 1, detail::flatten_parameters),
    detail::other(opcode::squeeze, "squeeze", op_kind::injective, 1, 1),
    detail::other(opcode::unsqueeze, "unsqueeze", op_kind::injective, 1, 1),
    detail::other(opcode::transpose, "transpose", op_kind::injective, 1, 1, detail::transpose_parameters),
    detail::other(opcode::concat, "concat", op_kind::injective, 1, -1, detail::axis_parameters),
    detail::other(opcode::split, "split", op_kind::injective, 1, 2, detail::first_axis_parameters),
    detail::other(opcode::slice, "slice", op_kind::injective, 1, 5, detail::slice_parameters),
    detail::other(opcode::gather, "gather", op_kind::injective, 2, 2, detail::first_axis_parameters),
    detail::other(opcode::gather_elements, "gather_elements", op_kind::injective, 2, 2, detail::first_axis_parameters),
    detail::other(opcode::gather_nd, "gather_nd", op_kind::injective, 2, 2),
    detail::other(opcode::scatter_nd, "scatter_nd", op_kind::opaque, 3, 3),
    detail::other(opcode::scatter_elements, "scatter_elements", op_kind::opaque, 3, 3, detail::first_axis_parameters),
    detail::other(opcode::expand, "expand", op_kind::injective, 2, 2),
    detail::other(opcode::tile, "tile", op_kind::injective, 2, 2),
    detail::other(opcode::pad, "pad", op_kind::injective, 1, 4, detail::pad_parameters),
    detail::other(opcode::trilu, "trilu", op_kind::injective, 1, 2),
    detail::other(opcode::one_hot, "one_hot", op_kind::injective, 3, 3, detail::last_axis_parameters),
    detail::other(opcode::non_zero, "non_zero", op_kind::opaque, 1, 1),
    detail::other(opcode::cumulative_sum, "cumulative_sum", op_kind::opaque, 2, 2),
    detail::with_results(2, detail::other(opcode::top_k, "top_k", op_kind::opaque, 1, 2, detail::last_axis_parameters)),
    detail::other(opcode::depth_to_space, "depth_to_space", op_kind::injective, 1, 1),
    detail::other(opcode::space_to_depth, "space_to_depth", op_kind::injective, 1, 1),
    detail::other(opcode::reverse_sequence, "reverse_sequence", op_kind::opaque, 2, 2),
    detail::other(opcode::eye_like, "eye_like", op_kind::opaque, 1, 1),
    // A layout operator, such as a slice or a permutation, whose parameters a dialect does not describe: elements of the
    // first operand, in a shape that the graph tells.
    detail::other(opcode::opaque_layout, "opaque_layout", op_kind::opaque, 1, -1),
    detail::reduction(opcode::mean, "mean"),
    detail::reduction(opcode::sum, "sum"),
    detail::reduction(opcode::product, "product"),
    detail::reduction(opcode::reduce_max, "reduce_max"),
    detail::reduction(opcode::reduce_min, "reduce_min"),
    detail::reduction(opcode::sum_square, "sum_square"),
    detail::reduction(opcode::l1_norm, "l1_norm"),
    detail::reduction(opcode::l2_norm, "l2_norm"),
    detail::reduction(opcode::log_sum, "log_sum"),
    detail::reduction(opcode::log_sum_exp, "log_sum_exp"),
    detail::other(opcode::arg_max, "arg_max", op_kind::reduction, 1, 1, detail::first_axis_parameters),
    detail::other(opcode::arg_min, "arg_min", op_kind::reduction, 1, 1, detail::first_axis_parameters),
    detail::other(opcode::matmul, "matmul", op_kind::anchor, 2, 2),
    detail::other(opcode::gemm, "gemm", op_kind::anchor, 2, 3, detail::gemm_parameters),
    detail::other(opcode::linear, "linear", op_kind::anchor, 2, 3),  // x w^T + b: rows of any x, by the rows of w
    detail::other(opcode::einsum, "einsum", op_kind::anchor, 1, -1),
    detail::other(opcode::matmul_integer, "matmul_integer", op_kind::anchor, 2, 4),
    detail::other(opcode::conv, "conv", op_kind::anchor, 2, 3, detail::conv_parameters),
    detail::other(opcode::conv_transpose, "conv_transpose", op_kind::anchor, 2, 3, detail::conv_parameters),
    detail::other(opcode::conv_integer, "conv_integer", op_kind::anchor, 2, 4),
    detail::other(opcode::max_pool, "max_pool", op_kind::anchor, 1, 1, detail::max_pool_parameters),
    detail::other(opcode::average_pool, "average_pool", op_kind::anchor, 1, 1, detail::average_pool_parameters),
    detail::other(opcode::global_max_pool, "global_max_pool", op_kind::reduction, 1, 1),
    detail::other(opcode::resize, "resize", op_kind::opaque, 1, 4),
    detail::other(opcode::fused_matmul, "fused_matmul", op_kind::anchor, 2, 2),
    detail::other(opcode::qlinear_matmul, "qlinear_matmul", op_kind::anchor, 8, 8),
    detail::other(opcode::qlinear_conv, "qlinear_conv", op_kind::anchor, 8, 9),
    detail::other(opcode::lstm, "lstm", op_kind::opaque, 3, 8),
    detail::other(opcode::gru, "gru", op_kind::opaque, 3, 6),
    detail::other(opcode::rnn, "rnn", op_kind::opaque, 3, 6),
    detail::same_shape_reduction(opcode::softmax, "softmax", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::log_softmax, "log_softmax", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::batch_norm, "batch_norm", 5, 5, detail::batch_norm_parameters),
    detail::same_shape_reduction(opcode::instance_norm, "instance_norm", 3, 3, detail::instance_norm_parameters),
    detail::same_shape_reduction(opcode::group_norm, "group_norm", 3, 3, detail::group_norm_parameters),
    detail::same_shape_reduction(opcode::layer_norm, "layer_norm", 1, 3, detail::norm_parameters, 0b110),
    detail::same_shape_reduction(opcode::rms_norm, "rms_norm", 1, 2, detail::norm_parameters, 0b10),
    detail::same_shape_reduction(opcode::skip_layer_norm, "skip_layer_norm", 3, 5, detail::norm_parameters, 0b1100),
    detail::same_shape_reduction(opcode::skip_rms_norm, "skip_rms_norm", 3, 4, detail::norm_parameters, 0b100),
    // (ids, segments?, words, positions' table, segments' table?, scale, bias, mask?, positions?); the counts of masks are
    // a result that it cannot lack.
    detail::with_results(2, detail::other(opcode::embed_layer_norm, "embed_layer_norm", op_kind::reduction, 1, 9, detail::embedding_parameters)),
    // The same of tables, scale and bias of 8 bits: behind the mask stand their five scales, then their zero points.
    detail::with_results(2, detail::other(opcode::qembed_layer_norm, "qembed_layer_norm", op_kind::reduction, 1, 18, detail::embedding_parameters)),
    detail::other(opcode::rotary_embedding, "rotary_embedding", op_kind::injective, 3, 4, detail::rotary_parameters),
    detail::other(opcode::rotary_embedding_at, "rotary_embedding_at", op_kind::injective, 4, 4, detail::rotary_parameters),
    detail::other(opcode::attention, "attention", op_kind::anchor, 3, 7, detail::attention_parameters),
    // (queries, keys, values, projections' bias?, padding?, what is added to the scores?, ...), heads side by side.
    detail::other(opcode::multi_head_attention, "multi_head_attention", op_kind::anchor, 1, 10, detail::multi_head_attention_parameters),
    // (x, weights, bias?, padding?, past?, what is added to the scores?, ...), of queries, keys and values that are
    // columns of x weights + bias.
    detail::other(opcode::projected_attention, "projected_attention", op_kind::anchor, 2, 7, detail::projected_attention_parameters),
    detail::same_shape_reduction(opcode::hardmax, "hardmax", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::lp_normalization, "lp_normalization", 1, 1, detail::last_axis_parameters),
    detail::same_shape_reduction(opcode::mean_variance_norm, "mean_variance_norm", 1, 1, {}),
    detail::same_shape_reduction(opcode::local_response_norm, "local_response_norm", 1, 1, {}),
    detail::other(opcode::quantize, "quantize", op_kind::elementwise, 2, 3),
    detail::other(opcode::dequantize, "dequantize", op_kind::elementwise, 2, 3),
    detail::with_results(3, detail::other(opcode::dynamic_quantize, "dynamic_quantize", op_kind::opaque, 1, 1)),
    detail::other(opcode::if_else, "if_else", op_kind::opaque, 1, 1),
    detail::other(opcode::loop, "loop", op_kind::opaque, 2, -1),
    detail::other(opcode::scan, "scan", op_kind::opaque, 1, -1),
    detail::binary(opcode::bit_shift, "bit_shift", false),
    detail::binary(opcode::swiglu, "swiglu", false),
    detail::other(opcode::cumulative_product, "cumulative_product", op_kind::opaque, 2, 2),
    detail::other(opcode::compress, "compress", op_kind::opaque, 2, 2),
    detail::other(opcode::lp_pool, "lp_pool", op_kind::anchor, 1, 1, detail::pool_parameters),
    detail::other(opcode::global_lp_pool, "global_lp_pool", op_kind::reduction, 1, 1),
    detail::other(opcode::tensor_scatter, "tensor_scatter", op_kind::opaque, 2, 3),
    detail::other(opcode::causal_conv, "causal_conv", op_kind::anchor, 2, 4),
    detail::other(opcode::linear_attention, "linear_attention", op_kind::anchor, 3, 6),
    detail::other(opcode::nll_loss, "nll_loss", op_kind::opaque, 2, 3),
    detail::other(opcode::cross_entropy_loss, "cross_entropy_loss", op_kind::opaque, 2, 3),
    // (x, w, b?, what is added before the activation?)
    detail::other(opcode::fused_conv, "fused_conv", op_kind::anchor, 2, 4, detail::fused_conv_parameters),
    detail::other(opcode::fused_gemm, "fused_gemm", op_kind::anchor, 2, 3, detail::fused_gemm_parameters),
};
// clang-format on

namespace detail {

struct operator_rows {
  std::uint8_t row[static_cast<std::size_t>(opcode::count_)]{};  // 1-based; 0 is opaque
};
inline constexpr operator_rows rows_by_opcode = [] {
  operator_rows rows;
  std::uint8_t at = 0;
  for (auto const& info : operator_table) rows.row[static_cast<std::size_t>(info.op)] = ++at;
  return rows;
}();
inline constexpr operator_info opaque_operator{opcode::opaque, "opaque"};

}  // namespace detail

/// What is known of `op`; constant time.
[[nodiscard]] constexpr operator_info const& info(opcode op) {
  auto const row = detail::rows_by_opcode.row[static_cast<std::size_t>(op)];
  return row == 0 ? detail::opaque_operator : operator_table[row - 1];
}

[[nodiscard]] constexpr std::string_view name_of(opcode op) { return info(op).name; }

/// Whether an operator changes the shape alone, or nothing: whoever reads its result need not have it in memory.
[[nodiscard]] constexpr bool is_view(opcode op) {
  return op == opcode::reshape || op == opcode::squeeze || op == opcode::unsqueeze || op == opcode::flatten ||
         op == opcode::identity;
}

/// Whether an operator without its first operand stands for nothing on a right side, and not for a mistake.
[[nodiscard]] constexpr bool is_nothing_of_nothing(opcode op) {
  return op == opcode::cast || op == opcode::where || op == opcode::expand;
}

/// Whether the order of an operator's `axes` says nothing: no other parameter has an entry for each of them.
[[nodiscard]] constexpr bool has_set_of_axes(opcode op) {
  return op == opcode::squeeze || op == opcode::unsqueeze || info(op).shape == shape_function::reduce;
}

/// An operand whose elements name rows of another one, `table` (-1: they do not), from its end, too, where they are
/// below 0.
struct row_names {
  int table = -1;
  bool from_end = false;
};
[[nodiscard]] constexpr row_names rows_named_by(opcode op, std::size_t operand) {
  switch (op) {
    case opcode::gather: return operand == 1 ? row_names{0, true} : row_names{};
    case opcode::embed_layer_norm:
      if (operand == 8) return {3};
      [[fallthrough]];
    case opcode::qembed_layer_norm: return operand == 0 ? row_names{2} : operand == 1 ? row_names{4} : row_names{};
    default: return {};
  }
}

/// The operand whose element type a number has that stands for operand `i`; -1: the first that is no number.
[[nodiscard]] constexpr int number_beside(opcode op, std::size_t i) {
  if (op == opcode::qembed_layer_norm) return i > 12 ? 2 : -1;       // zero points, beside tables
  return op == opcode::embed_layer_norm && i > 2 && i < 7 ? 2 : -1;  // tables, scale and bias, beside the words
}

/// What the table says of a parameter of `op`, or null.
[[nodiscard]] constexpr parameter_info const* parameter_of(opcode op, std::string_view name) {
  for (auto const& p : info(op).parameters)
    if (p.name == name) return &p;
  return nullptr;
}
/// What it says of parameters of that name, of whichever operator: all have the same kind. Null where none has one.
/// Linear in the table.
[[nodiscard]] constexpr parameter_info const* parameter_named(std::string_view name) {
  for (auto const& row : operator_table)
    if (auto const* found = parameter_of(row.op, name); found != nullptr) return found;
  return nullptr;
}

/// The neutral operator of a name, or `opaque`. Linear in the table.
[[nodiscard]] constexpr opcode op_named(std::string_view name) {
  for (auto const& row : operator_table)
    if (row.name == name) return row.op;
  return opcode::opaque;
}

}  // namespace fuse::inline v0
