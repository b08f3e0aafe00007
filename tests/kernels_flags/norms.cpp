// SPDX-License-Identifier: BSL-1.0

// Compiled for two machines; check.py looks at what a linker could exchange.
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

using fuse::kernels::matrix_view;

bool FUSE_TEST_NAME(matrix_view<float> x, std::span<float> scale);
bool FUSE_TEST_NAME(matrix_view<float> x, std::span<float> scale) {
  return fuse::kernels::layer_norm(x, scale, fuse::kernels::none, x).ok() &&
         fuse::kernels::rms_norm(x, scale, x).ok() && fuse::kernels::use_target(fuse::kernels::target_name());
}
