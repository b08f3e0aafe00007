// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/embed_layer_norm.hpp>
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/qembed_layer_norm.hpp>
#include <fuse/kernels/quantize.hpp>
#include <fuse/kernels/rms_norm.hpp>
#include <fuse/kernels/skip_layer_norm.hpp>
#include <fuse/kernels/skip_rms_norm.hpp>

#include "room.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

namespace bits {

/// Rows of all cases, of which a call takes some.
inline constexpr std::size_t row_count = 40;

inline void check(status const& result) {
  if (result.ok()) return;
  std::printf("%s\n", result.message().c_str());
  std::exit(1);
}

/// What `make()` makes, of this size; made once.
template <class T, class Make>
std::vector<T> const& kept(std::uint32_t seed, std::size_t size, Make const& make) {
  static std::map<std::pair<std::uint32_t, std::size_t>, std::vector<T>> all;
  auto const [place, is_new] = all.try_emplace({seed, size});
  if (is_new) place->second = make();
  return place->second;
}

/// Rows of several means, some of which are hard: no deviation, far from 0, a mean that the first elements are far
/// from, squares that float cannot hold, no numbers.
template <class T>
std::vector<T> const& hard_rows(std::size_t columns) {
  return kept<T>(1, row_count * columns, [columns] {
    numbers random(1);
    bool const is_float16 = std::is_same_v<T, float16>;
    std::vector<T> all;
    for (std::size_t i = 0; i < row_count * columns; ++i) {
      std::size_t const column = i % columns;
      float v = random.next();
      switch (i / columns % 20) {
        case 1: v += 3; break;
        case 2: v = 0.1f; break;
        case 3: v += std::is_same_v<T, float> ? 1e5f : 100; break;
        case 4: v = column < 12 ? 50 : v; break;
        case 5: v += static_cast<float>(column); break;
        case 6: v *= is_float16 ? 1e-6f : 1e-21f; break;
        case 7: v *= is_float16 ? 1e4f : 1e25f; break;
        case 8: v = column == columns / 2 ? std::numeric_limits<float>::quiet_NaN() : v; break;
        case 9: v = column == columns / 3 ? -std::numeric_limits<float>::infinity() : v; break;
        case 10: v = 0; break;
        default: break;
      }
      all.push_back(from_float<T>(v));
    }
    return all;
  });
}
/// Ordinary numbers, of a deviation that is a power of two: no rounding that a compiler could leave out.
template <class T>
std::vector<T> const& ordinary(std::uint32_t seed, std::size_t size, float mean, float deviation) {
  return kept<T>(seed, size, [&] {
    numbers random(seed);
    std::vector<T> all(size);
    for (T& one : all) one = from_float<T>(mean + deviation * random.next());
    return all;
  });
}
/// Rows of bytes, so many times the same ones.
template <class T>
std::vector<T> const& bytes(std::uint32_t seed, std::size_t size, std::size_t times = 1) {
  return kept<T>(seed, size * times, [&] {
    numbers random(seed);
    std::vector<T> all(size);
    for (T& one : all) one = static_cast<T>(random.below(256));
    for (all.reserve(size * times); all.size() < size * times;)
      all.insert(all.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    return all;
  });
}

template <class Rows, class... Statistics>
results results_of(Rows const& rows, Statistics const&... statistics) {
  results all;
  append(all, rows);
  (append(all, statistics), ...);
  return all;
}

/// What a call is about: how many columns, which rows, how they lie.
struct request {
  std::size_t columns, first, count;
  arrangement how;
};

template <class X, class W, class Y, bool HasBias = true>
results layer_norms(request const& r) {
  room memory(r.how);
  auto const x = memory.rows(hard_rows<X>(r.columns), r.columns, r.first, r.count);
  auto y = memory.fresh<Y>(r.count, r.columns);
  auto const mean = memory.statistics(r.count), deviation = memory.statistics(r.count);
  auto const scale = memory.vector(ordinary<W>(2, r.columns, 1, 0.25f));
  if constexpr (std::is_same_v<X, Y>) y = r.how.in_place ? x : y;
  if constexpr (HasBias) {
    auto const bias = memory.vector(ordinary<W>(3, r.columns, 0, 1));
    check(layer_norm(x, scale, bias, y, 1e-5f, {mean, deviation}, memory.execution()));
  } else {
    check(layer_norm(x, one_plus(scale), none, y, 1e-5f, {mean, deviation}, memory.execution()));
  }
  return results_of(y, mean, deviation);
}

template <class X, class W, class Y>
results rms_norms(request const& r) {
  room memory(r.how);
  auto const x = memory.rows(hard_rows<X>(r.columns), r.columns, r.first, r.count);
  auto y = memory.fresh<Y>(r.count, r.columns);
  auto const inverse = memory.statistics(r.count);
  auto const scale = memory.vector(ordinary<W>(2, r.columns, 1, 0.25f));
  if constexpr (std::is_same_v<X, Y>) y = r.how.in_place ? x : y;
  check(rms_norm(x, scale, y, 1e-5f, inverse, memory.execution()));
  return results_of(y, inverse);
}

template <bool IsLayerNorm, class T, class W>
results skip_norms(request const& r) {
  room memory(r.how);
  auto const x = memory.rows(hard_rows<T>(r.columns), r.columns, r.first, r.count);
  auto const& others = ordinary<T>(4, row_count * r.columns, 0.5f, 0.5f);
  auto const residual = memory.rows(others, r.columns, r.first, r.count);
  auto const own_sum = memory.fresh<T>(r.count, r.columns), own_y = memory.fresh<T>(r.count, r.columns);
  auto const statistics = memory.statistics(r.count);
  auto const scale = memory.vector(ordinary<W>(2, r.columns, 1, 0.25f));
  auto const x_bias = memory.vector(ordinary<W>(5, r.columns, 0.25f, 0.125f));
  auto const sum = r.how.in_place ? residual : own_sum, y = r.how.in_place ? x : own_y;
  if constexpr (IsLayerNorm) {
    check(skip_layer_norm(x, residual, x_bias, scale, none, sum, y, 1e-5f, {statistics, {}}, memory.execution()));
  } else {
    check(skip_rms_norm(x, residual, x_bias, scale, sum, y, 1e-5f, statistics, memory.execution()));
  }
  results all = results_of(y, statistics);
  append(all, sum);
  return all;
}

/// Tokens, as row r is: each has the word and the position of its number, and one of three segments.
struct tokens {
  std::vector<std::int32_t> ids, segments;

  explicit tokens(request const& r) {
    for (std::size_t i = 0; i < r.count; ++i) {
      ids.push_back(static_cast<std::int32_t>(r.first + i));
      segments.push_back(static_cast<std::int32_t>((r.first + i) % 3));
    }
  }
};

template <class T, class Y, bool HasSegment>
results embeddings(request const& r) {
  room memory(r.how);
  tokens const of(r);
  auto const ids = memory.rows(of.ids, r.count, 0, 1), segments = memory.rows(of.segments, r.count, 0, 1);
  embed_layer_norm_arguments<T, Y> call;
  call.input_ids = ids;
  call.position_ids = ids;
  call.word = memory.all_rows(hard_rows<T>(r.columns), r.columns);
  call.position = memory.all_rows(ordinary<T>(6, row_count * r.columns, 0, 0.25f), r.columns);
  if constexpr (HasSegment) {
    call.segment = memory.all_rows(ordinary<T>(7, 3 * r.columns, 0.5f, 0.25f), r.columns);
    call.segment_ids = segments;
  }
  call.gamma = memory.vector(ordinary<T>(2, r.columns, 1, 0.25f));
  call.beta = memory.vector(ordinary<T>(3, r.columns, 0, 1));
  call.y = memory.fresh<Y>(r.count, r.columns);
  matrix_view<Y> const sum = memory.fresh<Y>(r.count, r.columns);
  if (r.how.in_place) call.embedding_sum = sum;  // another result, not another place
  check(embed_layer_norm(call, memory.execution()));
  return results_of(call.y);
}

/// Position i is that of token i of a sequence: all are the same.
template <class T, bool HasSegment>
results quantized_embeddings(request const& r) {
  static constexpr float scales[] = {0.0625f, 0.03f, 0.011f, 0.02f};
  static constexpr T zero_points[] = {100, 3, 117, 64};
  room memory(r.how);
  tokens const of(r);
  auto const ids = memory.rows(of.ids, r.count, 0, 1), segments = memory.rows(of.segments, r.count, 0, 1);
  auto const table = [&](std::vector<T> const& rows, std::size_t number) {
    return quantized_view<T const>{memory.all_rows(rows, r.columns), std::span(scales).subspan(number, 1),
                                   std::span(zero_points).subspan(number, 1)};
  };
  qembed_layer_norm_arguments<T> call;
  call.input_ids = ids;
  call.word = table(bytes<T>(8, row_count * r.columns), 0);
  call.position = table(bytes<T>(9, r.columns, row_count), 1);
  if constexpr (HasSegment) {
    call.segment = table(bytes<T>(10, 3 * r.columns), 2);
    call.segment_ids = segments;
  }
  call.gamma = table(bytes<T>(11, r.columns), 3);
  call.beta = table(bytes<T>(12, r.columns), 0);
  call.y = memory.fresh<float>(r.count, r.columns);
  check(qembed_layer_norm(call, memory.execution()));
  return results_of(call.y);
}

template <class T, class Q>
results quantized(request const& r) {
  static constexpr float scale[] = {0.013f};
  static constexpr Q zero_point[] = {5};
  room memory(r.how);
  auto const x = memory.rows(hard_rows<T>(r.columns), r.columns, r.first, r.count);
  auto const q = memory.fresh<Q>(r.count, r.columns);
  auto const y = memory.fresh<T>(r.count, r.columns);
  check(quantize(x, quantized_view<Q>{q, scale, zero_point}, memory.execution()));
  check(dequantize(quantized_view<Q>{q, scale, zero_point}, y, memory.execution()));
  results all = results_of(y);
  append(all, q);
  return all;
}

/// A kernel with its element types.
struct kernel_case {
  char const* name;
  std::size_t arguments;  ///< which may begin anywhere
  results (*run)(request const&);
};

inline constexpr kernel_case cases[] = {
    {"layer_norm/float", 6, layer_norms<float, float, float>},
    {"layer_norm/bfloat16", 6, layer_norms<bfloat16, bfloat16, bfloat16>},
    {"layer_norm/float16", 6, layer_norms<float16, float16, float16>},
    {"layer_norm/bfloat16/float weights", 5, layer_norms<bfloat16, float, bfloat16, false>},
    {"layer_norm/float16 to float", 6, layer_norms<float16, float, float>},
    {"rms_norm/float", 4, rms_norms<float, float, float>},
    {"rms_norm/bfloat16", 4, rms_norms<bfloat16, bfloat16, bfloat16>},
    {"rms_norm/float16", 4, rms_norms<float16, float16, float16>},
    {"skip_layer_norm/float", 7, skip_norms<true, float, float>},
    {"skip_layer_norm/bfloat16", 7, skip_norms<true, bfloat16, bfloat16>},
    {"skip_layer_norm/float16/float weights", 7, skip_norms<true, float16, float>},
    {"skip_rms_norm/float", 7, skip_norms<false, float, float>},
    {"skip_rms_norm/bfloat16", 7, skip_norms<false, bfloat16, bfloat16>},
    {"embed_layer_norm/float", 9, embeddings<float, float, true>},
    {"embed_layer_norm/bfloat16", 8, embeddings<bfloat16, bfloat16, false>},
    {"embed_layer_norm/float16", 9, embeddings<float16, float16, true>},
    {"qembed_layer_norm/uint8", 8, quantized_embeddings<std::uint8_t, true>},
    {"qembed_layer_norm/int8", 7, quantized_embeddings<std::int8_t, false>},
    {"quantize/float/uint8", 3, quantized<float, std::uint8_t>},
    {"quantize/float16/int8", 3, quantized<float16, std::int8_t>},
};

}  // namespace bits
