// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/infer/bare_value.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0::detail {

/// Gives values in another element type, where that loses nothing: below what widened them, or by one Cast, one that is
/// there already or a new one in a transaction.
template <class Image>
class basic_cast_maker {
 public:
  basic_cast_maker(Image& image, facts& known, dialect const& names, target to, basic_transaction<Image>& into,
                   node_id place)
      : image_(image), facts_(known), names_(names), target_(to), into_(into), place_(place) {}

  /// `v` in element type `type`; absent where the dialect has no such operator.
  value_id make(value_id v, element_type type) {
    // Not a Cast of a Cast: onnxruntime's fusions look through one of two, and find no kernel.
    if (auto const below = bare_value(image_, facts_, v); widens(facts_.type(below), type)) v = below;
    if (facts_.type(v) == type) return v;
    if (auto const there = existing(v, type); there != absent) return there;
    auto const* row = names_.emitted(opcode::cast, image_.version, into_.target_here(target_));
    if (row == nullptr) return absent;
    std::string key = "to";
    for (auto const& s : row->parameters)
      if (s.parameter == "to" && !s.attribute.empty()) key = s.attribute;
    std::vector<attribute> attributes{{key, static_cast<std::int64_t>(type)}};
    if (!complete(*row, attributes).empty()) return absent;
    operator_tag const tag{names_.code(row->name), static_cast<std::uint16_t>(opcode::cast)};
    return image_.result(into_.node(tag, row->name, span<value_id const>(&v, 1), std::move(attributes), 1, place_));
  }

  /// `v` in element type `type`, below a Cast that widened it or widened by one; absent where it is neither.
  value_id in_type(value_id v, element_type type) {
    auto const below = narrowed(v, type);
    return below != absent || !widens(facts_.type(v), type) ? below : make(v, type);
  }

 private:
  // Below Identities, and what widened it: at most 8 operators.
  [[nodiscard]] value_id narrowed(value_id v, element_type type) const {
    while (first_below(v) != absent && op_of(image_, image_.producer(v)) == opcode::identity) v = first_below(v);
    for (int i = 0; i < 8 && facts_.type(v) != type; ++i) {
      auto const below = first_below(v);
      if (below == absent) return absent;
      auto const op = op_of(image_, image_.producer(v));
      if (op != opcode::identity && !(op == opcode::cast && widens(facts_.type(below), facts_.type(v)))) return absent;
      v = below;
    }
    return facts_.type(v) == type ? v : absent;
  }
  // The first operand of what computes `v`, or absent.
  [[nodiscard]] value_id first_below(value_id v) const {
    auto const n = image_.producer(v);
    return n == absent || image_.operand_count(n) == 0 ? absent : image_.operand(n, 0);
  }
  // New nodes are placed before what reads them, others must stand before the place.
  [[nodiscard]] value_id existing(value_id v, element_type type) const {
    value_id found = absent;
    image_.for_each_user(v, [&](node_id user) {
      auto const& n = image_.node(user);
      if (op_of(image_, user) != opcode::cast || n.region != image_.node(place_).region ||
          facts_.type(image_.result(user)) != type)
        return;
      if (user >= into_.first_node() || n.order < image_.node(place_).order) found = image_.result(user);
    });
    return found;
  }

  Image& image_;
  facts& facts_;
  dialect const& names_;
  target target_;
  basic_transaction<Image>& into_;
  node_id place_;
};

}  // namespace fuse::inline v0::detail
