// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "random_case.hpp"

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace last_place {

using fuse::kernels::matrix_view;

/// Layer norms of halves, without a bias, on all targets: `norm(x, added, scale, y)`, of x + added as floats, where
/// `added` has this deviation. They are within one unit in the last place, but for bfloat16 where a normalised value is
/// below 1e-5: there the mean's own rounding counts, 5e-8 of the deviation.
template <class T, class Norm>
void check_sums(Norm const& norm, double deviation, std::initializer_list<std::size_t> widths) {
  std::mt19937 random(43), chosen(1);
  for (std::size_t const columns : widths) {
    for (std::size_t const rows : {1u, 24u}) {
      for (double const mean : {0, 1, 10, 100}) {
        if (chosen() % one_case_in != 0) continue;
        std::vector<T> x(rows * columns), added(x.size()), scale(columns), y(x.size());
        random_case::fill(std::span(x), mean, 1, random);
        if (deviation > 0) random_case::fill(std::span(added), 0, deviation, random);
        random_case::fill(std::span(scale), 1, 0.5, random);
        auto const sum = [&](std::size_t i) {
          return static_cast<double>(fuse::kernels::to_float(x[i]) + fuse::kernels::to_float(added[i]));
        };
        std::vector<double> normalised(x.size());
        for (std::size_t r = 0; r < x.size(); r += columns) {
          double total = 0, squares = 0;
          for (std::size_t i = r; i < r + columns; ++i) total += sum(i);
          double const center = total / static_cast<double>(columns);
          for (std::size_t i = r; i < r + columns; ++i) squares += std::pow(sum(i) - center, 2);
          double const inverse_deviation =
              1 / std::sqrt(squares / static_cast<double>(columns) + static_cast<double>(1e-5f));
          for (std::size_t i = r; i < r + columns; ++i) {
            normalised[i] = (sum(i) - center) * inverse_deviation;
          }
        }
        INFO(rows << " x " << columns << ", mean " << mean);
        matrix_view<T const> const xs(x.data(), rows, columns), others(added.data(), rows, columns);
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
          REQUIRE(norm(xs, others, fuse::kernels::none, ys).ok());
          CHECK(excess([](std::size_t) { return 1.0; }) == 0);
          REQUIRE(norm(xs, others, scale, ys).ok());
          CHECK(excess([&](std::size_t column) { return random_case::value(scale[column]); }) == 0);
        });
      }
    }
  }
}

/// The same of `norm(x, scale, y)`. Columns and rows for all ways in which rows are taken: by themselves, kept as
/// floats, by twos.
template <class T, class Norm>
void check(Norm const& norm) {
  check_sums<T>([&](auto x, auto, auto const& scale, auto y) { return norm(x, scale, y); }, 0,
                {100, 500, 768, 1000, 1536, 3000});
}

}  // namespace last_place
