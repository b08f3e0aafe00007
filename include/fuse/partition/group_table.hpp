// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/partition/operator_kinds.hpp>

namespace fuse::inline v0::detail {

/// Disjoint groups of nodes, each node its own at first: union-find by size, with paths halved (Tarjan and van Leeuwen,
/// "Worst-Case Analysis of Set Union Algorithms", 1984).
class group_table {
 public:
  struct group {
    kind_set kinds;
    std::uint32_t size = 1;
    node_id last = absent;       ///< of its nodes
    node_id reduction = absent;  ///< one of its reductions
    /// Groups that read what it computes before its last node are known to end at this node or behind it.
    node_id read_inside = absent;
  };

  explicit group_table(graph_image const& image, operator_kinds const& kinds)
      : above_(image.node_count()), groups_(image.node_count()) {
    for (node_id n = 0; n < image.node_count(); ++n) {
      auto const kind = kinds.of(n);
      above_[n] = n;
      groups_[n].kinds = kind_set(kind);
      groups_[n].last = n;
      if (kind == op_kind::reduction) groups_[n].reduction = n;
    }
  }

  /// The number of the group of `n`, which joining changes.
  [[nodiscard]] std::uint32_t find(node_id n) const {
    while (above_[n] != n) n = above_[n] = above_[above_[n]];
    return n;
  }
  [[nodiscard]] group const& of(std::uint32_t number) const { return groups_[number]; }
  [[nodiscard]] group& of(std::uint32_t number) { return groups_[number]; }

  /// Makes one of two different groups and returns its number.
  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    if (groups_[a].size < groups_[b].size) std::swap(a, b);
    auto &into = groups_[a], &from = groups_[b];
    into.kinds |= from.kinds;
    into.size += from.size;
    into.last = std::max(into.last, from.last);
    into.read_inside = std::min(into.read_inside, from.read_inside);
    if (into.reduction == absent) into.reduction = from.reduction;
    return above_[b] = a;
  }

 private:
  mutable plain_vector<std::uint32_t> above_;
  plain_vector<group> groups_;
};

}  // namespace fuse::inline v0::detail
