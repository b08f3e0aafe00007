// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "random_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

/// Norms of a sum: what is to be said of all of them. A `Norm` offers
///   call(x, residual, x_bias, scale, bias, sum, y, epsilon, statistic, how): the kernel, without what it does not have
///   reference(row, epsilon): the normalised row before weights, and the statistic, in double precision
///   has_bias, uses_mean
namespace skip_case {

using fuse::kernels::matrix_view;
using guarded_memory::guarded;

struct reference_row {
  std::vector<double> normalised;
  double statistic;
};

/// Whose memory a result takes.
enum class place { own, x, residual, sum };

template <class X, class R, class S>
void check_sum(X const* x, R const* residual, double const* x_bias, S const* sum, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    double const a = random_case::value(x[i]), b = random_case::value(residual[i]), c = x_bias[i];
    double const bound =
        0x1p-23 * (std::abs(a) + std::abs(b) + std::abs(c)) + random_case::half_last_place<S>(a + b + c);
    double const error = std::abs(random_case::value(sum[i]) - (a + b + c));
    if (!(error <= bound)) FAIL_CHECK("sum at " << i << " is off by " << error << ", more than " << bound);
  }
}

/// Random shapes, strides and weights with all memory between guard pages: the sum is the sum, `y` the norm of what the
/// sum was stored as, and nothing else is written.
template <class Norm, class X, class R, class P, class S, class Y>
void check_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  random_case::shape shape(random);
  auto const flip = [&] { return random() % 2 == 0; };
  double const mean = std::is_same_v<X, float> && flip() ? 3e4 : 0.5;
  float const epsilon = flip() ? 1e-5f : 0.5f;
  bool const at_end = flip(), with_x_bias = flip(), with_statistic = flip();
  bool const one_plus_scale = !with_x_bias;
  place sum_place = place::own, y_place = place::own;
  if constexpr (std::is_same_v<X, R> && std::is_same_v<X, S> && std::is_same_v<X, Y>) {
    place const sums[] = {place::own, place::x, place::residual};
    place const ys[] = {place::own, place::x, place::residual, place::sum};
    sum_place = sums[random() % 3];
    y_place = ys[random() % 4];
  }
  if (sum_place != place::own || y_place != place::own) shape.y_stride = shape.x_stride;
  std::size_t const rows = shape.rows, columns = shape.columns;
  INFO("seed " << seed << ", " << fuse::kernels::target_name() << ", " << rows << " x " << columns << ", sum in "
               << static_cast<int>(sum_place) << ", y in " << static_cast<int>(y_place));

  guarded<X> x(shape.x_size(), at_end);
  guarded<R> residual(shape.x_size(), !at_end);
  guarded<P> x_bias(columns, at_end), scale(columns, at_end), bias(columns, at_end);
  guarded<S> sum(shape.x_size(), at_end);
  guarded<Y> y(shape.y_size(), at_end);
  guarded<float> statistics(rows, at_end);
  for (std::size_t r = 0; r < rows; ++r) {
    random_case::fill(std::span(x.data() + r * shape.x_stride, columns), mean, 1, random);
    random_case::fill(std::span(residual.data() + r * shape.x_stride, columns), mean / 2, 0.5, random);
  }
  random_case::fill(x_bias.span(), 0, 0.25, random);
  random_case::fill(scale.span(), one_plus_scale ? 0 : 1, 0.5, random);
  random_case::fill(bias.span(), 0, 2, random);
  std::vector<X> const x_before(x.span().begin(), x.span().end());
  std::vector<R> const residual_before(residual.span().begin(), residual.span().end());
  for (auto* const p : {&x_bias, &scale, &bias}) p->make_readonly();
  if (sum_place != place::x && y_place != place::x) x.make_readonly();
  if (sum_place != place::residual && y_place != place::residual) residual.make_readonly();

  matrix_view<S> sums(sum.data(), rows, columns, shape.x_stride);
  matrix_view<Y> ys(y.data(), rows, columns, shape.y_stride);
  if constexpr (std::is_same_v<X, R> && std::is_same_v<X, S> && std::is_same_v<X, Y>) {
    if (sum_place == place::x) sums.data = x.data();
    if (sum_place == place::residual) sums.data = residual.data();
    if (y_place == place::x) ys.data = x.data();
    if (y_place == place::residual) ys.data = residual.data();
    if (y_place == place::sum) ys.data = sums.data;
  }
  matrix_view<X const> const xs(x.data(), rows, columns, shape.x_stride);
  matrix_view<R const> const residuals(residual.data(), rows, columns, shape.x_stride);
  auto const statistic = with_statistic ? statistics.span() : std::span<float>();
  auto const run = [&] {
    if (with_x_bias) {
      return Norm::call(xs, residuals, x_bias.span(), scale.span(), bias.span(), sums, ys, epsilon, statistic);
    }
    return Norm::call(xs, residuals, fuse::kernels::none, fuse::kernels::one_plus(scale.span()), bias.span(), sums, ys,
                      epsilon, statistic);
  };
  auto const result = run();
  INFO(result.message());
  REQUIRE(result.ok());

  // Where y takes the place of the sum, the sum is what the kernel makes of it elsewhere.
  bool const kept = static_cast<void*>(sums.data) != static_cast<void*>(ys.data);
  std::vector<S> stored(shape.x_size());
  std::vector<double> biases(columns);
  for (std::size_t i = 0; with_x_bias && i < columns; ++i) biases[i] = random_case::value(x_bias[i]);
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t const at = r * shape.x_stride;
    for (std::size_t i = 0; i < columns; ++i) {
      float const added = fuse::kernels::to_float(x_before[at + i]) + fuse::kernels::to_float(residual_before[at + i]);
      float const biased = with_x_bias ? added + fuse::kernels::to_float(x_bias[i]) : added;
      stored[at + i] = fuse::kernels::from_float<S>(biased);
      if (kept) stored[at + i] = sums.data[at + i];
    }
    check_sum(x_before.data() + at, residual_before.data() + at, biases.data(), stored.data() + at, columns);

    auto const reference = Norm::reference(stored.data() + at, columns, static_cast<double>(epsilon));
    std::vector<double> expected(columns);
    double largest = 0, largest_scale = 0, largest_bias = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      double const s = random_case::value(scale[i]) + (one_plus_scale ? 1 : 0);
      double const b = Norm::has_bias ? random_case::value(bias[i]) : 0;
      expected[i] = reference.normalised[i] * s + b;
      largest = std::max(largest, std::abs(reference.normalised[i]));
      largest_scale = std::max(largest_scale, std::abs(s));
      largest_bias = std::max(largest_bias, std::abs(b));
    }
    double const bound = 1e-6 * std::max(1.0, largest_scale * largest + largest_bias);
    CHECK(random_case::distance(ys.data + r * ys.row_stride, expected, bound) <= 1);
    if (with_statistic) CHECK(std::abs(static_cast<double>(statistics[r]) / reference.statistic - 1) <= 1e-6);
  }
  auto const is_column = [&](std::size_t stride) { return [=](std::size_t i) { return i % stride < columns; }; };
  CHECK(x.kept(is_column(shape.x_stride)));
  CHECK(residual.kept(is_column(shape.x_stride)));
  CHECK(y.kept([&](std::size_t i) { return ys.data == y.data() && i % shape.y_stride < columns; }));
  CHECK(sum.kept([&](std::size_t i) { return sums.data == sum.data() && i % shape.x_stride < columns; }));
  CHECK(statistics.kept([&](std::size_t) { return with_statistic; }));
}

template <class Norm, class X, class R, class P, class S, class Y>
void check_on_every_target() {
  random_case::on_every_target(check_random<Norm, X, R, P, S, Y>);
}

template <class Norm>
auto norm_of_sum(std::vector<float> const& x, std::vector<float> const& residual, std::size_t rows, float epsilon) {
  std::size_t const columns = x.size() / rows;
  std::vector<float> sum(x.size(), -77), y(x.size(), -77), bias(columns);
  REQUIRE(Norm::call(matrix_view(x.data(), rows, columns), matrix_view(residual.data(), rows, columns),
                     fuse::kernels::none, fuse::kernels::none, bias, matrix_view(sum.data(), rows, columns),
                     matrix_view(y.data(), rows, columns), epsilon, std::span<float>())
              .ok());
  return y;
}

/// Values that float arithmetic has no room for, in one row of three.
template <class Norm>
void check_special() {
  random_case::for_each_target([] {
    float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (float const special : {nan, infinity, 3e38f}) {
      std::vector<float> x(3 * 70), residual(3 * 70);
      std::mt19937 random(31);
      random_case::fill(std::span(x), 3, 1, random);
      random_case::fill(std::span(residual), 0, 1, random);
      auto const before = norm_of_sum<Norm>(x, residual, 3, 1e-5f);
      x[70 + 17] = residual[70 + 17] = special;
      auto const after = norm_of_sum<Norm>(x, residual, 3, 1e-5f);
      CHECK(std::isnan(after[70 + 17]));
      for (std::size_t i = 0; i < 210; ++i) {
        if (i / 70 != 1) CHECK(std::abs(after[i] - before[i]) <= 1e-6f);
      }
    }
    // Subnormal sums, whose squares are nothing.
    std::vector<float> const x{3e-40f, -1e-40f, 2e-40f}, residual{-1e-40f, -1e-40f, 1e-40f};
    auto const y = norm_of_sum<Norm>(x, residual, 1, 1e-5f);
    CHECK(std::all_of(y.begin(), y.end(), [](float v) { return std::abs(v) < 1e-30f; }));
  });
}

/// Rows longer than any block, at a mean that hides the deviation.
template <class Norm>
void check_long_row() {
  random_case::for_each_target([] {
    std::vector<float> x(1'000'003), residual(x.size()), sum(x.size());
    std::mt19937 random(37);
    random_case::fill(std::span(x), Norm::uses_mean ? 1e5 : 1, 1, random);
    random_case::fill(std::span(residual), 0, 1, random);
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + residual[i];
    auto const expected = Norm::reference(sum.data(), sum.size(), 1e-5);
    auto const y = norm_of_sum<Norm>(x, residual, 1, 1e-5f);
    CHECK(random_case::distance(y.data(), expected.normalised, 1e-6) <= 1);
  });
}

/// Past the caches, with y where no other memory is.
template <class Norm>
void check_hints() {
  random_case::for_each_target([] {
    std::mt19937 random(41);
    std::size_t const rows = 5;
    for (std::size_t const columns : {1u, 17u, 100u, 1000u, 3000u}) {
      std::vector<float> x(rows * columns), residual(rows * columns), bias(columns), sum(rows * columns);
      random_case::fill(std::span(x), 1, 2, random);
      random_case::fill(std::span(residual), 1, 2, random);
      guarded<float> soon(rows * columns, true), late(rows * columns, true);
      auto const run = [&](guarded<float> const& y, fuse::kernels::output when) {
        return Norm::call(matrix_view(x.data(), rows, columns), matrix_view(residual.data(), rows, columns),
                          fuse::kernels::none, fuse::kernels::none, bias, matrix_view(sum.data(), rows, columns),
                          matrix_view(y.data(), rows, columns), 1e-5f, std::span<float>(), fuse::kernels::on(when))
            .ok();
      };
      REQUIRE(run(soon, fuse::kernels::output::read_soon));
      REQUIRE(run(late, fuse::kernels::output::not_read_soon));
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        worst = random_case::worse(worst, std::abs(random_case::value(soon[i]) - random_case::value(late[i])));
      }
      CHECK(worst <= 1e-6);
    }
  });
}

}  // namespace skip_case
