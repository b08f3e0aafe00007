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
      : image_(image), kinds_(kinds), groups_(groups), read_in_(image.value_count(), 0) {
    plain_vector<std::uint32_t> place(image.node_count() + std::size_t{1}, 0);
    for (node_id n = 0; n < image.node_count(); ++n)
      if (auto const& g = groups.of(groups.find(n)); g.size > 1 && g.last == n) {
        starts_.push_back(static_cast<std::uint32_t>(members_.size()));
        place[groups.find(n)] = starts_.back();
        members_.resize(members_.size() + g.size);
      }
    starts_.push_back(static_cast<std::uint32_t>(members_.size()));
    for (node_id n = 0; n < image.node_count(); ++n) {
      auto const g = groups.find(n);
      nodes_ += !is_constant(n);
      if (groups.of(g).size > 1) members_[place[g]++] = n;
    }
  }

  /// Nodes but for constants, and how many they are where each group counts as one.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::size_t operators() const { return nodes_ - members_.size() + size(); }
  /// How many groups of several nodes there are, by their last node, and the nodes of one in order.
  [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }
  [[nodiscard]] span<node_id const> nodes_of(std::size_t group) const {
    return span(members_.data(), members_.size()).subspan(starts_[group], starts_[group + 1] - starts_[group]);
  }

  /// Looks into a group; the following tell what was found.
  void read(std::size_t group, basic_traffic<graph_image>& cost) {
    inputs_.clear();
    outputs_.clear();
    saved_ = 0;
    ++round_;
    auto const nodes = nodes_of(group);
    auto const own = groups_.find(nodes[0]);
    for (auto const n : nodes) {
      saved_ += cost.moved(n);
      if (kinds_.goes_by_formula(n)) saved_ -= cost.bytes(image_.operand(n, 0));  // its statistics are of that
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
        auto const v = image_.operand(n, i);
        if (v == absent || read_in_[v] == round_) continue;
        auto const from = image_.producer(v);
        if (from != absent && groups_.find(from) == own) continue;
        read_in_[v] = round_;
        inputs_.push_back(v);
        saved_ -= cost.bytes(v);
      }
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const v = image_.result(n, i);
        bool outside = image_.value(v).outputs != 0;
        image_.for_each_user(v, [&](node_id user) { outside = outside || groups_.find(user) != own; });
        if (!outside) continue;
        outputs_.push_back(v);
        saved_ -= cost.bytes(v);
      }
    }
  }
  [[nodiscard]] plain_vector<value_id> const& inputs() const { return inputs_; }
  [[nodiscard]] plain_vector<value_id> const& outputs() const { return outputs_; }
  [[nodiscard]] double bytes_saved() const { return saved_; }

 private:
  [[nodiscard]] bool is_constant(node_id n) const {
    return image_.operand_count(n) == 0 && image_.node(n).result_count == 1 && image_.value(image_.result(n)).constant;
  }

  graph_image const& image_;
  operator_kinds const& kinds_;
  group_table const& groups_;
  plain_vector<node_id> members_;
  plain_vector<std::uint32_t> starts_;   // of each group among them, and the end of the last one
  plain_vector<std::uint32_t> read_in_;  // by value: the round in which it was read last
  plain_vector<value_id> inputs_, outputs_;
  std::size_t nodes_ = 0;
  std::uint32_t round_ = 0;
  double saved_ = 0;
};

}  // namespace fuse::inline v0::detail
