// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/skip_layer_norm.hpp>

#include "last_place.hpp"
#include "skip_case.hpp"

namespace skip_layer_norm {
using namespace fuse::kernels;

struct norm {
  static constexpr bool has_bias = true, uses_mean = true;

  template <class X, class R, class XBias, class Scale, class Bias, class S, class Y, class How = on<>>
  static status call(X x, R residual, XBias const& x_bias, Scale const& scale, Bias const& bias, S sum, Y y,
                     float epsilon, std::span<float> inverse, How how = {}) {
    return fuse::kernels::skip_layer_norm(x, residual, x_bias, scale, bias, sum, y, epsilon, {{}, inverse}, how);
  }

  template <class T>
  static skip_case::reference_row reference(T const* row, std::size_t columns, double epsilon) {
    double const count = static_cast<double>(columns);
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < columns; ++i) mean += random_case::value(row[i]) / count;
    for (std::size_t i = 0; i < columns; ++i) variance += std::pow(random_case::value(row[i]) - mean, 2) / count;
    skip_case::reference_row result{{}, 1 / std::sqrt(variance + epsilon)};
    for (std::size_t i = 0; i < columns; ++i) {
      result.normalised.push_back((random_case::value(row[i]) - mean) * result.statistic);
    }
    return result;
  }
};

TEST_CASE("skip layer norm: the sum, and the layer norm of it") {
  skip_case::check_on_every_target<norm, float, float, float, float, float>();
  skip_case::check_on_every_target<norm, bfloat16, bfloat16, bfloat16, bfloat16, bfloat16>();
  skip_case::check_on_every_target<norm, float16, float16, float, float16, float16>();
}

TEST_CASE("skip layer norm: element types mix") {
  skip_case::check_on_every_target<norm, bfloat16, float, float16, float, bfloat16>();
}

TEST_CASE("skip layer norm: half results near 0 are exact to their last place") {
  auto const norm = [](auto x, auto const& scale, auto y) {
    using half = std::remove_pointer_t<decltype(y.data)>;
    std::vector<half> const nothing(x.rows * x.columns);
    std::vector<half> sum(nothing);
    return fuse::kernels::skip_layer_norm(x, matrix_view(nothing.data(), x.rows, x.columns), none, scale, none,
                                          matrix_view(sum.data(), x.rows, x.columns), y);
  };
  last_place::check<bfloat16>(norm);
  last_place::check<float16>(norm);
}

TEST_CASE("skip layer norm: special values") { skip_case::check_special<norm>(); }
TEST_CASE("skip layer norm: a row of a million columns") { skip_case::check_long_row<norm>(); }
TEST_CASE("skip layer norm: when y is read") { skip_case::check_hints<norm>(); }

TEST_CASE("skip layer norm: an executor's empty range adds nothing") {
  constexpr std::size_t rows = 40, columns = 1000;
  guarded_memory::guarded<float> const x(rows * columns, true);
  std::fill_n(x.data(), rows * columns, 1.0f);
  std::vector<float> const residual(rows * columns, 2);
  std::vector<float> y(rows * columns);
  int called = 0;
  auto const ranges = [&](std::size_t count, std::size_t, auto const& body) {
    ++called;
    body(7, 7);
    body(0, count);
    body(count, count);
  };
  matrix_view const sum(x.data(), rows, columns);
  REQUIRE(fuse::kernels::skip_layer_norm(sum, matrix_view(residual.data(), rows, columns), none, none, none, sum,
                                         matrix_view(y.data(), rows, columns), 1e-5f, {}, on(ranges))
              .ok());
  CHECK(called == 1);
  CHECK(std::all_of(x.data(), x.data() + rows * columns, [](float value) { return value == 3; }));
}

TEST_CASE("skip layer norm: what is refused") {
  auto const at = [](std::size_t address, std::size_t rows = 4, std::size_t columns = 8) {
    return matrix_view(reinterpret_cast<float*>(address), rows, columns);
  };
  auto const x = at(0x10000), residual = at(0x20000), sum = at(0x30000), y = at(0x40000);
  std::vector<float> const seven(7);
  auto const run = [&](auto a, auto b, auto const& x_bias, auto const& scale, auto const& bias, auto c, auto d) {
    return fuse::kernels::skip_layer_norm(a, b, x_bias, scale, bias, c, d).message();
  };
  CHECK(run(x, at(0x20000, 3), none, none, none, sum, y) ==
        "skip_layer_norm: residual has 3 rows, expected 4 as x has");
  CHECK(run(x, residual, none, none, none, at(0x30000, 4, 9), y) ==
        "skip_layer_norm: sum has 9 columns, expected 8 as x has");
  CHECK(run(x, residual, none, none, none, sum, at(0x40000, 5)) ==
        "skip_layer_norm: y has 5 rows, expected 4 as x has");
  CHECK(run(x, residual, seven, none, none, sum, y) ==
        "skip_layer_norm: x_bias has 7 elements, expected 8, one for each column of x");
  CHECK(run(x, residual, none, seven, none, sum, y) ==
        "skip_layer_norm: scale has 7 elements, expected 8, one for each column of x");
  CHECK(run(x, residual, none, none, seven, sum, y) ==
        "skip_layer_norm: bias has 7 elements, expected 8, one for each column of x");
  CHECK(run(x, at(0), none, none, none, sum, y) == "skip_layer_norm: residual has no data, expected 32 elements");
  CHECK(run(x, residual, none, none, none, at(0x20004), y) ==
        "skip_layer_norm: sum overlaps residual, expected the same elements or no common one");
  CHECK(run(x, residual, none, none, none, sum, at(0x30010)) ==
        "skip_layer_norm: sum overlaps y, expected the same elements or no common one");
  CHECK(run(x, residual, none, none, none, sum, matrix_view(reinterpret_cast<bfloat16*>(0x10000), 4, 8)) ==
        "skip_layer_norm: y overlaps x, expected the same elements or no common one");
  CHECK(run(x, residual, none, std::span(reinterpret_cast<float const*>(0x30010), 8), none, sum, y) ==
        "skip_layer_norm: sum overlaps scale, expected no common memory");
  CHECK(fuse::kernels::skip_layer_norm(x, residual, none, none, none, sum, y, -1).message() ==
        "skip_layer_norm: epsilon is -1, expected a finite number of at least 0");
  CHECK(fuse::kernels::skip_layer_norm(at(0, 0), at(0, 0), none, none, none, at(0, 0), at(0, 0)).ok());
}

}  // namespace skip_layer_norm
