// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fuse/adapters/onnx/tables.hpp>

namespace fuse::inline v0::adapters::detail {

/// Names a cycle among the nodes, or returns nothing. A node waits for the producers of its operands and for the nodes
/// of its bodies. Linear; only models whose nodes are not sorted need it.
[[nodiscard]] inline std::string find_cycle(onnx_tables const& tables) {
  auto const count = static_cast<std::uint32_t>(tables.nodes.size());
  auto const owner = [&](std::uint32_t n) { return tables.graphs[tables.nodes[n].body].owner; };
  std::vector<std::uint32_t> waits(count, 0), ready;
  for (std::uint32_t n = 1; n < count; ++n) {
    for (auto const v : tables.operands(tables.nodes[n]))
      if (v && tables.values[v.id].producer != 0) ++waits[n];
    if (owner(n) != 0) ++waits[owner(n)];
  }
  for (std::uint32_t n = 1; n < count; ++n)
    if (waits[n] == 0) ready.push_back(n);
  for (std::size_t at = 0; at < ready.size(); ++at) {
    auto const release = [&](std::uint32_t user) {
      if (user != 0 && --waits[user] == 0) ready.push_back(user);
    };
    for (auto const v : tables.results_of(tables.nodes[ready[at]]))
      if (v) tables.for_each_use(v, [&](std::uint32_t slot) { release(tables.slot_node[slot]); });
    release(owner(ready[at]));
  }
  if (ready.size() + 1 == count) return {};

  // Walk back along nodes that still wait: the first one seen twice closes a cycle.
  std::uint32_t at = 1;
  while (waits[at] == 0) ++at;
  std::vector<bool> seen(count, false);
  auto const before = [&](std::uint32_t n) {
    for (auto const v : tables.operands(tables.nodes[n]))
      if (auto const from = v ? tables.values[v.id].producer : 0; from != 0 && waits[from] != 0) return from;
    auto const& record = tables.nodes[n];
    for (auto b = record.first_body; b < record.first_body + record.body_count; ++b)
      for (auto inner = tables.graphs[b].first; inner != 0; inner = tables.nodes[inner].next)
        if (waits[inner] != 0) return inner;
    return n;
  };
  for (; !seen[at]; at = before(at)) seen[at] = true;
  return "the graph has a cycle through " + tables.describe(tables.nodes[at]) + " and " +
         tables.describe(tables.nodes[before(at)]);
}

}  // namespace fuse::inline v0::adapters::detail
