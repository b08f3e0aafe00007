// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>

namespace eigen {

// The formulas as array expressions of Eigen, with what the compiler can make of them: -O3 -ffast-math -march=native.
std::string version();
void layer_norm(float const* x, float const* scale, float const* bias, float* y, std::size_t rows, std::size_t columns,
                float epsilon);
void rms_norm(float const* x, float const* scale, float* y, std::size_t rows, std::size_t columns, float epsilon);

}  // namespace eigen
