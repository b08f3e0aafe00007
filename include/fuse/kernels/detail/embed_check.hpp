// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/arguments.hpp>
#include <fuse/kernels/detail/embed_call.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/status.hpp>
#include <fuse/kernels/view.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// What the embedding kernels ask of their arguments besides.
class embed_check : public argument_check {
 public:
  using argument_check::argument_check;

  /// Ids, or a mask, for each token; there may be no tokens.
  template <class Id>
  void tokens(char const* name, matrix_view<Id> const& ids) {
    if (ids.columns > 0) matrix(name, ids);
  }
  template <class Id>
  void tokens_like(char const* name, std::optional<matrix_view<Id>> const& ids, matrix_view<Id> input_ids,
                   bool one_row_for_all = false) {
    if (!ids) return;
    if (one_row_for_all) input_ids.rows = 1;
    same_shape(name, *ids, "input_ids", input_ids);
    tokens(name, *ids);
  }

  /// A row for each token.
  template <class Y, class Id>
  void for_each_token(char const* name, matrix_view<Y> const& y, matrix_view<Id> const& ids, std::size_t columns) {
    std::size_t const count = ids.rows * ids.columns;  // no overflow: the ids are in memory
    if (y.rows != count) return fail(fault::tokens, name, "input_ids", y.rows, count);
    if (y.columns != columns) return fail(fault::columns, name, "word", y.columns, columns);
    matrix(name, y);
  }

  void needed(char const* name, bool is_there, char const* beside, bool is_needed) {
    if (is_needed && !is_there) fail(fault::missing, name, beside);
  }

  template <class T>
  void columns(char const* name, matrix_view<T> const& table, std::size_t expected) {
    if (table.columns != expected) fail(fault::columns, name, "word", table.columns, expected);
  }

  void positions(std::size_t rows, std::size_t length) {
    if (rows < length) fail(fault::too_few_rows, "position", "input_ids", rows, length);
  }

  /// Without ids, all of them are 0.
  void zero_in(char const* name, char const* table, std::size_t rows) {
    if (rows == 0) fail(fault::id, name, table);
  }

  /// Reads ids, so that all else must be right: each is the number of one of the table's rows.
  template <class Id>
  void each_in(char const* name, matrix_view<Id const> const& ids, char const* table, std::size_t rows) {
    if (!is_ok() || ids.columns == 0) return;
    // A negative one is too large without its sign; no id reaches more rows than its type has numbers.
    using unsigned_id = std::make_unsigned_t<Id>;
    std::uint64_t const numbers = std::uint64_t{std::numeric_limits<unsigned_id>::max() / 2} + 1;
    std::uint64_t const limit = rows < numbers ? rows : numbers;
    for (std::size_t r = 0; r < ids.rows; ++r) {
      Id const* const row = ids.data + r * ids.row_stride;
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < ids.columns; ++i) wrong += static_cast<unsigned_id>(row[i]) >= limit ? 1 : 0;
      for (std::size_t i = 0; wrong != 0 && i < ids.columns; ++i) {
        if (static_cast<unsigned_id>(row[i]) >= limit) return fail(fault::id, name, table, row[i], rows);
      }
    }
  }
};

template <class Id>
token_ids<Id> ids_of(matrix_view<Id const> const& word, std::optional<matrix_view<Id const>> const& segment,
                     std::optional<matrix_view<Id const>> const& position) {
  token_ids<Id> ids{word.data, nullptr, nullptr, word.row_stride, 0, 0, word.columns};
  if (segment) {
    ids.segment = segment->data;
    ids.segment_stride = segment->row_stride;
  }
  if (position) {
    ids.position = position->data;
    ids.position_stride = position->rows == 1 ? 0 : position->row_stride;
  }
  return ids;
}

/// How many entries of each row of the mask are 1; 0 without a mask.
template <class Id>
void count_ones(std::optional<matrix_view<Id>> const& mask, std::span<std::int32_t> counts) {
  for (std::size_t r = 0; r < counts.size(); ++r) {
    std::int32_t count = 0;
    for (std::size_t i = 0; mask && i < mask->columns; ++i) count += mask->data[r * mask->row_stride + i] == 1 ? 1 : 0;
    counts[r] = count;
  }
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
