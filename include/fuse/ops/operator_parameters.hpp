// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace fuse::inline v0 {

/// What an operator's parameter "axis" counts.
enum class axis_use : std::uint8_t {
  none,      ///< nobody says
  one,       ///< that axis alone
  trailing,  ///< all axes from that one on
};

/// Whether a parameter is a list of integers, and which one where neither the node nor the dialect says.
enum class list_use : std::uint8_t {
  none,       ///< it is one number
  given,      ///< it must be given
  reversed,   ///< the axes of the first operand, from the last to the first
  ones,       ///< a 1 for each spatial axis: those of the first operand from the third on
  pads,       ///< a 0 before and one behind each spatial axis
  both_ends,  ///< must be given: entries before and behind each of the axes that the parameter "axes" tells, or of all
              ///< axes; it is read as one of all axes
};

/// What a parameter is when neither the node nor the dialect says; NaN where it must be given.
struct parameter_info {
  std::string_view name;
  double fallback;
  axis_use axis = axis_use::none;
  bool real = false;  ///< a real number, also where it happens to be whole; else an integer
  list_use list = list_use::none;
};

}  // namespace fuse::inline v0

/// The parameters that neutral operators have by name. Those that several operators share stand here once.
namespace fuse::inline v0::detail {

constexpr parameter_info real_number(std::string_view name, double fallback) {
  return {name, fallback, axis_use::none, true};
}

constexpr parameter_info list_of_integers(std::string_view name, list_use otherwise = list_use::given) {
  return {name, std::numeric_limits<double>::quiet_NaN(), axis_use::none, false, otherwise};
}

inline constexpr parameter_info reduction_parameters[] = {{"keepdims", 1}, {"noop_with_empty_axes", 0}};
inline constexpr parameter_info norm_parameters[] = {
    {"axis", -1, axis_use::trailing}, real_number("epsilon", 1e-5), {"stash_type", 1}};
inline constexpr parameter_info embedding_parameters[] = {real_number("epsilon", 1e-12), {"mask_index_type", 0}};
inline constexpr parameter_info instance_norm_parameters[] = {real_number("epsilon", 1e-5)};
inline constexpr parameter_info group_norm_parameters[] = {
    {"num_groups", std::numeric_limits<double>::quiet_NaN()}, real_number("epsilon", 1e-5), {"stash_type", 1}};
inline constexpr parameter_info last_axis_parameters[] = {{"axis", -1, axis_use::one}};
inline constexpr parameter_info first_axis_parameters[] = {{"axis", 0, axis_use::one}};
inline constexpr parameter_info axis_parameters[] = {{"axis", std::numeric_limits<double>::quiet_NaN(), axis_use::one}};
inline constexpr parameter_info flatten_parameters[] = {{"axis", 1, axis_use::trailing}};
inline constexpr parameter_info batch_norm_parameters[] = {real_number("epsilon", 1e-5), {"training_mode", 0}};
inline constexpr parameter_info gelu_parameters[] = {{"approximate", 0}};  // by erf; 1: by tanh
inline constexpr parameter_info swish_parameters[] = {real_number("alpha", 1)};
inline constexpr parameter_info leaky_relu_parameters[] = {real_number("alpha", 0.01)};
inline constexpr parameter_info elu_parameters[] = {real_number("alpha", 1)};
inline constexpr parameter_info thresholded_relu_parameters[] = {real_number("alpha", 1)};
inline constexpr parameter_info hard_sigmoid_parameters[] = {real_number("alpha", 0.2), real_number("beta", 0.5)};
inline constexpr parameter_info clip_parameters[] = {real_number("min", -std::numeric_limits<double>::infinity()),
                                                     real_number("max", std::numeric_limits<double>::infinity())};
inline constexpr parameter_info rotary_parameters[] = {
    {"interleaved", 0}, {"num_heads", 0}, {"rotary_embedding_dim", 0}};
inline constexpr parameter_info attention_parameters[] = {
    {"q_num_heads", 0},       {"kv_num_heads", 0},      real_number("scale", std::numeric_limits<double>::quiet_NaN()),
    {"is_causal", 0},         {"left_window_size", -1}, {"right_window_size", -1},
    real_number("softcap", 0)};
inline constexpr parameter_info multi_head_attention_parameters[] = {
    {"num_heads", std::numeric_limits<double>::quiet_NaN()}, real_number("scale", 0), {"unidirectional", 0}};
inline constexpr parameter_info projected_attention_parameters[] = {
    {"num_heads", std::numeric_limits<double>::quiet_NaN()},
    real_number("scale", 0),
    {"unidirectional", 0},
    list_of_integers("qkv_hidden_sizes")};
inline constexpr parameter_info transpose_parameters[] = {list_of_integers("perm", list_use::reversed)};
inline constexpr parameter_info reshape_parameters[] = {list_of_integers("shape"), {"allowzero", 0}};
inline constexpr parameter_info slice_parameters[] = {list_of_integers("starts"), list_of_integers("ends"),
                                                      list_of_integers("steps")};
inline constexpr parameter_info pad_parameters[] = {
    list_of_integers("pads", list_use::both_ends), {"mode", 0}, real_number("value", 0)};  // 0: by one number
inline constexpr parameter_info conv_parameters[] = {list_of_integers("strides", list_use::ones),
                                                     list_of_integers("dilations", list_use::ones),
                                                     list_of_integers("pads", list_use::pads),
                                                     list_of_integers("kernel_shape"),
                                                     {"group", 1}};
inline constexpr parameter_info pool_parameters[] = {
    list_of_integers("strides", list_use::ones), list_of_integers("dilations", list_use::ones),
    list_of_integers("pads", list_use::pads), list_of_integers("kernel_shape")};
inline constexpr parameter_info max_pool_parameters[] = {
    pool_parameters[0], pool_parameters[1], pool_parameters[2], pool_parameters[3], {"ceil_mode", 0}};
inline constexpr parameter_info average_pool_parameters[] = {pool_parameters[0],     pool_parameters[1],
                                                             pool_parameters[2],     pool_parameters[3],
                                                             max_pool_parameters[4], {"count_include_pad", 0}};
inline constexpr parameter_info gemm_parameters[] = {
    real_number("alpha", 1), real_number("beta", 1), {"transA", 0}, {"transB", 0}};
// The activation is one of layer_activation.
inline constexpr parameter_info fused_conv_parameters[] = {conv_parameters[0], conv_parameters[1], conv_parameters[2],
                                                           conv_parameters[3], conv_parameters[4], {"activation", 0}};
inline constexpr parameter_info fused_gemm_parameters[] = {
    gemm_parameters[0], gemm_parameters[1], gemm_parameters[2], gemm_parameters[3], {"activation", 0}};

}  // namespace fuse::inline v0::detail
