// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "graph.hpp"

#include <span>
#include <string_view>

namespace mini {

struct named_function {
  std::string_view op;
  function run;
  int says_shape_from = -1;  // what its operands from here on hold decides which shape the result has; -1: none does
};

// The operators of this runtime, by what they do.
[[nodiscard]] std::span<named_function const> elementwise_operators();
[[nodiscard]] std::span<named_function const> shape_operators();  // and what else only moves elements
[[nodiscard]] std::span<named_function const> row_operators();
[[nodiscard]] std::span<named_function const> products();
[[nodiscard]] std::span<named_function const> quantised_operators();

}  // namespace mini
