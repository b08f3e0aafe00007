// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <fuse/ops/attribute_list.hpp>

// Made by scripts/onnx_attributes.py from the operators of the onnx package.

namespace fuse::inline v0::detail::onnx_rows {

namespace listed {
using enum attribute_kind;

// clang-format off
inline constexpr attribute_info list0_all[] = {{"axis", integer}, {"broadcast", integer}, {"consumed_inputs", integers}};
inline constexpr attribute_info list1_all[] = {{"consumed_inputs", integers}};
inline constexpr attribute_info list2_all[] = {{"axis", integer}, {"broadcast", integer}};
inline constexpr attribute_info list3_all[] = {{"approximate", text}};
inline constexpr attribute_info list4_all[] = {{"alpha", number}, {"consumed_inputs", integers}};
inline constexpr attribute_info list5_all[] = {{"alpha", number}, {"beta", number}, {"consumed_inputs", integers}};
inline constexpr attribute_info list6_all[] = {{"fmod", integer}};
inline constexpr attribute_info list7_all[] = {{"consumed_inputs", integers}, {"max", number}, {"min", number}};
inline constexpr attribute_info list8_all[] = {{"detect_negative", integer}, {"detect_positive", integer}};
inline constexpr attribute_info list9_all[] = {{"round_mode", text}, {"saturate", integer}, {"to", integer}};
inline constexpr attribute_info list10_all[] = {{"round_mode", text}, {"saturate", integer}};
inline constexpr attribute_info list11_all[] = {{"consumed_inputs", integers}, {"is_test", integer}, {"ratio", number}, {"seed", integer}};
inline constexpr attribute_info list12_all[] = {{"sparse_value", other}, {"value", tensor}, {"value_float", number}, {"value_floats", numbers}, {"value_int", integer}, {"value_ints", integers}, {"value_string", text}, {"value_strings", other}};
inline constexpr attribute_info list13_all[] = {{"value", tensor}};
inline constexpr attribute_info list14_all[] = {{"end", integer}, {"start", integer}};
inline constexpr attribute_info list15_all[] = {{"stash_type", integer}};
inline constexpr attribute_info list16_all[] = {{"allowzero", integer}, {"consumed_inputs", integers}, {"shape", integers}};
inline constexpr attribute_info list17_all[] = {{"axis", integer}};
inline constexpr attribute_info list18_all[] = {{"axes", integers}};
inline constexpr attribute_info list19_all[] = {{"perm", integers}};
inline constexpr attribute_info list20_all[] = {{"axis", integer}, {"num_outputs", integer}, {"split", integers}};
inline constexpr attribute_info list21_all[] = {{"axes", integers}, {"ends", integers}, {"starts", integers}};
inline constexpr attribute_info list22_all[] = {{"batch_dims", integer}};
inline constexpr attribute_info list23_all[] = {{"reduction", text}};
inline constexpr attribute_info list24_all[] = {{"axis", integer}, {"reduction", text}};
inline constexpr attribute_info list25_all[] = {{"mode", text}, {"paddings", integers}, {"pads", integers}, {"value", number}};
inline constexpr attribute_info list26_all[] = {{"upper", integer}};
inline constexpr attribute_info list27_all[] = {{"exclusive", integer}, {"reverse", integer}};
inline constexpr attribute_info list28_all[] = {{"axis", integer}, {"k", integer}, {"largest", integer}, {"sorted", integer}};
inline constexpr attribute_info list29_all[] = {{"axes", integers}, {"keepdims", integer}, {"noop_with_empty_axes", integer}};
inline constexpr attribute_info list30_all[] = {{"axis", integer}, {"keepdims", integer}, {"select_last_index", integer}};
inline constexpr attribute_info list31_all[] = {{"alpha", number}, {"beta", number}, {"broadcast", integer}, {"transA", integer}, {"transB", integer}};
inline constexpr attribute_info list32_all[] = {{"equation", text}};
inline constexpr attribute_info list33_all[] = {{"auto_pad", text}, {"dilations", integers}, {"group", integer}, {"kernel_shape", integers}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list34_all[] = {{"auto_pad", text}, {"dilations", integers}, {"group", integer}, {"kernel_shape", integers}, {"output_padding", integers}, {"output_shape", integers}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list35_all[] = {{"auto_pad", text}, {"ceil_mode", integer}, {"dilations", integers}, {"kernel_shape", integers}, {"pads", integers}, {"storage_order", integer}, {"strides", integers}};
inline constexpr attribute_info list36_all[] = {{"auto_pad", text}, {"ceil_mode", integer}, {"count_include_pad", integer}, {"dilations", integers}, {"kernel_shape", integers}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list37_all[] = {{"antialias", integer}, {"axes", integers}, {"coordinate_transformation_mode", text}, {"cubic_coeff_a", number}, {"exclude_outside", integer}, {"extrapolation_value", number}, {"keep_aspect_ratio_policy", text}, {"mode", text}, {"nearest_mode", text}};
inline constexpr attribute_info list38_all[] = {{"consumed_inputs", integers}, {"epsilon", number}, {"is_test", integer}, {"momentum", number}, {"spatial", integer}, {"training_mode", integer}};
inline constexpr attribute_info list39_all[] = {{"consumed_inputs", integers}, {"epsilon", number}};
inline constexpr attribute_info list40_all[] = {{"epsilon", number}, {"num_groups", integer}, {"stash_type", integer}};
inline constexpr attribute_info list41_all[] = {{"axis", integer}, {"epsilon", number}, {"stash_type", integer}};
inline constexpr attribute_info list42_all[] = {{"interleaved", integer}, {"num_heads", integer}, {"rotary_embedding_dim", integer}};
inline constexpr attribute_info list43_all[] = {{"is_causal", integer}, {"kv_num_heads", integer}, {"left_window_size", integer}, {"q_num_heads", integer}, {"qk_matmul_output_mode", integer}, {"right_window_size", integer}, {"scale", number}, {"softcap", number}, {"softmax_precision", integer}};
inline constexpr attribute_info list44_all[] = {{"axis", integer}, {"block_size", integer}, {"output_dtype", integer}, {"precision", integer}, {"saturate", integer}};
inline constexpr attribute_info list45_all[] = {{"axis", integer}, {"block_size", integer}, {"output_dtype", integer}};
inline constexpr attribute_info list46_all[] = {{"alpha", number}, {"consumed_inputs", integers}, {"gamma", number}};
inline constexpr attribute_info list47_all[] = {{"alpha", number}};
inline constexpr attribute_info list48_all[] = {{"bias", number}, {"lambd", number}};
inline constexpr attribute_info list49_all[] = {{"blocksize", integer}, {"mode", text}};
inline constexpr attribute_info list50_all[] = {{"batch_axis", integer}, {"time_axis", integer}};
inline constexpr attribute_info list51_all[] = {{"dtype", integer}, {"k", integer}};
inline constexpr attribute_info list52_all[] = {{"axis", integer}, {"p", integer}};
inline constexpr attribute_info list53_all[] = {{"alpha", number}, {"beta", number}, {"bias", number}, {"size", integer}};
inline constexpr attribute_info list54_all[] = {{"height_scale", number}, {"mode", text}, {"scales", numbers}, {"width_scale", number}};
inline constexpr attribute_info list55_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"input_forget", integer}, {"layout", integer}, {"output_sequence", integer}};
inline constexpr attribute_info list56_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"layout", integer}, {"linear_before_reset", integer}, {"output_sequence", integer}};
inline constexpr attribute_info list57_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"layout", integer}, {"output_sequence", integer}};
inline constexpr attribute_info list58_all[] = {{"else_branch", other}, {"then_branch", other}};
inline constexpr attribute_info list59_all[] = {{"body", other}};
inline constexpr attribute_info list60_all[] = {{"body", other}, {"directions", integers}, {"num_scan_inputs", integer}, {"scan_input_axes", integers}, {"scan_input_directions", integers}, {"scan_output_axes", integers}, {"scan_output_directions", integers}};
inline constexpr attribute_list none{}, list0{list0_all}, list1{list1_all}, list2{list2_all}, list3{list3_all}, list4{list4_all}, list5{list5_all}, list6{list6_all}, list7{list7_all}, list8{list8_all}, list9{list9_all}, list10{list10_all}, list11{list11_all}, list12{list12_all}, list13{list13_all}, list14{list14_all}, list15{list15_all}, list16{list16_all}, list17{list17_all}, list18{list18_all}, list19{list19_all}, list20{list20_all}, list21{list21_all}, list22{list22_all}, list23{list23_all}, list24{list24_all}, list25{list25_all}, list26{list26_all}, list27{list27_all}, list28{list28_all}, list29{list29_all}, list30{list30_all}, list31{list31_all}, list32{list32_all}, list33{list33_all}, list34{list34_all}, list35{list35_all}, list36{list36_all}, list37{list37_all}, list38{list38_all}, list39{list39_all}, list40{list40_all}, list41{list41_all}, list42{list42_all}, list43{list43_all}, list44{list44_all}, list45{list45_all}, list46{list46_all}, list47{list47_all}, list48{list48_all}, list49{list49_all}, list50{list50_all}, list51{list51_all}, list52{list52_all}, list53{list53_all}, list54{list54_all}, list55{list55_all}, list56{list56_all}, list57{list57_all}, list58{list58_all}, list59{list59_all}, list60{list60_all};
// clang-format on
}  // namespace listed

struct operator_attributes {
  std::string_view name;
  attribute_list const* attributes;
};

// The standard operators in the order of their rows, each with the attributes that it has at some version.
// clang-format off
inline constexpr operator_attributes attributes[] = {
    {"Add", &listed::list0},
    {"Sub", &listed::list0},
    {"Mul", &listed::list0},
    {"Div", &listed::list0},
    {"Neg", &listed::list1},
    {"Reciprocal", &listed::list1},
    {"Sqrt", &listed::list1},
    {"Pow", &listed::list2},
    {"Abs", &listed::list1},
    {"Exp", &listed::list1},
    {"Log", &listed::list1},
    {"Erf", &listed::none},
    {"Sin", &listed::none},
    {"Cos", &listed::none},
    {"Tanh", &listed::list1},
    {"Sigmoid", &listed::list1},
    {"Relu", &listed::list1},
    {"Gelu", &listed::list3},
    {"Softplus", &listed::none},
    {"LeakyRelu", &listed::list4},
    {"Elu", &listed::list4},
    {"HardSigmoid", &listed::list5},
    {"HardSwish", &listed::none},
    {"PRelu", &listed::list1},
    {"Floor", &listed::list1},
    {"Ceil", &listed::list1},
    {"Round", &listed::none},
    {"Sign", &listed::none},
    {"Min", &listed::list1},
    {"Max", &listed::list1},
    {"Sum", &listed::list1},
    {"Mod", &listed::list6},
    {"Clip", &listed::list7},
    {"Equal", &listed::list2},
    {"Less", &listed::list2},
    {"LessOrEqual", &listed::none},
    {"Greater", &listed::list2},
    {"GreaterOrEqual", &listed::none},
    {"And", &listed::list2},
    {"Or", &listed::list2},
    {"Xor", &listed::list2},
    {"Not", &listed::none},
    {"Where", &listed::none},
    {"IsNaN", &listed::none},
    {"IsInf", &listed::list8},
    {"Cast", &listed::list9},
    {"CastLike", &listed::list10},
    {"Identity", &listed::none},
    {"Dropout", &listed::list11},
    {"Constant", &listed::list12},
    {"ConstantOfShape", &listed::list13},
    {"Shape", &listed::list14},
    {"Size", &listed::none},
    {"Range", &listed::list15},
    {"Reshape", &listed::list16},
    {"Flatten", &listed::list17},
    {"Squeeze", &listed::list18},
    {"Unsqueeze", &listed::list18},
    {"Transpose", &listed::list19},
    {"Concat", &listed::list17},
    {"Split", &listed::list20},
    {"Slice", &listed::list21},
    {"Gather", &listed::list17},
    {"GatherElements", &listed::list17},
    {"GatherND", &listed::list22},
    {"ScatterND", &listed::list23},
    {"ScatterElements", &listed::list24},
    {"Expand", &listed::none},
    {"Tile", &listed::none},
    {"Pad", &listed::list25},
    {"Trilu", &listed::list26},
    {"OneHot", &listed::list17},
    {"NonZero", &listed::none},
    {"CumSum", &listed::list27},
    {"TopK", &listed::list28},
    {"ReduceMean", &listed::list29},
    {"GlobalAveragePool", &listed::none},
    {"ReduceSum", &listed::list29},
    {"ReduceProd", &listed::list29},
    {"ReduceMax", &listed::list29},
    {"ReduceMin", &listed::list29},
    {"ReduceSumSquare", &listed::list29},
    {"ReduceL1", &listed::list29},
    {"ReduceL2", &listed::list29},
    {"ReduceLogSum", &listed::list29},
    {"ReduceLogSumExp", &listed::list29},
    {"ArgMax", &listed::list30},
    {"ArgMin", &listed::list30},
    {"MatMul", &listed::none},
    {"Gemm", &listed::list31},
    {"Einsum", &listed::list32},
    {"MatMulInteger", &listed::none},
    {"Conv", &listed::list33},
    {"ConvTranspose", &listed::list34},
    {"ConvInteger", &listed::list33},
    {"MaxPool", &listed::list35},
    {"AveragePool", &listed::list36},
    {"GlobalMaxPool", &listed::none},
    {"Resize", &listed::list37},
    {"Softmax", &listed::list17},
    {"LogSoftmax", &listed::list17},
    {"BatchNormalization", &listed::list38},
    {"InstanceNormalization", &listed::list39},
    {"GroupNormalization", &listed::list40},
    {"LayerNormalization", &listed::list41},
    {"RMSNormalization", &listed::list41},
    {"RotaryEmbedding", &listed::list42},
    {"Attention", &listed::list43},
    {"QuantizeLinear", &listed::list44},
    {"DequantizeLinear", &listed::list45},
    {"DynamicQuantizeLinear", &listed::none},
    {"Tan", &listed::none},
    {"Asin", &listed::none},
    {"Acos", &listed::none},
    {"Atan", &listed::none},
    {"Sinh", &listed::none},
    {"Cosh", &listed::none},
    {"Asinh", &listed::none},
    {"Acosh", &listed::none},
    {"Atanh", &listed::none},
    {"Selu", &listed::list46},
    {"Celu", &listed::list47},
    {"ThresholdedRelu", &listed::list47},
    {"Softsign", &listed::none},
    {"Mish", &listed::none},
    {"Swish", &listed::list47},
    {"Shrink", &listed::list48},
    {"Mean", &listed::list1},
    {"BitwiseAnd", &listed::none},
    {"BitwiseOr", &listed::none},
    {"BitwiseXor", &listed::none},
    {"BitwiseNot", &listed::none},
    {"DepthToSpace", &listed::list49},
    {"SpaceToDepth", &listed::list49},
    {"ReverseSequence", &listed::list50},
    {"EyeLike", &listed::list51},
    {"Hardmax", &listed::list17},
    {"LpNormalization", &listed::list52},
    {"MeanVarianceNormalization", &listed::list18},
    {"LRN", &listed::list53},
    {"Upsample", &listed::list54},
    {"QLinearMatMul", &listed::none},
    {"QLinearConv", &listed::list33},
    {"LSTM", &listed::list55},
    {"GRU", &listed::list56},
    {"RNN", &listed::list57},
    {"If", &listed::list58},
    {"Loop", &listed::list59},
    {"Scan", &listed::list60},
};
// clang-format on

}  // namespace fuse::inline v0::detail::onnx_rows
