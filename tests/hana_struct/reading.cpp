// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "members.hpp"

namespace reading {

using namespace members;

namespace {

template <class T, class S>
T get(S const& from, std::string_view name) {
  auto const view = structs::read(from, name);
  REQUIRE(std::holds_alternative<T>(view));
  return std::get<T>(view);
}
template <class T, class S>
std::vector<T> all(S const& from, std::string_view name) {
  auto const view = get<fuse::span<T const>>(from, name);
  return {view.begin(), view.end()};
}
bool nothing(fuse::attribute_view const& view) { return std::holds_alternative<std::monostate>(view); }
bool opaque(fuse::attribute_view const& view) { return std::holds_alternative<fuse::opaque_attribute>(view); }

}  // namespace

TEST_CASE("numbers, flags and enumerations are read") {
  scalars s;
  CHECK(get<std::int64_t>(s, "small") == -3);
  CHECK(get<std::int64_t>(s, "large") == std::int64_t{1} << 40);
  CHECK(get<std::int64_t>(s, "huge") == 5);
  CHECK(get<std::int64_t>(s, "byte") == 200);
  CHECK(get<std::int64_t>(s, "flag") == 1);
  CHECK(get<double>(s, "single") == 0.5);
  CHECK(get<double>(s, "twice") == 0.25);
  CHECK(get<std::int64_t>(s, "chosen") == 7);
  s.small = 12;
  CHECK(get<std::int64_t>(s, "small") == 12);
  s.huge = std::numeric_limits<std::uint64_t>::max();
  CHECK(opaque(structs::read(s, "huge")));
}

TEST_CASE("texts, lists of any integers and floats, and tensors are read") {
  others const s;
  CHECK(get<std::string_view>(s, "text") == "same");
  CHECK(all<std::int64_t>(s, "ints") == std::vector<std::int64_t>{1, -2});
  CHECK(all<std::int64_t>(s, "longs") == std::vector<std::int64_t>{3, 4, 5});
  CHECK(get<fuse::span<std::int64_t const>>(s, "longs").data() == s.longs.data());
  CHECK(all<std::int64_t>(s, "pair") == std::vector<std::int64_t>{6, 7});
  CHECK(all<std::int64_t>(s, "apart") == std::vector<std::int64_t>{8});
  CHECK(all<std::int64_t>(s, "flags") == std::vector<std::int64_t>{1, 0});
  CHECK(all<float>(s, "floats") == std::vector{1.5f});
  CHECK(all<float>(s, "doubles") == std::vector{2.5f, 3.5f});
  CHECK(get<fuse::tensor_view>(s, "contents").number(0) == 9);
  CHECK(opaque(structs::read(s, "unknown")));
}

TEST_CASE("an empty optional is no attribute, a full one is its content") {
  optionals s;
  CHECK(nothing(structs::read(s, "number")));
  CHECK(nothing(structs::read(s, "axes")));
  CHECK(get<std::string_view>(s, "text") == "there");
  s.number = 4;
  s.axes = {5};
  CHECK(get<std::int64_t>(s, "number") == 4);
  CHECK(all<std::int64_t>(s, "axes") == std::vector<std::int64_t>{5});
}

TEST_CASE("a name that is no member is no attribute") {
  CHECK(nothing(structs::read(scalars{}, "Small")));
  CHECK(nothing(structs::read(empty{}, "small")));
}

TEST_CASE("members that Boost defined are read") {
  defined s{};
  s.axis = 2;
  CHECK(get<std::int64_t>(s, "axis") == 2);
  CHECK(get<double>(s, "epsilon") == 0);
}

TEST_CASE("a variant is read as what it holds") {
  any held = scalars{};
  CHECK(get<std::int64_t>(held, "small") == -3);
  CHECK(nothing(structs::read(held, "text")));
  held = optionals{};
  CHECK(get<std::string_view>(held, "text") == "there");
  held = {};
  CHECK(nothing(structs::read(held, "small")));
}

TEST_CASE("where a node holds no struct its attributes are the defaults of its operator's") {
  auto const read = [](std::string_view op, any const& held, std::string_view name) {
    return structs::read(dialect, op, held, name);
  };
  CHECK(std::get<std::int64_t>(read("scalars", {}, "small")) == -3);
  scalars own;
  own.small = 1;
  CHECK(std::get<std::int64_t>(read("scalars", own, "small")) == 1);
  CHECK(nothing(read("scalars", {}, "text")));
  CHECK(nothing(read("optionals", {}, "number")));
  CHECK(nothing(read("bare", {}, "small")));
  CHECK(nothing(read("never heard of", {}, "small")));
}

TEST_CASE("attributes are the same when every member is, and can be compared") {
  CHECK(structs::same(scalars{}, scalars{}));
  scalars other;
  other.chosen = mode::near;
  CHECK(!structs::same(scalars{}, other));
  CHECK(structs::same(empty{}, empty{}));
  CHECK(!structs::same(others{}, others{}));  // a member has no ==
  CHECK(structs::same(any{}, any{}));
  CHECK(structs::same(any{scalars{}}, any{scalars{}}));
  CHECK(!structs::same(any{scalars{}}, any{other}));
  CHECK(!structs::same(any{scalars{}}, any{empty{}}));
  CHECK(!structs::same(any{scalars{}}, any{}));
}

}  // namespace reading
