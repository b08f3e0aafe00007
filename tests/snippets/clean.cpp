// SPDX-License-Identifier: BSL-1.0
// What docs/clean.md speaks of.
#include <fuse/fuse.hpp>

void cleaned(fuse::graph& graph) {
  // <code>
}
