// SPDX-License-Identifier: BSL-1.0

// Compiled for two machines; check.py looks at what a linker could exchange.
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include <string>

using fuse::kernels::matrix_view;

std::string FUSE_TEST_NAME(matrix_view<float> x, std::span<float> scale);
std::string FUSE_TEST_NAME(matrix_view<float> x, std::span<float> scale) {
  std::string said;
  if (fuse::kernels::use_target(fuse::kernels::target_name())) said = fuse::kernels::target_names().front();
  return said + fuse::kernels::layer_norm(x, scale, fuse::kernels::none, x).message() +
         fuse::kernels::rms_norm(x, scale, x).message();
}
