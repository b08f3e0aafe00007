// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>

#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/congruence.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0::detail {

/// Which other results move with a root: where a node of the same operator takes the place of another, it also takes
/// over the other results that are used, if it computes the same there.
template <class Image>
class basic_other_results {
 public:
  basic_other_results(Image const& image, facts const& known, dialect const& names, congruence& congruent,
                      basic_transaction<Image> const& changes)
      : image_(image), facts_(known), names_(names), congruent_(congruent), changes_(changes) {}

  /// Adds to `roots`, each of which is replaced by the value of `made` at its place, what else is replaced. Returns why
  /// that cannot be, or an empty text.
  [[nodiscard]] std::string take(plain_vector<value_id>& roots, plain_vector<value_id>& made) {
    auto const count = roots.size();
    for (std::size_t i = 0; i < count; ++i) {
      auto const n = image_.producer(made[i]), old = image_.producer(roots[i]);
      if (n == absent || old == absent) continue;
      bool const alike = image_.node(n).tag.op == image_.node(old).tag.op;
      for (std::uint32_t k = 0; k < image_.node(old).result_count; ++k) {
        auto const v = image_.result(old, k);
        if (contains(roots, v) || image_.unused(v)) continue;
        if (!alike || k >= image_.node(n).result_count) {
          if (count > 1) return "another result of the replaced node is used, which the new node does not have";
          continue;
        }
        if (!same_from_the_second_on(n, old))
          return "another result of the replaced node is used, and that of the new node is not provably the same";
        roots.push_back(v);
        made.push_back(image_.result(n, k));
      }
    }
    return {};
  }

 private:
  [[nodiscard]] static bool contains(plain_vector<value_id> const& all, value_id v) {
    for (auto each : all)
      if (each == v) return true;
    return false;
  }
  // Whether two nodes of one neutral operator, or of none, have the same results from the second on: they read the
  // same, but for what the first result alone depends on, by the same parameters.
  [[nodiscard]] bool same_from_the_second_on(node_id n, node_id old) {
    auto const op = op_of(image_, n);
    auto const of_first = info(op).of_first_result;
    if (n == old) return true;
    if (op == opcode::dropout || image_.node(n).has_bodies || image_.node(old).has_bodies) return false;
    auto const count = image_.operand_count(n), old_count = image_.operand_count(old);
    for (std::uint32_t i = 0; i < count || i < old_count; ++i) {
      if (i < 8 && (of_first >> i & 1u) != 0) continue;
      auto const a = i < count ? image_.operand(n, i) : absent, b = i < old_count ? image_.operand(old, i) : absent;
      if (a == b) continue;
      if (a == absent || b == absent) return false;
      if (!congruent_.same_now(a, b)) return false;
    }
    return of_first != 0 ? same_parameters(n, old) : same_attributes(n, old);
  }
  // As the neutral operator has them, whatever either dialect's operator calls them.
  [[nodiscard]] bool same_parameters(node_id n, node_id old) const {
    for (auto const& p : info(op_of(image_, n)).parameters) {
      double a = 0, b = 0;
      if (!read_number(image_, facts_, names_, n, p.name, a) || !read_number(image_, facts_, names_, old, p.name, b))
        return false;
      if (p.axis != axis_use::none) {
        auto const rank = facts_.rank(image_.operand(n, 0));
        if ((a < 0) != (b < 0) && rank < 0) return false;
        if (a < 0) a += rank;
        if (b < 0) b += rank;
      }
      if (static_cast<float>(a) != static_cast<float>(b)) return false;  // graphs keep them as floats
    }
    return true;
  }
  // Whether both have the same name and all attributes that the dialect lists for it.
  [[nodiscard]] bool same_attributes(node_id n, node_id old) const {
    if (image_.node(n).tag.name == 0 || image_.node(n).tag.name != image_.node(old).tag.name) return false;
    if (n < changes_.first_node()) return image_.source->same_attributes(n, old);
    auto const* row = names_.row(image_.node(n).tag.name, image_.version);
    if (row == nullptr || row->attributes->any || !changes_.says_the_same(n, old)) return false;
    for (auto const& a : row->attributes->all) {
      auto const there = image_.source->attribute_of(old, a.name), given = image_.source->attribute_of(n, a.name);
      if (there.index() != given.index()) return false;
    }
    return true;
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  congruence& congruent_;
  basic_transaction<Image> const& changes_;
};
using other_results = basic_other_results<graph_image>;

}  // namespace fuse::inline v0::detail
