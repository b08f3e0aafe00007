// SPDX-License-Identifier: BSL-1.0
#define FUSE_REWRITE_KERNELS_SEPARATE
#include <fuse/kernels/target.hpp>

#include <fuse/kernels/rms_norm.hpp>

using namespace fuse::kernels;

bool use(matrix_view<bfloat16> x, matrix_view<bfloat16> y) { return rms_norm(x, none, y).ok(); }
