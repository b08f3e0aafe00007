// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "graph.hpp"

#include <vector>

namespace mini {

/// What a node is computed with: its results from its operands, of which absent ones are empty tensors.
using function = std::vector<tensor> (*)(node const&, std::vector<tensor> const& operands);

/// The function of an operator, or null where this runtime has none.
[[nodiscard]] function function_of(node const& n);

}  // namespace mini
