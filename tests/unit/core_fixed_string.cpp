// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <type_traits>

#include <fuse/core/fixed_string.hpp>
#include <fuse/core/version.hpp>

namespace core_fixed_string {

namespace {
template <fuse::fixed_string Name>
struct named {};
}  // namespace

TEST_CASE("a literal is a template argument: equal texts are equal types") {
  STATIC_REQUIRE(std::is_same_v<named<"Div">, named<"Div">>);
  STATIC_REQUIRE_FALSE(std::is_same_v<named<"Div">, named<"Di">>);
  STATIC_REQUIRE_FALSE(std::is_same_v<named<"Div">, named<"DiV">>);
  STATIC_REQUIRE(fuse::fixed_string("Div").view() == "Div");
  STATIC_REQUIRE(fuse::fixed_string("").view().empty());
}

TEST_CASE("the version is one comparable number") {
  STATIC_REQUIRE(FUSE_REWRITE_VERSION / 10000 == FUSE_REWRITE_VERSION_MAJOR);
  STATIC_REQUIRE(FUSE_REWRITE_VERSION / 100 % 100 == FUSE_REWRITE_VERSION_MINOR);
  STATIC_REQUIRE(FUSE_REWRITE_VERSION % 100 == FUSE_REWRITE_VERSION_PATCH);
}

}  // namespace core_fixed_string
