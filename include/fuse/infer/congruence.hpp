// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/bare_value.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// Decides whether two values are the same computation: the same operator with the same parameters on operands of which
/// that is true in turn, in either order where it commutes; constants by type, shape and content. It looks at most 64
/// pairs deep into the graph and says no beyond. A hash of each value's computation, 4 bytes, tells most others apart
/// at once: in a chain of equal blocks everything looks alike for long. Hashes are made when the first two values are
/// compared that one operator computes: in many graphs none are.
template <class Image>
class basic_congruence {
 public:
  basic_congruence(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] bool same(value_id a, value_id b) {
    if (a == b) return true;
    if (hashes_.empty() && alike(a, b)) hash_all();
    budget_ = 64;
    if (compare(a, b, 0)) return true;
    told_apart_ = told_apart_ || is_computed(a) || is_computed(b);
    return false;
  }

  /// The same of what stands below Identity and widening Casts.
  [[nodiscard]] bool same_bare(value_id a, value_id b) {
    return same(bare_value(image_, facts_, a), bare_value(image_, facts_, b));
  }

  /// The same without hashes: of nodes that are about to be added, and while hashes are not current. It looks as deep,
  /// and may spend that on what a hash would have told at once.
  [[nodiscard]] bool same_now(value_id a, value_id b) {
    budget_ = 64;
    hashed_ = false;
    bool const found = compare(a, b, 0);
    hashed_ = true;
    return found;
  }

  /// Whether two values were found to be different, one of which is computed, since this was last forgotten: a change
  /// anywhere below may make them the same.
  [[nodiscard]] bool told_apart() const { return told_apart_; }
  void forget_told_apart() { told_apart_ = false; }

  /// Whether two nodes are one operator with the same parameters, as far as these are no operands.
  [[nodiscard]] bool agree(node_id n, node_id m) {
    auto const &p = image_.node(n), &q = image_.node(m);
    bool const alike = p.tag.name == q.tag.name && p.tag.op == q.tag.op && !p.has_bodies && !q.has_bodies &&
                       (p.tag.name != 0 || image_.source->op_name(n) == image_.source->op_name(m));
    return alike && (op_of(image_, n) == opcode::opaque ? image_.source->same_attributes(n, m) : same_parameters(n, m));
  }

  /// Takes in what has changed in the image: all of it, or the results of one node.
  void update() { hashes_.clear(); }
  void update(node_id n) {
    if (!hashes_.empty()) hash(n);
  }

 private:
  [[nodiscard]] bool is_computed(value_id v) const { return v != absent && image_.producer(v) != absent; }
  // Whether one operator computes both.
  [[nodiscard]] bool alike(value_id a, value_id b) const {
    auto const n = a == absent ? absent : image_.producer(a), m = b == absent ? absent : image_.producer(b);
    return n != absent && m != absent && image_.node(n).tag.name == image_.node(m).tag.name;
  }

  void hash_all() {
    hashes_.reserve(image_.value_count() + image_.value_count() / 8);
    hashes_.resize(image_.value_count());
    for (value_id v = 0; v < image_.value_count(); ++v)
      if (image_.producer(v) == absent) hashes_[v] = image_.value(v).constant ? constant : leaf(v);
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) hash(n);
  }
  void hash(node_id n) {
    auto const& record = image_.node(n);
    for (auto v = static_cast<value_id>(hashes_.size()); v < record.first_result + record.result_count; ++v)
      hashes_.push_back(image_.value(v).constant ? constant : leaf(v));
    auto const found = hash_at(n);
    for (std::uint32_t i = 0; i < record.result_count; ++i) {
      auto const v = record.first_result + i;
      hashes_[v] = image_.value(v).constant ? constant : found == 0 ? leaf(v) : mix(found, i);
    }
  }

  // Constants are told apart by their contents, leaves by what they are.
  static constexpr std::uint32_t constant = 1;
  [[nodiscard]] static std::uint32_t leaf(value_id v) { return mix(2, v); }
  [[nodiscard]] static std::uint32_t mix(std::uint32_t h, std::uint32_t with) {
    h = (h ^ with) * 0x9e3779b1u;
    return h ^ (h >> 15);
  }
  // 0 for what is the same as nothing else.
  [[nodiscard]] std::uint32_t hash_at(node_id n) const {
    auto const& record = image_.node(n);
    if (record.tag.name == 0 || record.has_bodies) return 0;
    std::uint32_t h = mix(record.tag.name + 3u, record.region);
    auto const hash_of = [&](std::uint32_t i) {
      auto const v = image_.operand(n, i);
      return v < hashes_.size() ? hashes_[v] : 0;
    };
    if (commutes(n)) {
      auto const a = hash_of(0), b = hash_of(1);
      h = mix(mix(h, a < b ? a : b), a < b ? b : a);
    } else {
      for (std::uint32_t i = 0; i < record.operand_count; ++i) h = mix(h, hash_of(i));
    }
    return h == 0 ? 1 : h;
  }
  // Whether two operands may stand in either order.
  [[nodiscard]] bool commutes(node_id n) const {
    return image_.operand_count(n) == 2 && info(op_of(image_, n)).commutative;
  }

  bool compare(value_id a, value_id b, int depth) {
    if (a == b) return true;
    if (a == absent || b == absent || budget_-- == 0 || depth == 32) return false;
    if (hashed_ && a < hashes_.size() && b < hashes_.size() && hashes_[a] != hashes_[b]) return false;
    auto const &x = image_.value(a), &y = image_.value(b);
    if (x.constant && y.constant) return same_contents(a, b);
    auto const n = x.producer, m = y.producer;
    if (n == absent || m == absent) return false;
    auto const &p = image_.node(n), &q = image_.node(m);
    if (p.tag.name == 0 || p.tag.name != q.tag.name || p.operand_count != q.operand_count || p.has_bodies ||
        q.has_bodies || p.region != q.region || image_.result_index(a) != image_.result_index(b))
      return false;
    if (!same_parameters(n, m)) return false;
    auto const same_at = [&](std::uint32_t i, std::uint32_t k) {
      return compare(image_.operand(n, i), image_.operand(m, k), depth + 1);
    };
    if (commutes(n)) return (same_at(0, 0) && same_at(1, 1)) || (same_at(0, 1) && same_at(1, 0));
    for (std::uint32_t i = 0; i < p.operand_count; ++i)
      if (!same_at(i, i)) return false;
    return true;
  }

  [[nodiscard]] bool same_contents(value_id a, value_id b) const {
    auto const s = image_.source->constant(a), t = image_.source->constant(b);
    return s && t && detail::same_contents(s, t);
  }

  [[nodiscard]] bool same_parameters(node_id n, node_id m) {
    auto const op = op_of(image_, n);
    auto const& known = info(op);
    if (known.group != op_group::none) return true;  // sums and products have none
    if (op == opcode::cast)
      return facts_.type(image_.result(n)) != element_type::unknown &&
             facts_.type(image_.result(n)) == facts_.type(image_.result(m));
    if (op == opcode::identity) return true;
    if (op == opcode::dropout) return false;  // while training, each is drawn anew
    if (known.shape == shape_function::reduce) {
      bool keep = false, keep_too = false;
      if (reduction_axes(image_, facts_, names_, n, axes_, keep, listed_) &&
          reduction_axes(image_, facts_, names_, m, axes_too_, keep_too, listed_))
        return keep == keep_too && axes_ == axes_too_;
    }
    return op != opcode::opaque && image_.source->same_attributes(n, m);
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  detail::plain_vector<std::uint32_t> hashes_;  // by value; none yet where empty
  std::vector<int> axes_, axes_too_;
  std::vector<std::int64_t> listed_;
  int budget_ = 0;
  bool told_apart_ = false;
  bool hashed_ = true;
};
using congruence = basic_congruence<graph_image>;

}  // namespace fuse::inline v0::detail
