// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0 {

/// Decides whether two values are the same computation: the same operator with the same parameters on operands of which
/// that is true in turn; constants by type, shape and content. It looks at most 64 pairs deep into the graph and says
/// no beyond.
template <class Image>
class basic_congruence {
 public:
  basic_congruence(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] bool same(value_id a, value_id b) {
    if (a == b) return true;
    budget_ = 64;
    return compare(a, b, 0);
  }

 private:
  bool compare(value_id a, value_id b, int depth) {
    if (a == b) return true;
    if (a == absent || b == absent || budget_-- == 0 || depth == 32) return false;
    auto const &x = image_.value(a), &y = image_.value(b);
    if (x.constant && y.constant) return same_contents(a, b);
    auto const n = x.producer, m = y.producer;
    if (n == absent || m == absent) return false;
    auto const &p = image_.node(n), &q = image_.node(m);
    if (p.tag.name == 0 || p.tag.name != q.tag.name || p.operand_count != q.operand_count || p.has_bodies ||
        q.has_bodies || p.region != q.region || image_.result_index(a) != image_.result_index(b))
      return false;
    if (!same_parameters(n, m)) return false;
    for (std::uint32_t i = 0; i < p.operand_count; ++i)
      if (!compare(image_.operand(n, i), image_.operand(m, i), depth + 1)) return false;
    return true;
  }

  [[nodiscard]] bool same_contents(value_id a, value_id b) const {
    auto const s = image_.source->constant(a), t = image_.source->constant(b);
    if (!s || !t || s.type != t.type || s.bytes.size() != t.bytes.size() || s.shape.size() != t.shape.size())
      return false;
    for (std::size_t i = 0; i < s.shape.size(); ++i)
      if (s.shape[i] != t.shape[i]) return false;
    return s.bytes.empty() || std::memcmp(s.bytes.data(), t.bytes.data(), s.bytes.size()) == 0;
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
    if (known.shape == shape_rule::reduce) {
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
  std::vector<int> axes_, axes_too_;
  std::vector<std::int64_t> listed_;
  int budget_ = 0;
};
using congruence = basic_congruence<graph_image>;

}  // namespace fuse::inline v0
