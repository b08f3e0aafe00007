// SPDX-License-Identifier: BSL-1.0
// What docs/partition.md speaks of.
#include <cstdio>

#include <fuse/fuse.hpp>
#include <fuse/partition.hpp>

void group(fuse::graph& graph) {
  // <code>
  (void)made;
}
// <code>
void outline(fuse::graph& graph) {
  // <code>
}
