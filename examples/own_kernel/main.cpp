// SPDX-License-Identifier: BSL-1.0

// A kernel of our own, run on every instruction set of this machine, beside one of the library's.
#include "softmax.hpp"

#include <fuse/kernels/rms_norm.hpp>
#include <fuse/kernels/target.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  using namespace fuse::kernels;
  std::vector<float> x(2 * 19), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 19) / 4 + (i < 19 ? 0.0f : 1000.0f);
  matrix_view const input(x.data(), 2, 19), output(y.data(), 2, 19);

  int wrong = 0;
  for (auto const name : target_names()) {
    use_target(name);
    y.assign(y.size(), -1);
    if (!own::softmax(input, output).ok()) ++wrong;
    float sum = 0;
    for (std::size_t i = 0; i < 19; ++i) {
      sum += y[i];
      if (!(std::abs(y[i] - y[i + 19]) <= 1e-6f)) ++wrong;  // shifted by 1000, the same
    }
    if (!(std::abs(sum - 1) <= 1e-6f)) ++wrong;
  }
  std::printf("%d wrong; the last of a row %.6f, the first %.6f\n", wrong, static_cast<double>(y[18]),
              static_cast<double>(y[0]));

  use_target(target_names().front());
  if (rms_norm(output, none, output, 0).ok()) std::printf("normalised %.4f\n", static_cast<double>(y[18]));
  std::printf("%s\n", own::softmax(input, matrix_view(y.data(), 2, 18)).message().c_str());
  std::printf("%s\n", own::softmax(input, matrix_view(x.data() + 1, 2, 19)).message().c_str());
}
