// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>
#include <fuse/kernels/target.hpp>

#include "../kernels/random_case.hpp"

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace arguments {
using namespace fuse::kernels;
using namespace fuse::dsl;
using guarded_memory::guarded;

constexpr auto x = var<"x">, scale = var<"scale">;
constexpr auto product = x * scale, both = roots(x + scale, x - scale);
constexpr auto softmax_of_x = softmax(x);

TEST_CASE("What is wrong with arguments is said, and nothing is written") {
  std::vector<float> from(12, 2), factors(4, 3), y(12, -1), z(12, -1);
  matrix_view<float> const rows(from.data(), 3, 4), result(y.data(), 3, 4);
  auto const message = [&](auto const& to, auto const& of, auto const& by) {
    auto const done = fuse::kernel<product>(to, fuse::arg<"x">(of), fuse::arg<"scale">(by));
    CHECK(!done.ok());
    CHECK(y == std::vector<float>(12, -1));
    return done.message();
  };
  CHECK(message(result, matrix_view(from.data(), 3, 3, 4), factors) ==
        "kernel: x has 3 columns, expected 4 as result has");
  CHECK(message(result, matrix_view(from.data(), 2, 4), factors) == "kernel: x has 2 rows, expected 3 as result has");
  CHECK(message(result, rows, std::span(factors).first(3)) ==
        "kernel: scale has 3 elements, expected 4, one for each column of result");
  CHECK(message(result, matrix_view<float>(nullptr, 3, 4), factors) == "kernel: x has no data, expected 12 elements");
  CHECK(message(matrix_view(y.data(), 3, 4, 3), rows, factors) ==
        "kernel: result has a row stride of 3, expected at least 4, its columns");
  CHECK(message(matrix_view(y.data(), 3, 0), matrix_view(from.data(), 3, 0), std::span(factors).first(0)) ==
        "kernel: result has 0 columns, expected at least 1");
  CHECK(message(matrix_view(from.data() + 1, 2, 4), matrix_view(from.data(), 2, 4), factors) ==
        "kernel: result overlaps x, expected the same elements or no common one");
  CHECK(message(matrix_view(from.data(), 1, 4), matrix_view(y.data(), 1, 4), std::span(from).first(4)) ==
        "kernel: result overlaps scale, expected no common memory");

  auto const twice = fuse::kernel<both>(result, result, fuse::arg<"x">(rows), fuse::arg<"scale">(1));
  CHECK(twice.what() == fault::overlap);
  CHECK(y == std::vector<float>(12, -1));
  auto const done =
      fuse::kernel<both>(result, matrix_view(z.data(), 3, 4), fuse::arg<"x">(rows), fuse::arg<"scale">(1));
  CHECK(done.ok());
  CHECK((y == std::vector<float>(12, 3) && z == std::vector<float>(12, 1)));
}

TEST_CASE("No rows") {
  CHECK(fuse::kernel<product>(matrix_view<float>(nullptr, 0, 4), fuse::arg<"x">(matrix_view<float>(nullptr, 0, 4)),
                              fuse::arg<"scale">(2))
            .ok());
}

// Each kind of argument, and element types that differ, at the ends of pages.
template <class X, class S, class Y>
void check_types() {
  for (auto const name : target_names()) {
    REQUIRE(use_target(name));
    std::mt19937 random(5);
    for (std::size_t const columns : {1u, 5u, 8u, 33u, 500u}) {
      bool const at_end = columns % 2 == 1;
      INFO(name << ", " << columns << " columns");
      std::size_t const rows = 3, stride = columns + columns % 3;
      std::size_t const size = (rows - 1) * stride + columns;
      guarded<X> from(size, at_end);
      guarded<S> factors(columns, at_end);
      guarded<Y> y(size, at_end);
      for (std::size_t r = 0; r < rows; ++r)
        random_case::fill(std::span(from.data() + r * stride, columns), 0, 1, random);
      random_case::fill(factors.span(), 1, 0.5, random);
      from.make_readonly();
      factors.make_readonly();
      matrix_view<X> const in(from.data(), rows, columns, stride);
      matrix_view<Y> const out(y.data(), rows, columns, stride);
      REQUIRE(fuse::kernel<product>(out, fuse::arg<"x">(in), fuse::arg<"scale">(factors.span())).ok());
      CHECK(y.kept([&](std::size_t i) { return i % stride < columns; }));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < size; ++i) {
        if (i % stride >= columns) continue;
        float const expected = to_float(from[i]) * to_float(factors[i % stride]);
        wrong += to_float(y[i]) == to_float(from_float<Y>(expected)) ? 0u : 1u;
      }
      CHECK(wrong == 0);

      REQUIRE(fuse::kernel<softmax_of_x>(out, fuse::arg<"x">(in)).ok());
      CHECK(y.kept([&](std::size_t i) { return i % stride < columns; }));
      double worst = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        std::vector<double> expected(columns);
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i) sum += std::exp(random_case::value(from[r * stride + i]));
        for (std::size_t i = 0; i < columns; ++i)
          expected[i] = std::exp(random_case::value(from[r * stride + i])) / sum;
        worst = random_case::worse(worst, random_case::distance(y.data() + r * stride, expected, 5e-7));
      }
      CHECK(worst <= 1);
    }
  }
  REQUIRE(use_target(target_names().front()));
}
TEST_CASE("Elements of every type") {
  check_types<float, float, float>();
  check_types<bfloat16, float, bfloat16>();
  check_types<float16, float16, float16>();
  check_types<bfloat16, float16, float>();
}

}  // namespace arguments
