// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/target.hpp>

#include "catch.hpp"

#include <algorithm>

namespace target {
using namespace fuse::kernels;

TEST_CASE("the best target is chosen unless another is asked for") {
  REQUIRE_FALSE(target_names().empty());
  REQUIRE(use_target(target_names().front()));
  for (auto const name : target_names()) {
    CHECK(use_target(name));
    CHECK(target_name() == name);
  }
  CHECK_FALSE(use_target("no such target"));
  CHECK(target_name() == target_names().back());
  CHECK(use_target(target_names().front()));
}

TEST_CASE("without flags the build reaches several targets") {
#if HWY_ARCH_X86 && !defined(__AVX2__)
  auto const names = target_names();
  CHECK(names.size() > 1);
  bool const avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  CHECK((std::find(names.begin(), names.end(), "AVX2") != names.end()) == avx2);
#endif
}

}  // namespace target
