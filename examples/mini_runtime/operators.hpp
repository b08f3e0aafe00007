// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "graph.hpp"

#include <string_view>

namespace mini {

/// The function of an operator, or null where this runtime has none.
[[nodiscard]] function function_of(std::string_view op);

}  // namespace mini
