// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/ops/dialect.hpp>
#include <fuse/ops/onnx_functions.hpp>
#include <fuse/ops/onnx_operators.hpp>

namespace fuse::inline v0 {
namespace detail::onnx_rows {

using kind = parameter_source::kind;

inline constexpr parameter_source axes_operand[] = {{"axes", kind::operand, {}, 1}};
inline constexpr parameter_source global_pool[] = {{"axes", kind::spatial_axes}, {"keepdims", kind::fixed, {}, 0, 1}};
inline constexpr parameter_source shape_operand[] = {{"shape", kind::operand, {}, 1}};
inline constexpr parameter_source slice_operands[] = {{"starts", kind::operand, {}, 1},
                                                      {"ends", kind::operand, {}, 2},
                                                      {"axes", kind::operand, {}, 3},
                                                      {"steps", kind::operand, {}, 4}};
inline constexpr parameter_source split_operand[] = {{"split", kind::operand, {}, 1}};
inline constexpr parameter_source clip_operands[] = {{"min", kind::operand, {}, 1}, {"max", kind::operand, {}, 2}};
inline constexpr parameter_source softmax_first_axis[] = {{"axis", kind::attribute, "axis", 0, 1, axis_use::trailing}};
inline constexpr parameter_source padding_mode{
    "mode", kind::word, "mode", 0, 0, axis_use::none, "constant reflect edge wrap"};
inline constexpr parameter_source pad_mode[] = {padding_mode};
inline constexpr parameter_source pads_operand[] = {
    {"pads", kind::operand, {}, 1}, {"value", kind::operand, {}, 2}, padding_mode};
inline constexpr parameter_source pads_and_axes[] = {
    {"pads", kind::operand, {}, 1}, {"value", kind::operand, {}, 2}, {"axes", kind::operand, {}, 3}, padding_mode};
inline constexpr parameter_source k_operand[] = {{"k", kind::operand, {}, 1}};
inline constexpr parameter_source approximation[] = {
    {"approximate", kind::word, "approximate", 0, 0, axis_use::none, "none tanh"}};
inline constexpr parameter_source quick_alpha[] = {{"alpha", kind::attribute, "alpha", 0, 1.702}};
// In the order of layer_activation.
inline constexpr parameter_source activation_by_name[] = {
    {"activation", kind::word, "activation", 0, 0, axis_use::none,
     "none Relu Sigmoid Tanh LeakyRelu Clip HardSigmoid HardSwish Elu Softplus Softsign ThresholdedRelu"}};
inline constexpr parameter_source skip_epsilon[] = {{"epsilon", kind::attribute, "epsilon", 0, 1e-12}};

// Of com.microsoft's operators: float, half and bfloat16; and double. (FastGelu takes doubles, and rounds its
// constants.)
inline constexpr element_types short_float_types[] = {{1, {0x10402, 0x10402, 0x10402, 0x10402, 0x10402}, 0x10402}};
inline constexpr element_types float_types[] = {{1, {0x10c02, 0x10c02}, 0x10c02}};

inline constexpr element_types one_float_type[] = {{1, {0x2, 0x2, 0x2, 0x2}, 0x2}};
// Float and half, by ids of 32 bits.
inline constexpr element_types embedding_types[] = {{1, {0x40, 0x40, 0x402, 0x402, 0x402}, 0x402}};
inline constexpr element_types quantised_embedding_types[] = {{1, {0x40, 0x40, 0xc, 0xc, 0xc}, 0x2}};
// Float and half; padding in 32 bits.
inline constexpr element_types attention_types[] = {{1, {0x402, 0x402, 0x402, 0x402, 0x40}, 0x402}};
inline constexpr element_types projected_attention_types[] = {{1, {0x402, 0x402, 0x402, 0x40, 0x402}, 0x402}};
// Float and half, by positions of 64 bits.
inline constexpr element_types rotary_types[] = {{1, {0x402, 0x80, 0x402, 0x402}, 0x402}};

inline constexpr attribute_info fused_conv_all[] = {
    {"activation", attribute_kind::text}, {"activation_params", attribute_kind::numbers},
    {"auto_pad", attribute_kind::text},   {"dilations", attribute_kind::integers},
    {"group", attribute_kind::integer},   {"kernel_shape", attribute_kind::integers},
    {"pads", attribute_kind::integers},   {"strides", attribute_kind::integers}};
inline constexpr attribute_info fused_gemm_all[] = {
    {"activation", attribute_kind::text},        {"activation_alpha", attribute_kind::number},
    {"activation_beta", attribute_kind::number}, {"activation_gamma", attribute_kind::number},
    {"alpha", attribute_kind::number},           {"beta", attribute_kind::number},
    {"transA", attribute_kind::integer},         {"transB", attribute_kind::integer}};
inline constexpr attribute_info multi_head_attention_all[] = {{"mask_filter_value", attribute_kind::number},
                                                              {"num_heads", attribute_kind::integer},
                                                              {"scale", attribute_kind::number},
                                                              {"unidirectional", attribute_kind::integer}};
inline constexpr attribute_list fused_conv_attributes{fused_conv_all}, fused_gemm_attributes{fused_gemm_all},
    multi_head_attention_attributes{multi_head_attention_all};

// Below operator set 7 an attribute "axis" says along which axes the second operand is repeated.
inline constexpr required_attribute no_axis[] = {{"axis"}};
// Who trains: below operator set 7 an attribute "is_test" says that nobody does, above that so does a single result.
inline constexpr required_attribute is_test[] = {{"is_test", 1, false}};
inline constexpr required_attribute spatial[] = {{"spatial", 1}};
inline constexpr required_attribute is_test_and_spatial[] = {{"is_test", 1, false}, {"spatial", 1}};

[[nodiscard]] constexpr operator_row repeats_by_axis(std::string_view name, opcode op, std::string_view otherwise) {
  return {.name = name, .op = op, .one_shape = true, .needs = no_axis, .otherwise = otherwise};
}
[[nodiscard]] constexpr operator_row one_shape(std::string_view name, opcode op) {
  return {.name = name, .op = op, .one_shape = true};
}
// What such an operator is where it means something else: its result is like its first operand.
[[nodiscard]] constexpr operator_row otherwise(std::string_view name, element_type type = element_type::unknown) {
  return {.name = name, .emit = target::none, .result = {.shape = result_info::kind::operand, .type = type}};
}

// clang-format off
inline constexpr operator_row rows[] = {
    repeats_by_axis("Add", opcode::add, "Add along an axis"), {"Add", opcode::add, 7},
    repeats_by_axis("Sub", opcode::sub, "Sub along an axis"), {"Sub", opcode::sub, 7},
    repeats_by_axis("Mul", opcode::mul, "Mul along an axis"), {"Mul", opcode::mul, 7},
    repeats_by_axis("Div", opcode::div, "Div along an axis"), {"Div", opcode::div, 7}, {"Neg", opcode::neg},
    {"Reciprocal", opcode::reciprocal}, {"Sqrt", opcode::sqrt}, repeats_by_axis("Pow", opcode::pow, "Pow along an axis"), {"Pow", opcode::pow, 7}, {"Abs", opcode::abs}, {"Exp", opcode::exp},
    {"Log", opcode::log}, {"Erf", opcode::erf}, {"Sin", opcode::sin}, {"Cos", opcode::cos}, {"Tanh", opcode::tanh},
    {"Sigmoid", opcode::sigmoid}, {"Relu", opcode::relu}, 
    // Read as GELU by erf with a parameter (no operator set before 20 has it); written by tanh as one that is nothing else.
    {"Gelu", opcode::fast_gelu, 1, {}, 1, target::standard}, {"Gelu", opcode::gelu, 2, approximation, 1},
    {"Softplus", opcode::softplus},
    {"LeakyRelu", opcode::leaky_relu}, {"Elu", opcode::elu}, {"HardSigmoid", opcode::hard_sigmoid}, {"HardSwish", opcode::hard_swish},
    {"PRelu", opcode::prelu, 7}, {"Floor", opcode::floor}, {"Ceil", opcode::ceil}, {"Round", opcode::round}, {"Sign", opcode::sign},
    one_shape("Min", opcode::minimum), {"Min", opcode::minimum, 8}, one_shape("Max", opcode::maximum), {"Max", opcode::maximum, 8},
    one_shape("Sum", opcode::sum_of), {"Sum", opcode::sum_of, 8}, {"Mod", opcode::mod},
    {"Clip", opcode::clip}, {"Clip", opcode::clip, 11, clip_operands, 1},
    repeats_by_axis("Equal", opcode::equal, "Equal along an axis"), {"Equal", opcode::equal, 7},
    repeats_by_axis("Less", opcode::less, "Less along an axis"), {"Less", opcode::less, 7}, {"LessOrEqual", opcode::less_or_equal},
    repeats_by_axis("Greater", opcode::greater, "Greater along an axis"), {"Greater", opcode::greater, 7}, {"GreaterOrEqual", opcode::greater_or_equal},
    repeats_by_axis("And", opcode::logical_and, "And along an axis"), {"And", opcode::logical_and, 7},
    repeats_by_axis("Or", opcode::logical_or, "Or along an axis"), {"Or", opcode::logical_or, 7},
    repeats_by_axis("Xor", opcode::logical_xor, "Xor along an axis"), {"Xor", opcode::logical_xor, 7},
    {"Not", opcode::logical_not}, {"Where", opcode::where}, {"IsNaN", opcode::is_nan}, {"IsInf", opcode::is_inf},
    {"Cast", opcode::cast}, {"CastLike", opcode::cast_like}, {"Identity", opcode::identity},
    {.name = "Dropout", .op = opcode::dropout, .needs = is_test, .otherwise = "Dropout while training"}, {"Dropout", opcode::dropout, 7},
    {"Constant", opcode::constant}, {"ConstantOfShape", opcode::constant_of_shape}, {"Shape", opcode::shape}, {"Size", opcode::size},
    {"Range", opcode::range}, {"Reshape", opcode::reshape, 1}, {"Reshape", opcode::reshape, 5, shape_operand, 1},
    {"Flatten", opcode::flatten}, {"Squeeze", opcode::squeeze}, {"Squeeze", opcode::squeeze, 13, axes_operand, 1},
    {"Unsqueeze", opcode::unsqueeze}, {"Unsqueeze", opcode::unsqueeze, 13, axes_operand, 1}, {"Transpose", opcode::transpose},
    {"Concat", opcode::concat}, {"Split", opcode::split, 2}, {"Split", opcode::split, 13, split_operand, 1},
    {"Slice", opcode::slice}, {"Slice", opcode::slice, 10, slice_operands, 1}, {"Gather", opcode::gather},
    {"GatherElements", opcode::gather_elements}, {"GatherND", opcode::gather_nd}, {"ScatterND", opcode::scatter_nd},
    {"ScatterElements", opcode::scatter_elements}, {"Expand", opcode::expand, 8}, {"Tile", opcode::tile, 6},
    {"Pad", opcode::pad, 1, pad_mode}, {"Pad", opcode::pad, 11, pads_operand, 1}, {"Pad", opcode::pad, 18, pads_and_axes, 1}, {"Trilu", opcode::trilu}, {"OneHot", opcode::one_hot},
    {"NonZero", opcode::non_zero}, {"CumSum", opcode::cumulative_sum}, {"TopK", opcode::top_k}, {"TopK", opcode::top_k, 10, k_operand, 1},
    {"ReduceMean", opcode::mean}, {"ReduceMean", opcode::mean, 18, axes_operand, 1},
    {"GlobalAveragePool", opcode::mean, 1, global_pool, -1, target::none},  // read as a mean, never written as one
    {"ReduceSum", opcode::sum}, {"ReduceSum", opcode::sum, 13, axes_operand, 1},
    {"ReduceProd", opcode::product}, {"ReduceProd", opcode::product, 18, axes_operand, 1},
    {"ReduceMax", opcode::reduce_max}, {"ReduceMax", opcode::reduce_max, 18, axes_operand, 1},
    {"ReduceMin", opcode::reduce_min}, {"ReduceMin", opcode::reduce_min, 18, axes_operand, 1},
    {"ReduceSumSquare", opcode::sum_square}, {"ReduceSumSquare", opcode::sum_square, 18, axes_operand, 1},
    {"ReduceL1", opcode::l1_norm}, {"ReduceL1", opcode::l1_norm, 18, axes_operand, 1},
    {"ReduceL2", opcode::l2_norm}, {"ReduceL2", opcode::l2_norm, 18, axes_operand, 1},
    {"ReduceLogSum", opcode::log_sum}, {"ReduceLogSum", opcode::log_sum, 18, axes_operand, 1},
    {"ReduceLogSumExp", opcode::log_sum_exp}, {"ReduceLogSumExp", opcode::log_sum_exp, 18, axes_operand, 1},
    {"ArgMax", opcode::arg_max}, {"ArgMin", opcode::arg_min},
    {"MatMul", opcode::matmul}, one_shape("Gemm", opcode::gemm), {"Gemm", opcode::gemm, 7}, {"Einsum", opcode::einsum}, {"MatMulInteger", opcode::matmul_integer},
    {"Conv", opcode::conv}, {"ConvTranspose", opcode::conv_transpose}, {"ConvInteger", opcode::conv_integer},
    {"MaxPool", opcode::max_pool}, {"AveragePool", opcode::average_pool}, {"GlobalMaxPool", opcode::global_max_pool},
    {"Resize", opcode::resize},
    {"Softmax", opcode::softmax, 1, softmax_first_axis}, {"Softmax", opcode::softmax, 13},
    {"LogSoftmax", opcode::log_softmax, 1, softmax_first_axis}, {"LogSoftmax", opcode::log_softmax, 13},
    {.name = "BatchNormalization", .op = opcode::batch_norm, .needs = is_test_and_spatial, .most_results = 1, .otherwise = "BatchNormalization of another kind"},
    {.name = "BatchNormalization", .op = opcode::batch_norm, .since = 7, .needs = spatial, .most_results = 1, .otherwise = "BatchNormalization of another kind"},
    {.name = "BatchNormalization", .op = opcode::batch_norm, .since = 9, .most_results = 1, .otherwise = "BatchNormalization of another kind"},
    {"BatchNormalization", opcode::batch_norm, 14},
    {"InstanceNormalization", opcode::instance_norm, 1, {}, -1, target::any, 6},
    // Written from the version on whose scales are those of channels. onnxruntime expands it: an instance norm and what stands around it are faster.
    {"GroupNormalization", opcode::group_norm, 1, {}, -1, target::standard, 21},
    // onnxruntime runs LayerNormalization in the default domain at every operator set; the standard has it from 17 on.
    {"LayerNormalization", opcode::layer_norm, 1, {}, -1, target::onnxruntime},
    {"LayerNormalization", opcode::layer_norm, 17, {}, -1, target::any},
    {"RMSNormalization", opcode::rms_norm, 23, {}, -1, target::standard},
    {"SimplifiedLayerNormalization", opcode::rms_norm, 1, {}, -1, target::onnxruntime},
    // Calls of the functions that stand in for norms (onnx_norms.hpp, onnx_channel_norms.hpp), whatever variant follows the name.
    {"fuse::LayerNormalization", opcode::layer_norm, 1, {}, -1, target::none},
    {"fuse::RMSNormalization", opcode::rms_norm, 1, {}, -1, target::none},
    {"fuse::GroupNormalization", opcode::group_norm, 1, {}, -1, target::none},
    {"com.microsoft::LayerNormalization", opcode::layer_norm, 1, {}, -1, target::none},
    {"com.microsoft::SimplifiedLayerNormalization", opcode::rms_norm, 1, {}, -1, target::none},
    {"com.microsoft::SkipLayerNormalization", opcode::skip_layer_norm, 1, skip_epsilon, -1, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"com.microsoft::SkipSimplifiedLayerNormalization", opcode::skip_rms_norm, 1, skip_epsilon, -1, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"com.microsoft::EmbedLayerNormalization", opcode::embed_layer_norm, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, embedding_types},
    {"com.microsoft::QEmbedLayerNormalization", opcode::qembed_layer_norm, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, quantised_embedding_types},
    {"com.microsoft::RotaryEmbedding", opcode::rotary_embedding_at, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, rotary_types},
    {"RotaryEmbedding", opcode::rotary_embedding, 23}, {"Attention", opcode::attention, 23},
    {"com.microsoft::MultiHeadAttention", opcode::multi_head_attention, 1, {}, -1, target::onnxruntime, 0, &multi_head_attention_attributes, {}, attention_types},
    {"com.microsoft::Attention", opcode::projected_attention, 1, {}, -1, target::onnxruntime, 0, &any_attributes, {}, projected_attention_types},
    {"QuantizeLinear", opcode::quantize}, {"DequantizeLinear", opcode::dequantize}, {"DynamicQuantizeLinear", opcode::dynamic_quantize},
    {"Tan", opcode::tan}, {"Asin", opcode::asin}, {"Acos", opcode::acos}, {"Atan", opcode::atan}, {"Sinh", opcode::sinh}, {"Cosh", opcode::cosh},
    {"Asinh", opcode::asinh}, {"Acosh", opcode::acosh}, {"Atanh", opcode::atanh}, {"Selu", opcode::selu}, {"Celu", opcode::celu},
    {"ThresholdedRelu", opcode::thresholded_relu}, {"Softsign", opcode::softsign}, {"Mish", opcode::mish}, {"Swish", opcode::swish, 1, {}, 1, target::standard},
    {"Shrink", opcode::shrink}, one_shape("Mean", opcode::mean_of), {"Mean", opcode::mean_of, 8}, {"BitwiseAnd", opcode::bitwise_and}, {"BitwiseOr", opcode::bitwise_or},
    {"BitwiseXor", opcode::bitwise_xor}, {"BitwiseNot", opcode::bitwise_not}, {"DepthToSpace", opcode::depth_to_space},
    {"SpaceToDepth", opcode::space_to_depth}, {"ReverseSequence", opcode::reverse_sequence}, {"EyeLike", opcode::eye_like},
    {"Hardmax", opcode::hardmax, 1, softmax_first_axis}, {"Hardmax", opcode::hardmax, 13}, {"LpNormalization", opcode::lp_normalization},
    {"MeanVarianceNormalization", opcode::mean_variance_norm}, {"LRN", opcode::local_response_norm}, {"Upsample", opcode::resize, 9},
    {"QLinearMatMul", opcode::qlinear_matmul}, {"QLinearConv", opcode::qlinear_conv}, {"LSTM", opcode::lstm}, {"GRU", opcode::gru},
    {"RNN", opcode::rnn},
    {"com.microsoft::Gelu", opcode::gelu, 1, {}, 1, target::onnxruntime, 0, &any_attributes, {}, float_types},
    {"com.microsoft::FastGelu", opcode::fast_gelu, 1, {}, 2, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"com.microsoft::QuickGelu", opcode::swish, 1, quick_alpha, 1, target::onnxruntime, 0, &any_attributes, {}, float_types},
    {"com.microsoft::BiasGelu", opcode::bias_gelu, 1, {}, 2, target::onnxruntime, 0, &any_attributes, {}, short_float_types},
    {"fuse::Gelu", opcode::gelu, 1, {}, -1, target::none}, {"fuse::Gelu_tanh", opcode::fast_gelu, 1, {}, -1, target::none},
    {"fuse::Swish", opcode::swish, 1, {}, -1, target::none}, {"fuse::Mish", opcode::mish, 1, {}, -1, target::none},
    {"fuse::HardSwish", opcode::hard_swish, 1, {}, -1, target::none}, {"fuse::RotaryEmbedding", opcode::rotary_embedding, 1, {}, -1, target::none},
    {"com.microsoft::FusedMatMul", opcode::fused_matmul},
    {"com.microsoft::FusedConv", opcode::fused_conv, 1, activation_by_name, 4, target::onnxruntime, 0, &fused_conv_attributes, {}, one_float_type},
    {"com.microsoft::FusedGemm", opcode::fused_gemm, 1, activation_by_name, 3, target::onnxruntime, 0, &fused_gemm_attributes, {}, one_float_type},
    {"If", opcode::if_else}, {"Loop", opcode::loop}, {"Scan", opcode::scan},
    // What operators of older sets are where their attributes say that they mean something else.
    otherwise("Add along an axis"), otherwise("Sub along an axis"), otherwise("Mul along an axis"), otherwise("Div along an axis"),
    otherwise("Pow along an axis"), otherwise("Equal along an axis", element_type::boolean), otherwise("Less along an axis", element_type::boolean),
    otherwise("Greater along an axis", element_type::boolean), otherwise("And along an axis"), otherwise("Or along an axis"), otherwise("Xor along an axis"),
    otherwise("Dropout while training"), otherwise("BatchNormalization of another kind"),
    {"BitShift", opcode::bit_shift}, {"SwiGLU", opcode::swiglu}, {"CumProd", opcode::cumulative_product},
    {"Compress", opcode::compress}, {"LpPool", opcode::lp_pool}, {"GlobalLpPool", opcode::global_lp_pool},
    {"Scatter", opcode::scatter_elements, 1, {}, -1, target::none},
    {"TensorScatter", opcode::tensor_scatter}, {"CausalConvWithState", opcode::causal_conv},
    {"LinearAttention", opcode::linear_attention}, {"NegativeLogLikelihoodLoss", opcode::nll_loss},
    {"SoftmaxCrossEntropyLoss", opcode::cross_entropy_loss},
};
// clang-format on

struct completed_rows {
  operator_row all[sizeof(rows) / sizeof(rows[0])];
};
/// The rows; those of standard operators with the attributes and element types that these have, and written from the
/// version on that has them.
inline constexpr completed_rows completed = [] {
  completed_rows made;
  std::size_t at = 0, next = 0;
  constexpr auto known = sizeof(standard) / sizeof(standard[0]);
  for (auto const& row : rows) {
    auto& each = made.all[at++] = row;
    if (next < known && standard[next].name == row.name) ++next;
    if (next == 0 || standard[next - 1].name != row.name) continue;
    auto const& told = standard[next - 1];
    each.attributes = told.attributes;
    each.types = told.types;
    if (includes(row.emit, target::standard) && each.emit_since < told.since) each.emit_since = told.since;
  }
  return made;
}();

}  // namespace detail::onnx_rows

/// ai.onnx up to operator set 24 (every operator of common transformer exports) and the norms of com.microsoft.
inline constexpr auto onnx =
    make_dialect<detail::onnx_functions::emission_rules>("onnx", detail::onnx_rows::completed.all, 24, 11);

}  // namespace fuse::inline v0
