// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "members.hpp"

namespace writing {

using namespace members;

namespace {

using list = std::vector<std::int64_t>;
using content = decltype(fuse::attribute::content);

// What is said of one attribute, and the struct afterwards.
template <class S>
std::string told(std::string name, content given, S* after = nullptr) {
  S made;
  auto why = structs::write(std::vector<fuse::attribute>{{std::move(name), std::move(given)}}, made);
  if (after != nullptr) *after = made;
  return why;
}
template <class S, class T>
T written(T S::*member, std::string name, content given) {
  S made;
  CHECK(told<S>(std::move(name), std::move(given), &made).empty());
  return made.*member;
}
constexpr auto whole = [](std::int64_t n) { return content(n); };

}  // namespace

TEST_CASE("numbers are written where the member can hold them") {
  CHECK(written(&scalars::small, "small", whole(-9)) == -9);
  CHECK(written(&scalars::small, "small", 4.0) == 4);
  CHECK(written(&scalars::large, "large", whole(-(std::int64_t{1} << 50))) == -(std::int64_t{1} << 50));
  CHECK(written(&scalars::huge, "huge", whole(7)) == 7);
  CHECK(written(&scalars::byte, "byte", whole(255)) == 255);
  CHECK(written(&scalars::flag, "flag", whole(0)) == false);
  CHECK(written(&scalars::single, "single", 1e-5) == 1e-5f);
  CHECK(written(&scalars::single, "single", std::numeric_limits<double>::infinity()) ==
        std::numeric_limits<float>::infinity());
  CHECK(written(&scalars::twice, "twice", whole(2)) == 2);
  CHECK(written(&scalars::chosen, "chosen", whole(0)) == mode::near);
}

TEST_CASE("a number that the member cannot hold is told in one sentence") {
  CHECK(told<scalars>("small", 0.5) == "the attribute 'small' (integer) cannot be 0.5");
  CHECK(told<scalars>("small", whole(std::int64_t{1} << 31)) == "the attribute 'small' (integer) cannot be 2147483648");
  CHECK(told<scalars>("small", 1e300) == "the attribute 'small' (integer) cannot be 1e+300");
  CHECK(!told<scalars>("small", std::numeric_limits<double>::quiet_NaN()).empty());
  CHECK(!told<scalars>("huge", whole(-1)).empty());
  CHECK(!told<scalars>("byte", whole(256)).empty());
  CHECK(!told<scalars>("byte", whole(-1)).empty());
  CHECK(told<scalars>("flag", whole(2)) == "the attribute 'flag' (flag) cannot be 2");
  CHECK(!told<scalars>("single", 1e300).empty());
  CHECK(!told<scalars>("single", 1e-300).empty());
  CHECK(!told<scalars>("chosen", whole(256)).empty());
  CHECK(!told<scalars>("large", 9223372036854775808.0).empty());
}

TEST_CASE("texts, lists and tensors are written") {
  CHECK(written(&others::text, "text", std::string("new")) == "new");
  CHECK(written(&others::ints, "ints", list{-1, 5}) == std::vector<int>{-1, 5});
  CHECK(written(&others::longs, "longs", list{}) == list{});
  CHECK(written(&others::pair, "pair", list{1, 2}) == std::array<short, 2>{1, 2});
  CHECK(written(&others::apart, "apart", list{3}) == std::list<unsigned>{3});
  CHECK(written(&others::flags, "flags", list{0, 1}) == std::vector<bool>{false, true});
  CHECK(written(&others::doubles, "doubles", list{4}) == std::vector<double>{4});
  auto const contents = fuse::make_tensor<float>({2}, std::vector{1.0f, 2.0f});
  CHECK(written(&others::contents, "contents", contents) == contents);
}

TEST_CASE("a content of another kind is told in one sentence") {
  CHECK(told<others>("text", whole(1)) == "the attribute 'text' (text) cannot be 1");
  CHECK(told<others>("ints", std::string("x")) == "the attribute 'ints' (integers) cannot be 'x'");
  CHECK(told<others>("ints", list{1, std::int64_t{1} << 40}) ==
        "the attribute 'ints' (integers) cannot be [1, 1099511627776]");
  CHECK(told<others>("pair", list{1}) == "the attribute 'pair' (integers) cannot be [1]");
  CHECK(told<others>("contents", 1.0) == "the attribute 'contents' (tensor) cannot be 1");
  CHECK(told<others>("unknown", whole(1)) == "the attribute 'unknown' (other) cannot be 1");
  CHECK(told<scalars>("small", fuse::tensor{}) == "the attribute 'small' (integer) cannot be a tensor");
}

TEST_CASE("an optional becomes full") {
  CHECK(written(&optionals::number, "number", whole(3)) == 3);
  CHECK(written(&optionals::axes, "axes", list{1}) == std::vector<int>{1});
  CHECK(told<optionals>("number", 0.5) == "the attribute 'number' (integer) cannot be 0.5");
}

TEST_CASE("a name that is no member is told, with those that there are") {
  CHECK(told<optionals>("axis", whole(1)) ==
        "there is no attribute 'axis'; there are integer number, integers axes, text text");
  CHECK(told<empty>("axis", whole(1)) == "there is no attribute 'axis'; there are none");
}

TEST_CASE("what is not given keeps its default, and a struct that cannot hold everything stays as it was") {
  scalars made;
  made.byte = 1;
  CHECK(structs::write(std::vector<fuse::attribute>{{"small", whole(2)}, {"single", 2.0}}, made).empty());
  CHECK(made.small == 2);
  CHECK(made.single == 2);
  CHECK(made.byte == 1);
  CHECK(made.twice == 0.25);
  CHECK(!structs::write(std::vector<fuse::attribute>{{"small", whole(3)}, {"flag", whole(3)}}, made).empty());
  CHECK(made.small == 2);
}

TEST_CASE("a new node gets the struct of its operator") {
  any made = scalars{};
  CHECK(structs::write(dialect, "optionals", std::vector<fuse::attribute>{{"number", whole(2)}}, made).empty());
  REQUIRE(std::holds_alternative<optionals>(made));
  CHECK(std::get<optionals>(made).number == 2);
  CHECK(std::get<optionals>(made).text == "there");
  CHECK(structs::write(dialect, "scalars", {}, made).empty());
  CHECK(std::get<scalars>(made).small == -3);
  CHECK(structs::write(dialect, "bare", std::vector<fuse::attribute>{{"number", whole(2)}}, made) ==
        "there is no attribute 'number'; there are none");
  CHECK(structs::write(dialect, "scalars", std::vector<fuse::attribute>{{"small", 0.5}}, made) ==
        "the attribute 'small' (integer) cannot be 0.5");
  CHECK(std::holds_alternative<scalars>(made));
  CHECK(structs::write(dialect, "bare", {}, made).empty());
  CHECK(std::holds_alternative<std::monostate>(made));
}

}  // namespace writing
