// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>
#include <fuse/kernels/target.hpp>

#include <catch.hpp>
#include <sampled.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace functions {
using namespace fuse::kernels;
using namespace fuse::dsl;

constexpr auto x = var<"x">;
constexpr auto exp_of_x = exp(x), log_of_x = log(x), erf_of_x = erf(x), tanh_of_x = tanh(x), sigmoid_of_x = sigmoid(x),
               sin_of_x = op<"Sin">(x), cos_of_x = op<"Cos">(x);

double unit_in_last_place(double at) {
  int const exponent = at == 0 ? -126 : std::max(std::ilogb(at), -126);
  return std::ldexp(1, exponent - 23);
}

// Whether a result is as far from the exact one as `most` units in the last place; what overflows there may be the
// largest float, or infinite.
bool is_near(double result, double exact, double most) {
  constexpr double largest = std::numeric_limits<float>::max();
  if (std::isnan(exact)) return std::isnan(result);
  if (std::abs(exact) > largest || std::isinf(result)) {
    return std::signbit(result) == std::signbit(exact) && std::abs(exact) > largest * (1 - 2e-7) &&
           std::abs(result) > largest * (1 - 2e-7);
  }
  return std::abs(result - exact) <= most * unit_in_last_place(exact) &&
         (result != 0 || exact != 0 || std::signbit(result) == std::signbit(exact));
}

// Floats of either sign from 0 to infinity, and what lies next to the numbers where a function goes from one form to
// another; increasing, then decreasing.
std::vector<float> samples(std::vector<float> const& branches, bool negative) {
  std::vector<float> all;
  std::uint32_t const step = 40961 * static_cast<std::uint32_t>(one_case_in);
  for (std::uint64_t bits = 0; bits < 0x7f800000u; bits += step) {
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (float const branch : branches) {
    auto const bits = std::bit_cast<std::uint32_t>(branch);
    for (std::uint32_t near = bits - 50; near != bits + 50; ++near) all.push_back(std::bit_cast<float>(near));
  }
  all.push_back(std::numeric_limits<float>::infinity());
  std::sort(all.begin(), all.end());
  if (negative)
    for (float& one : all) one = -one;
  return all;
}

enum class shape { rises, is_not_monotone };

template <auto const& Expression>
void check(double (*exact)(double), double most, shape is, std::vector<float> const& branches) {
  for (bool const negative : {false, true}) {
    auto from = samples(branches, negative);
    std::vector<float> y(from.size()), fused;
    for (auto const name : target_names()) {
      REQUIRE(use_target(name));
      INFO(name);
      auto const run = [&] {
        matrix_view<float const> const rows(from.data(), 1, from.size());
        return fuse::kernel<Expression>(matrix_view(y.data(), 1, y.size()), fuse::arg<"x">(rows));
      };
      REQUIRE(run().ok());
      std::size_t far = 0, falls = 0;
      float wrong = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (!is_near(static_cast<double>(y[i]), exact(static_cast<double>(from[i])), most)) ++far, wrong = from[i];
        if (i > 0 && (negative ? y[i] > y[i - 1] : y[i] < y[i - 1])) ++falls;
      }
      INFO("such as " << std::hexfloat << wrong);
      CHECK(far == 0);
      if (is == shape::rises) CHECK(falls == 0);
      if (name.substr(0, 3) == "AVX") {
        if (fused.empty()) fused = y;
        CHECK(std::memcmp(fused.data(), y.data(), y.size() * sizeof(float)) == 0);
      }
      if (!negative) {
        float const before = from[0];
        from[0] = std::numeric_limits<float>::quiet_NaN();
        REQUIRE(run().ok());
        CHECK(std::isnan(y[0]));
        from[0] = before;
      }
    }
  }
  REQUIRE(use_target(target_names().front()));
}

TEST_CASE("exp and log") {
  check<exp_of_x>([](double v) { return std::exp(v); }, 2, shape::rises,
                  {88.72284f, 87.33655f, 103.97208f, 0.34657359f});
  check<log_of_x>([](double v) { return std::log(v); }, 2, shape::rises,
                  {1.0f, 0.70710678f, 1.41421356f, 0x1p-126f, 0x1p-149f * 60});
}
TEST_CASE("erf, tanh and sigmoid") {
  check<erf_of_x>([](double v) { return std::erf(v); }, 4, shape::rises, {0x1.dbp-1f, 4.0f});
  check<tanh_of_x>([](double v) { return std::tanh(v); }, 4, shape::rises, {0.55f, 9.01f});
  check<sigmoid_of_x>([](double v) { return 1 / (1 + std::exp(-v)); }, 4, shape::rises, {17.0f, 88.72284f, 103.97208f});
}
TEST_CASE("sin and cos") {
  check<sin_of_x>([](double v) { return std::sin(v); }, 2, shape::is_not_monotone,
                  {0.78539816f, 1.57079633f, 3.14159265f, 31415.9265f, 0x1p17f});
  check<cos_of_x>([](double v) { return std::cos(v); }, 2, shape::is_not_monotone,
                  {0.78539816f, 1.57079633f, 3.14159265f, 31415.9265f, 0x1p17f});
}

}  // namespace functions
