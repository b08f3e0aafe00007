// SPDX-License-Identifier: BSL-1.0

// Highway for the compiler's own target, included before the kernels and after them.
#include <hwy/highway.h>

#include <fuse/kernels/rms_norm.hpp>

#include <hwy/highway.h>

#include "catch.hpp"

HWY_BEFORE_NAMESPACE();
namespace highway_around::HWY_NAMESPACE {

inline float sum_of_ones() {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::ScalableTag<float> const d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Set(d, 1.0f))) / static_cast<float>(hn::Lanes(d));
}

}  // namespace highway_around::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

TEST_CASE("Highway is used around the kernels") {
  CHECK(highway_around::HWY_STATIC_DISPATCH(sum_of_ones)() == 1);
  float row[] = {3, -3, 3};
  fuse::kernels::matrix_view const view(row, 1, 3);
  REQUIRE(fuse::kernels::rms_norm(view, fuse::kernels::none, view, 0).ok());
  CHECK(row[1] == -1);
}
