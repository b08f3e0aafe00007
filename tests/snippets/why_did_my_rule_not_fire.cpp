// SPDX-License-Identifier: BSL-1.0
#include <cstdio>

#include <fuse/fuse.hpp>

using namespace fuse::dsl;

inline constexpr auto my_rule = fuse::rule<"my-rule">(relu(relu(var<"x">))).replace(relu(var<"x">));
using my_graph = fuse::graph;

void page(my_graph const& graph, my_graph::node node) {
  // <code>
}
