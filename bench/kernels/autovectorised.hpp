// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace autovectorised {

// The plain loops, with everything the compiler can make of them: -O3 -ffast-math -march=native.
void layer_norm(float const* x, float const* scale, float const* bias, float* y, std::size_t rows, std::size_t columns,
                float epsilon);
void add(float const* x, float const* residual, float* sum, std::size_t size);
void rms_norm(float const* x, float const* scale, float* y, std::size_t rows, std::size_t columns, float epsilon);

}  // namespace autovectorised
