// SPDX-License-Identifier: BSL-1.0
#include "lookups.hpp"

#include <array>
#include <cmath>

namespace lookups {
namespace {

struct arithmetic {
  float scale;

  explicit arithmetic(float scale_) : scale(scale_) {}
  float operator()(std::uint8_t value) const { return static_cast<float>(value - 128) * scale; }
};

struct table {
  std::array<float, 256> values;

  explicit table(float scale) {
    for (int i = 0; i < 256; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i - 128) * scale;
  }
  float operator()(std::uint8_t value) const { return values[value]; }
};

template <class Convert>
void embed(arguments const& a) {
  Convert const word(a.word_scale), position(a.position_scale), segment(a.segment_scale), gamma(a.gamma_scale),
      beta(a.beta_scale);
  auto const count = static_cast<float>(a.columns);
  for (std::size_t t = 0; t < a.tokens; ++t) {
    std::uint8_t const* const words = a.word + static_cast<std::size_t>(a.input_ids[t]) * a.columns;
    std::uint8_t const* const positions = a.position + t % a.length * a.columns;
    std::uint8_t const* const segments = a.segment + static_cast<std::size_t>(a.segment_ids[t]) * a.columns;
    float* const y = a.y + t * a.columns;
    float sum = 0;
    for (std::size_t i = 0; i < a.columns; ++i) {
      float const value = word(words[i]) + position(positions[i]) + segment(segments[i]);
      y[i] = value;
      sum += value;
    }
    float const mean = sum / count;
    sum = 0;
    for (std::size_t i = 0; i < a.columns; ++i) {
      float const difference = y[i] - mean;
      y[i] = difference;
      sum += difference * difference;
    }
    float const deviation = std::sqrt(sum / count + a.epsilon);
    for (std::size_t i = 0; i < a.columns; ++i) y[i] = y[i] / deviation * gamma(a.gamma[i]) + beta(a.beta[i]);
  }
}

}  // namespace

void scalar(arguments const& a) { embed<arithmetic>(a); }
void tables_of_256(arguments const& a) { embed<table>(a); }

}  // namespace lookups
