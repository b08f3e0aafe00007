// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call_types.hpp>
#include <fuse/kernels/execution.hpp>

#include <cstddef>
#include <cstdint>

namespace fuse::inline v0::kernels::detail {

/// Ids of `length` tokens in each of several sequences, all of them checked.
template <class Id>
struct token_ids {
  Id const* word;
  Id const* segment;                                         // null: row 0 of the segment table
  Id const* position;                                        // null: the token's place in its sequence
  std::size_t word_stride, segment_stride, position_stride;  // 0: one row for all sequences
  std::size_t length;
};

/// Row r begins at `data + r * stride`. A table that is not there has no data.
template <class T>
struct table {
  T const* data;
  std::size_t stride;
};

/// The numbers of a table stand for `(number - zero_point) * scale`.
template <class T>
struct quantized_table {
  T const* data;
  std::size_t stride, rows;
  float scale;
  T zero_point;
};

/// Calls for the tokens from `begin` to `end` of all sequences; row t of `y` is token t's.
template <class T, class Y, class Id>
struct embed_layer_norm_call {
  token_ids<Id> ids;
  table<T> word, position, segment;
  T const* gamma;
  T const* beta;
  Y* y;
  Y* embedding_sum;  // null: not wanted
  std::size_t columns, y_stride, sum_stride;
  float epsilon;
  bool streamed;  // y is written past the caches
  row_way way;
  std::size_t begin = 0, end = 0;
};
using embed_layer_norm_calls = calls_of<embed_layer_norm_call, any_element, any_element, always<std::int32_t>>;

template <class T, class Id>
struct qembed_layer_norm_call {
  token_ids<Id> ids;
  quantized_table<T> word, position, segment, gamma, beta;
  float* y;
  std::size_t columns, y_stride;
  float epsilon;
  bool streamed;
  row_way way;
  std::size_t begin = 0, end = 0;
};
using qembed_layer_norm_calls = calls_of<qembed_layer_norm_call, any_byte, always<std::int32_t>>;

}  // namespace fuse::inline v0::kernels::detail
