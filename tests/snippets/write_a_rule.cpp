// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

inline constexpr auto my_rule = fuse::rule<"my-rule">(relu(relu(var<"x">))).replace(relu(var<"x">));
fuse::graph graph;

// <code>
