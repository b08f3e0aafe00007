// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <string_view>
#include <type_traits>

#include <fuse/core/static_text.hpp>

using fuse::static_text;

static_assert(std::is_trivial_v<static_text>);  // or an array of them costs compilers its length
static_assert(static_text{}.empty());
static_assert(static_text(std::string_view("ab")) == static_text(std::string_view("ab")));
static_assert(static_text(std::string_view("ab")) != std::string_view("ac"));

TEST_CASE("a static text reads as its characters") {
  static_text const text = std::string_view("epsilon");
  CHECK(std::string(text) == "epsilon");
  CHECK(text.size() == 7);
  CHECK_FALSE(text == std::string_view("eps"));
}
