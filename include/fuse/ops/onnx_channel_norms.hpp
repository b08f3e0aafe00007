// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/ops/dialect.hpp>

/// What ONNX and onnxruntime say of norms of channels, InstanceNormalization and GroupNormalization.
namespace fuse::inline v0::detail::onnx_channel_norms {

[[nodiscard]] constexpr bool is_norm(opcode op) { return op == opcode::instance_norm || op == opcode::group_norm; }

/// Of (batch, channels, one axis or more), with a scale and a bias for each channel.
[[nodiscard]] inline std::string_view refuse(emission const& e) {
  if (!is_norm(e.op) || e.operands.size() != 3) return {};
  auto const& x = e.operands[0];
  if (x.type == element_type::unknown) return "the element type of the norm's input is not known";
  if (!is_floating(x.type)) return "the norm's input is not of a floating element type";
  if (e.to == target::onnxruntime && x.type != element_type::float32 && x.type != element_type::float16)
    return "onnxruntime has a kernel for float and half, and for no other type";
  if (!x.has_rank || x.shape.size() < 3) return "the operator takes inputs of three axes or more";
  for (std::size_t i = 1; i < 3; ++i) {
    auto const& row = e.operands[i];
    if (row.type != x.type) return "scale or bias has another element type than the norm's input";
    if (!row.has_rank || row.shape.size() != 1 || !(row.shape[0] == x.shape[1]))
      return "scale or bias is not provably one element for each channel";
  }
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  if (e.op == opcode::instance_norm) return {};
  auto const groups = e.number("num_groups");
  if (!x.shape[1].known() || !(groups >= 1) || x.shape[1].value() % static_cast<std::int64_t>(groups) != 0)
    return "the channels are not, or not provably, as many in each group";
  return {};
}

/// The statistics of a group norm in double, where the input is double.
template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  if (e.op == opcode::group_norm && !e.operands.empty() && e.operands[0].type == element_type::float64)
    attributes.push_back({"stash_type", std::int64_t{11}});
}

}  // namespace fuse::inline v0::detail::onnx_channel_norms
