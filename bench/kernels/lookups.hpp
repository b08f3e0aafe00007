// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookups {

/// The arguments of a quantized embedding, of sequences of `length` tokens. All zero points are 128.
struct arguments {
  std::int32_t const* input_ids;
  std::int32_t const* segment_ids;
  std::uint8_t const *word, *position, *segment, *gamma, *beta;
  float word_scale, position_scale, segment_scale, gamma_scale, beta_scale;
  float* y;
  std::size_t tokens, length, columns;
  float epsilon;
};

/// The algorithm of the public implementation: for each token a loop that converts and adds up, one for the variance,
/// one that converts gamma and beta; arithmetic is float.
void scalar(arguments const& a);

/// The same, every conversion a look into a table of 256 floats, of which there is one for each tensor.
void tables_of_256(arguments const& a);

}  // namespace lookups
