// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <span>
#include <vector>

#include <fuse/core/span.hpp>

namespace core_span {

static_assert(fuse::span<int const>().empty());
static_assert(!std::is_constructible_v<fuse::span<float const>, std::vector<int>>);
static_assert(!std::is_constructible_v<fuse::span<int>, std::vector<int> const&>);

TEST_CASE("a span views what a vector, an array and a std::span hold, and converts back") {
  std::vector<int> numbers{1, 2, 3};
  int array[] = {4, 5};
  fuse::span<int const> const of_vector = numbers, of_array = array, of_std = std::span<int>(numbers);
  CHECK(of_vector.data() == numbers.data());
  CHECK(of_array.size() == 2);
  CHECK(of_std.back() == 3);
  std::span<int const> const again = of_vector;
  CHECK(again.data() == numbers.data());
  CHECK(again.size() == 3);
}

TEST_CASE("a part of a span is a span") {
  int const numbers[] = {1, 2, 3, 4};
  fuse::span const all(numbers);
  CHECK(all.subspan(1).front() == 2);
  CHECK(all.subspan(1).size() == 3);
  CHECK(all.subspan(1, 2).back() == 3);
  CHECK(all.first(2).size() == 2);
  CHECK(as_bytes(all).size() == sizeof numbers);
}

}  // namespace core_span
