// SPDX-License-Identifier: BSL-1.0
#include "autovectorised.hpp"

#include <cmath>

namespace autovectorised {

void layer_norm(float const* x, float const* scale, float const* bias, float* y, std::size_t rows, std::size_t columns,
                float epsilon) {
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float sum = 0, squares = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += x[i];
    float const mean = sum / static_cast<float>(columns);
    for (std::size_t i = 0; i < columns; ++i) squares += (x[i] - mean) * (x[i] - mean);
    float const inverse = 1 / std::sqrt(squares / static_cast<float>(columns) + epsilon);
    for (std::size_t i = 0; i < columns; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + bias[i];
  }
}

void rms_norm(float const* x, float const* scale, float* y, std::size_t rows, std::size_t columns, float epsilon) {
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float squares = 0;
    for (std::size_t i = 0; i < columns; ++i) squares += x[i] * x[i];
    float const inverse = 1 / std::sqrt(squares / static_cast<float>(columns) + epsilon);
    for (std::size_t i = 0; i < columns; ++i) y[i] = x[i] * inverse * scale[i];
  }
}

void add(float const* x, float const* residual, float* sum, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) sum[i] = x[i] + residual[i];
}

}  // namespace autovectorised
