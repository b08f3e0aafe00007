// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

#include <fuse/core/math.hpp>
#include <fuse/ops/dialect.hpp>

/// What onnxruntime says of its norms of a sum, SkipLayerNormalization and SkipSimplifiedLayerNormalization.
namespace fuse::inline v0::detail::onnx_skip_norms {

/// Input and skip are (batch, sequence, hidden) or (tokens, hidden); of three axes, the batch of the skip may be 1 or
/// absent. All other operands are one row.
[[nodiscard]] inline std::string_view refuse(emission const& e) {
  if ((e.op != opcode::skip_layer_norm && e.op != opcode::skip_rms_norm) || e.operands.size() < 3) return {};
  auto const& input = e.operands[0];
  if (!input.has_rank || (input.shape.size() != 2 && input.shape.size() != 3))
    return "the operator takes inputs of two or three axes";
  for (std::size_t i = 1; i < e.operands.size(); ++i)
    if (e.has(i) && e.operands[i].type != input.type) return "the operator takes operands of one element type";
  auto const& skip = e.operands[1];
  auto const rank = input.shape.size(), skip_rank = skip.shape.size();
  bool fits = skip.has_rank && skip_rank <= rank && (skip_rank == rank || (rank == 3 && skip_rank == 2));
  for (std::size_t i = 1; fits && i <= skip_rank; ++i) {
    auto const a = input.shape[rank - i], b = skip.shape[skip_rank - i];
    fits = a == b || (i == 3 && b == extent(1));
  }
  if (!fits) return "the skip has provably neither the shape of the input nor one that the operator repeats";
  for (std::size_t i = 2; i < e.operands.size(); ++i)
    if (e.has(i) && (e.operands[i].shape.size() != 1 || !(e.operands[i].shape[0] == input.shape.back())))
      return "scale or bias is not provably one row of the last axis";
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  return {};
}

}  // namespace fuse::inline v0::detail::onnx_skip_norms
