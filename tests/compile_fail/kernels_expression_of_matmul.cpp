// SPDX-License-Identifier: BSL-1.0
// expect: elementwise operators, and reductions over the last axis
// expect: quoted<'m', 'a', 't', 'm', 'u', 'l'>
// twin: kernels_expression_twin.cpp
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto product = matmul(x, x) + scalar<"shift">;
}  // namespace

bool use(fuse::kernels::matrix_view<float> rows) {
  return fuse::kernel<product>(rows, fuse::arg<"x">(rows), fuse::arg<"shift">(1)).ok();
}
