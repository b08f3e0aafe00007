// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/partition/group_table.hpp>
#include <fuse/partition/operator_kinds.hpp>
#include <fuse/rewrite/cost.hpp>

namespace fuse::inline v0::detail {

/// What groups consist of: their nodes, and of one at a time what it reads and gives out. Linear.
class group_contents {
 public:
  group_contents(graph_image const& image, operator_kinds const& kinds, group_table const& groups)
      : image_(image), kinds_(kinds), group_of_(image.node_count(), absent), reads_(image.value_count(), 0) {
    std::uint32_t end = 0;
    for (node_id n = 0; n < image.node_count(); ++n)
      if (groups.is_last(n) && groups.of(n).size > 1) {
        group_of_[n] = static_cast<std::uint32_t>(starts_.size());
        starts_.push_back(end += groups.of(n).size);  // where it ends, until its nodes are put there
      }
    starts_.push_back(end);
    members_.resize(end);
    for (auto n = image.node_count(); n-- > 0;) {
      auto const group = group_of_[n] = group_of_[groups.behind(n)];
      if (group != absent) members_[--starts_[group]] = n;
    }
  }

  /// Nodes but for constants, and how many they are where each group counts as one.
  [[nodiscard]] std::size_t nodes() const { return image_.node_count() - kinds_.constants(); }
  [[nodiscard]] std::size_t operators() const { return nodes() - members_.size() + size(); }
  /// How many groups of several nodes there are, by their last node, and the nodes of one in order.
  [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }
  [[nodiscard]] span<node_id const> nodes_of(std::size_t group) const {
    return span(members_.data(), members_.size()).subspan(starts_[group], starts_[group + 1] - starts_[group]);
  }

  /// Looks into a group; the following tell what was found.
  void read(std::uint32_t group, basic_traffic<graph_image>& cost) {
    inputs_.clear();
    outputs_.clear();
    saved_ = 0;
    ++round_;
    auto const nodes = nodes_of(group);
    for (auto const n : nodes) {
      if (kinds_.goes_by_formula(n)) saved_ -= cost.bytes(image_.operand(n, 0));  // its statistics are of that
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
        auto const v = image_.operand(n, i);
        if (v == absent) continue;
        auto const from = image_.producer(v);
        bool const inside = from != absent && group_of_[from] == group;
        if (inside) ++reads_[v];
        if (inside || reads_[v] == round_) {
          saved_ += cost.bytes(v);
        } else {
          reads_[v] = round_;
          inputs_.push_back(v);
        }
      }
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) reads_[image_.result(n, i)] = 0;
    }
    for (auto const n : nodes)
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const v = image_.result(n, i);
        if (image_.value(v).outputs == 0 && image_.value(v).use_count == reads_[v])
          saved_ += cost.bytes(v);
        else
          outputs_.push_back(v);
        reads_[v] = 0;
      }
  }
  [[nodiscard]] plain_vector<value_id> const& inputs() const { return inputs_; }
  [[nodiscard]] plain_vector<value_id> const& outputs() const { return outputs_; }
  [[nodiscard]] double bytes_saved() const { return saved_; }

 private:
  graph_image const& image_;
  operator_kinds const& kinds_;
  plain_vector<std::uint32_t> group_of_;  // by node, `absent` of one that is in no group of several
  plain_vector<node_id> members_;
  plain_vector<std::uint32_t> starts_;  // of each group among them, and the end of the last one
  // By value: the round in which a group read it last; while the group that makes it is looked into, how often that
  // one reads it.
  plain_vector<std::uint32_t> reads_;
  plain_vector<value_id> inputs_, outputs_;
  std::uint32_t round_ = 0;
  double saved_ = 0;
};

}  // namespace fuse::inline v0::detail
