// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <fuse/graph/tensor_view.hpp>

namespace graph_tensor_view {

using fuse::element_type;
using fuse::tensor_view;

TEST_CASE("elements are read from bytes that may be unaligned") {
  std::vector<std::byte> bytes(1 + 3 * sizeof(double));
  double const numbers[]{0.1, -2.5, 1e300};
  std::memcpy(bytes.data() + 1, numbers, sizeof numbers);
  std::int64_t const shape[]{3};
  tensor_view const t{element_type::float64, shape, std::span(bytes).subspan(1)};
  REQUIRE(t.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(t.number(i) == numbers[i]);
}

TEST_CASE("integers keep all bits, and their sign") {
  std::int64_t const wide[]{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  std::int64_t const shape[]{2};
  tensor_view const t{element_type::int64, shape, std::as_bytes(std::span(wide))};
  CHECK(t.integer(0) == wide[0]);
  CHECK(t.integer(1) == wide[1]);
  std::int8_t const narrow[]{-1, 127};
  CHECK(tensor_view{element_type::int8, shape, std::as_bytes(std::span(narrow))}.integer(0) == -1);
  CHECK(tensor_view{element_type::uint8, shape, std::as_bytes(std::span(narrow))}.integer(0) == 255);
  CHECK(tensor_view{element_type::int8, shape, std::as_bytes(std::span(narrow))}.number(1) == 127);
}

TEST_CASE("there is a tensor, or none; an empty one is one") {
  std::int64_t const shape[]{0};
  CHECK(static_cast<bool>(tensor_view{element_type::float32, shape, {}}));
  CHECK(tensor_view{element_type::float32, shape, {}}.size() == 0);
  CHECK_FALSE(static_cast<bool>(tensor_view{}));
}

TEST_CASE("the narrow floats are decoded exactly") {
  auto half = [](std::uint16_t bits) { return fuse::detail::half_to_double(bits); };
  CHECK(half(0x3c00) == 1);
  CHECK(half(0xc000) == -2);
  CHECK(half(0x7bff) == 65504);
  CHECK(half(0x0001) == std::ldexp(1.0, -24));
  CHECK(half(0x03ff) == std::ldexp(1023.0, -24));
  CHECK(half(0x0400) == std::ldexp(1.0, -14));
  CHECK(half(0xfc00) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(half(0x7e00)));
  std::uint16_t const bits[]{0x3f80, 0xc040};
  std::int64_t const shape[]{2};
  tensor_view const t{element_type::bfloat16, shape, std::as_bytes(std::span(bits))};
  CHECK(t.number(0) == 1);
  CHECK(t.number(1) == -3);
}

TEST_CASE("a type without a number reads as none") {
  std::uint64_t const bytes[]{0, 0};
  std::int64_t const shape[]{1};
  CHECK(std::isnan(tensor_view{element_type::complex128, shape, std::as_bytes(std::span(bytes))}.number(0)));
}

}  // namespace graph_tensor_view
