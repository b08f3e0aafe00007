// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <string_view>
#include <type_traits>

#include <fuse/core/static_text.hpp>

namespace core_static_text {

using fuse::static_text;

// Or an array of them costs compilers its length.
static_assert(std::is_trivial_v<static_text> && std::is_aggregate_v<static_text>);

TEST_CASE("a static text reads as its characters") {
  constexpr auto text = static_text::of("epsilon");
  CHECK(std::string(text) == "epsilon");
  CHECK(text.size() == 7);
  CHECK(text[6] == 'n');
  CHECK(text.data() == text.first);
  CHECK_FALSE(text.empty());
  STATIC_REQUIRE(static_text{}.empty());
}

TEST_CASE("static texts are equal when their characters are") {
  static constexpr char other[] = {'a', 'b', 'c'};
  constexpr static_text two{other, 2};
  CHECK(two == static_text::of("ab"));
  CHECK(two == "ab");
  CHECK_FALSE(two == static_text::of("ac"));
  CHECK_FALSE(two == "abc");
  CHECK_FALSE(two == static_text{});
  STATIC_REQUIRE(static_text{} == "");
}

}  // namespace core_static_text
