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

/// What a parameter is when neither the node nor the dialect says; NaN where it must be given.
struct parameter_info {
  std::string_view name;
  double fallback;
  axis_use axis = axis_use::none;
  bool real = false;  ///< a real number, also where it happens to be whole; else an integer
};

}  // namespace fuse::inline v0

/// The parameters that neutral operators have by name. Those that several operators share stand here once.
namespace fuse::inline v0::detail {

constexpr parameter_info real_number(std::string_view name, double fallback) {
  return {name, fallback, axis_use::none, true};
}

inline constexpr parameter_info reduction_parameters[] = {{"keepdims", 1}, {"noop_with_empty_axes", 0}};
inline constexpr parameter_info norm_parameters[] = {
    {"axis", -1, axis_use::trailing}, real_number("epsilon", 1e-5), {"stash_type", 1}};
inline constexpr parameter_info last_axis_parameters[] = {{"axis", -1, axis_use::one}};
inline constexpr parameter_info first_axis_parameters[] = {{"axis", 0, axis_use::one}};
inline constexpr parameter_info axis_parameters[] = {{"axis", std::numeric_limits<double>::quiet_NaN(), axis_use::one}};
inline constexpr parameter_info flatten_parameters[] = {{"axis", 1, axis_use::trailing}};
inline constexpr parameter_info batch_norm_parameters[] = {real_number("epsilon", 1e-5), {"training_mode", 0}};
inline constexpr parameter_info gelu_parameters[] = {{"approximate", 0}};  // by erf; 1: by tanh
inline constexpr parameter_info swish_parameters[] = {real_number("alpha", 1)};
inline constexpr parameter_info gemm_parameters[] = {
    real_number("alpha", 1), real_number("beta", 1), {"transA", 0}, {"transB", 0}};

}  // namespace fuse::inline v0::detail
