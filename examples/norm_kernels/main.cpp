// SPDX-License-Identifier: BSL-1.0

// Two rows are normalised, and a call with a scale that does not fit is refused.
#include <fuse/kernels/layer_norm.hpp>

#include <iostream>
#include <vector>

int main() {
  using namespace fuse::kernels;
  std::vector<float> const x{1, 2, 3, 4, 10, 10, 20, 20};
  std::vector<float> const scale{1, 1, 2, 2}, bias{0, 0, 0, 1};
  std::vector<float> y(8);

  matrix_view const input(x.data(), 2, 4);
  matrix_view const output(y.data(), 2, 4);
  status const done = layer_norm(input, scale, bias, output, 1e-5f);
  if (!done.ok()) std::cout << done.message() << '\n';
  for (float const value : y) std::cout << value << ' ';
  std::cout << '\n';

  std::vector<float> const short_scale(3);
  std::cout << layer_norm(input, short_scale, bias, output).message() << '\n';
}
