// SPDX-License-Identifier: BSL-1.0
#include "rows.hpp"

int main() {
  namespace kernels = fuse::kernels;
  float row[] = {1, 3};
  kernels::matrix_view const view(row, 1, 2);
  if (!kernels::layer_norm(view, kernels::none, kernels::none, view, 0).ok() || row[0] != -1 || row[1] != 1) return 1;

  // bfloat16, scaled by float.
  kernels::bfloat16 half[] = {{0x4000}, {0xc000}};
  float const scale[] = {2, 3};
  kernels::matrix_view const halves(half, 1, 2);
  if (!kernels::rms_norm(halves, scale, halves, 0).ok() || kernels::to_float(half[1]) != -3) return 2;

  // Every source sees the same kernels.
  for (auto const name : kernels::target_names()) {
    if (!kernels::use_target(name) || target_in_other_source() != name) return 3;
  }
  return kernels::use_target("no such target") ? 4 : 0;
}
