// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

#include <fuse/core/math.hpp>
#include <fuse/ops/dialect.hpp>

/// What onnxruntime says of its norms of embeddings, EmbedLayerNormalization and QEmbedLayerNormalization.
namespace fuse::inline v0::detail::onnx_embeddings {

[[nodiscard]] inline bool same_shape(operand_facts const& a, operand_facts const& b) {
  bool same = a.has_rank && b.has_rank && a.shape.size() == b.shape.size();
  for (std::size_t i = 0; same && i < a.shape.size(); ++i) same = a.shape[i] == b.shape[i];
  return same;
}

[[nodiscard]] inline std::string_view refuse_positions(emission const& e) {
  if (!e.has(8)) return {};
  auto const &ids = e.operands[0], &at = e.operands[8];
  if (at.type != element_type::int32) return "the operator takes positions of 32 bits";
  if (at.shape.size() != 2 || !(at.shape[1] == ids.shape[1]) ||
      !(at.shape[0] == extent(1) || at.shape[0] == ids.shape[0]))
    return "positions are not provably as many as the ids";
  return {};
}
[[nodiscard]] inline std::string_view refuse_quantisation(emission const& e) {
  constexpr std::size_t first = 2, count = 5, scales = 8, zeros = 13;
  for (std::size_t i = 0; i < count; ++i) {
    if (!e.has(first + i)) continue;
    for (auto const at : {scales + i, zeros + i}) {
      if (!e.has(at)) return "a scale or zero point is absent";
      auto const& given = e.operands[at];
      if (!given.has_rank || given.shape.size() > 1 || (given.shape.size() == 1 && !(given.shape[0] == extent(1))))
        return "a scale or zero point is not provably one number";
      if (given.type != (at < zeros ? element_type::float32 : e.operands[first].type))
        return "a scale is not float32, or a zero point not of the tables' element type";
    }
  }
  return {};
}

/// (ids, segments?, words, positions' table, segments' table?, scale, bias, mask?, positions?): ids are (batch,
/// sequence), positions are that or of one batch, tables are (rows, hidden), scale and bias (hidden). Of 8 bits, five
/// scales and five zero points follow the mask, each a number.
[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const quantised = e.op == opcode::qembed_layer_norm;
  if (e.op != opcode::embed_layer_norm && !quantised) return {};
  for (auto const needed : {0u, 2u, 3u, 5u, 6u})
    if (!e.has(needed)) return "the operator needs ids, tables of words and positions, a scale and a bias";
  auto const &ids = e.operands[0], &words = e.operands[2];
  if (words.type == element_type::unknown) return "the element type of the tables is not known";
  for (auto const i : {2u, 3u, 4u, 5u, 6u})
    if (e.has(i) && e.operands[i].type != words.type)
      return "the operator takes tables, scale and bias of one element type";
  for (auto const i : {0u, 1u})
    if (e.has(i) && e.operands[i].type != element_type::int32) return "the operator takes ids of 32 bits";
  if (!ids.has_rank || ids.shape.size() != 2) return "the operator takes ids of two axes";
  if (e.has(1) != e.has(4)) return "segments and their table come together";
  if (e.has(1) && !same_shape(e.operands[1], ids)) return "segments have not, or not provably, the shape of the ids";
  for (auto const i : {2u, 3u, 4u})
    if (e.has(i) && (e.operands[i].shape.size() != 2 || !(e.operands[i].shape[1] == words.shape[1])))
      return "tables are not provably of rows of one length";
  for (auto const i : {5u, 6u})
    if (e.operands[i].shape.size() != 1 || !(e.operands[i].shape[0] == words.shape[1]))
      return "scale or bias is not provably one row of the tables";
  if (auto const why = quantised ? refuse_quantisation(e) : refuse_positions(e); !why.empty()) return why;
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  return {};
}

}  // namespace fuse::inline v0::detail::onnx_embeddings
