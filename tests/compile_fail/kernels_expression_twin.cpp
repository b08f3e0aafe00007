// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto product = mean(x).attr<"axes">(-1) * pow(x, 2) + scalar<"shift">;
}  // namespace

bool use(fuse::kernels::matrix_view<float> rows) {
  return fuse::kernel<product>(rows, fuse::arg<"x">(rows), fuse::arg<"shift">(1)).ok();
}
