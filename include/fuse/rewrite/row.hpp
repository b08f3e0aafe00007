// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/machine.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/rewrite/casts.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0::detail {

/// Makes one row of a product or sum of values: what a norm takes as scale or bias. Constants are computed in double
/// and rounded once; a constant that is wider than the row must fit exactly. Computed factors stay nodes.
template <class Image>
class basic_row_maker {
 public:
  basic_row_maker(Image& image, facts& known, dialect const& names, target to, basic_transaction<Image>& into,
                  node_id place)
      : image_(image), facts_(known), names_(names), to_(to), into_(into), place_(place) {}

  /// Forgets the last row; new nodes go beside node `place`.
  void begin(node_id place) {
    place_ = place;
    reason.clear();
    wider = false;
    widest = element_type::unknown;
  }

  std::string reason;  ///< why there is no row
  bool wider = false;  ///< ... because something is wider than the norm's input
  element_type widest = element_type::unknown;

  /// `axes`: how many trailing axes of `like` are normalised. Returns absent with a reason, or without one for no row
  /// at all.
  value_id make(span<rest_member const> members, op_group kind, value_id like, element_type type, int axes,
                bool required) {
    type_ = type;
    auto const neutral = kind == op_group::product ? 1.0 : 0.0;
    if (members.empty() && !required) return absent;
    known_shape(like, axes);
    for (auto e : extents_)
      if (e == extent(0)) return fail("a normalised axis has no elements");
    if (members.size() == 1 && members[0].weight == 1 && as_it_stands(members[0].value)) return members[0].value;
    combined_ = members.size() > 1 || (members.size() == 1 && members[0].weight != 1);
    dense folded = dense::of(neutral);
    plain_vector<rest_member> computed;
    bool constants = false, exact = true;
    for (auto const& m : members) {
      if (widens(widest == element_type::unknown ? type_ : widest, facts_.type(m.value))) widest = facts_.type(m.value);
      dense factor;
      if (!contents(m.value, factor)) {
        computed.push_back(m);
        continue;
      }
      if (widens(type_, facts_.type(m.value)) && facts_.type(m.value) != type_) exact = false;
      if (!fold(folded, factor, m.weight, kind))
        return fail("the constants of a scale or bias do not broadcast to each other");
      constants = true;
    }
    if (computed.empty()) return constant_row(folded, exact);
    constants = constants && !all_are(folded, neutral);
    if (constants || computed.size() > 1 || computed[0].weight != 1)
      return computed_product(computed, folded, constants, exact, kind);
    auto const v = in_type(computed[0].value);
    if (v == absent) return fail_wider("a computed scale or bias has another element type than the norm");
    return reshaped(v);
  }

 private:
  value_id fail(char const* why) {
    reason = why;
    return absent;
  }

  static bool all_are(dense const& of, double number) {
    for (auto each : of.elements)
      if (each != number) return false;
    return true;
  }

  value_id fail_wider(char const* why) {
    wider = widest != type_ && widest != element_type::unknown;
    return fail(why);
  }

  void known_shape(value_id like, int axes) {
    row_.clear();
    extents_.clear();
    auto const shape = facts_.shape(like);
    whole_ = facts_.has_rank(like) && static_cast<int>(shape.size()) >= axes;
    axes_ = axes;
    if (!whole_) return;
    for (std::size_t i = shape.size() - static_cast<std::size_t>(axes); i < shape.size(); ++i) {
      extents_.push_back(shape[i]);
      if (shape[i].known())
        row_.push_back(shape[i].value());
      else
        whole_ = false;
    }
  }

  // A constant, or what elementwise operators and changes of shape make of constants.
  bool contents(value_id v, dense& into) const {
    int left = 64;
    return contents(v, into, 0, left);
  }
  // At most 8 operators deep and `left` values in all: operands may be shared, over and over.
  bool contents(value_id v, dense& into, int depth, int& left) const {
    if (left-- == 0) return false;
    double number = 0;
    if (depth == 0 && facts_.uniform(v, number)) {  // whatever its shape
      into = dense::of(number);
      return true;
    }
    if (image_.value(v).constant) {
      auto const t = image_.source->constant(v);
      if (!t || t.size() != count_of(t.shape) || !is_floating(t.type)) return false;
      into = dense::of(t);
      return true;
    }
    if (facts_.number(v, number)) {
      into = dense::of(number);
      return true;
    }
    auto const n = image_.producer(v);
    if (n == absent || depth == 8 || !is_floating(facts_.type(v))) return false;
    auto const op = op_of(image_, n);
    bool const moves = op == opcode::identity || op == opcode::flatten || op == opcode::reshape ||
                       op == opcode::squeeze || op == opcode::unsqueeze || op == opcode::expand;
    auto const count = moves || op == opcode::cast ? 1 : image_.operand_count(n);
    if (image_.operand_count(n) == 0 || count > 8) return false;
    std::vector<dense> operands(count);
    for (std::uint32_t i = 0; i < count; ++i)
      if (image_.operand(n, i) == absent || !contents(image_.operand(n, i), operands[i], depth + 1, left)) return false;
    if (moves) return reshaped_to(v, operands[0], into);
    if (op == opcode::cast) {
      into = dense::of(make_tensor(facts_.type(v), operands[0].shape, operands[0].elements));
      return true;
    }
    if (op != opcode::sum_of) return evaluate(op, operands, into);
    into = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      dense const both[2] = {into, operands[i]};
      if (!evaluate(opcode::add, both, into)) return false;
    }
    return true;
  }
  bool reshaped_to(value_id v, dense const& from, dense& into) const {
    std::vector<std::int64_t> shape;
    if (!facts_.has_rank(v)) return false;
    for (auto e : facts_.shape(v)) {
      if (!e.known()) return false;
      shape.push_back(e.value());
    }
    if (op_of(image_, image_.producer(v)) == opcode::expand) return broadcast_to(from, shape, into);
    if (count_of(shape) != from.elements.size()) return false;
    into = {std::move(shape), from.elements};
    return true;
  }

  // A constant that needs no new one: the row itself.
  bool as_it_stands(value_id v) const {
    if (!image_.value(v).constant || facts_.type(v) != type_ || !whole_) return false;
    auto const t = image_.source->constant(v);
    return t.shape.size() == row_.size() && std::equal(row_.begin(), row_.end(), t.shape.begin());
  }

  static bool fold(dense& into, dense const& factor, double weight, op_group kind) {
    dense const operands[2] = {into, factor};
    auto const op = kind == op_group::product ? (weight > 0 ? opcode::mul : opcode::div)
                    : weight > 0              ? opcode::add
                                              : opcode::sub;
    auto const times = math::abs(weight);
    if (times == 1) return evaluate(op, operands, into);
    if (kind != op_group::product) return false;
    dense const powered[2] = {factor, dense::of(times)};
    dense power;
    if (!evaluate(opcode::pow, powered, power)) return false;
    dense const both[2] = {operands[0], power};
    return evaluate(op, both, into);
  }

  value_id constant_row(dense folded, bool exact) {
    // Leading ones are no part of a row.
    while (folded.shape.size() > static_cast<std::size_t>(axes_) && folded.shape[0] == 1)
      folded.shape.erase(folded.shape.begin());
    dense row;
    if (whole_ && folded.shape.size() == 1 && row_.size() != 1 && folded.elements.size() == count_of(row_) &&
        folded.elements.size() != 1) {
      row = {row_, folded.elements};  // a flat row
    } else if (whole_) {
      if (!broadcast_to(folded, row_, row)) return fail("a scale or bias is not one row of the normalised axes");
    } else if (folded.elements.size() == 1) {
      row = dense::of(folded.elements[0]);
    } else if (static_cast<int>(folded.shape.size()) == axes_) {
      row = folded;  // broadcasting against the norm has already tied the extents
    } else {
      return fail("a scale or bias is not one row of the normalised axes");
    }
    return constant(row, exact);
  }

  value_id constant(dense const& of, bool exact) {
    auto made = make_tensor(type_, of.shape, of.elements);
    if (made.type == element_type::unknown) return fail("a scale or bias has an element type without constants");
    for (std::size_t i = 0; (combined_ || !exact) && i < of.elements.size(); ++i) {
      auto const number = made.number(i);
      if (!exact && number != of.elements[i] && of.elements[i] == of.elements[i])
        return fail_wider("a constant scale or bias is not exact in the norm's element type");
      // One after the other they may well stay finite.
      if (combined_ && !math::is_finite(number))
        return fail("the constants of a scale or bias together are beyond the norm's element type");
    }
    return into_.constant_of(std::move(made));
  }

  // The value in the row's own element type: below a Cast that widened it, or widened by one.
  value_id in_type(value_id v) {
    auto const below = narrowed(v);
    if (below != absent || !widens(facts_.type(v), type_)) return below;
    return basic_cast_maker<Image>(image_, facts_, names_, to_, into_, place_).make(v, type_);
  }
  value_id narrowed(value_id v) const {
    while (image_.producer(v) != absent && op_of(image_, image_.producer(v)) == opcode::identity &&
           image_.operand_count(image_.producer(v)) != 0 && image_.operand(image_.producer(v), 0) != absent)
      v = image_.operand(image_.producer(v), 0);
    for (int i = 0; i < 8 && facts_.type(v) != type_; ++i) {
      auto const n = image_.producer(v);
      if (n == absent || image_.operand_count(n) == 0) return absent;
      auto const op = op_of(image_, n);
      auto const below = image_.operand(n, 0);
      if (below == absent ||
          (op != opcode::identity && !(op == opcode::cast && widens(facts_.type(below), facts_.type(v)))))
        return absent;
      v = below;
    }
    return facts_.type(v) == type_ ? v : absent;
  }

  value_id computed_product(plain_vector<rest_member> const& computed, dense const& folded, bool constants, bool exact,
                            op_group kind) {
    value_id product = absent;
    if (constants && (product = constant(folded, exact)) == absent) return absent;
    for (int pass = 0; pass < 2; ++pass)
      for (auto const& m : computed) {
        if ((m.weight > 0) != (pass == 0)) continue;
        if (m.weight != 1 && m.weight != -1) return fail("a computed scale is raised to a power");
        auto const v = in_type(m.value);
        if (v == absent) return fail_wider("a computed scale or bias has another element type than the norm");
        if (product == absent && m.weight == 1) {
          product = v;
          continue;
        }
        if (product == absent) {
          product = node(kind == op_group::product ? opcode::reciprocal : opcode::neg, {v});
          if (product == absent) return fail("the dialect has no operator to invert a computed scale or bias");
          continue;
        }
        auto const op = kind == op_group::product ? (m.weight > 0 ? opcode::mul : opcode::div)
                        : m.weight > 0            ? opcode::add
                                                  : opcode::sub;
        product = node(op, {product, v});
        if (product == absent) return fail("the dialect has no operator to combine a computed scale or bias");
      }
    return reshaped(product);
  }

  value_id node(opcode op, std::initializer_list<value_id> operands) {
    auto const* row = names_.emitted(op, image_.version, into_.target_here(to_));
    if (row == nullptr) return absent;
    operator_tag const tag{names_.code(row->name), static_cast<std::uint16_t>(op)};
    return image_.result(into_.node(tag, row->name, {operands.begin(), operands.size()}, {}, 1, place_));
  }

  // A computed row as it is; what is flat gets the normalised extents. A single element is
  // expanded, or becomes a scalar where the extents are not known: never [1].
  value_id reshaped(value_id v) {
    if (!facts_.has_rank(v)) return fail("the shape of a computed scale or bias is not known");
    auto const shape = facts_.shape(v);
    std::size_t lead = 0;
    while (shape.size() - lead > static_cast<std::size_t>(axes_) && shape[lead] == extent(1)) ++lead;
    bool single = true;
    for (auto e : shape) single = single && e == extent(1);
    bool fits = shape.size() - lead == extents_.size();
    for (std::size_t i = 0; fits && i < extents_.size(); ++i) fits = shape[lead + i] == extents_[i];
    if (fits && (whole_ || !(single && shape.size() == 1)))
      return v;  // (H), (1, H) and (1, 1, H) run everywhere, [1] for an unknown H does not
    if (single && whole_) return expanded(v);
    if (single && shape.empty()) return v;
    std::vector<std::int64_t> wanted;
    if (fits) {
      if (whole_)
        wanted = row_;
      else if (axes_ == 1)
        wanted = {-1};
      else
        return fail("the extents of a computed scale or bias are not known");
    } else if (!single && whole_ && flat(shape)) {
      wanted = row_;
    } else if (!single) {
      return fail("a computed scale or bias is not one row of the normalised axes");
    }
    return with_shape(opcode::reshape, v, wanted);
  }
  // One element repeated; by a product with ones where the dialect cannot expand.
  value_id expanded(value_id v) {
    if (names_.emitted(opcode::expand, image_.version, into_.target_here(to_)) != nullptr)
      return with_shape(opcode::expand, v, row_);
    dense ones;
    if (!broadcast_to(dense::of(1), row_, ones)) return absent;
    auto const made = node(opcode::mul, {v, into_.constant_of(make_tensor(type_, ones.shape, ones.elements))});
    return made == absent ? fail("the dialect has no operator to expand a computed scale or bias") : made;
  }
  value_id with_shape(opcode op, value_id v, std::vector<std::int64_t> const& shape) {
    tensor contents = make_tensor(std::vector<std::int64_t>{static_cast<std::int64_t>(shape.size())},
                                  span<std::int64_t const>(shape));
    auto const made = node(op, {v, into_.constant_of(std::move(contents))});
    return made == absent ? fail("the dialect has no operator to reshape a computed scale or bias") : made;
  }

  // One row of as many elements as the normalised axes have together.
  [[nodiscard]] bool flat(span<extent const> shape) const {
    for (std::size_t i = 0; i + 1 < shape.size(); ++i)
      if (!(shape[i] == extent(1))) return false;
    return !shape.empty() && shape.back() == extent(static_cast<std::int64_t>(count_of(row_)));
  }

  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  node_id place_;
  element_type type_ = element_type::unknown;
  std::vector<std::int64_t> row_;
  std::vector<extent> extents_;
  int axes_ = 1;
  bool whole_ = false;
  bool combined_ = false;  // of several, or of one that is inverted
};
using row_maker = basic_row_maker<graph_image>;

}  // namespace fuse::inline v0::detail
