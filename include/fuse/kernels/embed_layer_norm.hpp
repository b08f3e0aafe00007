// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/embed_call.hpp>
#include <fuse/kernels/detail/embed_check.hpp>
#include <fuse/kernels/detail/run_all_rows.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/kernels/view.hpp>

#include <cstdint>
#include <optional>
#include <span>

#ifndef FUSE_REWRITE_KERNELS_SEPARATE
#include <fuse/kernels/detail/embed_rows.hpp>
#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernels/detail/embed_layer_norm-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
using embed_layer_norm_targets = FUSE_REWRITE_KERNELS_COMPILED(embed_layer_norm_rows, embed_layer_norm_calls);
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// B sequences of S tokens, H columns. What is optional comes without a value.
template <element T, element Y = T, token_id Id = std::int32_t>
struct embed_layer_norm_arguments {
  matrix_view<Id const> input_ids;                    ///< B x S
  std::optional<matrix_view<Id const>> segment_ids;   ///< B x S; without them, each segment is row 0 of the table
  matrix_view<T const> word;                          ///< V x H
  matrix_view<T const> position;                      ///< P x H; at least S rows where there are no position ids
  std::optional<matrix_view<T const>> segment;        ///< T x H
  std::span<T const> gamma;                           ///< H
  std::span<T const> beta;                            ///< H
  std::optional<matrix_view<Id const>> mask;          ///< B x S
  std::optional<matrix_view<Id const>> position_ids;  ///< B x S or 1 x S; without them, 0 to S - 1
  float epsilon = 1e-12f;                             ///< finite, at least 0
  matrix_view<Y> y;                                   ///< B * S x H
  std::span<std::int32_t> mask_index = {};            ///< B, or empty: not written
  std::optional<matrix_view<Y>> embedding_sum = {};   ///< B * S x H
};

/// The layer norm of the sum of a word's, a position's and a segment's row:
/// `y = norm(sum) * gamma + beta` with `sum = word[id] + position[position_id] + segment[segment_id]` and
/// `norm(x) = (x - mean(x)) / sqrt(variance(x) + epsilon)`; what the operator EmbedLayerNormalization of com.microsoft
/// computes, version 1. `mask_index` gets for each sequence how many entries of the mask are 1, without one 0.
///
/// - `how`: threads, and when `y` is read; see execution.hpp. A body of several is given tokens.
///
/// What is written shares memory with nothing. Every id is looked at first: unless the result is ok, nothing was
/// written, and of the tensors only ids were read. Allocates nothing; takes up to 64 KiB of stack, and where two rows
/// of float do not fit into that, computes each row twice. Complexity: B * S * H. Arithmetic is float, sums of long
/// rows are double.
template <class T, class Y, class Id, class Executor = calling_thread, class Targets = detail::embed_layer_norm_targets>
status embed_layer_norm(embed_layer_norm_arguments<T, Y, Id> const& arguments, on<Executor> how = {}) {
  auto const& a = arguments;
  std::size_t const columns = a.word.columns;
  detail::embed_check check("embed_layer_norm");
  check.tokens("input_ids", a.input_ids);
  check.needed("segment", a.segment.has_value(), "segment_ids", a.segment_ids.has_value());
  check.tokens_like("segment_ids", a.segment_ids, a.input_ids);
  check.matrix("word", a.word);
  check.columns("position", a.position, columns);
  if (a.position_ids) {
    check.tokens_like("position_ids", a.position_ids, a.input_ids, a.position_ids->rows == 1);
  } else {
    check.positions(a.position.rows, a.input_ids.columns);
  }
  check.matrix("position", a.position);
  if (a.segment) {
    check.columns("segment", *a.segment, columns);
    check.matrix("segment", *a.segment);
  }
  check.vector("gamma", a.gamma, "column of word", columns);
  check.vector("beta", a.beta, "column of word", columns);
  check.tokens_like("mask", a.mask, a.input_ids);
  check.epsilon("epsilon", a.epsilon);
  check.for_each_token("y", a.y, a.input_ids, columns);
  if (a.embedding_sum) check.for_each_token("embedding_sum", *a.embedding_sum, a.input_ids, columns);
  if (!a.mask_index.empty()) check.vector("mask_index", a.mask_index, "row of input_ids", a.input_ids.rows);
  if (status const& checked = check.finish(); !checked.ok()) return checked;
  check.each_in("input_ids", a.input_ids, "word", a.word.rows);
  if (a.segment_ids) check.each_in("segment_ids", *a.segment_ids, "segment", a.segment->rows);
  if (a.segment && !a.segment_ids && a.y.rows > 0) check.zero_in("segment_ids", "segment", a.segment->rows);
  if (a.position_ids) check.each_in("position_ids", *a.position_ids, "position", a.position.rows);
  if (status const& checked = check.finish(); !checked.ok()) return checked;

  auto const table = [](matrix_view<T const> const& view) { return detail::table<T>{view.data, view.row_stride}; };
  detail::embed_layer_norm_call<T, Y, Id> call{detail::ids_of(a.input_ids, a.segment_ids, a.position_ids),
                                               table(a.word),
                                               table(a.position),
                                               a.segment ? table(*a.segment) : detail::table<T>{},
                                               a.gamma.data(),
                                               a.beta.data(),
                                               a.y.data,
                                               a.embedding_sum ? a.embedding_sum->data : nullptr,
                                               columns,
                                               a.y.row_stride,
                                               a.embedding_sum ? a.embedding_sum->row_stride : 0,
                                               a.epsilon,
                                               detail::is_streamed(how.result, false, a.y.rows * columns * sizeof(Y)),
                                               how.way};
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, a.y.rows, columns * (2 * sizeof(T) + sizeof(Y)));
  detail::count_ones(a.mask, a.mask_index);
  return {};
}

}  // namespace fuse::inline v0::kernels
