// SPDX-License-Identifier: BSL-1.0
#include "rows.hpp"

std::string_view target_elsewhere() { return fuse::kernels::target_name(); }
