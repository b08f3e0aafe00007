// SPDX-License-Identifier: BSL-1.0
#include "rows.hpp"

std::string_view target_in_other_source() { return fuse::kernels::target_name(); }
