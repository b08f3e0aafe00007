// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>
#include <fuse/fuse.hpp>
#include <fuse/kernels/target.hpp>
#include <fuse/rules/activation_formulas.hpp>
#include <fuse/rules/norm_formulas.hpp>

#include <sampled.hpp>

#include "evaluated.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace formulas {
using namespace fuse::kernels;
using namespace fuse::dsl;
namespace formula = fuse::rules::formula;

constexpr auto x = var<"x">, added = var<"added">, scale = var<"scale">, bias = var<"bias">;
constexpr auto epsilon = scalar<"epsilon">;

constexpr auto layer_norm_of_rules = formula::normalised * formula::scale + formula::bias;
constexpr auto rms_norm_of_rules = x * formula::inverse_root_mean_square * formula::scale;
constexpr auto sums = x + added + bias;
constexpr auto skip_layer_norm_of_rules =
    roots(sums, (sums - mean(sums)) * rsqrt(mean(square(sums - mean(sums))) + epsilon) * scale);
constexpr auto softmax_of_rules = formula::softmax;
constexpr auto log_softmax_of_rules = formula::log_softmax_of_shifted;
constexpr auto log_softmax_operator = log_softmax(x);
constexpr auto gelu_of_rules = formula::gelu, gelu_by_tanh_of_rules = formula::gelu_by_tanh;
constexpr auto silu_of_rules = formula::silu, mish_of_rules = formula::mish;
constexpr auto hard_swish_of_rules = formula::hard_swish;
constexpr auto gated = x * sigmoid(x) * added;
constexpr auto operators = maximum(minimum(x, added), -x) + abs(x) * added - pow(x, 3) / (1 + square(added)) +
                           reciprocal(2 + x * x) * sqrt(abs(added)) - relu(x);
constexpr auto choices = where(op<"Greater">(x, 0.25), added, where(op<"LessOrEqual">(added, 1), x, -x)) *
                         where(op<"Not">(op<"And">(op<"Less">(x, added), op<"Equal">(x, x))), 2, 3);
constexpr auto quotient = x / sum(abs(x)), unit_length = x / sqrt(sum(square(x)));
constexpr auto nested = exp(x - log_sum_exp(x)) + (x - mean(x) * reduce_max(added)) * scale;

/// Rows of x and added, a scale and a bias for all of them, epsilon, and what the evaluator makes of them.
struct random_rows {
  std::size_t rows, columns;
  std::vector<float> x, added, scale, bias;
  float epsilon = 1e-5f;

  random_rows(std::mt19937& random, double center) {
    auto const up_to = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n)(random); };
    std::size_t const largest[] = {4, 40, 300, 1500};
    rows = 1 + up_to(3);
    columns = 1 + up_to(largest[up_to(3)]);
    std::normal_distribution<double> around(center, 1), near_one(1, 0.5);
    auto const fill = [&](std::vector<float>& all, std::size_t count, auto& values) {
      all.resize(count);
      for (float& one : all) one = static_cast<float>(values(random));
    };
    fill(x, rows * columns, around);
    fill(added, rows * columns, near_one);
    fill(scale, columns, near_one);
    fill(bias, columns, near_one);
  }

  [[nodiscard]] std::map<std::string, fuse::dense, std::less<>> captures() const {
    auto const in_double = [](std::vector<float> const& from, std::vector<std::int64_t> shape) {
      return fuse::dense{std::move(shape), std::vector<double>(from.begin(), from.end())};
    };
    auto const of_rows = [&](std::vector<float> const& from) {
      return in_double(from, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
    };
    auto const of_columns = [&](std::vector<float> const& from) {
      return in_double(from, {static_cast<std::int64_t>(columns)});
    };
    return {{"x", of_rows(x)},
            {"added", of_rows(added)},
            {"scale", of_columns(scale)},
            {"bias", of_columns(bias)},
            {"epsilon", fuse::dense::of(static_cast<double>(epsilon))}};
  }
  matrix_view<float const> view(std::vector<float> const& of) const { return {of.data(), rows, columns}; }
};

/// Compares a kernel with the evaluator on random rows: `run(rows, y)` calls it. What is allowed is `bound` times the
/// largest of 1 and the result.
template <class Run>
void check(fuse::expression const& e, double bound, Run const& run, double center = 0) {
  for (auto const name : target_names()) {
    REQUIRE(use_target(name));
    std::mt19937 random(7);
    for (std::size_t i = 0; i < 16 / one_case_in; ++i) {
      random_rows const rows(random, center);
      INFO(name << ", case " << i << ", " << rows.rows << " x " << rows.columns);
      std::vector<float> y(rows.x.size());
      REQUIRE(run(rows, matrix_view(y.data(), rows.rows, rows.columns)).ok());
      auto const expected = evaluated::expression_evaluator(e, rows.captures()).root();
      double worst = 0;
      for (std::size_t k = 0; k < y.size(); ++k) {
        double const error = std::abs(static_cast<double>(y[k]) - expected[k]) / std::max(1.0, std::abs(expected[k]));
        worst = error <= worst ? worst : error;
      }
      CHECK(worst <= bound);
    }
  }
  REQUIRE(use_target(target_names().front()));
}

template <auto const& Expression>
void check_of_x(double bound, double center = 0) {
  check(
      Expression, bound,
      [](random_rows const& r, auto y) { return fuse::kernel<Expression>(y, fuse::arg<"x">(r.view(r.x))); }, center);
}

TEST_CASE("Norms of the rules' formulas") {
  for (double const center : {0.0, 100.0, 1e5}) {
    check(
        layer_norm_of_rules, 2e-6,
        [](random_rows const& r, auto y) {
          return fuse::kernel<layer_norm_of_rules>(y, fuse::arg<"x">(r.view(r.x)), fuse::arg<"epsilon">(r.epsilon),
                                                   fuse::arg<"scale">(r.scale), fuse::arg<"bias">(r.bias));
        },
        center);
  }
  check(rms_norm_of_rules, 1e-6, [](random_rows const& r, auto y) {
    return fuse::kernel<rms_norm_of_rules>(y, fuse::arg<"x">(r.view(r.x)), fuse::arg<"epsilon">(r.epsilon),
                                           fuse::arg<"scale">(r.scale));
  });
}

TEST_CASE("What is optional and not given is left out") {
  std::mt19937 random(12);
  random_rows const rows(random, 0);
  std::vector<float> y(rows.x.size());
  matrix_view const result(y.data(), rows.rows, rows.columns);
  REQUIRE(fuse::kernel<layer_norm_of_rules>(result, fuse::arg<"x">(rows.view(rows.x))).ok());
  auto captures = rows.captures();
  for (auto const* name : {"scale", "bias", "epsilon"}) captures.erase(name);
  auto const expected = evaluated::expression_evaluator(layer_norm_of_rules, captures).root();
  for (std::size_t k = 0; k < y.size(); ++k) CHECK(static_cast<double>(y[k]) == Approx(expected[k]).margin(2e-6));
}

TEST_CASE("Several results") {
  std::mt19937 random(3);
  random_rows const rows(random, 0);
  std::vector<float> sum(rows.x.size()), y(sum.size());
  REQUIRE(fuse::kernel<skip_layer_norm_of_rules>(
              matrix_view(sum.data(), rows.rows, rows.columns), matrix_view(y.data(), rows.rows, rows.columns),
              fuse::arg<"x">(rows.view(rows.x)), fuse::arg<"added">(rows.view(rows.added)),
              fuse::arg<"bias">(rows.bias), fuse::arg<"scale">(rows.scale), fuse::arg<"epsilon">(rows.epsilon))
              .ok());
  evaluated::expression_evaluator reference(skip_layer_norm_of_rules, rows.captures());
  auto const sums_expected = reference.root(0), expected = reference.root(1);
  for (std::size_t k = 0; k < y.size(); ++k) {
    CHECK(static_cast<double>(sum[k]) == Approx(sums_expected[k]).margin(1e-6));
    CHECK(static_cast<double>(y[k]) == Approx(expected[k]).margin(4e-6));
  }
}

TEST_CASE("Softmax and its logarithm") {
  check_of_x<softmax_of_rules>(5e-7);
  check_of_x<softmax_of_rules>(5e-7, 300);
  check_of_x<log_softmax_of_rules>(1e-6);
  check_of_x<log_softmax_operator>(1e-6);
}

TEST_CASE("Activations") {
  check_of_x<gelu_of_rules>(5e-7);
  check_of_x<gelu_by_tanh_of_rules>(5e-7);
  check_of_x<silu_of_rules>(5e-7);
  check_of_x<mish_of_rules>(1e-6);
  check_of_x<hard_swish_of_rules>(5e-7);
  check(gated, 1e-6, [](random_rows const& r, auto y) {
    return fuse::kernel<gated>(y, fuse::arg<"x">(r.view(r.x)), fuse::arg<"added">(r.view(r.added)));
  });
}

TEST_CASE("Operators of every kind") {
  check(operators, 2e-6, [](random_rows const& r, auto y) {
    return fuse::kernel<operators>(y, fuse::arg<"x">(r.view(r.x)), fuse::arg<"added">(r.view(r.added)));
  });
  check(choices, 1e-6, [](random_rows const& r, auto y) {
    return fuse::kernel<choices>(y, fuse::arg<"x">(r.view(r.x)), fuse::arg<"added">(r.view(r.added)));
  });
  check_of_x<quotient>(1e-6);
  check_of_x<unit_length>(1e-6);
  check(nested, 4e-6, [](random_rows const& r, auto y) {
    return fuse::kernel<nested>(y, fuse::arg<"x">(r.view(r.x)), fuse::arg<"added">(r.view(r.added)),
                                fuse::arg<"scale">(r.scale));
  });
}

// The number that divides has no reciprocal in float.
constexpr auto by_number = x / scalar<"by">, by_sum = x / sum(x);
TEST_CASE("Quotients by numbers of any size") {
  for (float const by : {1e-40f, 3e38f, 0.0f, -0.0f, HUGE_VALF, NAN, 3.0f}) {
    std::array<float, 5> const from{1e-39f, -2e-40f, 0.0f, 5e37f, 7.0f};
    std::array<float, 5> y{};
    for (auto const name : target_names()) {
      REQUIRE(use_target(name));
      REQUIRE(fuse::kernel<by_number>(matrix_view(y.data(), 1, 5), fuse::arg<"x">(matrix_view(from.data(), 1, 5)),
                                      fuse::arg<"by">(by))
                  .ok());
      for (std::size_t i = 0; i < y.size(); ++i) {
        float const expected = from[i] / by;
        INFO(from[i] << " / " << by << " on " << name << " is " << y[i]);
        CHECK(((std::isnan(expected) && std::isnan(y[i])) || expected == y[i] ||
               std::abs(static_cast<double>(y[i]) - static_cast<double>(expected)) <=
                   2e-7 * std::abs(static_cast<double>(expected))));
      }
    }
  }
  std::array<float, 2> const from{2e38f, 1e38f};
  std::array<float, 2> y{};
  REQUIRE(fuse::kernel<by_sum>(matrix_view(y.data(), 1, 2), fuse::arg<"x">(matrix_view(from.data(), 1, 2))).ok());
  CHECK(static_cast<double>(y[0]) == Approx(2. / 3));
  REQUIRE(use_target(target_names().front()));
}

// What float leaves of the mean is nothing beside what is infinite.
constexpr auto infinitely_far = (x - mean(x)) * (1 / scalar<"by">);
TEST_CASE("A difference times infinity") {
  std::array<float, 3> const from{1, 2, 4};
  std::array<float, 3> y{};
  for (auto const name : target_names()) {
    REQUIRE(use_target(name));
    for (float const by : {0.0f, 1e-40f}) {
      auto const done = fuse::kernel<infinitely_far>(
          matrix_view(y.data(), 1, 3), fuse::arg<"x">(matrix_view(from.data(), 1, 3)), fuse::arg<"by">(by));
      REQUIRE(done.ok());
      CHECK((y[0] == -HUGE_VALF && y[1] == -HUGE_VALF && y[2] == HUGE_VALF));
    }
  }
  REQUIRE(use_target(target_names().front()));
}

// A row whose largest element is a NaN, or infinite, or whose elements are all zeros of either sign.
constexpr auto most = x * 0 + reduce_max(x);
TEST_CASE("The largest of what is not finite") {
  for (std::size_t const columns : {1u, 5u, 40u, 1100u}) {
    for (std::size_t at = 0; at < columns; at += columns / 4 + 1) {
      for (auto const name : target_names()) {
        REQUIRE(use_target(name));
        std::vector<float> from(columns, -0.0f), y(columns);
        matrix_view const result(y.data(), 1, columns);
        auto const run = [&] {
          REQUIRE(fuse::kernel<most>(result, fuse::arg<"x">(matrix_view<float const>(from.data(), 1, columns))).ok());
          return y[columns - 1 - at];
        };
        CHECK(!std::signbit(run()));
        from[at] = NAN;
        CHECK(std::isnan(run()));
      }
    }
  }
  REQUIRE(use_target(target_names().front()));
}

}  // namespace formulas
