// SPDX-License-Identifier: BSL-1.0
// expect: <fuse/kernels/separate.hpp> compiles kernels whose matrices have one element type
// twin: kernel_not_compiled_twin.cpp
#define FUSE_REWRITE_KERNELS_SEPARATE
#include <fuse/kernels/target.hpp>

#include <fuse/kernels/rms_norm.hpp>

using namespace fuse::kernels;

bool use(matrix_view<bfloat16> x, matrix_view<float> y) { return rms_norm(x, none, y).ok(); }
