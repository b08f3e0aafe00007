// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "random_case.hpp"

#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace last_place {

using fuse::kernels::matrix_view;

/// Layer norms of halves, without a bias, on all targets: `norm(x, scale, y)`. They are within one unit in the last
/// place, but for bfloat16 where a normalised value is below 1e-5: there the mean's own rounding counts, 5e-8 of the
/// deviation. Columns and rows for all ways in which rows are taken: by themselves, kept as floats, by twos.
template <class T, class Norm>
void check(Norm const& norm) {
  std::mt19937 random(43);
  for (std::size_t const columns : {100u, 500u, 768u, 1000u, 1536u, 3000u}) {
    for (std::size_t const rows : {1u, 24u}) {
      for (double const mean : {0, 1, 10, 100}) {
        std::vector<T> x(rows * columns), scale(columns), y(rows * columns);
        random_case::fill(std::span(x), mean, 1, random);
        random_case::fill(std::span(scale), 1, 0.5, random);
        std::vector<double> normalised(x.size());
        for (std::size_t r = 0; r < x.size(); r += columns) {
          double sum = 0, squares = 0;
          for (std::size_t i = r; i < r + columns; ++i) sum += random_case::value(x[i]);
          double const center = sum / static_cast<double>(columns);
          for (std::size_t i = r; i < r + columns; ++i) squares += std::pow(random_case::value(x[i]) - center, 2);
          double const deviation = std::sqrt(squares / static_cast<double>(columns) + static_cast<double>(1e-5f));
          for (std::size_t i = r; i < r + columns; ++i) {
            normalised[i] = (random_case::value(x[i]) - center) / deviation;
          }
        }
        INFO(rows << " x " << columns << ", mean " << mean);
        matrix_view<T const> const xs(x.data(), rows, columns);
        matrix_view const ys(y.data(), rows, columns);
        auto const excess = [&](auto const& scale_of) {
          std::size_t count = 0;
          for (std::size_t i = 0; i < x.size(); ++i) {
            double const s = scale_of(i % columns), expected = normalised[i] * s;
            double const error = std::abs(random_case::value(y[i]) - expected);
            double const half_unit = random_case::half_last_place<T>(expected);
            bool const is_tiny = std::is_same_v<T, fuse::kernels::bfloat16> && std::abs(normalised[i]) < 1e-5;
            bool const within = error <= half_unit + 1e-6 * std::abs(expected) + 5e-8 * std::abs(s);
            count += within && (is_tiny || error <= 2 * half_unit) ? 0 : 1;
          }
          return count;
        };
        random_case::for_each_target([&] {
          REQUIRE(norm(xs, fuse::kernels::none, ys).ok());
          CHECK(excess([](std::size_t) { return 1.0; }) == 0);
          REQUIRE(norm(xs, scale, ys).ok());
          CHECK(excess([&](std::size_t column) { return random_case::value(scale[column]); }) == 0);
        });
      }
    }
  }
}

}  // namespace last_place
