// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/skip_rms_norm.hpp>

#include "skip_case.hpp"

namespace skip_rms_norm {
using namespace fuse::kernels;

struct norm {
  static constexpr bool has_bias = false, uses_mean = false;

  template <class X, class R, class XBias, class Scale, class Bias, class S, class Y, class How = on<>>
  static status call(X x, R residual, XBias const& x_bias, Scale const& scale, Bias const&, S sum, Y y, float epsilon,
                     std::span<float> inverse, How how = {}) {
    return fuse::kernels::skip_rms_norm(x, residual, x_bias, scale, sum, y, epsilon, inverse, how);
  }

  template <class T>
  static skip_case::reference_row reference(T const* row, std::size_t columns, double epsilon) {
    double squares = 0;
    for (std::size_t i = 0; i < columns; ++i) squares += std::pow(random_case::value(row[i]), 2);
    skip_case::reference_row result{{}, 1 / std::sqrt(squares / static_cast<double>(columns) + epsilon)};
    for (std::size_t i = 0; i < columns; ++i) {
      result.normalised.push_back(random_case::value(row[i]) * result.statistic);
    }
    return result;
  }
};

TEST_CASE("skip rms norm: the sum, and the rms norm of it") {
  skip_case::check_on_every_target<norm, float, float, float, float, float>();
  skip_case::check_on_every_target<norm, bfloat16, bfloat16, bfloat16, bfloat16, bfloat16>();
  skip_case::check_on_every_target<norm, float16, float16, float, float16, float16>();
}

TEST_CASE("skip rms norm: element types mix") {
  skip_case::check_on_every_target<norm, float16, bfloat16, float, float, float16>();
}

TEST_CASE("skip rms norm: special values") { skip_case::check_special<norm>(); }
TEST_CASE("skip rms norm: a row of a million columns") { skip_case::check_long_row<norm>(); }
TEST_CASE("skip rms norm: when y is read") { skip_case::check_hints<norm>(); }

TEST_CASE("skip rms norm: what is refused") {
  auto const at = [](std::size_t address, std::size_t rows = 4, std::size_t columns = 8) {
    return matrix_view(reinterpret_cast<float*>(address), rows, columns);
  };
  auto const x = at(0x10000), residual = at(0x20000), sum = at(0x30000), y = at(0x40000);
  std::vector<float> const seven(7);
  std::vector<float> three(3);
  CHECK(fuse::kernels::skip_rms_norm(x, residual, seven, none, sum, y).message() ==
        "skip_rms_norm: x_bias has 7 elements, expected 8, one for each column of x");
  CHECK(fuse::kernels::skip_rms_norm(x, residual, none, one_plus(seven), sum, y).message() ==
        "skip_rms_norm: scale has 7 elements, expected 8, one for each column of x");
  CHECK(fuse::kernels::skip_rms_norm(x, residual, none, none, sum, y, 1e-5f, three).message() ==
        "skip_rms_norm: inverse_rms has 3 elements, expected 4, one for each row of x");
  CHECK(fuse::kernels::skip_rms_norm(x, residual, none, none, at(0x10004), y).message() ==
        "skip_rms_norm: sum overlaps x, expected the same elements or no common one");
  CHECK(fuse::kernels::skip_rms_norm(at(0, 0), at(0, 0), none, none, at(0, 0), at(0, 0)).ok());
}

}  // namespace skip_rms_norm
