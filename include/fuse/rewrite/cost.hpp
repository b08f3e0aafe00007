// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/rewrite/options.hpp>

namespace fuse::inline v0::detail {

/// The default cost: bytes that nodes read and write, and for each node its call. A symbol of extents that nobody knows
/// counts as 64, an element type as 4 bytes.
template <class Image>
class basic_traffic {
 public:
  /// What it costs that there is a node at all, in bytes that might be moved instead: of tensors that are smaller, the
  /// number of operators tells. A low estimate, that no rewrite of large tensors may pass by it: in onnxruntime a call
  /// takes as long as moving 17,000 bytes.
  static constexpr double call = 1024;
  static constexpr std::int64_t unknown_extent = 64;

  basic_traffic(Image const& image, facts const& known) : image_(image), facts_(known) {}

  [[nodiscard]] double of(node_id n) { return is_free(n) ? 0 : call + moved(n); }
  /// Bytes that `n` reads and writes.
  [[nodiscard]] double moved(node_id n) {
    double sum = 0;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      if (image_.operand(n, i) != absent) sum += bytes(image_.operand(n, i));
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) sum += bytes(image_.result(n, i));
    return sum;
  }

  /// Bytes of a value.
  [[nodiscard]] double bytes(value_id v) {
    auto const size = size_of(facts_.type(v));
    return (size == 0 ? 4 : static_cast<double>(size)) * elements(v);
  }

  /// What is saved when the values `roots` are no longer computed by `matched`: all that a dying node moves, and of a
  /// node that stays because others use it, its share: two matches with common nodes each count half of them.
  /// Not where the nodes from `first_new` on read what such a node makes: it will stay, and they repeat its work.
  /// Nodes that were `passed` by, as what is new is made from what is below them, count if they die.
  /// Counting ends beyond `enough`, which is soon: most rewrites save far more than they add.
  [[nodiscard]] double saved(span<value_id const> roots, span<node_id const> matched, span<node_id const> passed,
                             node_id first_new, double enough = std::numeric_limits<double>::infinity()) {
    double sum = 0;
    if (seen_.size() < image_.node_count()) seen_.resize(image_.node_count() + image_.node_count() / 8, 0);
    if (seen_round_ > ~std::uint32_t{0} - 6) {
      seen_.assign(seen_.size(), 0);
      seen_round_ = 0;
    }
    seen_round_ += 3;
    for (auto v : roots) {
      auto const n = image_.producer(v);
      if (n == absent || dies(n)) continue;
      if (has_other_users(n, roots))
        seen_[n] = seen_round_;  // it stays, for another of its results
      else
        sum += die(n);
    }
    // Matched nodes stand in the order in which they were met, roots first; a few rounds reach all that die.
    for (bool more = true; more;) {
      more = false;
      for (auto const some : {matched, passed})
        for (auto n : some) {
          if (sum > enough) return sum;
          if (dies(n) || seen_[n] == seen_round_ || stays(n)) continue;
          sum += die(n);
          more = true;
        }
    }
    mark_read(matched, first_new);
    for (auto n : matched) {
      if (seen_[n] >= seen_round_) continue;
      seen_[n] = seen_round_;
      sum += of(n) / (1.0 + users_left(n));
    }
    return sum;
  }

 private:
  [[nodiscard]] bool dies(node_id n) const { return seen_[n] == seen_round_ + 1; }
  double die(node_id n) {
    seen_[n] = seen_round_ + 1;
    return of(n);
  }
  // Whether a result of `n` is used that is not among `roots`.
  [[nodiscard]] bool has_other_users(node_id n, span<value_id const> roots) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const v = image_.result(n, i);
      bool replaced = image_.unused(v);
      for (auto root : roots) replaced = replaced || root == v;
      if (!replaced) return true;
    }
    return false;
  }
  // Marks what the nodes from `first_new` on are computed from, as far back as the first matched node that stays. A
  // node that stays and is not marked yet may die later; of very many nodes, all count as marked.
  void mark_read(span<node_id const> matched, node_id first_new) {
    auto earliest = ~std::uint64_t{0};
    for (auto n : matched)
      if (!dies(n) && image_.node(n).order < earliest) earliest = image_.node(n).order;
    waiting_.clear();
    auto const wait_for_operands = [&](node_id n) {
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
        auto const v = image_.operand(n, i);
        auto const p = v == absent ? absent : image_.producer(v);
        if (p == absent || p >= first_new || image_.node(p).order < earliest || seen_[p] == seen_round_ + 2) continue;
        seen_[p] = seen_round_ + 2;
        waiting_.push_back(p);
      }
    };
    for (auto n = first_new; n < image_.node_count(); ++n) wait_for_operands(n);
    for (int left = 1024; !waiting_.empty() && left != 0; --left) {
      auto const n = waiting_.back();
      waiting_.pop_back();
      wait_for_operands(n);
    }
    if (!waiting_.empty())
      for (auto n : matched) seen_[n] = seen_round_ + 2;
  }

  // A change of shape, or one element repeated.
  [[nodiscard]] bool is_free(node_id n) const {
    auto const op = op_of(image_, n);
    if (is_view(op)) return true;
    if (op != opcode::expand || image_.operand_count(n) == 0 || image_.operand(n, 0) == absent ||
        !facts_.has_rank(image_.operand(n, 0)))
      return false;
    for (auto e : facts_.shape(image_.operand(n, 0)))
      if (!(e == extent(1))) return false;
    return true;
  }
  [[nodiscard]] bool stays(node_id n) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const& v = image_.value(image_.result(n, i));
      if (v.outputs != 0) return true;
      for (auto at = v.first_use; at != absent; at = image_.use_at(at).next)
        if (!dies(image_.use_at(at).node)) return true;
    }
    return false;
  }
  [[nodiscard]] int users_left(node_id n) const {
    int left = 0;
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      left += image_.value(image_.result(n, i)).outputs;
      image_.for_each_user(image_.result(n, i), [&](node_id user) { left += dies(user) ? 0 : 1; });
    }
    return left;
  }
  // Counted once for all values of one shape.
  [[nodiscard]] double elements(value_id v) {
    auto const shape = facts_.shape_number(v);
    if (shape == 0) return static_cast<double>(unknown_extent * unknown_extent);
    if (shape >= elements_.size()) elements_.resize(shape + 1, -1);
    auto& count = elements_[shape];
    if (count < 0) {
      count = 1;
      for (auto e : facts_.shape(v)) count *= estimate(e);
    }
    return count;
  }
  // What is put together from others is as many as these tell: a product of axes has as many elements as they have.
  [[nodiscard]] double estimate(extent e) const {
    std::int64_t count = 0;
    bool const told = facts_.symbols().value(
        e, [](extent) { return unknown_extent; }, count);
    return static_cast<double>(told && count >= 0 ? count : unknown_extent);
  }

  Image const& image_;
  facts const& facts_;
  plain_vector<double> elements_;     // by number of a shape; negative: not counted yet
  plain_vector<std::uint32_t> seen_;  // by node: in this round, and whether it dies, or is read by what is new
  plain_vector<node_id> waiting_;
  std::uint32_t seen_round_ = 0;
};
using traffic = basic_traffic<graph_image>;

}  // namespace fuse::inline v0::detail
