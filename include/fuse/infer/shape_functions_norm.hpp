// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include <fuse/infer/shape_context.hpp>
#include <fuse/infer/shape_functions_elementwise.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// The statistics of a norm over the axes from `axis` on, kept with extent 1, in results `first` to `last`: float32
/// unless the node says otherwise.
template <class Context>
void norm_statistics(Context& at, std::uint32_t first, std::uint32_t last) {
  if (at.result_count() <= first) return;
  std::int64_t stash = 1;
  bool const typed = at.integer("stash_type", 1, stash);
  for (auto i = first; i <= last; ++i)
    if (typed && stash == 1) at.set_type(i, element_type::float32);
  std::size_t axis = 0;
  if (!at.axis("axis", -1, at.rank(0), axis)) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  for (auto i = axis; i < at.dims.size(); ++i) at.dims[i] = 1;
  for (auto i = first; i <= last; ++i) at.set_shape(i, at.dims);
}

/// The result has the type of the scale; the standard's layer norm, from operator set 17 on, has one type for both.
/// Where operands promote, it keeps the type of what is normed.
template <class Context>
void norm_type(Context& at, opcode op) {
  bool const one_type = op == opcode::layer_norm && at.image().version >= 17;
  if (!at.names.promotes && at.operand(1) != absent && (at.type(1) != element_type::unknown || !one_type))
    at.share_type(0, 1);
  norm_statistics(at, 1, 2);
}

/// Results: norm, mean, inverse deviation, and the sum that was normed (or the first and the last for an RMS norm).
template <class Context>
void skip_norm_shape(Context& at) {
  if (!at.ranked(0)) return;
  norm_statistics(at, 1, 2);
  at.share_type(3, 0);
  at.share_shape(3, 0);
}

/// Operands: ids, segment ids, word table, position table, segment table, scale, bias, mask, and more. Results: the
/// norm, how many entries of each mask count, and perhaps the sum.
template <class Context>
void embed_norm_shape(Context& at) {
  at.set_type(1, element_type::int32);
  if (at.rank(0) != 2) return;
  auto const ids = at.shape(0);
  extent const batch[] = {ids[0]};
  extent const made[] = {ids[0], ids[1], at.rank(2) == 2 ? at.shape(2)[1] : at.symbols().fresh()};
  at.set_shape(0, made);
  at.set_shape(1, batch);
  if (at.result_count() > 2) at.set_shape(2, made);
}

/// The statistics that a training step returns have one entry per channel, as its operands do.
template <class Context>
void batch_norm_shape(Context& at) {
  double training = 0;
  if (!read_number(at.image(), at.facts, at.names, at.n, "training_mode", training)) return;
  for (std::uint32_t i = 1; i < at.result_count() && i <= 2; ++i) {
    if (training == 0) return;
    at.share_type(i, i + 2);
    at.share_shape(i, i + 2);
  }
}

template <class Context>
void quantize_shape(Context& at) {
  at.share_shape(0, 0);
  std::int64_t number = 0;
  if (at.operand(2) != absent)
    at.share_type(0, 2);
  else if (at.integer("output_dtype", 0, number))
    at.set_type(0, number == 0                  ? element_type::uint8
                   : number > 0 && number <= 16 ? static_cast<element_type>(number)
                                                : element_type::other);
}

template <class Context>
void dequantize_shape(Context& at) {
  at.share_shape(0, 0);
  std::int64_t number = 0;
  if (!at.integer("output_dtype", 0, number)) return;
  if (number == 0)
    at.share_type(0, 1);
  else
    at.set_type(0, type_of_number(number));
}

template <class Context>
void dynamic_quantize_shape(Context& at) {
  at.set_type(0, element_type::uint8);
  at.set_type(1, element_type::float32);
  at.set_type(2, element_type::uint8);
  at.share_shape(0, 0);
  at.set_shape(1, {});
  at.set_shape(2, {});
}

/// Blocks of `blocksize` squared pixels to channels, or back. Only for images.
template <class Context>
void blocks_shape(Context& at, bool to_space) {
  at.share_type(0, 0);
  std::int64_t size = 0;
  if (at.rank(0) != 4) return;
  if (!at.integer("blocksize", 0, size) || size < 1 || size > 0x7fff) return at.set_rank(0, 4);
  auto const from = at.shape(0);
  auto& symbols = at.symbols();
  auto const scaled = [&](extent e, std::int64_t by, bool up) {
    return up ? symbols.multiply(e, by) : symbols.floor_divide(e, by);
  };
  extent const made[] = {from[0], scaled(from[1], size * size, !to_space), scaled(from[2], size, to_space),
                         scaled(from[3], size, to_space)};
  at.set_shape(0, made);
}

/// LSTM, GRU, RNN: results Y [length, directions, batch, hidden], the last state, the last cell; batch first where the
/// layout says so.
template <class Context>
void recurrent_shape(Context& at) {
  for (std::uint32_t i = 0; i < 3; ++i) at.share_type(i, 0);
  std::int64_t batch_first = 0, hidden = 0;
  if (at.rank(0) != 3 || !at.integer("layout", 0, batch_first)) return;
  auto const from = at.shape(0);
  auto const directions = at.rank(1) == 3 ? at.shape(1)[0] : at.symbols().fresh();
  extent const width = at.integer("hidden_size", -1, hidden) && hidden >= 0 ? extent(hidden)
                       : at.rank(2) == 3                                    ? at.shape(2)[2]
                                                                            : at.symbols().fresh();
  auto const length = from[batch_first != 0 ? 1 : 0], batch = from[batch_first != 0 ? 0 : 1];
  extent const all[] = {length, directions, batch, width}, all_batch_first[] = {batch, length, directions, width};
  extent const last[] = {directions, batch, width}, last_batch_first[] = {batch, directions, width};
  at.set_shape(0, batch_first != 0 ? all_batch_first : all);
  for (std::uint32_t i = 1; i < 3; ++i) at.set_shape(i, batch_first != 0 ? last_batch_first : last);
}

/// Of heads, (batch, heads, queries, size of values); of heads side by side, (batch, queries, heads * that). `heads` of
/// queries share `shared` of values; below 1 they are not known.
template <class Context>
void attention_result(Context& at, std::int64_t heads, std::int64_t shared) {
  at.share_type(0, 0);
  auto const rank = at.rank(0);
  if (rank != 3 && rank != 4) return;
  auto const values = at.rank(2) == 3 || at.rank(2) == 4 ? at.shape(2) : span<extent const>{};
  if (rank == 4) {
    auto const q = at.shape(0);
    extent const made[] = {q[0], q[1], q[2], values.empty() ? at.symbols().fresh() : values.back()};
    return at.set_shape(0, made);
  }
  extent row{};
  if (values.size() == 4)
    row = at.symbols().multiply(at.shape(2)[1], at.shape(2)[3]);
  else if (values.size() == 3 && heads == shared)
    row = values.back();
  else if (values.size() == 3 && values.back().known() && shared > 0 && values.back().value() % shared == 0)
    row = at.dimension(at.symbols().multiply(extent(values.back().value() / shared), extent(heads)));
  else
    row = at.symbols().fresh();
  auto const q = at.shape(0);
  extent const made[] = {q[0], q[1], row};
  at.set_shape(0, made);
}

/// Operand and result `i` of attention, keys or values: (batch, heads, length, size) of the past, operand `past`, and
/// behind them those of operand `i`.
template <class Context>
void all_heads_shape(Context& at, std::uint32_t i, std::uint32_t past) {
  at.share_type(i, i);
  auto const rank = at.rank(i);
  if (at.rank(past) != 4 || (rank != 3 && rank != 4)) return;
  auto const before = at.shape(past), now = at.shape(i);
  auto& symbols = at.symbols();
  auto const length = at.dimension(symbols.add(before[2], now[rank == 4 ? 2 : 1]));
  extent const heads = rank == 4 ? symbols.plainer(before[1], now[1]) : before[1],
               size = rank == 4 ? symbols.plainer(before[3], now[3]) : before[3];
  extent const made[] = {symbols.plainer(before[0], now[0]), heads, length, size};
  at.set_shape(i, made);
}

/// Of onnxruntime's, whose heads are as many.
template <class Context>
void multi_head_attention_shape(Context& at) {
  attention_result(at, 1, 1);
  constexpr std::uint32_t past = 6;
  all_heads_shape(at, 1, past);
  all_heads_shape(at, 2, past + 1);
}

/// Queries, keys and values of rank 4, or of rank 3 with counts of heads as attributes.
template <class Context>
void attention_shape(Context& at) {
  std::int64_t heads = 0, shared = 0;
  bool const told = at.integer("q_num_heads", 0, heads) && at.integer("kv_num_heads", 0, shared);
  attention_result(at, told ? heads : 0, told ? shared : -1);
  constexpr std::uint32_t past = 4;
  all_heads_shape(at, 1, past);
  all_heads_shape(at, 2, past + 1);
}

/// (batch, queries, columns of values): all three of queries, keys and values have as many columns of the weights,
/// unless a list says how many.
template <class Context>
void projected_attention_shape(Context& at) {
  at.share_type(0, 0);
  if (at.rank(0) != 3) return;
  extent values = at.symbols().fresh();
  auto const state = at.integers("qkv_hidden_sizes");
  if (state == parameter_state::known && at.list.size() == 3)
    values = extent(at.list[2]);
  else if (state == parameter_state::missing && at.rank(1) == 2 && at.shape(1)[1].known())
    values = extent(at.shape(1)[1].value() / 3);
  auto const x = at.shape(0);
  extent const made[] = {x[0], x[1], values};
  at.set_shape(0, made);
}

}  // namespace fuse::inline v0::detail
