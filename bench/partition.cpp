// SPDX-License-Identifier: BSL-1.0
// Time per node of fusion groups: what stands before them, the image and its shapes; the groups; and all of it with
// what they read and give out, as a user asks for it. In turns in one run; medians.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fuse/partition.hpp>

#include "graphs.hpp"
#include "timing.hpp"

namespace {

void measure(char const* name, fuse::graph const& graph) {
  std::vector<double> image, shapes, groups, all;
  std::size_t operators = 0, nodes = 0;
  for (int round = 0; round < 7; ++round) {
    auto const& names = fuse::dialect_of<fuse::graph>;
    auto start = bench::now();
    auto const lap = [&start](std::vector<double>& into) {
      auto const end = bench::now();
      into.push_back(end - start);
      start = end;
    };
    {
      fuse::graph_binding<fuse::graph const> const bound(graph, fuse::names_in(names), names.newest);
      lap(image);
      fuse::detail::facts known(bound.image, names);
      known.run();
      lap(shapes);
      fuse::detail::grouping const grouped(bound.image, known, names, {});
      lap(groups);
    }
    start = bench::now();
    auto const made = fuse::partition(graph);
    lap(all);
    operators = made.operators;
    nodes = made.nodes;
  }
  auto const count = static_cast<double>(graph.node_count());
  std::printf("%-7s %9.0f nodes: image %4.0f, shapes %4.0f, groups %4.0f, all %4.0f ns per node; %zu of %zu left\n",
              name, count, bench::median(image) / count, bench::median(shapes) / count, bench::median(groups) / count,
              bench::median(all) / count, operators, nodes);
}

}  // namespace

/// `bench_partition [nodes]`; 10,000 to 1,000,000 unless told.
int main(int argc, char** argv) {
  std::vector<std::size_t> sizes{10'000, 100'000, 1'000'000};
  if (argc > 1) sizes = {std::strtoul(argv[1], nullptr, 10)};
  for (auto const nodes : sizes) {
    measure("blocks", bench::blocks(nodes));
    measure("chain", bench::chain(nodes));
    measure("mixed", bench::mixed(nodes));
  }
}
