// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/onnx_activations.hpp>
#include <fuse/ops/onnx_attention.hpp>
#include <fuse/ops/onnx_channel_norms.hpp>
#include <fuse/ops/onnx_embeddings.hpp>
#include <fuse/ops/onnx_norms.hpp>
#include <fuse/ops/onnx_rotary.hpp>
#include <fuse/ops/onnx_skip_norms.hpp>

/// The functions that stand in for operators of ONNX (domain "fuse", called by name, the same in every model), and all
/// else that ONNX says of new operators.
namespace fuse::inline v0::detail::onnx_functions {

/// An operator that has a function. Its parameter, if it has one, is a constant of the body where it cannot be the
/// caller's attribute.
struct stand_in {
  opcode op = opcode::opaque;
  std::size_t least = 1, most = 1;  ///< operands
  std::string_view parameter{}, constant{};
  bool over_axes = false;                   ///< it has a parameter "axis", which the body holds
  span<std::string_view const> variants{};  ///< parameters for which, where they are above 0, the body is another one
};
inline constexpr std::string_view rotary_variants[] = {"interleaved", "num_heads"};
inline constexpr stand_in all[] = {
    {opcode::layer_norm, 2, 3, "epsilon", "Epsilon", true},
    {opcode::rms_norm, 2, 2, "epsilon", "Epsilon", true},
    {opcode::group_norm, 3, 3},
    {opcode::gelu},
    {opcode::fast_gelu},
    {opcode::swish, 1, 1, "alpha", "Alpha"},
    {opcode::mish},
    {opcode::hard_swish},
    {opcode::rotary_embedding, 3, 3, {}, {}, false, rotary_variants},
};

[[nodiscard]] inline bool stands_in(opcode op, std::size_t operands) {
  for (auto const& each : all)
    if (each.op == op && operands <= each.most) return true;
  return false;
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  for (auto const why : {onnx_norms::refuse(e), onnx_channel_norms::refuse(e), onnx_skip_norms::refuse(e),
                         onnx_embeddings::refuse(e), onnx_activations::refuse(e), onnx_rotary::refuse(e),
                         onnx_attention::refuse(e), onnx_attention::refuse_projected(e)})
    if (!why.empty()) return why;
  // (And bounds are attributes of float32 below 11.)
  if (e.op == opcode::clip && e.version < 12 && e.has(0) && e.operands[0].type == element_type::float64)
    return "onnxruntime has no Clip of doubles at this operator set version";
  if (!e.operands.empty() && e.operands[0].type == element_type::bfloat16 && e.version < 13 &&
      stands_in(e.op, e.operands.size()))
    return "this operator set version has no bfloat16";
  return {};
}

template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  onnx_norms::complete(e, attributes);
  onnx_channel_norms::complete(e, attributes);
  onnx_activations::complete(e, attributes);
}

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  return onnx_norms::function(e, into) || onnx_channel_norms::function(e, into) ||
         onnx_activations::function(e, into) || onnx_rotary::function(e, into);
}

struct emission_rules {
  template <class Dialect>
  static constexpr void add_to(Dialect& into) {
    into.refuse = &refuse;
    into.stands_in = &stands_in;
    into.function = &function<function_body>;
    into.complete = &complete<attribute>;
  }
};

}  // namespace fuse::inline v0::detail::onnx_functions
