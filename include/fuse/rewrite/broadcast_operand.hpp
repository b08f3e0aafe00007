// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/machine.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/casts.hpp>
#include <fuse/rewrite/constant_contents.hpp>
#include <fuse/rewrite/repeats_unasked.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0::detail {

/// The shape and element type that an operand is broadcast to.
struct operand_form {
  element_type type = element_type::unknown;
  std::size_t rank = 1;
  span<extent const> extents{};  ///< as many, or none where they are not known at all
  std::size_t behind = 0;        ///< axes of one element that the values have behind these
};

/// The last `rank` axes of `like`, in element type `type`.
[[nodiscard]] inline operand_form last_axes(facts const& known, value_id like, element_type type, std::size_t rank) {
  auto const shape = known.shape(like);
  return {type, rank, shape.size() >= rank ? shape.subspan(shape.size() - rank) : span<extent const>{}};
}

/// Axis `axis` of `like` alone; false where there is none.
[[nodiscard]] inline bool axis_alone(facts const& known, value_id like, element_type type, std::size_t axis,
                                     operand_form& into) {
  auto const shape = known.shape(like);
  if (axis >= shape.size()) return false;
  into = {type, 1, shape.subspan(axis, 1), shape.size() - axis - 1};
  return true;
}

/// The operator that puts a factor of exponent `weight` to a product, or an addend of that sign to a sum.
[[nodiscard]] constexpr opcode joining(op_group kind, double weight) {
  if (kind == op_group::product) return weight > 0 ? opcode::mul : opcode::div;
  return weight > 0 ? opcode::add : opcode::sub;
}

/// Makes an operand of a product or sum of values, broadcast to a stated shape and in a stated element type. Constants
/// are computed in double and rounded once; one of a wider type must fit exactly. Computed values stay nodes. Rules ask
/// for it by `row`, and by `row_along`, whose values have more axes than the operand.
template <class Image>
class basic_broadcast_operand {
 public:
  basic_broadcast_operand(Image& image, facts& known, dialect const& names, target to, basic_transaction<Image>& into)
      : image_(image), facts_(known), names_(names), to_(to), into_(into), constants_(image, known) {}

  /// New nodes go beside node `place`.
  void begin(node_id place) { place_ = place; }

  /// One number everywhere.
  built<value_id> filled(double number, operand_form const& form) {
    set_form(form);
    combined_ = false;
    return constant_operand(dense::of(number), true);
  }

  /// Nothing, which makes no operand unless one is `required`, is the neutral element of `kind`.
  built<value_id> make(span<rest_member const> members, op_group kind, operand_form const& form, bool required) {
    auto const neutral = kind == op_group::product ? 1.0 : 0.0;
    if (members.empty() && !required) return absent;
    set_form(form);
    for (auto e : extents_)
      if (e == extent(0)) return objection{"an axis of row() has no elements"};
    if (behind_ == 0 && members.size() == 1 && members[0].weight == 1 && as_it_stands(members[0].value))
      return members[0].value;
    combined_ = members.size() > 1 || (members.size() == 1 && members[0].weight != 1);
    dense folded = dense::of(neutral);
    plain_vector<rest_member> computed;
    bool constants = false, exact = true;
    for (auto const& m : members) {
      auto const type = facts_.type(m.value);
      if (widens(widest_, type)) widest_ = type;
      dense contents;
      if (!constants_.read(m.value, contents)) {
        computed.push_back(m);
        continue;
      }
      if (!without_axes_behind(contents.shape))
        return objection{"a constant of row_along() does not lie along its axis"};
      if (widens(type_, type) && type != type_) exact = false;
      if (!fold(folded, contents, m.weight, kind))
        return objection{"the constants of row() do not broadcast to each other"};
      constants = true;
    }
    if (computed.empty()) return constant_operand(folded, exact);
    constants = constants && !all_are(folded, neutral);
    value_id joined = absent;
    if (constants) {
      auto made = constant(folded, exact);
      if (!made) return made;
      joined = *made;
    }
    for (double const sign : {1.0, -1.0})
      for (auto const& m : computed) {
        if ((m.weight > 0) != (sign > 0)) continue;
        auto made = join(joined, m, kind);
        if (!made) return made;
        joined = *made;
      }
    return in_shape(joined);
  }

 private:
  static bool all_are(dense const& of, double number) {
    for (auto each : of.elements)
      if (each != number) return false;
    return true;
  }

  // An objection that does not hold in the widest element type of the operand's values, where that is wider.
  [[nodiscard]] objection too_narrow(char const* why) const {
    return {why, widest_ != type_ ? widest_ : element_type::unknown};
  }

  void set_form(operand_form const& form) {
    type_ = widest_ = form.type;
    rank_ = form.rank;
    behind_ = form.behind;
    extents_.assign(form.extents);  // apart from the facts, whose spans end with the next node that is made
    whole_ = extents_.size() == rank_;
    shape_.clear();
    for (auto e : extents_) {
      whole_ = whole_ && e.known();
      if (e.known()) shape_.push_back(e.value());
    }
  }

  // Takes the axes of one element away that a shape has behind those of the operand, and before them; false where there
  // are others.
  [[nodiscard]] bool without_axes_behind(std::vector<std::int64_t>& shape) const {
    if (behind_ == 0) return true;
    for (std::size_t i = 0; i < behind_ && !shape.empty(); ++i) {
      if (shape.back() != 1) return false;
      shape.pop_back();
    }
    while (shape.size() > rank_ && shape[0] == 1) shape.erase(shape.begin());
    return shape.size() <= rank_;
  }
  // A computed value without them, in one axis.
  built<value_id> along_its_axis(value_id v) {
    if (behind_ == 0) return v;
    if (!facts_.has_rank(v)) return objection{"the shape of a computed operand of row_along() is not known"};
    auto const shape = facts_.shape(v);
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (i + behind_ + rank_ != shape.size() && !(shape[i] == extent(1)))
        return objection{"a computed operand of row_along() does not lie along its axis"};
    return shape.size() < 2 ? v : with_shape(opcode::reshape, v, {-1}, "to reshape a computed operand");
  }

  // A constant that has shape and type already.
  [[nodiscard]] bool as_it_stands(value_id v) const {
    if (!image_.value(v).constant || facts_.type(v) != type_ || !whole_) return false;
    auto const t = image_.source->constant(v);
    return t.shape.size() == shape_.size() && std::equal(shape_.begin(), shape_.end(), t.shape.begin());
  }

  static bool fold(dense& into, dense const& part, double weight, op_group kind) {
    dense const operands[2] = {into, part};
    auto const times = math::abs(weight);
    if (times == 1) return evaluate(joining(kind, weight), operands, into);
    if (kind != op_group::product) return false;
    dense const powered[2] = {part, dense::of(times)};
    dense power;
    if (!evaluate(opcode::pow, powered, power)) return false;
    dense const both[2] = {operands[0], power};
    return evaluate(joining(kind, weight), both, into);
  }

  built<value_id> constant_operand(dense folded, bool exact) {
    constexpr auto const* misfit = "the constants of row() do not broadcast to its axes";
    while (folded.shape.size() > rank_ && folded.shape[0] == 1) folded.shape.erase(folded.shape.begin());
    dense spread;
    if (whole_ && folded.shape.size() == 1 && shape_.size() != 1 && folded.elements.size() == count_of(shape_) &&
        folded.elements.size() != 1) {
      spread = {shape_, folded.elements};  // flat
    } else if (whole_) {
      if (!broadcast_to(folded, shape_, spread)) return objection{misfit};
    } else if (folded.elements.size() == 1) {
      spread = dense::of(folded.elements[0]);
    } else if (folded.shape.size() == rank_) {
      spread = std::move(folded);  // broadcasting in the graph has already tied the extents
    } else {
      return objection{misfit};
    }
    return constant(spread, exact);
  }

  built<value_id> constant(dense const& of, bool exact) {
    auto made = make_constant(type_, of);
    bool inexact = !exact && !made;
    for (std::size_t i = 0; made && i < of.elements.size(); ++i) {
      auto const wanted = of.elements[i];
      inexact = inexact || (!exact && wanted == wanted && (*made).number(i) != wanted);
      // One after the other they may well stay finite.
      if (!inexact && combined_ && !math::is_finite(wanted))
        return objection{"the constants of row() together are beyond the element type of what it is like"};
    }
    if (inexact) return too_narrow("a constant of row() is not exact in the element type of what it is like");
    if (!made) return objection{"of the constants of row() together, " + made.why().reason};
    return into_.constant_of(made.take());
  }

  // `joined`, if there is one, with another computed value.
  built<value_id> join(value_id joined, rest_member const& m, op_group kind) {
    if (m.weight != 1 && m.weight != -1) return objection{"a computed operand of row() is raised to a power"};
    auto const v = basic_cast_maker<Image>(image_, facts_, names_, to_, into_, place_).in_type(m.value, type_);
    if (v == absent) return too_narrow("a computed operand of row() has another element type than what it is like");
    auto flat = along_its_axis(v);
    if (!flat) return flat;
    if (joined == absent && m.weight == 1) return flat;
    if (joined == absent)
      return node(kind == op_group::product ? opcode::reciprocal : opcode::neg, {*flat},
                  "to invert a computed operand");
    return node(joining(kind, m.weight), {joined, *flat}, "to combine computed operands");
  }

  built<value_id> node(opcode op, std::initializer_list<value_id> operands, char const* what_for) {
    auto const* row = names_.emitted(op, image_.version, into_.target_here(to_));
    if (row == nullptr) return objection{std::string("the dialect has no operator ") + what_for + " of row()"};
    if (auto why = repeats_unasked(facts_, *row, {operands.begin(), operands.size()}); !why.empty())
      return objection{std::move(why)};
    operator_tag const tag{names_.code(row->name), static_cast<std::uint16_t>(op)};
    return image_.result(into_.node(tag, row->name, {operands.begin(), operands.size()}, {}, 1, place_));
  }

  // A computed value as it is, where it fits; what is flat gets the extents. A single element is expanded, or becomes a
  // scalar where the extents are not known: never [1].
  built<value_id> in_shape(value_id v) {
    if (!facts_.has_rank(v)) return objection{"the shape of a computed operand of row() is not known"};
    auto const shape = facts_.shape(v);
    std::size_t lead = 0;
    while (shape.size() - lead > rank_ && shape[lead] == extent(1)) ++lead;
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
      if (rank_ != 1) return objection{"the extents of row() are not known"};
      wanted = {-1};
    } else if (!single) {
      if (!whole_ || !is_flat(shape)) return objection{"a computed operand of row() does not broadcast to its axes"};
      wanted = shape_;
    }
    return with_shape(opcode::reshape, v, wanted, "to reshape a computed operand");
  }
  // One element repeated; by a product with ones where the dialect cannot expand.
  built<value_id> expanded(value_id v) {
    constexpr auto const* what_for = "to expand a computed operand";
    if (names_.emitted(opcode::expand, image_.version, into_.target_here(to_)) != nullptr)
      return with_shape(opcode::expand, v, shape_, what_for);
    std::vector<double> const ones(count_of(shape_), 1);
    return node(opcode::mul, {v, into_.constant_of(make_tensor(type_, shape_, ones))}, what_for);
  }
  built<value_id> with_shape(opcode op, value_id v, std::vector<std::int64_t> const& shape, char const* what_for) {
    tensor contents = make_tensor(std::vector<std::int64_t>{static_cast<std::int64_t>(shape.size())},
                                  span<std::int64_t const>(shape));
    return node(op, {v, into_.constant_of(std::move(contents))}, what_for);
  }

  // One axis of as many elements as the stated ones have together.
  [[nodiscard]] bool is_flat(span<extent const> shape) const {
    for (std::size_t i = 0; i + 1 < shape.size(); ++i)
      if (!(shape[i] == extent(1))) return false;
    return !shape.empty() && shape.back() == extent(static_cast<std::int64_t>(count_of(shape_)));
  }

  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  basic_constant_contents<Image> constants_;
  node_id place_ = absent;
  element_type type_ = element_type::unknown, widest_ = element_type::unknown;  // wanted, and of any value
  std::size_t rank_ = 1, behind_ = 0;
  plain_vector<extent> extents_;
  std::vector<std::int64_t> shape_;
  bool whole_ = false;     // all extents are known, and stand in `shape_`
  bool combined_ = false;  // of several values, or of one that is inverted
};
using broadcast_operand = basic_broadcast_operand<graph_image>;

}  // namespace fuse::inline v0::detail
