// SPDX-License-Identifier: BSL-1.0
// expect: has no capture of that name
// expect: quoted<'b', 'i', 'a', 's'>
// twin: kernels_expression_twin.cpp
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto product = x + scalar<"shift">;
}  // namespace

bool use(fuse::kernels::matrix_view<float> rows) {
  return fuse::kernel<product>(rows, fuse::arg<"x">(rows), fuse::arg<"shift">(1), fuse::arg<"bias">(1)).ok();
}
