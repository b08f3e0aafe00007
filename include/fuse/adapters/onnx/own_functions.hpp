// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/tensors.hpp>
#include <fuse/core/span.hpp>
#include <fuse/ops/extent.hpp>
#include <fuse/ops/onnx.hpp>

namespace fuse::inline v0::adapters::detail {

/// A function of the domain `fuse` that is, to the byte, one that fuse writes to stand in for an operator. Its name
/// proves nothing.
struct own_function {
  opcode op = opcode::opaque;  ///< opaque: it is none
  bool over_axes = false;
  std::int64_t axis = 0;
  std::string_view parameter{};  ///< what the body holds; a call that states another one states what is not computed
  float number = 0;              ///< ... and what it is there
  span<std::string_view const> variants{};  ///< parameters that are above 0 where the bit of their number is set
  std::uint32_t variant = 0;
  std::string name{};  ///< what fuse calls it, whatever the model calls it

  [[nodiscard]] explicit operator bool() const { return op != opcode::opaque; }
};

/// The number in a Constant of a body whose result has that name; false where there is none.
[[nodiscard]] inline bool number_in_body(::onnx::FunctionProto const& function, std::string_view name, double& into) {
  for (auto const& node : function.node()) {
    if (node.op_type() != "Constant" || node.output_size() != 1 || node.output(0) != name ||
        node.attribute_size() != 1 || !node.attribute(0).has_t())
      continue;
    auto const& raw = node.attribute(0).t().raw_data();
    auto const read = [&](auto number) {
      if (raw.size() != sizeof number) return false;
      std::memcpy(&number, raw.data(), sizeof number);
      into = static_cast<double>(number);
      return true;
    };
    return node.attribute(0).t().data_type() == ::onnx::TensorProto::DOUBLE ? read(double{}) : read(float{});
  }
  return false;
}

/// Tells by writing every function that it could be, and comparing.
[[nodiscard]] inline own_function recognise(::onnx::FunctionProto const& function, ::onnx::ModelProto const& model,
                                            int version) {
  constexpr int most_nodes = 32;
  if (function.domain() != "fuse" || function.output_size() > 3 || function.node_size() > most_nodes) return {};
  std::string given, own;
  auto nameless = function;
  nameless.clear_name();
  if (!serialize(nameless, given)) return {};
  auto const operands = static_cast<std::size_t>(function.input_size());
  // Where axes count from the first one, a body is for one rank.
  bool const negative_axes = version >= dialect(onnx).negative_axes_since;
  constexpr std::int64_t most_rank = 8;
  std::vector<extent> const shape(most_rank, extent(2));
  for (auto const& each : fuse::detail::onnx_functions::all) {
    if (operands < each.least || operands > each.most) continue;
    double number = 0;
    bool const held = !each.parameter.empty() && number_in_body(function, each.constant, number);
    for (auto const type :
         {element_type::float32, element_type::float16, element_type::bfloat16, element_type::float64})
      for (std::int64_t axis = -1; axis >= (each.over_axes ? -most_rank : -1); --axis)
        for (auto rank = each.over_axes && !negative_axes ? -axis : most_rank; rank <= most_rank; ++rank)
          for (std::uint32_t variant = 0; variant >> each.variants.size() == 0; ++variant) {
            emission e;
            e.op = each.op;
            e.version = version;
            e.negative_axes = negative_axes;
            e.operands.assign(operands, {.present = true, .type = type});
            if (each.over_axes && !negative_axes) {
              e.operands[0].has_rank = true;
              e.operands[0].shape = span<extent const>(shape).first(static_cast<std::size_t>(rank));
            }
            e.parameters = {{"axis", static_cast<double>(axis)}};
            if (held) e.parameters.push_back({each.parameter, number});
            for (std::size_t i = 0; i < each.variants.size(); ++i)
              e.parameters.push_back({each.variants[i], variant >> i & 1u ? 1. : 0.});
            e.results = static_cast<std::size_t>(function.output_size());
            function_body body;
            if (!fuse::detail::onnx_functions::function(e, body)) continue;
            ::onnx::FunctionProto made;
            fill_function(made, body, model);
            own.clear();
            if (!serialize(made, own) || own != given) continue;
            return {each.op,
                    each.over_axes,
                    axis,
                    held ? each.parameter : std::string_view{},
                    static_cast<float>(number),
                    each.variants,
                    variant,
                    body.name};
          }
  }
  return {};
}

/// Whether a call says what the function computes.
[[nodiscard]] inline bool agrees(::onnx::NodeProto const& call, own_function const& function) {
  bool axis = !function.over_axes, number = function.parameter.empty();
  std::uint32_t variant = 0;
  for (auto const& a : call.attribute()) {
    if (!a.ref_attr_name().empty()) continue;  // of a call in another function: anything
    if (a.name() == "axis" && function.over_axes) axis = a.i() == function.axis;
    if (a.name() == function.parameter) number = a.f() == function.number;
    for (std::size_t i = 0; i < function.variants.size(); ++i)
      if (a.name() == function.variants[i] && a.i() > 0) variant |= 1u << i;
  }
  return axis && number && variant == function.variant;
}

}  // namespace fuse::inline v0::adapters::detail
