// SPDX-License-Identifier: BSL-1.0

// A source that is compiled for each target by itself, with a function of its own beside the kernels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/own_foreach.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <fuse/kernels/kernels-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace own_foreach::HWY_NAMESPACE {

inline float sum_of_ones() {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::ScalableTag<float> const d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Set(d, 1.0f)));
}

}  // namespace own_foreach::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fuse/kernels/rms_norm.hpp>

#include "catch.hpp"

TEST_CASE("a source with a foreach_target of its own") {
  CHECK(own_foreach::HWY_STATIC_DISPATCH(sum_of_ones)() >= 1);
#if HWY_TARGETS & HWY_AVX2
  if (fuse::kernels::use_target("AVX2")) CHECK(own_foreach::N_AVX2::sum_of_ones() == 8);
#endif
  for (auto const name : fuse::kernels::target_names()) {
    REQUIRE(fuse::kernels::use_target(name));
    float row[] = {3, -3, 3};
    fuse::kernels::matrix_view const view(row, 1, 3);
    REQUIRE(fuse::kernels::rms_norm(view, fuse::kernels::none, view, 0).ok());
    CHECK(row[1] == -1);
  }
  CHECK(fuse::kernels::use_target(fuse::kernels::target_names().front()));
}
#endif
