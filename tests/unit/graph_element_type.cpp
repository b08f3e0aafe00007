// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <set>
#include <string>

#include <fuse/graph/element_type.hpp>

namespace graph_element_type {

using fuse::element_type;

TEST_CASE("every element type has its own name, and a size where its elements have one") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(element_type::other); ++i) names.emplace(name_of(static_cast<element_type>(i)));
  CHECK(names.size() == 18);
  STATIC_REQUIRE(name_of(element_type::bfloat16) == "bfloat16");
  STATIC_REQUIRE(name_of(element_type::float64) == "float64");
  for (auto [type, size] : {std::pair{element_type::float32, 4u},
                            {element_type::float16, 2u},
                            {element_type::bfloat16, 2u},
                            {element_type::float64, 8u},
                            {element_type::boolean, 1u},
                            {element_type::int64, 8u},
                            {element_type::uint16, 2u},
                            {element_type::complex128, 16u},
                            {element_type::string, 0u},
                            {element_type::unknown, 0u},
                            {element_type::other, 0u}})
    CHECK(size_of(type) == size);
}

TEST_CASE("a type widens to those that hold all of its values") {
  STATIC_REQUIRE(fuse::widens(element_type::float16, element_type::float32));
  STATIC_REQUIRE(fuse::widens(element_type::bfloat16, element_type::float64));
  STATIC_REQUIRE(fuse::widens(element_type::float32, element_type::float32));
  STATIC_REQUIRE_FALSE(fuse::widens(element_type::float32, element_type::float16));
  STATIC_REQUIRE_FALSE(fuse::widens(element_type::float16, element_type::bfloat16));
  STATIC_REQUIRE_FALSE(fuse::widens(element_type::bfloat16, element_type::float16));
  STATIC_REQUIRE_FALSE(fuse::widens(element_type::int32, element_type::float64));
  STATIC_REQUIRE_FALSE(fuse::widens(element_type::unknown, element_type::unknown));
}

TEST_CASE("floats and integers are told apart") {
  for (int i = 0; i <= static_cast<int>(element_type::other); ++i)
    CHECK_FALSE((is_floating(static_cast<element_type>(i)) && is_integer(static_cast<element_type>(i))));
  STATIC_REQUIRE_FALSE(is_integer(element_type::boolean));
  STATIC_REQUIRE(is_integer(element_type::uint8));
  STATIC_REQUIRE(is_floating(element_type::bfloat16));
}

TEST_CASE("an unsigned type is an integer without a sign") {
  for (auto type : {element_type::uint8, element_type::uint16, element_type::uint32, element_type::uint64}) {
    CHECK(is_unsigned(type));
    CHECK(is_integer(type));
  }
  for (auto type : {element_type::int8, element_type::int64, element_type::boolean, element_type::float32})
    CHECK_FALSE(is_unsigned(type));
}

}  // namespace graph_element_type
