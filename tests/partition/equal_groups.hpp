// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <fuse/partition.hpp>

/// Kind and nodes of each group, nodes by their place in `nodes`: the same text for the same groups of any graph type.
template <class G>
std::string text_of_groups(G const& g, std::vector<fuse::node_of<G>> const& nodes) {
  std::string text;
  for (auto const& group : fuse::partition(g).groups) {
    text += fuse::name_of(group.kind);
    for (auto const& n : group.nodes)
      for (std::size_t at = 0; at < nodes.size(); ++at)
        if (nodes[at] == n) text += ' ' + std::to_string(at);
    text += ", " + std::to_string(group.inputs.size()) + " inputs, " + std::to_string(group.outputs.size()) +
            " outputs, " + std::to_string(group.bytes_saved) + " bytes, " + std::to_string(group.by_formula.size()) +
            " by formula\n";
  }
  return text;
}
/// By their place in the graph.
template <class G>
std::string text_of_groups(G const& g) {
  std::vector<fuse::node_of<G>> nodes;
  for (auto const& n : fuse::graph_traits<G>::nodes(g)) nodes.push_back(n);
  return text_of_groups(g, nodes);
}
