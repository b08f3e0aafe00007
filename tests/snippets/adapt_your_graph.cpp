// SPDX-License-Identifier: BSL-1.0
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/testing/graph_laws.hpp>

// <code>

namespace acme {
// <code>
}

using my_graph = fuse::graph;
my_graph build();
void CHECK(bool);

void page() {
  // <code>
}
