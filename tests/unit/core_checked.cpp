// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <limits>

#include <fuse/core/checked.hpp>

namespace core_checked {

using fuse::detail::checked_add;
using fuse::detail::checked_multiply;

constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();

TEST_CASE("sums and products that fit are computed") {
  std::int64_t x = 0;
  CHECK((checked_add(most - 1, 1, x) && x == most));
  CHECK((checked_add(least + 1, -1, x) && x == least));
  CHECK((checked_multiply(most / 2, -2, x) && x == 1 - most));
  CHECK((checked_multiply(least, 1, x) && x == least));
  CHECK((checked_multiply(least, 0, x) && x == 0));
}

TEST_CASE("others are told, and leave what was") {
  std::int64_t x = 7;
  CHECK_FALSE(checked_add(most, 1, x));
  CHECK_FALSE(checked_add(least, -1, x));
  CHECK_FALSE(checked_multiply(most / 2 + 1, 2, x));
  CHECK_FALSE(checked_multiply(least, -1, x));
  CHECK_FALSE(checked_multiply(std::int64_t{1} << 32, std::int64_t{1} << 32, x));
  CHECK(x == 7);
}

}  // namespace core_checked
