// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/plain_vector.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/partition/operator_kinds.hpp>

namespace fuse::inline v0::detail {

/// The post-dominator tree of an image: the parent of a node is the first node that every path from it to an end leads
/// to, and `between` the kinds of what stands on these paths before it. A node that nobody reads, and one whose paths
/// end apart, has none. What a graph or a body gives out ends no path: it is written on the way.
///
/// A use inside of a body counts as one by the node that owns the body, and a parameter is read by something opaque. So
/// each body has a tree of its own.
///
/// Operands come first in an image, so one pass from the last node to the first, in which each node tells those that it
/// reads, or with several bodies asks for those that read it, has every parent before its children; the parent is what
/// all users have in common (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001, where there are no
/// cycles). Beside its parent a node knows one far above it (Myers, "An Applicative Random-Access Stack", 1983), so
/// that what two nodes have in common takes logarithmic time at any depth.
class post_dominators {
 public:
  post_dominators(graph_image const& image, operator_kinds const& kinds)
      : image_(image),
        kinds_(kinds),
        end_(image.node_count()),
        records_(end_ + std::size_t{1}, record{end_, end_}),
        several_bodies_(image.regions().size() > 1) {
    for (auto n = end_; n-- > 0;) {
      image.expect_before(n);
      if (several_bodies_) for_each_user(n, [&](node_id user, bool data) { add_use(n, user, data); });
      add(n);
      if (!several_bodies_) tell_operands(n);
    }
  }

  /// Or `absent`.
  [[nodiscard]] node_id parent(node_id n) const { return records_[n].parent == end_ ? absent : records_[n].parent; }
  [[nodiscard]] kind_set between(node_id n) const { return records_[n].between; }
  /// Whether one node alone reads what `n` computes, once: its parent.
  [[nodiscard]] bool has_one_user(node_id n) const { return records_[n].uses == 1; }

  /// Calls `visit(user, reads_data)` for each use of what `n` computes, in the body that `n` is in: `absent` where a
  /// body reads it whose owner is not known, or stands before it.
  template <class Visit>
  void for_each_user(node_id n, Visit const& visit) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i)
      for (auto slot = image_.value(image_.result(n, i)).first_use; slot != absent; slot = image_.use_at(slot).next) {
        auto const user = image_.use_at(slot).node;
        bool const data = kinds_.all_data(user) || kinds_.is_data(user, slot - image_.node(user).first_operand);
        visit(user_beside(n, user), data);
      }
  }
  /// Whether all users stand behind what they use, also where a body reads it.
  [[nodiscard]] bool in_order() const { return in_order_; }

 private:
  struct record {
    node_id parent, jump;
    std::uint32_t depth = 0;
    kind_set between{};     // strictly between the node and its parent
    kind_set passed{};      // from the node on to where it jumps, which is not among them
    std::uint8_t uses = 0;  // of what the node computes; 2 of several
  };
  // The node in the body of `n` that `user` is or stands in; `absent` where none is known behind `n`.
  [[nodiscard]] node_id user_beside(node_id n, node_id user) const {
    if (several_bodies_)
      while (user != absent && image_.node(user).region != image_.node(n).region)
        user = image_.regions()[image_.node(user).region].owner;
    return user != absent && user > n ? user : absent;
  }

  // What all users of `n` have in common is known.
  void add(node_id n) {
    auto& made = records_[n];
    auto const &above = records_[made.parent], &far = records_[above.jump];
    made.depth = above.depth + 1;
    made.jump = made.parent;
    made.passed = kind_set(kinds_.of(n)) | made.between;
    if (above.depth - far.depth != far.depth - records_[far.jump].depth) return;
    made.jump = far.jump;
    made.passed |= above.passed | far.passed;
  }

  // Of a graph of one body: where there are others, a node that is told has owners in front that are not known yet.
  void tell_operands(node_id n) {
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const v = image_.operand(n, i);
      auto const from = v == absent ? absent : image_.producer(v);
      if (from != absent) add_use(from, user_beside(from, n), kinds_.all_data(n) || kinds_.is_data(n, i));
    }
  }
  void add_use(node_id n, node_id user, bool data) {
    auto& used = records_[n];
    if (user == absent) {
      in_order_ = false;
      user = end_;
    }
    used.uses = used.uses == 0 ? 1 : 2;
    if (used.uses == 1)
      used.parent = user;
    else
      used.parent = meet(used.parent, user, used.between);
    if (!data) used.between |= kind_set(op_kind::opaque);
  }

  // The first node above both; adds what stands before it.
  [[nodiscard]] node_id meet(node_id a, node_id b, kind_set& passed) const {
    while (records_[a].depth > records_[b].depth) rise(a, records_[b].depth, passed);
    while (records_[b].depth > records_[a].depth) rise(b, records_[a].depth, passed);
    while (a != b) {
      if (records_[a].jump != records_[b].jump) {
        passed |= records_[a].passed | records_[b].passed;
        a = records_[a].jump, b = records_[b].jump;
      } else {
        step(a, passed);
        step(b, passed);
      }
    }
    return a;
  }
  void rise(node_id& n, std::uint32_t depth, kind_set& passed) const {
    auto const& r = records_[n];
    if (records_[r.jump].depth < depth) return step(n, passed);
    passed |= r.passed;
    n = r.jump;
  }
  void step(node_id& n, kind_set& passed) const {
    passed |= kind_set(kinds_.of(n)) | records_[n].between;
    n = records_[n].parent;
  }

  graph_image const& image_;
  operator_kinds const& kinds_;
  node_id end_;
  plain_vector<record> records_;
  bool several_bodies_;
  bool in_order_ = true;
};

}  // namespace fuse::inline v0::detail
