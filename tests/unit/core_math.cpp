// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cmath>
#include <limits>

#include <fuse/core/math.hpp>

namespace core_math {

namespace math = fuse::detail::math;

TEST_CASE("functions of numbers are those of the standard library") {
  for (double const x : {0.0, 0.3, 1.0, 2.5, 3.5, 17.25}) {
    CHECK(math::sqrt(x) == std::sqrt(x));
    CHECK(math::pow(x, 1.5) == std::pow(x, 1.5));
    CHECK(math::exp(-x) == std::exp(-x));
    CHECK(math::log(x + 1) == std::log(x + 1));
    CHECK(math::erf(x) == std::erf(x));
    CHECK(math::tanh(x) == std::tanh(x));
    CHECK(math::abs(-x) == x);
    CHECK(math::floor(-x) == std::floor(-x));
    CHECK(math::nearbyint(x) == std::nearbyint(x));
    CHECK(math::fmod(x, 2) == std::fmod(x, 2));
  }
}

TEST_CASE("whole, odd and finite numbers are told from others") {
  CHECK(math::is_whole(-3));
  CHECK_FALSE(math::is_whole(0.5));
  CHECK(math::is_odd(-3));
  CHECK_FALSE(math::is_odd(4));
  CHECK(math::is_finite(1e300));
  CHECK_FALSE(math::is_finite(std::numeric_limits<double>::infinity()));
  CHECK_FALSE(math::is_finite(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace core_math
