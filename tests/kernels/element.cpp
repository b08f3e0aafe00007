// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/element.hpp>

#include "catch.hpp"

#include <cmath>
#include <limits>

namespace element {
using namespace fuse::kernels;

template <class T>
bool is_nan(T value) {
  return std::isnan(to_float(value));
}

TEST_CASE("every half value survives the way through float") {
  bool same = true;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    float16 const half{static_cast<std::uint16_t>(bits)};
    bfloat16 const bfloat{static_cast<std::uint16_t>(bits)};
    same = same && (is_nan(half) ? is_nan(from_float<float16>(to_float(half)))
                                 : from_float<float16>(to_float(half)).bits == bits);
    same = same && (is_nan(bfloat) ? is_nan(from_float<bfloat16>(to_float(bfloat)))
                                   : from_float<bfloat16>(to_float(bfloat)).bits == bits);
  }
  CHECK(same);
}

TEST_CASE("known values") {
  CHECK(to_float(float16{0x3c00}) == 1.0f);
  CHECK(to_float(float16{0xc000}) == -2.0f);
  CHECK(to_float(float16{0x7bff}) == 65504.0f);
  CHECK(to_float(float16{0x0001}) == 0x1p-24f);
  CHECK(to_float(float16{0x7c00}) == std::numeric_limits<float>::infinity());
  CHECK(is_nan(float16{0x7e00}));
  CHECK(to_float(bfloat16{0x3f80}) == 1.0f);
  CHECK(to_float(bfloat16{0xc2f7}) == -123.5f);
}

// Between neighbours the nearest, and the even one half way.
template <class T>
void round_between(unsigned bits) {
  T const below{static_cast<std::uint16_t>(bits)}, above{static_cast<std::uint16_t>(bits + 1)};
  float const middle = to_float(below) + (to_float(above) - to_float(below)) / 2;
  CHECK(from_float<T>(middle).bits == (bits % 2 == 0 ? below : above).bits);
  CHECK(from_float<T>(std::nextafter(middle, -INFINITY)).bits == below.bits);
  CHECK(from_float<T>(std::nextafter(middle, INFINITY)).bits == above.bits);
}

TEST_CASE("conversions round to the nearest, ties to even") {
  for (unsigned const bits : {0x0000u, 0x0001u, 0x0002u, 0x03ffu, 0x0400u, 0x3c00u, 0x3c01u, 0x7bfeu}) {
    CAPTURE(bits);
    round_between<float16>(bits);
  }
  for (unsigned const bits : {0x0080u, 0x3f80u, 0x3f81u, 0x42f6u, 0x7f7eu}) {
    CAPTURE(bits);
    round_between<bfloat16>(bits);
  }
  CHECK(from_float<float16>(65519.0f).bits == 0x7bff);
  CHECK(from_float<float16>(65520.0f).bits == 0x7c00);
  CHECK(from_float<float16>(-1e10f).bits == 0xfc00);
  CHECK(from_float<bfloat16>(std::numeric_limits<float>::max()).bits == 0x7f80);
}

}  // namespace element
