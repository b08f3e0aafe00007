// SPDX-License-Identifier: BSL-1.0

// Compiled for two machines; check.py looks at what a linker could exchange.
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include <string>

using namespace fuse::kernels;

std::string FUSE_TEST_NAME(matrix_view<float> x, std::span<float> scale);
std::string FUSE_TEST_NAME(matrix_view<float> x, std::span<float> scale) {
  std::string said;
  if (use_target(target_name())) said = target_names().front();
  matrix_view<float16> const halves;
  return said + layer_norm(x, scale, none, x).message() + rms_norm(x, scale, x).message() +
         layer_norm(halves, none, none, halves).message();
}
