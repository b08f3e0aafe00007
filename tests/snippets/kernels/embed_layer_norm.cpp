// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/kernels/embed_layer_norm.hpp>

using namespace fuse::kernels;

void page(std::size_t sequences, std::size_t length, std::size_t words, std::size_t positions, std::size_t columns) {
  std::vector<std::int32_t> const ids;
  std::vector<float> const word, position, gamma, beta;
  std::vector<float> y;
  // <code>
}
