// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/layer_norm.hpp>

#include "last_place.hpp"
#include "random_case.hpp"

#include <limits>
#include <string>

namespace layer_norm {
using namespace fuse::kernels;
using guarded_memory::guarded;

struct moments {
  double mean, inverse_deviation;
};

template <class T>
moments moments_of(T const* x, std::size_t columns, double epsilon) {
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < columns; ++i) mean += random_case::value(x[i]) / static_cast<double>(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    variance += std::pow(random_case::value(x[i]) - mean, 2) / static_cast<double>(columns);
  }
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

enum class weights { plain, scale, scale_bias, bias, one_plus_scale };

// All memory between guard pages; nothing is written but the columns of y and the statistics.
template <class X, class P, class Y, weights Weights>
void check_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  random_case::shape const shape(random);
  auto const pick = [&](auto... values) {
    double const all[] = {static_cast<double>(values)...};
    return all[random() % sizeof...(values)];
  };
  double const mean = std::is_same_v<X, float> ? pick(0, 1, -100, 1e5, -1e5) : pick(0, 1, -10);
  float const epsilon = static_cast<float>(pick(1e-5, 1e-12, 0.5));
  bool const with_statistics = pick(0, 1) != 0, at_end = pick(0, 1) != 0;
  INFO("seed " << seed << ", " << target_name() << ", " << shape.rows << " x " << shape.columns << ", mean " << mean);

  guarded<X> x(shape.x_size(), at_end);
  guarded<P> scale(shape.columns, at_end), bias(shape.columns, at_end);
  guarded<Y> y(shape.y_size(), at_end);
  guarded<float> means(shape.rows, at_end), inverses(shape.rows, at_end);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    random_case::fill(std::span(x.data() + r * shape.x_stride, shape.columns), mean, 1, random);
  }
  random_case::fill(scale.span(), 1, 0.5, random);
  random_case::fill(bias.span(), 0, 2, random);
  x.make_readonly();
  scale.make_readonly();
  bias.make_readonly();

  constexpr bool has_scale = Weights != weights::plain && Weights != weights::bias;
  constexpr bool has_bias = Weights == weights::scale_bias || Weights == weights::bias;
  matrix_view<X const> const xs(x.data(), shape.rows, shape.columns, shape.x_stride);
  matrix_view<Y> const ys(y.data(), shape.rows, shape.columns, shape.y_stride);
  layer_norm_statistics statistics;
  if (with_statistics) statistics = {means.span(), inverses.span()};
  auto const run = [&] {
    using fuse::kernels::layer_norm;
    if constexpr (Weights == weights::plain) {
      return layer_norm(xs, none, none, ys, epsilon, statistics);
    } else if constexpr (Weights == weights::scale) {
      return layer_norm(xs, scale.span(), none, ys, epsilon, statistics);
    } else if constexpr (Weights == weights::bias) {
      return layer_norm(xs, none, bias.span(), ys, epsilon, statistics);
    } else if constexpr (Weights == weights::one_plus_scale) {
      return layer_norm(xs, one_plus(scale.span()), none, ys, epsilon, statistics);
    } else {
      return layer_norm(xs, scale.span(), bias.span(), ys, epsilon, statistics);
    }
  };
  auto const result = run();
  INFO(result.message());
  REQUIRE(result.ok());

  for (std::size_t r = 0; r < shape.rows; ++r) {
    X const* const row = x.data() + r * shape.x_stride;
    moments const m = moments_of(row, shape.columns, static_cast<double>(epsilon));
    std::vector<double> expected(shape.columns);
    double largest_n = 0, largest_scale = 1, largest_bias = 0;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      double const n = (random_case::value(row[i]) - m.mean) * m.inverse_deviation;
      double const s = has_scale ? random_case::value(scale[i]) + (Weights == weights::one_plus_scale ? 1 : 0) : 1;
      double const b = has_bias ? random_case::value(bias[i]) : 0;
      expected[i] = n * s + b;
      largest_n = std::max(largest_n, std::abs(n));
      largest_scale = has_scale ? std::max(i == 0 ? 0 : largest_scale, std::abs(s)) : 1;
      largest_bias = std::max(largest_bias, std::abs(b));
    }
    double const bound = has_scale || has_bias ? 1e-6 * std::max(1.0, largest_scale * largest_n + largest_bias) : 1e-6;
    CHECK(random_case::distance(y.data() + r * shape.y_stride, expected, bound) <= 1);
    if (with_statistics) {
      CHECK(std::abs(static_cast<double>(means[r]) - m.mean) <= 2e-7 * std::max(1.0, std::abs(m.mean)));
      CHECK(std::abs(static_cast<double>(inverses[r]) / m.inverse_deviation - 1) <= 1e-6);
    }
  }
  CHECK(y.kept([&](std::size_t i) { return i % shape.y_stride < shape.columns; }));
  CHECK(means.kept([&](std::size_t) { return with_statistics; }));
  CHECK(inverses.kept([&](std::size_t) { return with_statistics; }));
}

template <class X, class P, class Y, weights Weights>
void check_on_every_target() {
  random_case::on_every_target(check_random<X, P, Y, Weights>);
}

TEST_CASE("layer norm: float rows agree with the formula in double precision") {
  check_on_every_target<float, float, float, weights::plain>();
  check_on_every_target<float, float, float, weights::scale_bias>();
  check_on_every_target<float, float, float, weights::bias>();
}

TEST_CASE("layer norm: half rows are rounded once") {
  check_on_every_target<bfloat16, bfloat16, bfloat16, weights::scale_bias>();
  check_on_every_target<float16, float16, float16, weights::scale>();
}

TEST_CASE("layer norm: half results near 0 are exact to their last place") {
  auto const norm = [](auto x, auto const& scale, auto y) { return fuse::kernels::layer_norm(x, scale, none, y); };
  last_place::check<bfloat16>(norm);
  last_place::check<float16>(norm);
}

TEST_CASE("layer norm: element types mix") {
  check_on_every_target<bfloat16, float, bfloat16, weights::one_plus_scale>();
  check_on_every_target<float16, float, float, weights::scale_bias>();
  check_on_every_target<float, float16, bfloat16, weights::scale_bias>();
}

// One call on `x`, scale and bias absent.
auto norm(std::vector<float> const& x, std::size_t rows, float epsilon) {
  std::vector<float> y(x.size(), -77);
  REQUIRE(fuse::kernels::layer_norm(matrix_view(x.data(), rows, x.size() / rows), none, none,
                                    matrix_view(y.data(), rows, x.size() / rows), epsilon)
              .ok());
  return y;
}

TEST_CASE("layer norm: a row that is no number leaves its neighbours alone") {
  random_case::for_each_target([] {
    for (float const special : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      std::vector<float> x(3 * 40);
      std::mt19937 random(5);
      random_case::fill(std::span(x), 3, 1, random);
      auto const before = norm(x, 3, 1e-5f);
      x[40 + 17] = special;
      auto const after = norm(x, 3, 1e-5f);
      for (std::size_t i = 0; i < 120; ++i) {
        if (i / 40 == 1) {
          CHECK(std::isnan(after[i]));
        } else {
          CHECK(after[i] == before[i]);
        }
      }
    }
  });
}

TEST_CASE("layer norm: rows without variance") {
  random_case::for_each_target([] {
    for (float const value : {0.0f, 0.1f, -12345.678f}) {
      std::vector<float> x(2 * 771, value);
      for (std::size_t i = 0; i < 771; ++i)
        x[i] = static_cast<float>(i % 7);  // a mean that does not fit the second row
      for (float const epsilon : {1e-5f, 1e-12f}) {
        auto const y = norm(x, 2, epsilon);
        CHECK(std::all_of(y.begin() + 771, y.end(), [](float v) { return v == 0; }));
      }
      auto const y = norm(x, 2, 0);
      CHECK(std::all_of(y.begin() + 771, y.end(), [](float v) { return std::isnan(v); }));  // 0 / 0
    }
  });
}

TEST_CASE("layer norm: rows whose squares float cannot hold, and rows of far apart means") {
  random_case::for_each_target([] {
    std::size_t const columns = 300;
    double const means[] = {1e5, -1e5, 0, 1e30, 1e-20, 5}, deviations[] = {1, 1, 1e-3, 1e30, 1e-20, 1};
    std::vector<float> x;
    std::mt19937 random(7);
    for (std::size_t r = 0; r < 6; ++r) {
      std::vector<float> row(columns);
      random_case::fill(std::span(row), means[r], deviations[r], random);
      x.insert(x.end(), row.begin(), row.end());
    }
    auto const y = norm(x, 6, 0);
    for (std::size_t r = 0; r < 6; ++r) {
      CAPTURE(r);
      moments const m = moments_of(x.data() + r * columns, columns, 0);
      std::vector<double> expected;
      for (std::size_t i = 0; i < columns; ++i) {
        expected.push_back((random_case::value(x[r * columns + i]) - m.mean) * m.inverse_deviation);
      }
      CHECK(random_case::distance(y.data() + r * columns, expected, 1e-6) <= 1);
    }
  });
}

TEST_CASE("layer norm: a row of a million columns") {
  random_case::for_each_target([] {
    std::vector<float> x(1'000'003);
    std::mt19937 random(11);
    random_case::fill(std::span(x), 1000, 1, random);
    moments const m = moments_of(x.data(), x.size(), 1e-5);
    auto const y = norm(x, 1, 1e-5f);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double const expected = (random_case::value(x[i]) - m.mean) * m.inverse_deviation;
      worst = random_case::worse(worst, std::abs(random_case::value(y[i]) - expected));
    }
    CHECK(worst <= 1e-6);
  });
}

TEST_CASE("layer norm: in place, and beside it in one matrix") {
  random_case::for_each_target([] {
    std::mt19937 random(13);
    std::vector<float> x(4 * 50), wide(4 * 100);
    random_case::fill(std::span(x), 2, 1, random);
    auto const expected = norm(x, 4, 1e-5f);
    for (std::size_t i = 0; i < x.size(); ++i) wide[i / 50 * 100 + i % 50] = x[i];

    matrix_view const left(wide.data(), 4, 50, 100), right(wide.data() + 50, 4, 50, 100);
    REQUIRE(fuse::kernels::layer_norm(left, none, none, right).ok());
    matrix_view const whole(x.data(), 4, 50);
    REQUIRE(fuse::kernels::layer_norm(whole, none, none, whole).ok());
    CHECK(x == expected);
    bool same = true;
    for (std::size_t i = 0; i < x.size(); ++i) same = same && wide[i / 50 * 100 + 50 + i % 50] == expected[i];
    CHECK(same);
  });
}

}  // namespace layer_norm
