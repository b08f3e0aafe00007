// SPDX-License-Identifier: BSL-1.0
#include "eigen.hpp"

#include <Eigen/Core>

#include <cmath>

namespace eigen {

using input = Eigen::Map<Eigen::ArrayXf const>;
using output = Eigen::Map<Eigen::ArrayXf>;

std::string version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

void layer_norm(float const* x, float const* scale, float const* bias, float* y, std::size_t rows, std::size_t columns,
                float epsilon) {
  auto const size = static_cast<Eigen::Index>(columns);
  input const weights(scale, size), shifts(bias, size);
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    input const row(x, size);
    float const mean = row.mean();
    float const inverse = 1 / std::sqrt((row - mean).square().mean() + epsilon);
    output(y, size) = (row - mean) * inverse * weights + shifts;
  }
}

void rms_norm(float const* x, float const* scale, float* y, std::size_t rows, std::size_t columns, float epsilon) {
  auto const size = static_cast<Eigen::Index>(columns);
  input const weights(scale, size);
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    input const row(x, size);
    float const inverse = 1 / std::sqrt(row.square().mean() + epsilon);
    output(y, size) = row * inverse * weights;
  }
}

}  // namespace eigen
