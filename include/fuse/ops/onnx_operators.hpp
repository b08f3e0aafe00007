// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <fuse/core/span.hpp>
#include <fuse/ops/attribute_list.hpp>
#include <fuse/ops/element_types.hpp>

// Made by scripts/onnx_operators.py from the operators of the onnx package.

namespace fuse::inline v0::detail::onnx_rows {

namespace listed {
using enum attribute_kind;

// clang-format off
inline constexpr attribute_info list0_all[] = {{"axis", integer, 1, 7}, {"broadcast", integer, 1, 7}, {"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list1_all[] = {{"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list2_all[] = {{"axis", integer, 1, 7}, {"broadcast", integer, 1, 7}};
inline constexpr attribute_info list3_all[] = {{"approximate", text}};
inline constexpr attribute_info list4_all[] = {{"alpha", number}, {"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list5_all[] = {{"alpha", number}, {"beta", number}, {"consumed_inputs", integers, 1, 6}};
inline constexpr attribute_info list6_all[] = {{"fmod", integer}};
inline constexpr attribute_info list7_all[] = {{"consumed_inputs", integers, 1, 6}, {"max", number, 1, 11}, {"min", number, 1, 11}};
inline constexpr attribute_info list8_all[] = {{"detect_negative", integer}, {"detect_positive", integer}};
inline constexpr attribute_info list9_all[] = {{"round_mode", text, 24}, {"saturate", integer, 19}, {"to", integer, 1, 0, 1}};
inline constexpr attribute_info list10_all[] = {{"round_mode", text, 24}, {"saturate", integer, 19}};
inline constexpr attribute_info list11_all[] = {{"consumed_inputs", integers, 1, 6}, {"is_test", integer, 1, 7}, {"ratio", number, 1, 12}, {"seed", integer, 12}};
inline constexpr attribute_info list12_all[] = {{"sparse_value", other, 11}, {"value", tensor}, {"value_float", number, 12}, {"value_floats", numbers, 12}, {"value_int", integer, 12}, {"value_ints", integers, 12}, {"value_string", text, 12}, {"value_strings", other, 12}};
inline constexpr attribute_info list13_all[] = {{"value", tensor}};
inline constexpr attribute_info list14_all[] = {{"end", integer, 15}, {"start", integer, 15}};
inline constexpr attribute_info list15_all[] = {{"stash_type", integer, 27}};
inline constexpr attribute_info list16_all[] = {{"allowzero", integer, 14}, {"consumed_inputs", integers, 1, 5}, {"shape", integers, 1, 5}};
inline constexpr attribute_info list17_all[] = {{"axis", integer}};
inline constexpr attribute_info list18_all[] = {{"axes", integers, 1, 13}};
inline constexpr attribute_info list19_all[] = {{"axes", integers, 1, 13, 1}};
inline constexpr attribute_info list20_all[] = {{"perm", integers}};
inline constexpr attribute_info list21_all[] = {{"axis", integer, 1, 0, 4}};
inline constexpr attribute_info list22_all[] = {{"axis", integer}, {"num_outputs", integer, 18}, {"split", integers, 1, 13}};
inline constexpr attribute_info list23_all[] = {{"axes", integers, 1, 10}, {"ends", integers, 1, 10, 1}, {"starts", integers, 1, 10, 1}};
inline constexpr attribute_info list24_all[] = {{"batch_dims", integer, 12}};
inline constexpr attribute_info list25_all[] = {{"reduction", text, 16}};
inline constexpr attribute_info list26_all[] = {{"axis", integer}, {"reduction", text, 16}};
inline constexpr attribute_info list27_all[] = {{"mode", text}, {"paddings", integers, 1, 2, 1}, {"pads", integers, 2, 11, 2}, {"value", number, 1, 11}};
inline constexpr attribute_info list28_all[] = {{"upper", integer}};
inline constexpr attribute_info list29_all[] = {{"exclusive", integer}, {"reverse", integer}};
inline constexpr attribute_info list30_all[] = {{"axis", integer}, {"k", integer, 1, 10, 1}, {"largest", integer, 11}, {"sorted", integer, 11}};
inline constexpr attribute_info list31_all[] = {{"axes", integers, 1, 18}, {"keepdims", integer}, {"noop_with_empty_axes", integer, 18}};
inline constexpr attribute_info list32_all[] = {{"axes", integers, 1, 13}, {"keepdims", integer}, {"noop_with_empty_axes", integer, 13}};
inline constexpr attribute_info list33_all[] = {{"axis", integer}, {"keepdims", integer}, {"select_last_index", integer, 12}};
inline constexpr attribute_info list34_all[] = {{"alpha", number}, {"beta", number}, {"broadcast", integer, 1, 7}, {"transA", integer}, {"transB", integer}};
inline constexpr attribute_info list35_all[] = {{"equation", text, 1, 0, 12}};
inline constexpr attribute_info list36_all[] = {{"auto_pad", text}, {"dilations", integers}, {"group", integer}, {"kernel_shape", integers}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list37_all[] = {{"auto_pad", text}, {"dilations", integers}, {"group", integer}, {"kernel_shape", integers}, {"output_padding", integers}, {"output_shape", integers}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list38_all[] = {{"auto_pad", text}, {"ceil_mode", integer, 10}, {"dilations", integers, 10}, {"kernel_shape", integers, 1, 0, 1}, {"pads", integers}, {"storage_order", integer, 8}, {"strides", integers}};
inline constexpr attribute_info list39_all[] = {{"auto_pad", text}, {"ceil_mode", integer, 10}, {"count_include_pad", integer, 7}, {"dilations", integers, 19}, {"kernel_shape", integers, 1, 0, 1}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list40_all[] = {{"antialias", integer, 18}, {"axes", integers, 18}, {"coordinate_transformation_mode", text, 11}, {"cubic_coeff_a", number, 11}, {"exclude_outside", integer, 11}, {"extrapolation_value", number, 11}, {"keep_aspect_ratio_policy", text, 18}, {"mode", text}, {"nearest_mode", text, 11}};
inline constexpr attribute_info list41_all[] = {{"consumed_inputs", integers, 1, 6, 1}, {"epsilon", number}, {"is_test", integer, 1, 7}, {"momentum", number}, {"spatial", integer, 1, 9}, {"training_mode", integer, 14}};
inline constexpr attribute_info list42_all[] = {{"consumed_inputs", integers, 1, 6}, {"epsilon", number}};
inline constexpr attribute_info list43_all[] = {{"epsilon", number}, {"num_groups", integer, 1, 0, 18}, {"stash_type", integer, 21}};
inline constexpr attribute_info list44_all[] = {{"axis", integer}, {"epsilon", number}, {"stash_type", integer}};
inline constexpr attribute_info list45_all[] = {{"interleaved", integer}, {"num_heads", integer}, {"rotary_embedding_dim", integer}};
inline constexpr attribute_info list46_all[] = {{"is_causal", integer}, {"kv_num_heads", integer}, {"left_window_size", integer, 25}, {"q_num_heads", integer}, {"qk_matmul_output_mode", integer}, {"right_window_size", integer, 25}, {"scale", number}, {"softcap", number}, {"softmax_precision", integer}};
inline constexpr attribute_info list47_all[] = {{"axis", integer, 13}, {"block_size", integer, 21}, {"output_dtype", integer, 21}, {"precision", integer, 23}, {"saturate", integer, 19}};
inline constexpr attribute_info list48_all[] = {{"axis", integer, 13}, {"block_size", integer, 21}, {"output_dtype", integer, 23}};
inline constexpr attribute_info list49_all[] = {{"alpha", number}, {"consumed_inputs", integers, 1, 6}, {"gamma", number}};
inline constexpr attribute_info list50_all[] = {{"alpha", number}};
inline constexpr attribute_info list51_all[] = {{"bias", number}, {"lambd", number}};
inline constexpr attribute_info list52_all[] = {{"blocksize", integer, 1, 0, 1}, {"mode", text, 11}};
inline constexpr attribute_info list53_all[] = {{"blocksize", integer, 1, 0, 1}, {"mode", text, 28}};
inline constexpr attribute_info list54_all[] = {{"batch_axis", integer}, {"time_axis", integer}};
inline constexpr attribute_info list55_all[] = {{"dtype", integer}, {"k", integer}};
inline constexpr attribute_info list56_all[] = {{"axis", integer}, {"p", integer}};
inline constexpr attribute_info list57_all[] = {{"axes", integers}};
inline constexpr attribute_info list58_all[] = {{"alpha", number}, {"beta", number}, {"bias", number}, {"size", integer, 1, 0, 1}};
inline constexpr attribute_info list59_all[] = {{"height_scale", number, 1, 7, 1}, {"mode", text}, {"scales", numbers, 7, 9, 7}, {"width_scale", number, 1, 7, 1}};
inline constexpr attribute_info list60_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"input_forget", integer}, {"layout", integer, 14}, {"output_sequence", integer, 1, 7}};
inline constexpr attribute_info list61_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"layout", integer, 14}, {"linear_before_reset", integer, 3}, {"output_sequence", integer, 1, 7}};
inline constexpr attribute_info list62_all[] = {{"activation_alpha", numbers}, {"activation_beta", numbers}, {"activations", other}, {"clip", number}, {"direction", text}, {"hidden_size", integer}, {"layout", integer, 14}, {"output_sequence", integer, 1, 7}};
inline constexpr attribute_info list63_all[] = {{"else_branch", other, 1, 0, 1}, {"then_branch", other, 1, 0, 1}};
inline constexpr attribute_info list64_all[] = {{"body", other, 1, 0, 1}};
inline constexpr attribute_info list65_all[] = {{"body", other, 1, 0, 8}, {"directions", integers, 1, 9}, {"num_scan_inputs", integer, 1, 0, 8}, {"scan_input_axes", integers, 9}, {"scan_input_directions", integers, 9}, {"scan_output_axes", integers, 9}, {"scan_output_directions", integers, 9}};
inline constexpr attribute_info list66_all[] = {{"direction", text, 1, 0, 11}};
inline constexpr attribute_info list67_all[] = {{"auto_pad", text}, {"ceil_mode", integer, 18}, {"dilations", integers, 18}, {"kernel_shape", integers, 1, 0, 2}, {"p", integer}, {"pads", integers}, {"strides", integers}};
inline constexpr attribute_info list68_all[] = {{"p", integer}};
inline constexpr attribute_info list69_all[] = {{"axis", integer}, {"mode", text}};
inline constexpr attribute_info list70_all[] = {{"activation", text}};
inline constexpr attribute_info list71_all[] = {{"chunk_size", integer}, {"kv_num_heads", integer, 1, 0, 27}, {"q_num_heads", integer, 1, 0, 27}, {"scale", number}, {"update_rule", text}};
inline constexpr attribute_info list72_all[] = {{"ignore_index", integer}, {"reduction", text}};
inline constexpr attribute_list none{}, list0{list0_all}, list1{list1_all}, list2{list2_all}, list3{list3_all}, list4{list4_all}, list5{list5_all}, list6{list6_all}, list7{list7_all}, list8{list8_all}, list9{list9_all}, list10{list10_all}, list11{list11_all}, list12{list12_all}, list13{list13_all}, list14{list14_all}, list15{list15_all}, list16{list16_all}, list17{list17_all}, list18{list18_all}, list19{list19_all}, list20{list20_all}, list21{list21_all}, list22{list22_all}, list23{list23_all}, list24{list24_all}, list25{list25_all}, list26{list26_all}, list27{list27_all}, list28{list28_all}, list29{list29_all}, list30{list30_all}, list31{list31_all}, list32{list32_all}, list33{list33_all}, list34{list34_all}, list35{list35_all}, list36{list36_all}, list37{list37_all}, list38{list38_all}, list39{list39_all}, list40{list40_all}, list41{list41_all}, list42{list42_all}, list43{list43_all}, list44{list44_all}, list45{list45_all}, list46{list46_all}, list47{list47_all}, list48{list48_all}, list49{list49_all}, list50{list50_all}, list51{list51_all}, list52{list52_all}, list53{list53_all}, list54{list54_all}, list55{list55_all}, list56{list56_all}, list57{list57_all}, list58{list58_all}, list59{list59_all}, list60{list60_all}, list61{list61_all}, list62{list62_all}, list63{list63_all}, list64{list64_all}, list65{list65_all}, list66{list66_all}, list67{list67_all}, list68{list68_all}, list69{list69_all}, list70{list70_all}, list71{list71_all}, list72{list72_all};
inline constexpr element_types types0[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {6, {0x3cc2, 0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x13cc2}, 0x13cc2, false}, {14, {0x13cfe, 0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types1[] = {{1, {0xc02}, 0xc02, false}, {6, {0xcea}, 0xcea, false}, {13, {0x10cea}, 0x10cea, false}};
inline constexpr element_types types2[] = {{1, {0xc02}, 0xc02, false}, {13, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types3[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {12, {0xcc2, 0x3cfe}, 0xcc2, false}, {13, {0x10cc2, 0x3cfe}, 0x10cc2, false}, {15, {0x10cc2, 0x13cfe}, 0x10cc2, false}};
inline constexpr element_types types4[] = {{1, {0xc02}, 0xc02, false}, {6, {0x3cfe}, 0x3cfe, false}, {13, {0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types5[] = {{9, {0x3cfe}, 0x3cfe, false}, {13, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types6[] = {{7, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types7[] = {{1, {0xc02}, 0xc02, false}, {13, {0x10c02}, 0x10c02, false}, {14, {0x10cea}, 0x10cea, false}};
inline constexpr element_types types8[] = {{20, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types9[] = {{1, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types10[] = {{1, {0xc02}, 0xc02, false}, {16, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types11[] = {{14, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types12[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {9, {0x3cc2, 0x3cc2}, 0x3cc2, false}, {16, {0x13cc2, 0x13cc2}, 0x13cc2, false}};
inline constexpr element_types types13[] = {{11, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types14[] = {{9, {0x3cfe}, 0x3cfe, false}, {13, {0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types15[] = {{1, {0xc02}, 0xc02, true}, {12, {0x3cfe}, 0x3cfe, true}, {13, {0x13cfe}, 0x13cfe, true}};
inline constexpr element_types types16[] = {{1, {0xc02}, 0xc02, true}, {13, {0x10c02}, 0x10c02, true}};
inline constexpr element_types types17[] = {{10, {0x3cfe, 0x3cfe}, 0x3cfe, false}, {13, {0x13cfe, 0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types18[] = {{1, {0xc02}, 0xc02, false}, {11, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {12, {0x3cfe, 0x3cfe, 0x3cfe}, 0x3cfe, false}, {13, {0x13cfe, 0x13cfe, 0x13cfe}, 0x13cfe, false}};
inline constexpr element_types types19[] = {{1, {0x2c0, 0x2c0}, 0x200, false}, {11, {0x3efe, 0x3efe}, 0x200, false}, {13, {0x13efe, 0x13efe}, 0x200, false}, {19, {0x13ffe, 0x13ffe}, 0x200, false}};
inline constexpr element_types types20[] = {{1, {0xc02, 0xc02}, 0x200, false}, {9, {0x3cfe, 0x3cfe}, 0x200, false}, {13, {0x13cfe, 0x13cfe}, 0x200, false}};
inline constexpr element_types types21[] = {{12, {0x3cfe, 0x3cfe}, 0x200, false}, {16, {0x13cfe, 0x13cfe}, 0x200, false}};
inline constexpr element_types types22[] = {{1, {0x200, 0x200}, 0x200, false}};
inline constexpr element_types types23[] = {{1, {0x200}, 0x200, false}};
inline constexpr element_types types24[] = {{9, {0x200, 0xfffe, 0xfffe}, 0xfffe, false}, {16, {0x200, 0x1fffe, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types25[] = {{9, {0xc02}, 0x200, false}, {13, {0x10c02}, 0x200, false}, {20, {0x30c02}, 0x200, false}};
inline constexpr element_types types26[] = {{10, {0x802}, 0x200, false}, {20, {0x30c02}, 0x200, false}};
inline constexpr element_types types27[] = {{1, {0x3efe}, 0x3efe, false}, {9, {0x3ffe}, 0x3ffe, false}, {13, {0x13ffe}, 0x13ffe, false}, {19, {0x33ffe}, 0x33ffe, false}};
inline constexpr element_types types28[] = {{15, {0x13ffe, 0x13ffe}, 0x13ffe, false}, {19, {0x33ffe, 0x33ffe}, 0x33ffe, false}};
inline constexpr element_types types29[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}, {14, {0x0}, 0x0, false}};
inline constexpr element_types types30[] = {{1, {0xc02}, 0xc02, false}, {12, {0xc02, 0xc02, 0x200}, 0xc02, false}, {13, {0x10c02, 0xc02, 0x200}, 0x10c02, false}, {22, {0x30c02, 0x30c02, 0x200}, 0x30c02, false}};
inline constexpr element_types types31[] = {{1, {}, 0xc02, false}, {9, {}, 0xfffe, false}, {13, {}, 0x1fffe, false}, {19, {}, 0x3fffe, false}};
inline constexpr element_types types32[] = {{9, {0x80}, 0x3efe, false}, {20, {0x80}, 0x33efe, false}};
inline constexpr element_types types33[] = {{1, {0xfffe}, 0x80, false}, {13, {0x1fffe}, 0x80, false}, {19, {0x3fffe}, 0x80, false}};
inline constexpr element_types types34[] = {{11, {0x8e2, 0x8e2, 0x8e2}, 0x8e2, false}, {27, {0x10ce2, 0x10ce2, 0x10ce2}, 0x10ce2, false}};
inline constexpr element_types types35[] = {{1, {0xc02}, 0xc02, false}, {5, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}, {19, {0x3fffe, 0x80}, 0x3fffe, false}};
inline constexpr element_types types36[] = {{1, {0xc02}, 0xc02, false}, {9, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}, {21, {0x3fffe}, 0x3fffe, false}};
inline constexpr element_types types37[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}, {21, {0x3fffe, 0x80}, 0x3fffe, false}};
inline constexpr element_types types38[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}, {21, {0x3fffe}, 0x3fffe, false}};
inline constexpr element_types types39[] = {{1, {0xc02}, 0xc02, true}, {4, {0xfffe}, 0xfffe, true}, {13, {0x1fffe}, 0x1fffe, true}};
inline constexpr element_types types40[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {2, {0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types41[] = {{1, {0xfffe}, 0xfffe, false}, {10, {0xfffe, 0xc0, 0xc0, 0xc0, 0xc0}, 0xfffe, false}, {13, {0x1fffe, 0xc0, 0xc0, 0xc0, 0xc0}, 0x1fffe, false}};
inline constexpr element_types types42[] = {{1, {0xfffe, 0xc0}, 0xfffe, false}, {13, {0x1fffe, 0xc0}, 0x1fffe, false}};
inline constexpr element_types types43[] = {{11, {0xfffe, 0xc0}, 0xfffe, false}, {13, {0x1fffe, 0xc0}, 0x1fffe, false}};
inline constexpr element_types types44[] = {{11, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types45[] = {{11, {0xfffe, 0x80, 0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0x80, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types46[] = {{11, {0xfffe, 0xc0, 0xfffe}, 0xfffe, false}, {13, {0x1fffe, 0xc0, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types47[] = {{8, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types48[] = {{1, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {6, {0xfffe, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types49[] = {{1, {0xc02}, 0xc02, false}, {11, {0x3cfe, 0x80, 0x3cfe}, 0x3cfe, false}, {13, {0x1fffe, 0x80, 0x1fffe}, 0x1fffe, false}, {18, {0x1fffe, 0x80, 0x1fffe, 0xc0}, 0x1fffe, false}, {21, {0x3fffe, 0x80, 0x3fffe, 0xc0}, 0x3fffe, false}};
inline constexpr element_types types50[] = {{14, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types51[] = {{9, {0x3cfe, 0x3cfe, 0xfffe}, 0xfffe, false}, {28, {0x3cfe, 0x3cfe, 0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types52[] = {{9, {0xfffe}, 0x80, false}, {13, {0x1fffe}, 0x80, false}};
inline constexpr element_types types53[] = {{11, {0x38c2, 0xc0}, 0x38c2, false}, {14, {0x13cc2, 0xc0}, 0x13cc2, false}};
inline constexpr element_types types54[] = {{1, {0xc02}, 0xc02, false}, {10, {0xc02, 0x80}, 0xc02, false}, {11, {0x3cfe, 0x80}, 0x3cfe, false}, {24, {0x13cfe, 0x80}, 0x13cfe, false}};
inline constexpr element_types types55[] = {{1, {0x3cc2}, 0x3cc2, false}, {13, {0x13cc2}, 0x13cc2, false}, {18, {0x13cc2, 0x80}, 0x13cc2, false}};
inline constexpr element_types types56[] = {{1, {0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x80}, 0x13cc2, false}};
inline constexpr element_types types57[] = {{1, {0x3cc2}, 0x3cc2, false}, {12, {0x3cce}, 0x3cce, false}, {13, {0x13cce}, 0x13cce, false}, {18, {0x13cce, 0x80}, 0x13cce, false}, {20, {0x13ece, 0x80}, 0x13ece, false}};
inline constexpr element_types types58[] = {{1, {0x3cc2}, 0x3cc2, false}, {13, {0x13cc2}, 0x13cc2, false}, {18, {0x13cc2, 0x80}, 0x13cc2, false}, {28, {0x10c02, 0x80}, 0x10c02, false}};
inline constexpr element_types types59[] = {{1, {0x3cfe}, 0x80, false}, {13, {0x13cfe}, 0x80, false}};
inline constexpr element_types types60[] = {{1, {0xc02, 0xc02}, 0xc02, false}, {9, {0x3cc2, 0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x13cc2}, 0x13cc2, false}};
inline constexpr element_types types61[] = {{1, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {9, {0x3cc2, 0x3cc2, 0x3cc2}, 0x3cc2, false}, {13, {0x13cc2, 0x13cc2, 0x13cc2}, 0x13cc2, false}};
inline constexpr element_types types62[] = {{12, {0x3cfe}, 0x3cfe, true}, {28, {0x13cfe}, 0x13cfe, true}};
inline constexpr element_types types63[] = {{10, {0xc, 0xc, 0xc, 0xc}, 0x40, false}};
inline constexpr element_types types64[] = {{1, {0xc02, 0xc02, 0xc02}, 0xc02, false}, {22, {0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types65[] = {{1, {0xc02}, 0xc02, false}, {12, {0xc0e}, 0xc0e, false}, {22, {0x10c0e}, 0x10c0e, false}};
inline constexpr element_types types66[] = {{10, {0xfffe, 0x2}, 0xfffe, false}, {11, {0xfffe, 0xc02, 0x2, 0x80}, 0xfffe, false}, {13, {0x1fffe, 0xc02, 0x2, 0x80}, 0x1fffe, false}};
inline constexpr element_types types67[] = {{1, {0xc02, 0xc02, 0xc02, 0xc02, 0xc02}, 0xc02, false}, {14, {0x10c02, 0x10c02, 0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types68[] = {{18, {0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types69[] = {{17, {0x10c02, 0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types70[] = {{23, {0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types71[] = {{23, {0x10402, 0x10402, 0x10402, 0x80}, 0x10402, false}};
inline constexpr element_types types72[] = {{23, {0x10c02, 0x10c02, 0x10c02, 0x13efe, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types73[] = {{10, {0x42, 0x2, 0xc}, 0xc, false}, {19, {0x10442, 0x10442, 0x2000c}, 0x2000c, false}, {21, {0x10442, 0x10442, 0x2003c}, 0x2003c, false}, {24, {0x10442, 0x30442, 0x2003c}, 0x2003c, false}};
inline constexpr element_types types74[] = {{10, {0x4c, 0x2, 0x4c}, 0x2, false}, {19, {0x2004c, 0x10402, 0x2004c}, 0x10402, false}, {21, {0x2007c, 0x10402, 0x2007c}, 0x10402, false}, {24, {0x2007c, 0x30402, 0x2007c}, 0x10402, false}};
inline constexpr element_types types75[] = {{11, {0x2}, 0x4, false}};
inline constexpr element_types types76[] = {{9, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types77[] = {{12, {0x2}, 0x2, false}, {28, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types78[] = {{10, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types79[] = {{18, {0xc02}, 0xc02, false}, {22, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types80[] = {{24, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types81[] = {{9, {0x3cfe}, 0x3cfe, false}};
inline constexpr element_types types82[] = {{18, {0x30fc, 0x30fc}, 0x30fc, false}};
inline constexpr element_types types83[] = {{18, {0x30fc}, 0x30fc, false}};
inline constexpr element_types types84[] = {{1, {0xfffe}, 0xfffe, false}, {13, {0x1fffe}, 0x1fffe, false}};
inline constexpr element_types types85[] = {{10, {0xfffe, 0x80}, 0xfffe, false}, {28, {0x1fffe, 0x80}, 0x1fffe, false}};
inline constexpr element_types types86[] = {{9, {0x3efe}, 0x3efe, false}, {22, {0x13efe}, 0x13efe, false}};
inline constexpr element_types types87[] = {{9, {0xc02}, 0xc02, false}, {13, {0x10c02}, 0x10c02, false}};
inline constexpr element_types types88[] = {{1, {0xec2}, 0xec2, false}, {7, {0xfffe}, 0xfffe, false}, {9, {0xfffe, 0x2}, 0xfffe, false}};
inline constexpr element_types types89[] = {{10, {0xc, 0x2, 0xc, 0xc, 0x2}, 0xc, false}, {21, {0x2000c, 0x10402, 0x2000c, 0x2000c, 0x10402}, 0x2000c, false}};
inline constexpr element_types types90[] = {{10, {0xc, 0x2, 0xc, 0xc, 0x2}, 0xc, false}};
inline constexpr element_types types91[] = {{1, {0xc02, 0xc02, 0xc02, 0xc02, 0x40}, 0xc02, false}, {22, {0x10c02, 0x10c02, 0x10c02, 0x10c02, 0x40}, 0x10c02, false}};
inline constexpr element_types types92[] = {{1, {0x200}, 0xfffe, false}, {13, {0x200}, 0x0, false}};
inline constexpr element_types types93[] = {{1, {0x80, 0x200, 0xfffe}, 0xfffe, true}, {13, {0x80, 0x200, 0x0}, 0x0, true}};
inline constexpr element_types types94[] = {{8, {0x80, 0xfffe}, 0xfffe, true}, {9, {0xfffe}, 0xfffe, true}, {16, {0x1fffe}, 0x1fffe, true}, {19, {0x3fffe}, 0x3fffe, true}};
inline constexpr element_types types95[] = {{11, {0x3014, 0x3014}, 0x3014, false}, {28, {0x30fc, 0x30fc}, 0x30fc, false}};
inline constexpr element_types types96[] = {{28, {0x10c02, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types97[] = {{26, {0x13cc2, 0xc0}, 0x13cc2, false}};
inline constexpr element_types types98[] = {{9, {0xfffe, 0x200}, 0xfffe, false}, {28, {0x1fffe, 0x200}, 0x1fffe, false}};
inline constexpr element_types types99[] = {{9, {0xfffe, 0xc0, 0xfffe}, 0xfffe, false}};
inline constexpr element_types types100[] = {{24, {0x3fffe, 0x3fffe, 0x80}, 0x3fffe, false}};
inline constexpr element_types types101[] = {{27, {0x10402, 0x10402, 0x10402, 0x10402}, 0x10402, false}};
inline constexpr element_types types102[] = {{27, {0x10402, 0x10402, 0x10402, 0x10402, 0x10402}, 0x10402, false}};
inline constexpr element_types types103[] = {{12, {0xc02, 0xc0, 0xc02}, 0xc02, false}, {22, {0x10c02, 0xc0, 0x10c02}, 0x10c02, false}};
inline constexpr element_types types104[] = {{12, {0xc02, 0xc0, 0xc02}, 0xc02, false}, {13, {0x10c02, 0xc0, 0x10c02}, 0x10c02, false}};
// clang-format on
}  // namespace listed

struct standard_operator {
  std::string_view name;
  int since;
  attribute_list const* attributes;
  span<element_types const> types;
};

// The standard operators in the order of their rows.
// clang-format off
inline constexpr standard_operator standard[] = {
    {"Add", 1, &listed::list0, listed::types0},
    {"Sub", 1, &listed::list0, listed::types0},
    {"Mul", 1, &listed::list0, listed::types0},
    {"Div", 1, &listed::list0, listed::types0},
    {"Neg", 1, &listed::list1, listed::types1},
    {"Reciprocal", 1, &listed::list1, listed::types2},
    {"Sqrt", 1, &listed::list1, listed::types2},
    {"Pow", 1, &listed::list2, listed::types3},
    {"Abs", 1, &listed::list1, listed::types4},
    {"Exp", 1, &listed::list1, listed::types2},
    {"Log", 1, &listed::list1, listed::types2},
    {"Erf", 9, &listed::none, listed::types5},
    {"Sin", 7, &listed::none, listed::types6},
    {"Cos", 7, &listed::none, listed::types6},
    {"Tanh", 1, &listed::list1, listed::types2},
    {"Sigmoid", 1, &listed::list1, listed::types2},
    {"Relu", 1, &listed::list1, listed::types7},
    {"Gelu", 20, &listed::list3, listed::types8},
    {"Softplus", 1, &listed::none, listed::types9},
    {"LeakyRelu", 1, &listed::list4, listed::types10},
    {"Elu", 1, &listed::list4, listed::types9},
    {"HardSigmoid", 1, &listed::list5, listed::types9},
    {"HardSwish", 14, &listed::none, listed::types11},
    {"PRelu", 1, &listed::list1, listed::types12},
    {"Floor", 1, &listed::list1, listed::types2},
    {"Ceil", 1, &listed::list1, listed::types2},
    {"Round", 11, &listed::none, listed::types13},
    {"Sign", 9, &listed::none, listed::types14},
    {"Min", 1, &listed::list1, listed::types15},
    {"Max", 1, &listed::list1, listed::types15},
    {"Sum", 1, &listed::list1, listed::types16},
    {"Mod", 10, &listed::list6, listed::types17},
    {"Clip", 1, &listed::list7, listed::types18},
    {"Equal", 1, &listed::list2, listed::types19},
    {"Less", 1, &listed::list2, listed::types20},
    {"LessOrEqual", 12, &listed::none, listed::types21},
    {"Greater", 1, &listed::list2, listed::types20},
    {"GreaterOrEqual", 12, &listed::none, listed::types21},
    {"And", 1, &listed::list2, listed::types22},
    {"Or", 1, &listed::list2, listed::types22},
    {"Xor", 1, &listed::list2, listed::types22},
    {"Not", 1, &listed::none, listed::types23},
    {"Where", 9, &listed::none, listed::types24},
    {"IsNaN", 9, &listed::none, listed::types25},
    {"IsInf", 10, &listed::list8, listed::types26},
    {"Cast", 1, &listed::list9, listed::types27},
    {"CastLike", 15, &listed::list10, listed::types28},
    {"Identity", 1, &listed::none, listed::types29},
    {"Dropout", 1, &listed::list11, listed::types30},
    {"Constant", 1, &listed::list12, listed::types31},
    {"ConstantOfShape", 9, &listed::list13, listed::types32},
    {"Shape", 1, &listed::list14, listed::types33},
    {"Size", 1, &listed::none, listed::types33},
    {"Range", 11, &listed::list15, listed::types34},
    {"Reshape", 1, &listed::list16, listed::types35},
    {"Flatten", 1, &listed::list17, listed::types36},
    {"Squeeze", 1, &listed::list18, listed::types37},
    {"Unsqueeze", 1, &listed::list19, listed::types37},
    {"Transpose", 1, &listed::list20, listed::types38},
    {"Concat", 1, &listed::list21, listed::types39},
    {"Split", 1, &listed::list22, listed::types40},
    {"Slice", 1, &listed::list23, listed::types41},
    {"Gather", 1, &listed::list17, listed::types42},
    {"GatherElements", 11, &listed::list17, listed::types43},
    {"GatherND", 11, &listed::list24, listed::types44},
    {"ScatterND", 11, &listed::list25, listed::types45},
    {"ScatterElements", 11, &listed::list26, listed::types46},
    {"Expand", 8, &listed::none, listed::types47},
    {"Tile", 1, &listed::none, listed::types48},
    {"Pad", 1, &listed::list27, listed::types49},
    {"Trilu", 14, &listed::list28, listed::types50},
    {"OneHot", 9, &listed::list17, listed::types51},
    {"NonZero", 9, &listed::none, listed::types52},
    {"CumSum", 11, &listed::list29, listed::types53},
    {"TopK", 1, &listed::list30, listed::types54},
    {"ReduceMean", 1, &listed::list31, listed::types55},
    {"GlobalAveragePool", 1, &listed::none, listed::types9},
    {"ReduceSum", 1, &listed::list32, listed::types56},
    {"ReduceProd", 1, &listed::list31, listed::types55},
    {"ReduceMax", 1, &listed::list31, listed::types57},
    {"ReduceMin", 1, &listed::list31, listed::types57},
    {"ReduceSumSquare", 1, &listed::list31, listed::types55},
    {"ReduceL1", 1, &listed::list31, listed::types55},
    {"ReduceL2", 1, &listed::list31, listed::types55},
    {"ReduceLogSum", 1, &listed::list31, listed::types58},
    {"ReduceLogSumExp", 1, &listed::list31, listed::types58},
    {"ArgMax", 1, &listed::list33, listed::types59},
    {"ArgMin", 1, &listed::list33, listed::types59},
    {"MatMul", 1, &listed::none, listed::types60},
    {"Gemm", 1, &listed::list34, listed::types61},
    {"Einsum", 12, &listed::list35, listed::types62},
    {"MatMulInteger", 10, &listed::none, listed::types63},
    {"Conv", 1, &listed::list36, listed::types64},
    {"ConvTranspose", 1, &listed::list37, listed::types64},
    {"ConvInteger", 10, &listed::list36, listed::types63},
    {"MaxPool", 1, &listed::list38, listed::types65},
    {"AveragePool", 1, &listed::list39, listed::types9},
    {"GlobalMaxPool", 1, &listed::none, listed::types9},
    {"Resize", 10, &listed::list40, listed::types66},
    {"Softmax", 1, &listed::list17, listed::types2},
    {"LogSoftmax", 1, &listed::list17, listed::types2},
    {"BatchNormalization", 1, &listed::list41, listed::types67},
    {"InstanceNormalization", 1, &listed::list42, listed::types64},
    {"GroupNormalization", 18, &listed::list43, listed::types68},
    {"LayerNormalization", 17, &listed::list44, listed::types69},
    {"RMSNormalization", 23, &listed::list44, listed::types70},
    {"RotaryEmbedding", 23, &listed::list45, listed::types71},
    {"Attention", 23, &listed::list46, listed::types72},
    {"QuantizeLinear", 10, &listed::list47, listed::types73},
    {"DequantizeLinear", 10, &listed::list48, listed::types74},
    {"DynamicQuantizeLinear", 11, &listed::none, listed::types75},
    {"Tan", 7, &listed::none, listed::types6},
    {"Asin", 7, &listed::none, listed::types6},
    {"Acos", 7, &listed::none, listed::types6},
    {"Atan", 7, &listed::none, listed::types6},
    {"Sinh", 9, &listed::none, listed::types76},
    {"Cosh", 9, &listed::none, listed::types76},
    {"Asinh", 9, &listed::none, listed::types76},
    {"Acosh", 9, &listed::none, listed::types76},
    {"Atanh", 9, &listed::none, listed::types76},
    {"Selu", 1, &listed::list49, listed::types9},
    {"Celu", 12, &listed::list50, listed::types77},
    {"ThresholdedRelu", 10, &listed::list50, listed::types78},
    {"Softsign", 1, &listed::none, listed::types9},
    {"Mish", 18, &listed::none, listed::types79},
    {"Swish", 24, &listed::list50, listed::types80},
    {"Shrink", 9, &listed::list51, listed::types81},
    {"Mean", 1, &listed::list1, listed::types16},
    {"BitwiseAnd", 18, &listed::none, listed::types82},
    {"BitwiseOr", 18, &listed::none, listed::types82},
    {"BitwiseXor", 18, &listed::none, listed::types82},
    {"BitwiseNot", 18, &listed::none, listed::types83},
    {"DepthToSpace", 1, &listed::list52, listed::types84},
    {"SpaceToDepth", 1, &listed::list53, listed::types84},
    {"ReverseSequence", 10, &listed::list54, listed::types85},
    {"EyeLike", 9, &listed::list55, listed::types86},
    {"Hardmax", 1, &listed::list17, listed::types2},
    {"LpNormalization", 1, &listed::list56, listed::types9},
    {"MeanVarianceNormalization", 9, &listed::list57, listed::types87},
    {"LRN", 1, &listed::list58, listed::types2},
    {"Upsample", 1, &listed::list59, listed::types88},
    {"QLinearMatMul", 10, &listed::none, listed::types89},
    {"QLinearConv", 10, &listed::list36, listed::types90},
    {"LSTM", 1, &listed::list60, listed::types91},
    {"GRU", 1, &listed::list61, listed::types91},
    {"RNN", 1, &listed::list62, listed::types91},
    {"If", 1, &listed::list63, listed::types92},
    {"Loop", 1, &listed::list64, listed::types93},
    {"Scan", 8, &listed::list65, listed::types94},
    {"BitShift", 11, &listed::list66, listed::types95},
    {"SwiGLU", 28, &listed::list50, listed::types96},
    {"CumProd", 26, &listed::list29, listed::types97},
    {"Compress", 9, &listed::list17, listed::types98},
    {"LpPool", 1, &listed::list67, listed::types9},
    {"GlobalLpPool", 1, &listed::list68, listed::types9},
    {"Scatter", 9, &listed::list17, listed::types99},
    {"TensorScatter", 24, &listed::list69, listed::types100},
    {"CausalConvWithState", 27, &listed::list70, listed::types101},
    {"LinearAttention", 27, &listed::list71, listed::types102},
    {"NegativeLogLikelihoodLoss", 12, &listed::list72, listed::types103},
    {"SoftmaxCrossEntropyLoss", 12, &listed::list72, listed::types104},
};
// clang-format on

}  // namespace fuse::inline v0::detail::onnx_rows
