// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/fuse.hpp>

using namespace fuse::dsl;

inline constexpr auto x = var<"x">;
inline constexpr auto once = fuse::rule<"once">(relu(relu(x))).replace(relu(x));

std::size_t rewrite_in_other_source(fuse::graph& graph);
