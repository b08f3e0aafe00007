// SPDX-License-Identifier: BSL-1.0

// Both sources compute the same, each on what it was compiled for.
#include <fuse/kernels/view.hpp>

#include <cstdio>
#include <span>
#include <string>

using fuse::kernels::matrix_view;

std::string norms_for_any(matrix_view<float> x, std::span<float> scale);
std::string norms_for_avx512(matrix_view<float> x, std::span<float> scale);

int main() {
  float scale[3] = {1, 2, 3}, one[6] = {1, 2, 3, 3, 2, 2}, other[6] = {1, 2, 3, 3, 2, 2};
  std::string const first = norms_for_any(matrix_view(one, 2, 3), scale);
  std::printf("%s\n", first.c_str());
  if (__builtin_cpu_supports("avx512f")) {
    std::string const second = norms_for_avx512(matrix_view(other, 2, 3), scale);
    std::printf("%s\n", second.c_str());
    for (int i = 0; i < 6; ++i) {
      if (one[i] - other[i] > 1e-5f || other[i] - one[i] > 1e-5f) return 1;
    }
  }
  return 0;
}
