// SPDX-License-Identifier: BSL-1.0
// What docs/kernels/group.md speaks of.
#include <cstdio>

#include <fuse/fuse.hpp>
#include <fuse/partition.hpp>
#include <fuse/run_group.hpp>

void allocate(fuse::element_type, std::vector<std::int64_t> const&);
void run(fuse::graph const& graph, fuse::partition_options<fuse::graph> const& options,
         std::vector<fuse::tensor_view> const& inputs, std::vector<fuse::span<std::byte>> const& outputs) {
  // <code>
}
