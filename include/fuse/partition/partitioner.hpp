// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/partition/group_table.hpp>
#include <fuse/partition/operator_kinds.hpp>
#include <fuse/partition/post_dominators.hpp>
#include <fuse/rewrite/cost.hpp>

namespace fuse::inline v0::detail {

/// How large groups may become, who may keep two nodes apart, and who a node from all others, and whether norms may
/// take part by their formula.
struct partition_limits {
  std::size_t nodes = std::numeric_limits<std::size_t>::max();
  std::size_t operands = std::numeric_limits<std::size_t>::max();
  double bytes = std::numeric_limits<double>::infinity();
  bool (*veto)(void* context, node_id from, node_id into) = nullptr;
  bool (*alone)(void* context, node_id n) = nullptr;
  void* context = nullptr;
  bool by_formula = true;
};

/// Groups the nodes of an image. A group grows at its end: what computes its last value goes on into the next node that
/// all paths from there lead to, with all that stands on these paths, so that nothing leaves a group but at its end.
/// Anchors go first, then all others; each from the first node to the last. At the end a group may also go into one
/// that reads it, though others read it, too: where these all end behind that one, which is an order without cycles.
class partitioner {
 public:
  partitioner(graph_image const& image, facts const& known, operator_kinds const& kinds, partition_limits const& limits)
      : image_(image),
        facts_(known),
        limits_(limits),
        traffic_(image, known),
        kinds_(kinds),
        after_(image, kinds),
        groups_(image, kinds) {
    if (limits_.operands < no_limit) operands_.resize(image.node_count());
    if (limits_.bytes < std::numeric_limits<double>::infinity()) {
      bytes_.resize(image.node_count(), 0);
      for (node_id n = 0; n < image.node_count(); ++n)
        for (std::uint32_t i = 0; i < image.node(n).result_count; ++i) bytes_[n] += traffic_.bytes(image.result(n, i));
    }
  }

  void run() {
    for (bool const anchors : {true, false})
      for (node_id n = 0; n < image_.node_count(); ++n)
        if (groups_.is_last(n) && groups_.of(n).kinds.has(op_kind::anchor) == anchors) go_on(n);
    if (!after_.in_order()) return;
    groups_.shorten();
    for (node_id n = 0; n < image_.node_count(); ++n)
      if (groups_.is_last(n)) go_with_first_user(n);
  }

  [[nodiscard]] group_table const& groups() const { return groups_; }
  /// Whether the group of `n` ends before a node that it might go on into if it were of another kind.
  [[nodiscard]] bool ends_early(node_id n) const {
    auto const into = after_.parent(groups_.find(n));
    return into != absent && kinds_.of(into) != op_kind::opaque && kinds_.of(into) != op_kind::anchor;
  }
  /// The kind that leads the group that ends with `last`.
  [[nodiscard]] op_kind kind_of(node_id last) const { return groups_.of(last).kinds.leading(); }
  [[nodiscard]] basic_traffic<graph_image>& traffic() { return traffic_; }

 private:
  static constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  static constexpr kind_set pointwise{op_kind::elementwise, op_kind::broadcast};
  static constexpr kind_set movable = pointwise | kind_set(op_kind::injective);
  static constexpr kind_set by_rows = pointwise | kind_set(op_kind::reduction);

  // THE RULES: whether the group that ends with `last` may go on into `into` over what stands `between`, where the
  // group of `into` goes on with what is `behind`.
  [[nodiscard]] bool may_go_on(node_id last, kind_set between, node_id into, kind_set behind) const {
    auto const& done = groups_.of(last);
    auto const next = kind_set(kinds_.of(into));
    if (done.kinds.has(op_kind::opaque)) return false;
    if (done.kinds.has(op_kind::anchor)) {  // an epilogue, element by element, whose results may be put elsewhere
      if (!(between | behind).within(pointwise)) return false;
      return kinds_.keeps_elements(into) || (next.within(pointwise) && may_be_like(into, last));
    }
    if (done.kinds.has(op_kind::reduction))  // what follows in the same rows
      return (between | behind | next).within(by_rows) && keeps_rows(done.reduction, last, into);
    return (between | next).within(by_rows) || (between.within(movable) && next.within(movable | by_rows));
  }
  // Of the results of a reduction: in its operand's shape or its own.
  [[nodiscard]] bool keeps_rows(node_id reduction, node_id n, node_id into) const {
    if (kinds_.is_view(into) || kinds_.of(into) == op_kind::reduction || may_be_like(into, n)) return true;
    auto const reduced = image_.operand_count(reduction) == 0 ? absent : image_.operand(reduction, 0);
    return reduced != absent && may_be_alike(image_.result(into), reduced);
  }
  [[nodiscard]] bool may_be_like(node_id a, node_id b) const {
    return may_be_alike(image_.result(a), image_.result(b));
  }
  // Unless the shapes are known to differ.
  [[nodiscard]] bool may_be_alike(value_id a, value_id b) const {
    if (!facts_.has_rank(a) || !facts_.has_rank(b) || facts_.same_shape(a, b)) return true;
    auto const x = facts_.shape(a), y = facts_.shape(b);
    bool alike = x.size() == y.size();
    for (std::size_t i = 0; alike && i < x.size(); ++i) alike = !x[i].known() || !y[i].known() || x[i] == y[i];
    return alike;
  }
  // Whether two reductions reduce the same axes of operands of one shape.
  [[nodiscard]] bool of_the_same_rows(node_id a, node_id b) {
    bool kept = false;
    return facts_.reduction(a, axes_, kept) && facts_.reduction(b, other_axes_, kept) && axes_ == other_axes_ &&
           facts_.same_shape(image_.operand(a, 0), image_.operand(b, 0));
  }

  // Of the last node of a group.
  void go_on(node_id n) {
    auto const into = after_.parent(n);
    if (into == absent) return;
    auto const between = after_.between(n);
    auto const target = groups_.find(into);
    auto const behind = kinds_behind(into, target);
    if (!may_go_on(n, between, into, behind)) return;
    begin_search(target, n);
    if (!after_.has_one_user(n))
      for (std::size_t at = 1; at < found_.size(); ++at) {
        if (at > 1 && !may_go_on(found_[at], between, into, behind)) return;
        after_.for_each_user(found_[at], [&](node_id user, bool) { find(groups_.find(user)); });
      }
    join_found(n, into);
  }

  // Of the last node of a group. Groups that end before it are all that have gone into others since paths were
  // shortened, so users are a step away from the last nodes of theirs.
  void go_with_first_user(node_id n) {
    if (after_.has_one_user(n) || groups_.of(n).kinds.has(op_kind::opaque)) return;
    node_id first = absent, others = absent, into = absent;  // two groups, and the first user in `first`
    after_.for_each_user(n, [&](node_id user, bool) {
      auto const g = groups_.behind(user);
      others = g == first ? others : std::min(others, std::max(g, first));
      first = std::min(first, g);
    });
    if (first == absent || groups_.of(n).read_inside <= first) return;
    bool fits = true;
    after_.for_each_user(n, [&](node_id user, bool data) {
      if (groups_.behind(user) != first) return;
      into = std::min(into, user);
      fits = fits && data && may_go_on(n, {}, user, {});
    });
    if (!fits || !may_go_on(n, {}, into, kinds_behind(into, first))) return;
    begin_search(first, n);
    if (!join_found(n, into)) return;
    auto& joined = groups_.of(first);
    joined.read_inside = std::min(joined.read_inside, others);
  }

  // What else is in the group of `into`, by which it may go on behind it.
  [[nodiscard]] kind_set kinds_behind(node_id into, node_id group) const {
    return group == into ? kind_set() : groups_.of(group).kinds;
  }

  // What is found: groups, each once, the target first.
  void begin_search(node_id target, node_id from) {
    for (auto const g : found_) groups_.of(g).found = false;
    found_.clear();
    find(target);
    find(from);
  }
  void find(node_id group) {
    if (groups_.of(group).found) return;
    groups_.of(group).found = true;
    found_.push_back(group);
  }

  bool join_found(node_id n, node_id into) {
    double bytes = 0;
    if (!bytes_.empty())
      for (auto const g : found_) bytes += bytes_[g];
    if (bytes > limits_.bytes || !may_be_one() || (limits_.veto != nullptr && limits_.veto(limits_.context, n, into)))
      return false;
    auto joined = found_[0];
    for (auto const g : span(found_.data(), found_.size()).subspan(1)) joined = groups_.join(joined, g);
    if (!operands_.empty()) operands_[joined].assign(read_.begin(), read_.end());
    if (!bytes_.empty()) bytes_[joined] = bytes;
    return true;
  }

  // Whether what is found goes together, whatever the order, and keeps the limits.
  [[nodiscard]] bool may_be_one() {
    std::size_t size = 0, anchors = 0;
    node_id reduction = absent;
    for (auto const at : found_) {
      auto const& g = groups_.of(at);
      size += g.size;
      anchors += g.kinds.has(op_kind::anchor);
      if (g.kinds.has(op_kind::opaque)) return false;
      if (g.reduction == absent) continue;
      if (reduction != absent && !of_the_same_rows(reduction, g.reduction)) return false;
      reduction = g.reduction;
    }
    if (anchors > 1 || (anchors == 1 && reduction != absent)) return false;
    return size <= limits_.nodes && (operands_.empty() || count_operands());
  }

  // Into `read_`: the values that what is found reads, each once, in order.
  [[nodiscard]] bool count_operands() {
    read_.clear();
    auto const add = [&](value_id v) {
      if (v == absent) return;
      auto const from = image_.producer(v);
      if (from == absent || !groups_.of(groups_.find(from)).found) read_.push_back(v);
    };
    for (auto const g : found_) {
      if (groups_.of(g).size == 1)
        for (std::uint32_t i = 0; i < image_.operand_count(g); ++i) add(image_.operand(g, i));
      for (auto const v : operands_[g]) add(v);
    }
    std::sort(read_.begin(), read_.end());
    read_.erase(std::unique(read_.begin(), read_.end()), read_.end());
    return read_.size() <= limits_.operands;
  }

  graph_image const& image_;
  facts const& facts_;
  partition_limits limits_;
  basic_traffic<graph_image> traffic_;
  operator_kinds const& kinds_;
  post_dominators after_;
  group_table groups_;
  plain_vector<node_id> found_;
  std::vector<int> axes_, other_axes_;
  std::vector<std::vector<value_id>> operands_;  // of groups of several nodes, where they are limited
  std::vector<value_id> read_;
  plain_vector<double> bytes_;  // that groups compute, where they are limited
};

}  // namespace fuse::inline v0::detail
