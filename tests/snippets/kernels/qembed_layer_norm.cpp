// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/kernels/qembed_layer_norm.hpp>

using namespace fuse::kernels;

void page(std::size_t sequences, std::size_t length, std::size_t words, std::size_t positions, std::size_t columns) {
  std::vector<std::int32_t> const ids, segment_ids;
  std::vector<std::uint8_t> const word, position, segment, gamma, beta;
  std::vector<float> const word_scale, position_scale, segment_scale, gamma_scale, beta_scale;
  std::vector<std::uint8_t> const word_zero_point, position_zero_point, segment_zero_point, gamma_zero_point,
      beta_zero_point;
  std::vector<float> y;
  // <code>
}
