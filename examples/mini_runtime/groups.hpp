// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "run.hpp"

namespace mini {

/// As `program_of`, but what fuse can compute in one go is one step. The same errors.
[[nodiscard]] program program_of_groups(graph const& g);

}  // namespace mini
