// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/own_kernel.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "catch.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace arguments {
using namespace fuse::kernels;
namespace k = fuse::kernels;

// Memory that a refused call must not touch: addresses that nothing lies at.
template <class T>
T* nowhere(std::size_t bytes) {
  return reinterpret_cast<T*>(bytes);
}

template <class T = float>
matrix_view<T> at(std::size_t address, std::size_t rows, std::size_t columns, std::size_t stride = 0) {
  return {nowhere<T>(address), rows, columns, stride == 0 ? columns : stride};
}

std::span<float const> weights_at(std::size_t address, std::size_t count) { return {nowhere<float>(address), count}; }

TEST_CASE("what is wrong is said in one sentence, before memory is touched") {
  auto const x = at<float const>(0x10000, 4, 8);
  auto const y = at(0x20000, 4, 8);
  CHECK(k::layer_norm(x, none, none, at(0x20000, 3, 8)).message() == "layer_norm: y has 3 rows, expected 4 as x has");
  CHECK(k::rms_norm(x, none, at(0x20000, 4, 9)).message() == "rms_norm: y has 9 columns, expected 8 as x has");
  CHECK(k::layer_norm(x, weights_at(0x30000, 7), weights_at(0x40000, 8), y).message() ==
        "layer_norm: scale has 7 elements, expected 8, one for each column of x");
  CHECK(k::layer_norm(x, none, weights_at(0x30000, 9), y).message() ==
        "layer_norm: bias has 9 elements, expected 8, one for each column of x");
  CHECK(k::rms_norm(at<float16 const>(0x10000, 4, 8), one_plus(std::span(nowhere<float16>(0x30000), 7)),
                    at<float16>(0x20000, 4, 8))
            .message() == "rms_norm: scale has 7 elements, expected 8, one for each column of x");
  CHECK(k::layer_norm(x, weights_at(0, 8), weights_at(0x40000, 8), y).message() ==
        "layer_norm: scale has no data, expected 8 elements");
  CHECK(k::layer_norm(at(0, 4, 8), none, none, y).message() == "layer_norm: x has no data, expected 32 elements");
  CHECK(k::layer_norm(at(0x10000, 4, 8, 5), none, none, y).message() ==
        "layer_norm: x has a row stride of 5, expected at least 8, its columns");
  CHECK(k::rms_norm(at(0x10000, 4, 0), none, at(0x20000, 4, 0)).message() ==
        "rms_norm: x has 0 columns, expected at least 1");
  CHECK(k::rms_norm(x, none, y, -1).message() == "rms_norm: epsilon is -1, expected a finite number of at least 0");
  CHECK_FALSE(k::rms_norm(x, none, y, NAN).ok());
  CHECK_FALSE(k::rms_norm(x, none, y, INFINITY).ok());
  CHECK(k::rms_norm(at(0x10000, std::size_t{1} << 40, 8, std::size_t{1} << 40), none,
                    at(0x20000, std::size_t{1} << 40, 8))
            .what() == fault::too_large);

  std::vector<float> three(3);
  CHECK(k::layer_norm(x, none, none, y, 1e-5f, {three, {}}).message() ==
        "layer_norm: mean has 3 elements, expected 4, one for each row of x");
  CHECK(k::layer_norm(x, none, none, y, 1e-5f, {{}, three}).message() ==
        "layer_norm: inverse_deviation has 3 elements, expected 4, one for each row of x");
  CHECK(k::rms_norm(x, none, y, 1e-5f, three).message() ==
        "rms_norm: inverse_rms has 3 elements, expected 4, one for each row of x");
}

TEST_CASE("what is written shares memory with nothing else, but for the same elements") {
  // Rows of 8 floats: 32 bytes.
  auto const weights = weights_at(0x40000, 8);
  auto const x = at<float const>(0x10000, 4, 8);
  CHECK(k::rms_norm(x, none, at(0x10004, 4, 8)).message() ==
        "rms_norm: y overlaps x, expected the same elements or no common one");
  CHECK_FALSE(k::rms_norm(x, none, at(0x10000 + 127, 4, 8)).ok());
  CHECK_FALSE(k::rms_norm(x, none, at(0x10000, 4, 8, 9)).ok());
  CHECK_FALSE(k::layer_norm(at<float16>(0x10000, 4, 8), weights, weights, at(0x10000, 4, 8)).ok());
  CHECK(k::layer_norm(x, weights_at(0x20000, 8), weights, at(0x20010, 4, 8)).message() ==
        "layer_norm: y overlaps scale, expected no common memory");
  CHECK_FALSE(k::layer_norm(x, none, weights_at(0x20060, 8), at(0x20000, 4, 8)).ok());
  // Statistics upon statistics, upon x, upon y.
  std::span<float> const four(nowhere<float>(0x30000), 4);
  CHECK_FALSE(k::layer_norm(x, none, none, at(0x20000, 4, 8), 1e-5f, {four, four}).ok());
  CHECK_FALSE(k::layer_norm(x, none, none, at(0x30000, 4, 8), 1e-5f, {four, {}}).ok());
  CHECK_FALSE(k::layer_norm(at(0x30000, 4, 8), none, none, at(0x20000, 4, 8), 1e-5f, {{}, four}).ok());
}

TEST_CASE("rows may lie between each other") {
  // Columns 0 to 7, 8 to 15 of rows of 16; from column 7 on they would meet, and column 9 would reach into the next
  // row.
  std::vector<float> matrix(64, 1);
  auto const columns_from = [&](std::size_t first) { return matrix_view(matrix.data() + first, 4, 8, 16); };
  auto const rows = [&](std::size_t count, std::size_t first) {
    return matrix_view(matrix.data() + first, count, 8, 16);
  };
  CHECK(k::rms_norm(columns_from(0), none, columns_from(8)).ok());
  CHECK(k::rms_norm(columns_from(8), none, columns_from(0)).ok());
  CHECK_FALSE(k::rms_norm(columns_from(0), none, columns_from(7)).ok());
  CHECK_FALSE(k::rms_norm(columns_from(7), none, columns_from(0)).ok());
  CHECK_FALSE(k::rms_norm(rows(3, 0), none, rows(3, 9)).ok());
  CHECK_FALSE(k::rms_norm(rows(3, 9), none, rows(3, 0)).ok());
  CHECK(k::rms_norm(rows(2, 0), none, rows(2, 32)).ok());
  CHECK_FALSE(k::rms_norm(rows(2, 0), none, matrix_view(matrix.data() + 8, 2, 8, 17)).ok());
}

TEST_CASE("the fast path finds the faults that the full check finds") {
  std::mt19937 random(1);
  auto const below = [&](std::size_t limit) { return random() % limit; };
  auto const any_matrix = [&](auto element) {
    std::size_t const columns = below(8) == 0 ? below(9) : 8, stride = below(4) == 0 ? below(16) : 8 + 8 * below(2);
    return matrix_view(nowhere<decltype(element)>(below(64) * 16), below(16) == 0 ? below(5) : 4, columns, stride);
  };
  auto const any_span = [&](std::size_t count) {
    return std::span(nowhere<float>(below(64) * 16), below(16) == 0 ? below(9) : count);
  };
  std::size_t well = 0, different = 0;
  for (int i = 0; i < 100000; ++i) {
    auto const x = any_matrix(0.0f), residual = any_matrix(0.0f), sum = any_matrix(0.0f);
    auto const y = any_matrix(float16{});
    std::span<float const> const scale = any_span(8);
    auto const mean = below(2) == 0 ? std::span<float>{} : any_span(4);
    auto const with_arguments = [&](auto const& in) {
      return in(detail::read_matrix("x", x), detail::matrix_like("residual", residual, "x", x),
                detail::matrix_like("sum", below(4) == 0 ? x : sum, "x", x), detail::matrix_like("y", y, "x", x),
                detail::weight_argument("scale", scale, x.columns), detail::statistic_argument("mean", mean, x.rows),
                detail::epsilon_argument{"epsilon", below(8) == 0 ? -1.0f : 1.0f});
    };
    with_arguments([&](auto const&... arguments) {
      auto const what = detail::find_fault("own", arguments...).what();
      if (what == fault::nothing) ++well;
      if (what != detail::fault_in_place("own", arguments...).what()) ++different;
    });
  }
  CHECK(different == 0);
  CHECK(well > 1000);
  CHECK(well < 50000);
}

TEST_CASE("the same address is not the same elements") {
  auto const check_both = [](auto x, auto y) {
    argument_check check("own");
    check.matrix("x", x);
    check.matrix("y", y);
    return check.finish_in_place().ok();
  };
  auto const x = at<float const>(0x10000, 4, 8);
  CHECK(check_both(x, at(0x10000, 4, 8)));
  CHECK_FALSE(check_both(x, at(0x10000, 4, 4, 8)));
  CHECK_FALSE(check_both(x, at(0x10000, 1, 8)));
  CHECK_FALSE(check_both(at(0x10000, 1, 8), x));
  CHECK_FALSE(check_both(at<std::int8_t const>(0x10000, 1, 8), at<std::int32_t>(0x10000, 1, 8)));
}

TEST_CASE("more arguments than are checked") {
  argument_check check("own");
  auto const add = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) check.vector("weights", weights_at(0x10000, 8), "column of x", 8);
    return check.finish().message();
  };
  CHECK(add(24).empty());
  CHECK(add(1) == "own: weights is argument 25, expected at most 24");
}

TEST_CASE("no rows, nothing to do") {
  CHECK(k::layer_norm(at(0, 0, 8), weights_at(0x10000, 8), weights_at(0x10000, 8), at(0, 0, 8)).ok());
  CHECK(k::rms_norm(at(0, 0, 8), none, at(0, 0, 8)).ok());
  CHECK(k::rms_norm(at(0, 0, 0), none, at(0, 0, 0)).ok());
}

TEST_CASE("a status that is ok says nothing") {
  status const fine;
  CHECK(fine.ok());
  CHECK(static_cast<bool>(fine));
  CHECK(fine.message().empty());
}

}  // namespace arguments
