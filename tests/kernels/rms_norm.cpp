// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/rms_norm.hpp>

#include "random_case.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace rms_norm {
using namespace fuse::kernels;
using guarded_memory::guarded;

template <class T>
double inverse_rms_of(T const* x, std::size_t columns, double epsilon) {
  double squares = 0;
  for (std::size_t i = 0; i < columns; ++i) squares += std::pow(random_case::value(x[i]), 2);
  return 1 / std::sqrt(squares / static_cast<double>(columns) + epsilon);
}

enum class weights { plain, scale, one_plus_scale };

template <class X, class P, class Y, weights Weights>
void check_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  random_case::shape const shape(random);
  float const epsilon = random() % 2 == 0 ? 1e-6f : 0.5f;
  double const magnitude = std::is_same_v<X, float> && random() % 2 == 0 ? 1e5 : 1;
  bool const with_inverse = random() % 2 == 0, at_end = random() % 2 == 0;
  INFO("seed " << seed << ", " << target_name() << ", " << shape.rows << " x " << shape.columns);

  guarded<X> x(shape.x_size(), at_end);
  guarded<P> scale(shape.columns, at_end);
  guarded<Y> y(shape.y_size(), at_end);
  guarded<float> inverses(shape.rows, at_end);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    random_case::fill(std::span(x.data() + r * shape.x_stride, shape.columns), 0, magnitude, random);
  }
  random_case::fill(scale.span(), Weights == weights::scale ? 1 : 0, 0.5, random);
  x.make_readonly();
  scale.make_readonly();

  matrix_view<X const> const xs(x.data(), shape.rows, shape.columns, shape.x_stride);
  matrix_view<Y> const ys(y.data(), shape.rows, shape.columns, shape.y_stride);
  std::span<float> const inverse = with_inverse ? inverses.span() : std::span<float>();
  auto const run = [&] {
    using fuse::kernels::rms_norm;
    if constexpr (Weights == weights::plain) {
      return rms_norm(xs, none, ys, epsilon, inverse);
    } else if constexpr (Weights == weights::one_plus_scale) {
      return rms_norm(xs, one_plus(scale.span()), ys, epsilon, inverse);
    } else {
      return rms_norm(xs, scale.span(), ys, epsilon, inverse);
    }
  };
  auto const result = run();
  INFO(result.message());
  REQUIRE(result.ok());

  for (std::size_t r = 0; r < shape.rows; ++r) {
    X const* const row = x.data() + r * shape.x_stride;
    double const factor = inverse_rms_of(row, shape.columns, static_cast<double>(epsilon));
    std::vector<double> expected(shape.columns);
    double largest = 1;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      double const one = Weights == weights::one_plus_scale ? 1 : 0;
      double const s = Weights == weights::plain ? 1 : random_case::value(scale[i]) + one;
      expected[i] = random_case::value(row[i]) * factor * s;
      largest = std::max(largest, std::abs(expected[i]));
    }
    double const bound = Weights == weights::plain ? 1e-6 : 1e-6 * largest;
    CHECK(random_case::distance(y.data() + r * shape.y_stride, expected, bound) <= 1);
    if (with_inverse) CHECK(std::abs(static_cast<double>(inverses[r]) / factor - 1) <= 1e-6);
  }
  CHECK(y.kept([&](std::size_t i) { return i % shape.y_stride < shape.columns; }));
  CHECK(inverses.kept([&](std::size_t) { return with_inverse; }));
}

template <class X, class P, class Y, weights Weights>
void check_on_every_target() {
  random_case::on_every_target(check_random<X, P, Y, Weights>);
}

TEST_CASE("rms norm: float rows agree with the formula in double precision") {
  check_on_every_target<float, float, float, weights::plain>();
  check_on_every_target<float, float, float, weights::scale>();
}

TEST_CASE("rms norm: half rows are rounded once") {
  check_on_every_target<bfloat16, bfloat16, bfloat16, weights::scale>();
  check_on_every_target<float16, float16, float16, weights::one_plus_scale>();
}

TEST_CASE("rms norm: element types mix") { check_on_every_target<float, float, float16, weights::scale>(); }

// Without epsilon a row of one column is divided by its own magnitude: each result is known.
TEST_CASE("rms norm: special rows") {
  float const infinity = std::numeric_limits<float>::infinity();
  std::vector<float> const x{3, -1e30f, 1e-30f, 0, infinity, std::numeric_limits<float>::quiet_NaN(), -2};
  random_case::for_each_target([&] {
    std::vector<float> y(x.size());
    REQUIRE(fuse::kernels::rms_norm(matrix_view(x.data(), 7, 1), none, matrix_view(y.data(), 7, 1), 0).ok());
    CHECK(y[0] == Approx(1));
    CHECK(y[1] == Approx(-1));
    CHECK(y[2] == Approx(1));
    CHECK(std::isnan(y[3]));  // 0 / 0
    CHECK(std::isnan(y[4]));
    CHECK(std::isnan(y[5]));
    CHECK(y[6] == Approx(-1));

    std::vector<float> row(40, 2.0f);
    row[5] = infinity;
    REQUIRE(fuse::kernels::rms_norm(matrix_view(row.data(), 1, 40), none, matrix_view(row.data(), 1, 40)).ok());
    CHECK(row[4] == 0);
    CHECK(std::isnan(row[5]));
  });
}

// The elements of a row of one column, divided by one: what a conversion alone makes of them.
template <class T>
void check_conversion() {
  random_case::for_each_target([&] {
    std::vector<T> all(0x10000), back(0x10000);
    std::vector<float> wide(0x10000);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
    std::size_t const columns = 32;
    // Rows that are finite have a root mean square far above epsilon, which the scale takes back.
    for (std::size_t i = 0; i < all.size(); i += columns) {
      float factor = 0;
      REQUIRE(fuse::kernels::rms_norm(matrix_view<T const>(all.data() + i, 1, columns), none,
                                      matrix_view(wide.data() + i, 1, columns), 0x1p126f, std::span(&factor, 1))
                  .ok());
      for (std::size_t j = i; j < i + columns; ++j) {
        float const expected = to_float(all[j]) * factor;
        bool const same = std::isnan(expected) ? std::isnan(wide[j]) : wide[j] == expected;
        if (!same) FAIL_CHECK("element " << j);
      }
    }
  });
}

TEST_CASE("every half value is read as it is") {
  check_conversion<bfloat16>();
  check_conversion<float16>();
}

// A half result is the float result rounded, bit by bit, whatever that is.
template <class T>
void check_rounding() {
  std::mt19937 random(17);
  std::size_t const columns = 20000;
  std::vector<float> x(columns), scale(columns), wide(columns);
  std::vector<T> narrow(columns);
  random_case::fill(std::span(x), 0, 1, random);
  for (std::size_t i = 0; i < columns; ++i) {
    // From infinities and NaN to subnormals, of the half type, too.
    auto const exponent = i % 2 == 0 ? random() % 256 : 100 + random() % 48;
    scale[i] = std::bit_cast<float>(static_cast<std::uint32_t>((random() & 0x807fffffu) | (exponent << 23)));
  }
  random_case::for_each_target([&] {
    matrix_view<float const> const view(x.data(), 1, columns);
    REQUIRE(fuse::kernels::rms_norm(view, scale, matrix_view(wide.data(), 1, columns)).ok());
    REQUIRE(fuse::kernels::rms_norm(view, scale, matrix_view(narrow.data(), 1, columns)).ok());
    std::size_t different = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      bool const both_nan = std::isnan(wide[i]) && std::isnan(to_float(narrow[i]));
      if (!both_nan && narrow[i].bits != from_float<T>(wide[i]).bits) ++different;
    }
    CHECK(different == 0);
  });
}

// Where all is bfloat16, two vectors are rounded in one.
TEST_CASE("rms norm: a NaN stays one, whatever its bits") {
  random_case::for_each_target([&] {
    for (unsigned const nan : {0x7fffu, 0xffffu, 0x7f81u, 0xff81u, 0x7fc0u}) {
      for (bool const in_scale : {false, true}) {
        std::vector<bfloat16> x(200, from_float<bfloat16>(2)), scale(200, from_float<bfloat16>(1)), y(200);
        (in_scale ? scale : x)[77].bits = static_cast<std::uint16_t>(nan);
        REQUIRE(
            fuse::kernels::rms_norm(matrix_view<bfloat16 const>(x.data(), 1, 200), scale, matrix_view(y.data(), 1, 200))
                .ok());
        for (std::size_t i = 0; i < 200; ++i) {
          if (std::isnan(to_float(y[i])) != (!in_scale || i == 77)) FAIL_CHECK("element " << i);
        }
      }
    }
  });
}

TEST_CASE("half results are rounded to the nearest, ties to even") {
  check_rounding<bfloat16>();
  check_rounding<float16>();
}

}  // namespace rms_norm
