// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <catch.hpp>

#include <fuse/kernels/element.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/kernels/view.hpp>

#include <sampled.hpp>

#include "guarded.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

namespace random_case {

using fuse::kernels::matrix_view;

/// Sizes around what vectors, blocks and pages divide, most of them small. Every other time rows begin at the same
/// place of a line of a cache, whatever their elements, and so they do where several are kept as floats.
struct shape {
  std::size_t rows, columns, x_stride, y_stride;

  explicit shape(std::mt19937& random) {
    auto const up_to = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n)(random); };
    rows = up_to(7);
    std::size_t const largest[] = {8, 70, 300, 1100, 4500, 9000};
    columns = 1 + up_to(largest[up_to(5)]);
    x_stride = columns + (up_to(1) == 0 ? 0 : up_to(20));
    y_stride = columns + (up_to(1) == 0 ? 0 : up_to(20));
    std::size_t const kind = up_to(5);
    bool const are_kept = kind == 0;
    if (are_kept) {
      rows = 4 + up_to(3);
      columns = 384 + up_to(940);
    }
    // Long rows of floats are taken in blocks, which seldom are full.
    if (kind == 1) {
      rows = 2 + up_to(15);
      columns = 2049 + up_to(1100);
      x_stride = columns + up_to(20);
      y_stride = columns + up_to(20);
    }
    if (are_kept || up_to(1) == 0) x_stride = y_stride = (columns + 31) / 32 * 32;
  }
  // The last row ends with its last column.
  std::size_t x_size() const { return rows == 0 ? 0 : (rows - 1) * x_stride + columns; }
  std::size_t y_size() const { return rows == 0 ? 0 : (rows - 1) * y_stride + columns; }
};

template <class T>
void fill(std::span<T> elements, double mean, double deviation, std::mt19937& random) {
  std::normal_distribution<double> values(mean, deviation);
  for (T& element : elements) element = fuse::kernels::from_float<T>(static_cast<float>(values(random)));
}

template <class T>
double value(T element) {
  return static_cast<double>(fuse::kernels::to_float(element));
}

/// Half a unit in the last place of a half type at `at`: what rounding may cost. Float arithmetic has its own bound.
template <class T>
double half_last_place(double at) {
  if constexpr (std::is_same_v<T, float>) {
    return 0;
  } else {
    bool const bfloat = std::is_same_v<T, fuse::kernels::bfloat16>;
    int const exponent = at == 0 ? -1000 : std::ilogb(at);
    return std::ldexp(0.5, std::max(exponent, bfloat ? -126 : -14) - (bfloat ? 7 : 10));
  }
}

/// The larger error; NaN once there is one.
inline double worse(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

/// The largest distance from `expected`, where 1 is what kernels promise: `bound`, and half a unit in the last place of
/// T.
template <class T>
double distance(T const* row, std::vector<double> const& expected, double bound) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = worse(worst, std::abs(value(row[i]) - expected[i]) / (bound + half_last_place<T>(expected[i])));
  }
  return worst;
}

/// Calls `check()` on each target that this machine runs.
template <class Check>
void for_each_target(Check const& check) {
  for (auto const name : fuse::kernels::target_names()) {
    REQUIRE(fuse::kernels::use_target(name));
    INFO(name);
    check();
  }
  REQUIRE(fuse::kernels::use_target(fuse::kernels::target_names().front()));
}

/// Checks 60 seeds on each, or a sample of so many.
inline void on_every_target(void (*check)(std::uint32_t seed)) {
  for_each_target([check] {
    for (std::uint32_t seed = 0; seed < 60 / one_case_in; ++seed) check(seed);
  });
}

}  // namespace random_case
