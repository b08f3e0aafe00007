// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

#include <fuse/core/math.hpp>
#include <fuse/ops/dialect.hpp>

/// What ONNX says of Attention, and onnxruntime of it, of its MultiHeadAttention and of its own Attention, which
/// projects queries, keys and values itself.
namespace fuse::inline v0::detail::onnx_attention {

/// Where heads and their size stand in the shape of queries, keys or values.
struct heads_of {
  extent count{}, size{}, length{};
};
/// (batch, heads, length, size), or (batch, length, heads * size), of which `heads` are known; false where it is
/// neither, or not provably.
[[nodiscard]] inline bool read(operand_facts const& of, double heads, heads_of& into) {
  if (!of.has_rank) return false;
  auto const shape = of.shape;
  if (shape.size() == 4) {
    into = {shape[1], shape[3], shape[2]};
    return true;
  }
  if (shape.size() != 3 || !(heads >= 1 && heads <= 1e9) || !shape[2].known()) return false;
  auto const count = static_cast<std::int64_t>(heads);
  if (shape[2].value() % count != 0) return false;
  into = {extent(count), extent(shape[2].value() / count), shape[1]};
  return true;
}

/// What is added to the scores is for each batch and head or for all; it has a row for each query and a column for each
/// key. (onnxruntime repeats neither; the standard takes fewer columns for fewer keys.)
[[nodiscard]] inline std::string_view refuse_mask(operand_facts const& mask, std::size_t least, extent batch,
                                                  heads_of const& q, heads_of const& k) {
  auto const rank = mask.shape.size();
  if (!mask.has_rank || rank < least || rank > 4)
    return "the mask has, or may have, other axes than the operator takes";
  if (!(mask.shape[rank - 2] == q.length) || !(mask.shape[rank - 1] == k.length))
    return "the mask has not provably a row for each query and a column for each key";
  extent const leading[] = {batch, q.count};
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (auto const e = mask.shape[i]; !(e == extent(1)) && !(e == leading[i + 4 - rank]))
      return "the mask is not provably for each batch and head, or for all";
  return {};
}

/// Keys and values of earlier calls, (batch, heads, length, size) each, stand before those of this one, with as many
/// heads of the same size; a value for each key. (onnxruntime's operator has one size for both, and takes what it
/// appends with heads side by side.)
[[nodiscard]] inline std::string_view refuse_past(emission const& e, std::size_t past, heads_of const& k,
                                                  heads_of const& v, bool vendor) {
  heads_of keys, values;
  for (std::size_t i = past; i < past + 2; ++i)
    if (!e.has(i) || !e.operands[i].has_rank || e.operands[i].shape.size() != 4)
      return "a past is keys and values of four axes each";
  if (vendor && e.operands[1].shape.size() != 3) return "the operator appends keys and values of three axes";
  (void)read(e.operands[past], 0, keys);
  (void)read(e.operands[past + 1], 0, values);
  if (!(e.operands[past].shape[0] == e.operands[0].shape[0]) ||
      !(e.operands[past + 1].shape[0] == e.operands[0].shape[0]))
    return "the past is not provably of as many batches";
  if (!(keys.count == k.count) || !(values.count == v.count)) return "the past has not provably as many heads";
  if (!(keys.size == k.size) || !(values.size == v.size) || (vendor && !(k.size == v.size)))
    return "the past has not provably heads of the same size";
  if (!(keys.length == values.length)) return "the past has not provably a value for each key";
  return {};
}

/// Attention: of four axes all three, or all of three. MultiHeadAttention: of three axes, as many heads of each; keys
/// and values may be of four.
[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const vendor = e.op == opcode::multi_head_attention;
  if (e.op != opcode::attention && !vendor) return {};
  for (std::size_t i = 0; i < 3; ++i)
    if (!e.has(i)) return "the operator needs queries, keys and values";
  std::size_t const mask = vendor ? 5 : 3, past = vendor ? 6 : 4;
  for (std::size_t i = 3; i < e.operands.size(); ++i)
    if (e.has(i) && i != mask && i != past && i != past + 1)
      return "queries, keys, values, a mask and a past are all that a rewrite can give the operator";
  if (e.results > 3 || (e.results > 1 && !e.has(past)))
    return "a rewrite takes the result of the operator, and behind a past all keys and values";
  auto const type = e.operands[0].type;
  for (std::size_t i = 0; i < e.operands.size(); ++i)
    if (e.has(i) && (e.operands[i].type != type || !is_floating(type)))
      return "the operator takes operands of one floating element type";
  bool const is_written = !e.written.empty();
  if (!is_written && type == element_type::float64 &&
      e.number("softmax_precision") == static_cast<double>(element_type::float32))
    return "a softmax in float32 is less precise than doubles are";
  auto const of_queries = e.number(vendor ? "num_heads" : "q_num_heads");
  auto const of_keys = vendor ? of_queries : e.number("kv_num_heads");
  auto const rank = e.operands[0].shape.size();
  if (vendor && rank != 3) return "the operator takes queries of three axes";
  heads_of q, k, v;
  if (!read(e.operands[0], of_queries, q) || !read(e.operands[1], of_keys, k) || !read(e.operands[2], of_keys, v))
    return "queries, keys or values have, or may have, other axes than the operator takes";
  for (std::size_t i = 1; i < 3; ++i) {
    auto const axes = e.operands[i].shape.size();
    if (axes != rank && !(vendor && axes == 4)) return "queries, keys and values have not as many axes";
    if (axes != e.operands[1].shape.size()) return "keys and values have not as many axes";
    if (!(e.operands[i].shape[0] == e.operands[0].shape[0]))
      return "queries, keys and values are not provably of as many batches";
  }
  if (!(q.size == k.size)) return "queries and keys have not provably heads of one size";
  if (vendor && e.operands[1].shape.size() == 4 && !(k.size == v.size))
    return "keys and values of four axes have not provably heads of one size";
  if (!(k.length == v.length)) return "keys and values are not provably as many";
  if (!(k.count == v.count)) return "keys and values have not provably as many heads";
  bool const grouped =
      q.count.known() && k.count.known() && k.count.value() > 0 && q.count.value() % k.count.value() == 0;
  if (vendor && !(q.count == k.count)) return "there are not provably as many heads of keys as of queries";
  if (!(q.count == k.count) && !grouped) return "heads of queries do not provably share those of keys";
  auto const scale = e.number("scale");
  if (!is_written && (!math::fits_float(scale) || (vendor ? scale == 0 : !(scale > 0))))
    return vendor ? "the scale is 0, which means another one, or does not fit a float32 attribute"
                  : "the scale is not above 0, or does not fit a float32 attribute";
  if (e.has(past) || e.has(past + 1)) {
    if (auto const why = refuse_past(e, past, k, v, vendor); !why.empty()) return why;
    k.length = is_written && e.results > 1 && e.written[1].shape.size() == 4 ? e.written[1].shape[2] : extent(-1);
  }
  // (A row of the lowest numbers is for onnxruntime's Attention one of no keys.)
  if (!is_written && !vendor && e.has(mask) && e.to == target::onnxruntime)
    return "onnxruntime takes masks otherwise than the standard says, where a query may look at nothing";
  return e.has(mask) ? refuse_mask(e.operands[mask], vendor ? 4 : 2, e.operands[0].shape[0], q, k) : std::string_view{};
}

/// onnxruntime's Attention: (x, weights, bias, -, -, mask), a bias always, and a mask as MultiHeadAttention's.
[[nodiscard]] inline std::string_view refuse_projected(emission const& e) {
  if (e.op != opcode::projected_attention) return {};
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    if (i < 3 && !e.has(i)) return "the operator needs what it projects, weights and a bias";
    if ((i == 3 || i == 4 || i > 5) && e.has(i))
      return "what is projected, weights, a bias and a mask are all that a rewrite can give the operator";
    if (e.has(i) && (e.operands[i].type != e.operands[0].type || !is_floating(e.operands[i].type)))
      return "the operator takes operands of one floating element type";
  }
  auto const scale = e.number("scale");
  if (!math::fits_float(scale)) return "the scale does not fit a float32 attribute";
  auto const& x = e.operands[0];
  if (!x.has_rank || x.shape.size() != 3) return "the operator takes an input of three axes";
  if (!e.has(5)) return {};
  heads_of const all{extent(static_cast<std::int64_t>(e.number("num_heads"))), {}, x.shape[1]};
  return refuse_mask(e.operands[5], 4, x.shape[0], all, all);
}

}  // namespace fuse::inline v0::detail::onnx_attention
