// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <string_view>

#include <fuse/graph/name_table.hpp>

namespace graph_name_table {

TEST_CASE("equal names have equal numbers, and a number its name") {
  fuse::name_table names;
  CHECK(names.number("") == 0);
  auto const a = names.number("a"), b = names.number("b");
  CHECK(a != b);
  CHECK(names.number("a") == a);
  CHECK(names.name(b) == "b");
}

TEST_CASE("views of names survive more names, and copies hold their own") {
  fuse::name_table names;
  std::string_view const first = names.name(names.number("first"));
  for (int i = 0; i < 10'000; ++i) static_cast<void>(names.number(std::to_string(i)));
  CHECK(first == "first");
  auto copy = names;
  CHECK(copy.number("first") == names.number("first"));
  CHECK(copy.name(1).data() != names.name(1).data());
}

}  // namespace graph_name_table
