// SPDX-License-Identifier: BSL-1.0
// expect: this combination of element types and weights is none of those that <fuse/kernels/separate.hpp> compiles
// twin: kernel_not_compiled_twin.cpp
#define FUSE_REWRITE_KERNELS_SEPARATE
#include <fuse/kernels/target.hpp>

#include <fuse/kernels/rms_norm.hpp>

using namespace fuse::kernels;

bool use(matrix_view<bfloat16> x, matrix_view<float> y) { return rms_norm(x, none, y).ok(); }
