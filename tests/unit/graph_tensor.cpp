// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <fuse/graph/tensor.hpp>

namespace graph_tensor {

using fuse::element_type;
using fuse::make_tensor;

TEST_CASE("a tensor reads back what it was made of") {
  std::vector<float> const numbers{1.5f, -2.f, 3.25f, 0.f, 1e-30f, 7.f};
  auto const t = make_tensor<float>({2, 3}, numbers);
  CHECK(t.type == element_type::float32);
  REQUIRE(t.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(t.number(i) == static_cast<double>(numbers[i]));
  fuse::tensor_view const view = t;
  CHECK(view.shape[1] == 3);
}

TEST_CASE("numbers are rounded once to every element type") {
  std::vector<double> const numbers{0, 1, 5, 100};
  for (auto type : {element_type::float64, element_type::float32, element_type::float16, element_type::bfloat16,
                    element_type::int64, element_type::int32, element_type::int16, element_type::int8,
                    element_type::uint64, element_type::uint32, element_type::uint16, element_type::uint8}) {
    CAPTURE(name_of(type));
    auto const t = make_tensor(type, {4}, numbers);
    REQUIRE(t.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(t.number(i) == numbers[i]);
  }
  CHECK(make_tensor(element_type::boolean, {4}, numbers).number(3) == 1);
  CHECK_FALSE(static_cast<bool>(fuse::tensor_view(make_tensor(element_type::string, {4}, numbers))));
}

TEST_CASE("bfloat16 is rounded from the double, not from its float") {
  auto rounded = [](double number) { return make_tensor(element_type::bfloat16, {}, std::vector{number}).number(0); };
  double const step = std::ldexp(1.0, -7), half = step / 2;  // of bfloat16 above 1
  CHECK(rounded(1 + half) == 1);                             // a tie goes to even
  CHECK(rounded(1 + step + half) == 1 + 2 * step);
  CHECK(rounded(1 + half + std::ldexp(1.0, -40)) == 1 + step);  // a float loses the last bit and would call it a tie
  CHECK(rounded(-(1 + half + std::ldexp(1.0, -40))) == -(1 + step));
  CHECK(rounded(1 + step + half - std::ldexp(1.0, -40)) == 1 + step);  // and here, too
  CHECK(rounded(1e39) == std::numeric_limits<double>::infinity());
  CHECK(rounded(0.1) == 0.10009765625);
  CHECK(std::isnan(rounded(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("half is exact where it can be, and rounded to even where not") {
  auto rounded = [](double number) { return make_tensor(element_type::float16, {}, std::vector{number}).number(0); };
  CHECK(rounded(65504) == 65504);
  CHECK(rounded(65520) == std::numeric_limits<double>::infinity());
  CHECK(rounded(65519.99) == 65504);
  CHECK(rounded(std::ldexp(1.0, -24)) == std::ldexp(1.0, -24));
  CHECK(rounded(std::ldexp(1.0, -25)) == 0);
  CHECK(rounded(std::ldexp(1.5, -25)) == std::ldexp(1.0, -24));
  CHECK(rounded(1 + std::ldexp(1.0, -11)) == 1);
  CHECK(rounded(1 + 3 * std::ldexp(1.0, -11)) == 1 + std::ldexp(1.0, -9));
  CHECK(rounded(2047.5) == 2048);
  CHECK(std::signbit(rounded(-0.0)));
}

TEST_CASE("every half is its own rounding") {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    auto const number = fuse::detail::half_to_double(static_cast<std::uint16_t>(bits));
    if (fuse::detail::double_to_half(number) != bits || fuse::detail::double_to_half(-number) != (bits | 0x8000))
      FAIL(bits);
  }
  SUCCEED();
}

}  // namespace graph_tensor
