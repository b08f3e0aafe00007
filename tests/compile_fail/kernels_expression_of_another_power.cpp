// SPDX-License-Identifier: BSL-1.0
// expect: the exponent in a row kernel is a number of the formula: a whole one up to 16, or one half
// expect: quoted<'p', 'o', 'w'>
// twin: kernels_expression_twin.cpp
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto product = mean(x).attr<"axes">(-1) * pow(x, 2.5) + scalar<"shift">;
}  // namespace

bool use(fuse::kernels::matrix_view<float> rows) {
  return fuse::kernel<product>(rows, fuse::arg<"x">(rows), fuse::arg<"shift">(1)).ok();
}
