// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace bench {

/// What a oneDNN norm works on, in terms that do not depend on its version.
struct onednn_norm {
  enum class formula { layer_norm, rms_norm } formula;
  enum class element { float32, bfloat16, float16 } element;
  std::size_t rows, columns;
  void const* x;
  float const* scale;
  float const* bias;
  void* y;
  float epsilon;
};

enum class activation_formula { softmax, gelu, gelu_by_tanh, swiglu };

/// The same for an activation of floats. `up` is what a SwiGLU multiplies by.
struct onednn_activation {
  activation_formula formula;
  std::size_t rows, columns;
  float const* x;
  float const* up;
  float* y;
};

/// One version of oneDNN. Several cannot be linked into one program, so each is a module that the benchmark loads.
struct onednn_version {
  char const* name;
  /// Null where this version, or this machine, does not do it.
  void* (*make_norm)(onednn_norm const&);
  void* (*make_activation)(onednn_activation const&);
  void (*run)(void*);
  void (*destroy)(void*);
};

}  // namespace bench

extern "C" bench::onednn_version const* bench_onednn_version();
