// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "random_case.hpp"

#include <cstdint>
#include <optional>

namespace random_tokens {
using fuse::kernels::matrix_view;
using guarded_memory::guarded;

inline std::size_t up_to(std::size_t n, std::mt19937& random) {
  return std::uniform_int_distribution<std::size_t>(0, n)(random);
}

/// Rows between guard pages, some of them with a stride; the last ends with its last column.
template <class T>
class matrix {
 public:
  template <class Fill>
  matrix(std::size_t rows, std::size_t columns, std::mt19937& random, Fill const& fill)
      : rows_(rows),
        columns_(columns),
        stride_(columns + (random() % 2 == 0 ? 0 : random() % 20)),
        memory_(rows * columns == 0 ? 0 : (rows - 1) * stride_ + columns, random() % 2 != 0) {
    for (T& element : memory_.span()) element = static_cast<T>(fill());
    memory_.make_readonly();
  }

  T at(std::size_t row, std::size_t column) const { return memory_[row * stride_ + column]; }
  matrix_view<T const> view() const { return {memory_.data(), rows_, columns_, stride_}; }

 private:
  std::size_t rows_, columns_, stride_;
  guarded<T> memory_;
};

/// Sequences of tokens with ids, and masks.
template <class Id>
struct tokens {
  std::size_t sequences, length, words, positions, segments;
  bool with_segments, with_segment_ids, with_mask, with_index;
  matrix<Id> input_ids, segment_ids, mask;

  explicit tokens(std::mt19937& random)
      : sequences(up_to(3, random)),
        length(up_to(7, random)),
        words(1 + up_to(20, random)),
        positions(length + up_to(3, random)),
        segments(1 + up_to(random() % 4 == 0 ? 40 : 2, random)),
        with_segments(random() % 3 != 0),
        with_segment_ids(with_segments && random() % 4 != 0),
        with_mask(random() % 2 != 0),
        with_index(random() % 4 != 0),
        input_ids(sequences, length, random, [&] { return random() % words; }),
        segment_ids(sequences, length, random, [&] { return random() % segments; }),
        mask(sequences, length, random, [&] { return random() % 3; }) {}

  std::size_t count() const { return sequences * length; }
  std::optional<matrix_view<Id const>> segment_ids_or_none() const {
    return with_segment_ids ? std::optional(segment_ids.view()) : std::nullopt;
  }
  std::optional<matrix_view<Id const>> mask_or_none() const {
    return with_mask ? std::optional(mask.view()) : std::nullopt;
  }
  std::int32_t ones(std::size_t sequence) const {
    std::int32_t result = 0;
    for (std::size_t i = 0; with_mask && i < length; ++i) result += mask.at(sequence, i) == 1 ? 1 : 0;
    return result;
  }
};

struct reference {
  std::vector<double> y;
  double largest = 0;  // |normalised| * |gamma| + |beta|
};

/// Layer norm of one row in double precision; gamma(i) and beta(i) are numbers.
template <class Gamma, class Beta>
reference norm_of(std::vector<double> const& x, double epsilon, Gamma const& gamma, Beta const& beta) {
  double const count = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (double const value : x) mean += value / count;
  for (double const value : x) variance += (value - mean) * (value - mean) / count;
  reference result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const n = (x[i] - mean) / std::sqrt(variance + epsilon);
    result.y.push_back(n * gamma(i) + beta(i));
    result.largest = std::max(result.largest, std::abs(n * gamma(i)) + std::abs(beta(i)));
  }
  return result;
}

/// The largest factor by which the norm makes a row's own error larger.
inline double gain_of(std::vector<double> const& x, double epsilon, double largest_gamma) {
  double const count = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (double const value : x) mean += value / count;
  for (double const value : x) variance += (value - mean) * (value - mean) / count;
  return largest_gamma / std::sqrt(variance + epsilon);
}

}  // namespace random_tokens
