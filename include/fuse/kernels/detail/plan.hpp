// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/caches.hpp>
#include <fuse/kernels/detail/isa.hpp>
#include <fuse/kernels/execution.hpp>

#include <cstddef>
#include <cstdint>

// How a kernel goes through its rows is decided here, for all kernels, by what the processor has. Every size that speed
// alone depends on stands here, with the row of bench_kernels that shows it; `scripts/bench kernels --ways` compares
// all ways on the machine at hand (docs/performance_kernels.md).
namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

/// What the loops of a target have. Where they are not elaborate, rows go one by one.
struct target_vectors {
  bool elaborate;
  std::size_t registers, lanes;

  constexpr bool many() const { return registers >= 32; }
};

/// Where a kernel has its rows from.
enum class rows_from : std::uint8_t {
  given,    ///< they are read
  added,    ///< they are sums, which are written, too
  made,     ///< they are sums of tables' rows, which are kept on the stack while they are normalised
  computed  ///< they are an expression's
};

/// What is known of a kernel's loops where they are compiled.
struct row_loops {
  target_vectors vectors;
  rows_from source;
  std::size_t sums = 0;      ///< what is added up of a row
  bool floats = true;        ///< rows are floats
  bool only_halves = false;  ///< rows are given, and nothing that goes by is a float
};

/// ... and where they are called.
struct row_shape {
  std::size_t rows, columns;
  bool streamed = false;          ///< results go past the caches
  bool share_lines = true;        ///< all rows, read and written, begin at the same place of a line of a cache
  std::size_t rows_on_stack = 0;  ///< so many do `made` rows need there
};

/// A row's columns are added up in so many lanes at a time: lane_sums-inl.hpp.
inline constexpr std::size_t lanes_of_sums = 32;

// Halves that are widened are kept on the stack, up to so many columns: layer_norm/bfloat16/512x1024; and up to fewer
// where sums or floats go by beside them: skip_layer_norm/bfloat16/512x896.
inline constexpr std::size_t most_widened_columns = 1024, fewer_widened_columns = 896;
/// Of these, so many rows at once are gathered or written.
inline constexpr std::size_t widened_rows_at_once = 4;

/// `made` rows, and what is computed once for all of them, are kept in so many floats: qembed_layer_norm/uint8.
inline constexpr std::size_t most_floats_on_stack = std::size_t{16} << 10;
/// What a row takes of them, so that each begins where a vector may.
constexpr std::size_t padded(std::size_t columns) {
  constexpr std::size_t line = 16;
  return columns == 0 ? line : (columns + line - 1) / line * line;
}
/// So many tokens ahead a row of the largest table is fetched: qembed_layer_norm/uint8/16384x768.
inline constexpr std::size_t tokens_ahead = 4;
/// So far ahead of the place where an embedding is written its lines are fetched: qembed_layer_norm/uint8/128x768 ...
inline constexpr std::size_t bytes_written_ahead = 1024;
/// ... where the first cache has room for them beside the rows that an embedding is made from, all of them floats:
/// qembed_layer_norm/uint8/128x1536, qembed_layer_norm/uint8/128x2048.
inline bool fetches_written(std::size_t columns) { return columns <= this_processor().first / (10 * sizeof(float)); }

/// What of blocks is written before the next columns are: scale and bias of these stay in the first cache.
/// layer_norm/float/128x4096
inline constexpr std::size_t columns_of_block = 512, most_rows_of_block = 8;
/// The rows of a block wait in a quarter of the second cache: layer_norm/float/8x16384.
inline std::size_t rows_of_block(std::size_t columns) {
  std::size_t const fitting = columns == 0 ? 0 : this_processor().second / 4 / sizeof(float) / columns;
  return fitting < 2 ? 2 : fitting < most_rows_of_block ? fitting : most_rows_of_block;
}

/// A second cache from which rows, scale and bias come fast enough for long rows to go without blocks:
/// layer_norm/float/128x4096, layer_norm/float/128x8192.
inline constexpr std::size_t large_second_cache = std::size_t{2} << 20;

/// Whether a loop over a row of elements of `bytes` begins at a line of a cache, with some lanes before it. Short rows
/// of halves do not win them back: layer_norm/bfloat16/128x384.
constexpr bool begins_at_line(std::size_t bytes, std::size_t columns) {
  return bytes == sizeof(float) || columns >= 384;
}

/// Work of so many bytes that are read or written is what handing it to a thread costs: from twice of it on, two are
/// faster.
inline constexpr std::size_t bytes_per_thread = std::size_t{96} << 10;

// Results of this size are out of the caches before anybody reads them, and smaller ones where they are more than a
// quarter of the third: layer_norm/float/4096x1024/ping-pong.
inline constexpr std::size_t surely_cached_bytes = std::size_t{4} << 20, never_cached_bytes = std::size_t{16} << 20;

/// Whether `bytes` of output are written past the caches. In place they are not: their lines are there already.
inline bool is_streamed(output result, bool in_place, std::size_t bytes) {
  if (in_place || result == output::read_soon) return false;
  if (result == output::not_read_soon || bytes >= never_cached_bytes) return true;
  std::size_t const third = bytes >= surely_cached_bytes ? this_processor().third : 0;
  return third != 0 && bytes >= third / 4;
}

/// Whether these loops are compiled for a way: those that are the fastest somewhere.
constexpr bool has_way(row_loops const& loops, row_way way) {
  bool const by_norm = loops.source == rows_from::given || loops.source == rows_from::added;
  bool const floats = by_norm && loops.floats, halves = by_norm && !loops.floats;
  if (way == row_way::one_by_one) return true;
  if (!loops.vectors.elaborate) return loops.source == rows_from::made && way == row_way::one_ahead;
  switch (way) {
    case row_way::one_ahead: return !halves && loops.source != rows_from::added;
    case row_way::blocks: return floats;
    case row_way::twos: return halves && !(loops.vectors.many() && loops.only_halves);
    case row_way::twos_ahead:
      // The lanes of two rows leave most of the registers to what is written of two others.
      if (floats) {
        return loops.source == rows_from::given &&
               lanes_of_sums / loops.vectors.lanes * 4 * loops.sums < loops.vectors.registers;
      }
      return halves && loops.vectors.many() && loops.only_halves;
    case row_way::widened: return halves && !(loops.vectors.many() && loops.sums == 1);
    case row_way::widened_ahead: return halves && loops.vectors.many();
    default: return false;
  }
}

/// ... and these rows can be gone through so.
constexpr bool can_go(row_loops const& loops, row_shape const& shape, row_way way) {
  if (!has_way(loops, way)) return false;
  if (way == row_way::widened || way == row_way::widened_ahead) return shape.columns <= most_widened_columns;
  if (loops.source == rows_from::made && way == row_way::one_ahead) {
    return shape.rows_on_stack <= most_floats_on_stack / padded(shape.columns);
  }
  return true;
}

/// The fastest way where caches are of these sizes.
constexpr row_way fastest_way(row_loops const& loops, row_shape const& shape, cache_sizes const& caches) {
  auto const fit_first = [&](std::size_t rows) { return rows * shape.columns * sizeof(float) <= caches.first; };
  switch (loops.source) {
    case rows_from::made: return row_way::one_ahead;
    case rows_from::computed: return shape.streamed || shape.rows < 2 ? row_way::one_by_one : row_way::one_ahead;
    default: break;
  }
  bool const given = loops.source == rows_from::given;
  if (!loops.floats) {
    if (shape.streamed) return row_way::one_by_one;
    // With one sum of each, four rows at once, which are not kept, fit beside what is written:
    // rms_norm/bfloat16/512x1024.
    bool const is_roomy = loops.only_halves && !(loops.sums == 1 && has_way(loops, row_way::twos_ahead));
    if (shape.rows < widened_rows_at_once ||
        shape.columns > (is_roomy ? most_widened_columns : fewer_widened_columns)) {
      return has_way(loops, row_way::twos_ahead) ? row_way::twos_ahead : row_way::twos;
    }
    // What is kept, and four rows of halves that are read, two that are written: layer_norm/bfloat16/512x1024.
    bool const ahead = loops.sums == 1 || fit_first(9);
    return ahead && has_way(loops, row_way::widened_ahead) ? row_way::widened_ahead : row_way::widened;
  }
  bool const is_long = !fit_first(2 + loops.sums);
  // skip_layer_norm/float/128x4096, layer_norm/float/128x4096, layer_norm/float/8x16384
  if (is_long && (!given || caches.second < large_second_cache)) return row_way::blocks;
  if (shape.streamed || !given) return row_way::one_by_one;
  // Two rows at once begin at the same place of a line, or have vectors in two: rms_norm/float/128x776. All that a loop
  // reads and writes is in the first cache, with some room, or comes from the second anyway: layer_norm/float/128x768,
  // layer_norm/float/128x8192.
  if (has_way(loops, row_way::twos_ahead) && shape.share_lines && (is_long || fit_first(9))) return row_way::twos_ahead;
  // layer_norm/float/512x1024, rms_norm/float/256x3072
  bool const ahead = caches.second >= large_second_cache || fit_first(7 - loops.sums);
  return ahead ? row_way::one_ahead : row_way::one_by_one;
}

/// The way that rows are gone through: the fastest, or the nearest to the one that `on` says.
constexpr row_way way_to_go(row_loops const& loops, row_shape const& shape, row_way said, cache_sizes const& caches) {
  row_way way = said == row_way::automatic ? fastest_way(loops, shape, caches) : said;
  while (!can_go(loops, shape, way)) way = static_cast<row_way>(static_cast<std::uint8_t>(way) - 1);
  return way;
}
/// ... on this processor.
template <row_loops Loops>
row_way way_to_go(row_way said, row_shape const& shape) {
  return way_to_go(Loops, shape, said, this_processor());
}

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
