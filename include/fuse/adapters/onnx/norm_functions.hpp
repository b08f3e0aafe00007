// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/tensors.hpp>
#include <fuse/core/span.hpp>
#include <fuse/ops/extent.hpp>
#include <fuse/ops/onnx.hpp>

namespace fuse::inline v0::adapters::detail {

/// A function of the domain `fuse` that is, to the byte, one that fuse writes for a norm. Its name proves nothing.
struct norm_function {
  opcode op = opcode::opaque;  ///< opaque: it is none
  std::int64_t axis = 0;
  bool fixed_epsilon =
      false;  ///< the body holds the epsilon; a call that states another one states what is not computed
  float epsilon = 0;

  std::string name{};  ///< what fuse calls it, whatever the model calls it

  [[nodiscard]] explicit operator bool() const { return op != opcode::opaque; }
};

/// Tells by writing every norm that the function could be, and comparing.
[[nodiscard]] inline norm_function recognise_norm(::onnx::FunctionProto const& function,
                                                  ::onnx::ModelProto const& model, int version) {
  norm_function found;
  if (function.domain() != "fuse" || function.input_size() < 2 || function.input_size() > 3 ||
      function.output_size() > 3 || function.node_size() > 32)
    return found;
  std::string given, own;
  auto nameless = function;
  nameless.clear_name();
  if (!serialize(nameless, given)) return found;
  if (version < 12)  // attributes cannot reach a Constant there
    for (auto const& node : function.node())
      if (node.op_type() == "Constant" && node.output_size() == 1 && node.output(0).starts_with("Epsilon") &&
          node.attribute_size() == 1 && node.attribute(0).t().data_type() == 1 &&
          node.attribute(0).t().raw_data().size() == sizeof(float)) {
        found.fixed_epsilon = true;
        std::memcpy(&found.epsilon, node.attribute(0).t().raw_data().data(), sizeof(float));
      }
  constexpr dialect names = onnx;
  bool const negative = version >= names.negative_axes_since;
  std::vector<extent> const shape(8, extent(2));
  for (auto const op : {opcode::layer_norm, opcode::rms_norm})
    for (auto const type :
         {element_type::float32, element_type::float16, element_type::bfloat16, element_type::float64})
      for (std::int64_t axis = -1; axis >= -8; --axis)
        for (auto rank = negative ? std::int64_t{8} : -axis; rank <= 8; ++rank) {
          emission e;
          e.op = op;
          e.version = version;
          e.negative_axes = negative;
          e.operands.assign(static_cast<std::size_t>(function.input_size()), {.present = true, .type = type});
          if (!negative) {
            e.operands[0].has_rank = true;
            e.operands[0].shape = span<extent const>(shape).first(static_cast<std::size_t>(rank));
          }
          e.parameters = {{"axis", static_cast<double>(axis)}, {"epsilon", static_cast<double>(found.epsilon)}};
          e.results = static_cast<std::size_t>(function.output_size());
          function_body body;
          if (!fuse::detail::onnx_norms::function(e, body)) continue;
          ::onnx::FunctionProto made;
          fill_function(made, body, model);
          own.clear();
          if (!serialize(made, own) || own != given) continue;
          found.op = op;
          found.axis = axis;
          found.name = body.name;
          return found;
        }
  return {};
}

/// Whether a call says what the function computes.
[[nodiscard]] inline bool agrees(::onnx::NodeProto const& call, norm_function const& function) {
  bool axis = false, epsilon = !function.fixed_epsilon;
  for (auto const& a : call.attribute()) {
    if (!a.ref_attr_name().empty()) continue;  // of a call in another function: anything
    if (a.name() == "axis") axis = a.i() == function.axis;
    if (a.name() == "epsilon" && function.fixed_epsilon) epsilon = a.f() == function.epsilon;
  }
  return axis && epsilon;
}

}  // namespace fuse::inline v0::adapters::detail
