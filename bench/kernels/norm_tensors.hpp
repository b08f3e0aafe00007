// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "onednn.hpp"
#include "tensors.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace bench {

using formula = decltype(onednn_norm::formula);
inline constexpr float epsilon = 1e-5f;

inline constexpr std::pair<std::size_t, std::size_t> norm_shapes[] = {{1, 768},    {128, 768},   {512, 1024},
                                                                      {128, 4096}, {4096, 4096}, {8, 16384}};

template <class T>
struct norm_tensors {
  std::size_t rows, columns, past;
  tensor<T> x{rows * columns, past}, y{rows * columns, past}, scale{columns, past}, bias{columns, past};
  tensor<float> float_scale{columns, past}, float_bias{columns, past};

  /// `mean` of the rows, how far scale and bias are from 1 and 0, and how many bytes past a 64-byte boundary all begin.
  norm_tensors(std::size_t rows_, std::size_t columns_, float mean, float weights, std::size_t past_ = 0)
      : rows(rows_), columns(columns_), past(past_) {
    fill(x, mean, 1);
    fill(scale, 1, weights);
    fill(bias, 0, weights);
    std::transform(scale.begin(), scale.end(), float_scale.begin(),
                   [](T element) { return fuse::kernels::to_float(element); });
    std::transform(bias.begin(), bias.end(), float_bias.begin(),
                   [](T element) { return fuse::kernels::to_float(element); });
  }
  std::size_t bytes() const { return x.size() * sizeof(T); }
};

/// Our norm of one of the tensors, or of another one of their size.
template <formula Formula, class T>
void norm(norm_tensors<T> const& t, T const* x, T* y, fuse::kernels::on<> const& how = {}) {
  fuse::kernels::matrix_view<T const> const input(x, t.rows, t.columns);
  fuse::kernels::matrix_view<T> const output(y, t.rows, t.columns);
  if constexpr (Formula == formula::layer_norm) {
    check(fuse::kernels::layer_norm(input, t.scale, t.bias, output, epsilon, {}, how));
  } else {
    check(fuse::kernels::rms_norm(input, t.scale, output, epsilon, {}, how));
  }
}

}  // namespace bench
