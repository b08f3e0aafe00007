// SPDX-License-Identifier: BSL-1.0
// expect: a kernel needs an argument for this capture
// expect: quoted<'s', 'h', 'i', 'f', 't'>
// twin: kernels_expression_twin.cpp
#include <fuse/kernelgen.hpp>

#include <fuse/dsl/dsl.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto product = x + scalar<"shift">;
}  // namespace

bool use(fuse::kernels::matrix_view<float> rows) { return fuse::kernel<product>(rows, fuse::arg<"x">(rows)).ok(); }
