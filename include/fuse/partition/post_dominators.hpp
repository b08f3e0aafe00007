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
/// Operands come first in an image, so one pass from the last node to the first has every parent before its children;
/// the parent is what all users have in common (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001,
/// where there are no cycles). Beside its parent a node knows one far above it (Myers, "An Applicative Random-Access
/// Stack", 1983), so that what two nodes have in common takes logarithmic time at any depth.
class post_dominators {
 public:
  post_dominators(graph_image const& image, operator_kinds const& kinds)
      : image_(image),
        kinds_(kinds),
        records_(image.node_count() + std::size_t{1}),
        end_(image.node_count()),
        several_bodies_(image.regions().size() > 1) {
    records_[end_] = {end_, end_, 0, {}, {}, 0};
    for (auto n = end_; n-- > 0;) {
      image.expect_before(n);
      add(n);
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
    auto const region = image_.node(n).region;
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i)
      for (auto slot = image_.value(image_.result(n, i)).first_use; slot != absent; slot = image_.use_at(slot).next) {
        auto user = image_.use_at(slot).node;
        bool const data = kinds_.all_data(user) || kinds_.is_data(user, slot - image_.node(user).first_operand);
        while (several_bodies_ && user != absent && image_.node(user).region != region)
          user = image_.regions()[image_.node(user).region].owner;
        visit(user != absent && user > n ? user : absent, data);
      }
  }
  /// Whether all users stand behind what they use, also where a body reads it.
  [[nodiscard]] bool in_order() const { return in_order_; }

 private:
  struct record {
    node_id parent, jump;
    std::uint32_t depth;
    kind_set between;   // strictly between the node and its parent
    kind_set passed;    // from the node on to where it jumps, which is not among them
    std::uint8_t uses;  // of what the node computes; 2 of several
  };
  struct place {
    node_id at;
    kind_set passed;
  };

  void add(node_id n) {
    place meeting{absent, {}};
    std::uint8_t uses = 0;
    for_each_user(n, [&](node_id user, bool data) {
      uses = uses == 0 ? 1 : 2;
      if (user == absent) {
        in_order_ = false;
        user = end_;
      }
      meeting = meeting.at == absent ? place{user, meeting.passed} : meet(meeting, user);
      if (!data) meeting.passed |= kind_set(op_kind::opaque);
    });
    auto const parent = meeting.at == absent ? end_ : meeting.at;
    auto const own = kind_set(kinds_.of(n)) | meeting.passed;
    auto const &above = records_[parent], &far = records_[above.jump];
    if (above.depth - far.depth == far.depth - records_[far.jump].depth)
      records_[n] = {parent, far.jump, above.depth + 1, meeting.passed, own | above.passed | far.passed, uses};
    else
      records_[n] = {parent, parent, above.depth + 1, meeting.passed, own, uses};
  }

  // The first node above both.
  [[nodiscard]] place meet(place a, node_id b) const {
    kind_set passed = a.passed;
    auto at = a.at;
    while (records_[at].depth > records_[b].depth) rise(at, records_[b].depth, passed);
    while (records_[b].depth > records_[at].depth) rise(b, records_[at].depth, passed);
    while (at != b) {
      if (records_[at].jump != records_[b].jump) {
        passed |= records_[at].passed | records_[b].passed;
        at = records_[at].jump, b = records_[b].jump;
      } else {
        step(at, passed);
        step(b, passed);
      }
    }
    return {at, passed};
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
  plain_vector<record> records_;
  node_id end_;
  bool several_bodies_;
  bool in_order_ = true;
};

}  // namespace fuse::inline v0::detail
