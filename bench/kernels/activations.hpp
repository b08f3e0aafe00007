// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/kernelgen.hpp>
#include <fuse/rules/activation_formulas.hpp>

#include "onednn.hpp"

namespace bench {

namespace formulas = fuse::rules::formula;
inline constexpr auto swiglu_formula = formulas::silu * fuse::dsl::var<"up">;

/// A kernel made of a formula of the rules. `up` is read by a SwiGLU only.
struct activation {
  using rows = fuse::kernels::matrix_view<float const>;
  using result = fuse::kernels::matrix_view<float>;

  char const* name;
  activation_formula formula;
  fuse::kernels::status (*kernel)(rows x, rows up, result y);
};

template <auto const& Formula>
fuse::kernels::status activated(activation::rows x, activation::rows, activation::result y) {
  return fuse::kernel<Formula>(y, fuse::arg<"x">(x));
}
inline fuse::kernels::status gated(activation::rows x, activation::rows up, activation::result y) {
  return fuse::kernel<swiglu_formula>(y, fuse::arg<"x">(x), fuse::arg<"up">(up));
}

inline constexpr activation activations[] = {
    {"softmax", activation_formula::softmax, activated<formulas::softmax>},
    {"gelu", activation_formula::gelu, activated<formulas::gelu>},
    {"gelu_by_tanh", activation_formula::gelu_by_tanh, activated<formulas::gelu_by_tanh>},
    {"swiglu", activation_formula::swiglu, gated},
};

}  // namespace bench
