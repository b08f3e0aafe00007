// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/embed_call.hpp>
#include <fuse/kernels/detail/embed_check.hpp>
#include <fuse/kernels/detail/run_all_rows.hpp>
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/quantize.hpp>
#include <fuse/kernels/quantized.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/kernels/view.hpp>

#include <cstdint>
#include <optional>
#include <span>

#ifndef FUSE_REWRITE_KERNELS_SEPARATE
#include <fuse/kernels/detail/embed_rows.hpp>
#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernels/detail/qembed_layer_norm-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>
#endif

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
using qembed_layer_norm_targets = FUSE_REWRITE_KERNELS_COMPILED(qembed_layer_norm_rows, qembed_layer_norm_calls);
inline constexpr quantized_names word_names{"word", "word.scale", "word.zero_point"};
inline constexpr quantized_names position_names{"position", "position.scale", "position.zero_point"};
inline constexpr quantized_names segment_names{"segment", "segment.scale", "segment.zero_point"};
inline constexpr quantized_names gamma_names{"gamma", "gamma.scale", "gamma.zero_point"};
inline constexpr quantized_names beta_names{"beta", "beta.scale", "beta.zero_point"};
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// B sequences of S tokens, H columns; all tables of one type. What is optional comes without a value.
template <quantized_element T, token_id Id = std::int32_t>
struct qembed_layer_norm_arguments {
  matrix_view<Id const> input_ids;                   ///< B x S
  std::optional<matrix_view<Id const>> segment_ids;  ///< B x S, where there is a segment table
  quantized_view<T const> word;                      ///< V x H
  quantized_view<T const> position;                  ///< at least S rows, x H
  std::optional<quantized_view<T const>> segment;    ///< T x H, where there are segment ids
  quantized_view<T const> gamma;                     ///< 1 x H
  quantized_view<T const> beta;                      ///< 1 x H
  std::optional<matrix_view<Id const>> mask;         ///< B x S
  float epsilon = 1e-12f;                            ///< finite, at least 0
  matrix_view<float> y;                              ///< B * S x H
  std::span<std::int32_t> mask_index = {};           ///< B, or empty: not written
};

/// The layer norm of the sum of a word's, a position's and a segment's row, all of them quantized:
/// `y = norm(word[id] + position[i] + segment[segment_id]) * gamma + beta` for token i of each sequence, with
/// `norm(x) = (x - mean(x)) / sqrt(variance(x) + epsilon)`; what the operator QEmbedLayerNormalization of com.microsoft
/// computes, version 1. `mask_index` gets for each sequence how many entries of the mask are 1, without one 0.
///
/// - `how`: threads, and when `y` is read; see execution.hpp. A body of several is given tokens.
///
/// What is written shares memory with nothing. Every id is looked at first: unless the result is ok, nothing was
/// written, and of the tensors only ids were read. Allocates nothing; takes up to 64 KiB of stack, and where two rows,
/// gamma, beta and all segments do not fit into that as floats, computes each row twice. Complexity: B * S * H.
/// Arithmetic is float, sums of long rows are double.
template <class T, class Id, class Executor = calling_thread, class Targets = detail::qembed_layer_norm_targets>
status qembed_layer_norm(qembed_layer_norm_arguments<T, Id> const& arguments, on<Executor> how = {}) {
  auto const& a = arguments;
  std::size_t const columns = a.word.values.columns;
  std::size_t const length = a.input_ids.columns;
  detail::embed_check check("qembed_layer_norm");
  check.tokens("input_ids", a.input_ids);
  check.needed("segment_ids", a.segment_ids.has_value(), "segment", a.segment.has_value());
  check.needed("segment", a.segment.has_value(), "segment_ids", a.segment_ids.has_value());
  check.tokens_like("segment_ids", a.segment_ids, a.input_ids);
  check.quantized(detail::word_names, a.word);
  check.columns("position", a.position.values, columns);
  check.positions(a.position.values.rows, length);
  check.quantized(detail::position_names, a.position);
  if (a.segment) {
    check.columns("segment", a.segment->values, columns);
    check.quantized(detail::segment_names, *a.segment);
  }
  check.quantized_vector(detail::gamma_names, a.gamma, "column of word", columns);
  check.quantized_vector(detail::beta_names, a.beta, "column of word", columns);
  check.tokens_like("mask", a.mask, a.input_ids);
  check.epsilon("epsilon", a.epsilon);
  check.for_each_token("y", a.y, a.input_ids, columns);
  if (!a.mask_index.empty()) check.vector("mask_index", a.mask_index, "row of input_ids", a.input_ids.rows);
  if (status const& checked = check.finish(); !checked.ok()) return checked;
  check.each_in("input_ids", a.input_ids, "word", a.word.values.rows);
  if (a.segment_ids) check.each_in("segment_ids", *a.segment_ids, "segment", a.segment->values.rows);
  if (status const& checked = check.finish(); !checked.ok()) return checked;

  auto const table = [](quantized_view<T const> const& view) {
    return detail::quantized_table<T>{view.values.data, view.values.row_stride, view.values.rows, view.scale[0],
                                      view.zero_point[0]};
  };
  detail::qembed_layer_norm_call<T, Id> call{detail::ids_of<Id>(a.input_ids, a.segment_ids, {}),
                                             table(a.word),
                                             table(a.position),
                                             a.segment ? table(*a.segment) : detail::quantized_table<T>{},
                                             table(a.gamma),
                                             table(a.beta),
                                             a.y.data,
                                             columns,
                                             a.y.row_stride,
                                             a.epsilon,
                                             detail::is_streamed(how.result, false, a.y.rows * columns * sizeof(float)),
                                             how.way};
  detail::run_all_rows<detail::dispatcher<Targets>>(how, call, a.y.rows, columns * (2 * sizeof(T) + sizeof(float)));
  detail::count_ones(a.mask, a.mask_index);
  return {};
}

}  // namespace fuse::inline v0::kernels
