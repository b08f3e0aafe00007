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

/// Disjoint groups of nodes, each node its own at first: union-find with paths halved (Tarjan and van Leeuwen,
/// "Worst-Case Analysis of Set Union Algorithms", 1984). The number of a group is its last node, so paths lead from a
/// node to nodes behind it.
class group_table {
 public:
  struct group {
    kind_set kinds;
    bool found = false;  ///< by the search that is under way
    std::uint32_t size = 1;
    node_id reduction = absent;  ///< one of its reductions
    /// Groups that read what it computes before its last node are known to end at this node or behind it.
    node_id read_inside = absent;
  };

  explicit group_table(graph_image const& image, operator_kinds const& kinds)
      : behind_(image.node_count()), groups_(image.node_count()) {
    for (node_id n = 0; n < image.node_count(); ++n) {
      auto const kind = kinds.of(n);
      behind_[n] = n;
      groups_[n].kinds = kind_set(kind);
      if (kind == op_kind::reduction) groups_[n].reduction = n;
    }
  }

  /// The number of the group of `n`, which joining changes.
  [[nodiscard]] node_id find(node_id n) const {
    while (behind_[n] != n) n = behind_[n] = behind_[behind_[n]];
    return n;
  }
  [[nodiscard]] bool is_last(node_id n) const { return behind_[n] == n; }
  /// The next node on the path from `n`, or `n` where it is the last of its group.
  [[nodiscard]] node_id behind(node_id n) const { return behind_[n]; }
  /// Makes all paths as short as they can be: a step.
  void shorten() {
    for (auto n = static_cast<node_id>(behind_.size()); n-- > 0;) behind_[n] = behind_[behind_[n]];
  }
  [[nodiscard]] group const& of(node_id last) const { return groups_[last]; }
  [[nodiscard]] group& of(node_id last) { return groups_[last]; }

  /// Makes one of two different groups and returns its number.
  node_id join(node_id a, node_id b) {
    auto const last = std::max(a, b), before = std::min(a, b);
    auto &into = groups_[last], &from = groups_[before];
    into.kinds |= from.kinds;
    into.size += from.size;
    into.read_inside = std::min(into.read_inside, from.read_inside);
    if (into.reduction == absent) into.reduction = from.reduction;
    return behind_[before] = last;
  }

 private:
  mutable plain_vector<node_id> behind_;
  plain_vector<group> groups_;
};

}  // namespace fuse::inline v0::detail
