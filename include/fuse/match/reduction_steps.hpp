// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/infer/divided_sum.hpp>
#include <fuse/match/group_steps.hpp>

namespace fuse::inline v0::detail {

/// The step that looks for a reduction over axes which it keeps: by itself, because all axes are reduced and
/// broadcasting restores them, or because something puts extents of 1 where the axes were, here or further up. A mean
/// is also a sum that is divided by the number of its elements, also where that number stands elsewhere among the
/// factors. A sum of squares is a sum, of squares; their root squared is one, too.
template <class Image>
class basic_reduction_steps : public group_steps {
 public:
  basic_reduction_steps(program const& rules, Image const& image, facts const& known, dialect const& names)
      : group_steps(rules, image, known, names), opener_(rules_, image, known, filter_.sets(), congruent_, false) {}

 protected:
  bool reduction(instruction const& i) {
    auto found = scaled_reduction{stripped(i, true), stands_for_[i.a]};
    if (found.stands_for == summed_squares || !is_node(found.value)) return false;
    auto const wanted = static_cast<opcode>(i.op);
    bool const apart = found.stands_for == mean_with_number;
    if (apart)
      found.stands_for = absent;
    else if (op_of(image_, image_.producer(found.value)) != wanted && !below_factors(i, found))
      return false;
    auto const n = image_.producer(found.value);
    auto const op = op_of(image_, n);
    bool const squares =
        (op == opcode::sum_square && found.power == 1) || (op == opcode::l2_norm && (found.power == 2 || apart));
    if (!squares && ((op != wanted && op != opcode::sum) || found.power != 1)) return false;
    if (image_.operand_count(n) == 0) return false;
    bool const divided = wanted == opcode::mean && op != opcode::mean;
    if (!divided && (found.factor != 1 || apart)) return false;
    auto const operand = image_.operand(n, 0);
    bool keep = true;
    std::uint64_t axes = 0;
    auto const rank = facts_.rank(operand);
    if (reduction_axes(image_, facts_, names_, n, axes_, keep, listed_)) {
      if (divided && !apart && !divides_by(elements(operand), found.factor)) return false;
      for (auto axis : axes_) axes |= std::uint64_t{1} << (rank - 1 - axis);
      if (found.stands_for != absent) {
        if (!restores(found.stands_for, operand)) return false;
      } else if (!keep && static_cast<int>(axes_.size()) != rank) {
        return false;
      }
    } else if (divided || found.stands_for != absent || !axes_from_the_end(n, axes)) {
      return false;
    }
    auto& s = slots_[i.c];
    if (s.bound) {
      if (s.axes != axes && !(s.axes == 0 && s.number == -1 && axes == 1)) return false;
    } else if (auto* made = bind(i.c)) {
      made->axes = axes;
      if (axes == 0) made->number = std::numeric_limits<double>::quiet_NaN();  // none, which is no number of an axis
    } else {
      return false;
    }
    registers_[i.b] = squares ? found.value : operand;
    signs_[i.b] = 1;
    stands_for_[i.b] = squares ? summed_squares : absent;
    matched(n);
    return true;
  }

 private:
  // A reduction to a power, times a number.
  struct scaled_reduction {
    value_id value, stands_for;
    double power = 1, factor = 1;
  };

  [[nodiscard]] bool is_node(value_id v) const {
    return v != absent && image_.producer(v) != absent && image_.node(image_.producer(v)).region == region_;
  }

  // Opens the product at `found`: numbers, and one value, perhaps several times.
  bool below_factors(instruction const& i, scaled_reduction& found) {
    auto const op = op_of(image_, image_.producer(found.value));
    if (opening_of(op, op_group::product).when == opens_with::none && !may_keep_elements(op)) return false;
    auto& f = product_;
    f.clips = f.divides = f.scales = false;
    f.free = (i.flags & instruction::free) != 0;
    opener_.open(f, found.value, found.stands_for, op_group::product, i.through, region_, frame_needs::all);
    bounded_ = bounded_ || f.bounded;
    if (f.negative()) return false;
    found = {absent, absent, 0, 1};
    std::uint32_t numbers = 0;
    for (std::uint8_t k = 0; k < f.count; ++k) {
      auto const& p = f.parts[k];
      if (p.leaf && p.has_number) {
        found.factor = p.weight == -1 ? found.factor / p.number : found.factor * math::pow(p.number, p.weight);
        numbers |= p.leaves;
      } else if (p.leaf) {
        if (found.value == absent)
          found.value = p.value, found.stands_for = p.stands_for;
        else if (found.stands_for != p.stands_for || !congruent_.same(bare(found.value), bare(p.value)))
          return false;
        found.power += p.weight;
      } else if (p.leaves != 0) {
        matched(image_.producer(p.value));
      }
    }
    return is_node(found.value) && may_leave_out(f, numbers);
  }

  // How many elements the axes in `axes_` of `operand` have; 0 where that is not known.
  [[nodiscard]] double elements(value_id operand) const {
    double count = 1;
    auto const extents = facts_.shape(operand);
    for (auto axis : axes_) {
      auto const e = extents[static_cast<std::size_t>(axis)];
      count *= e.known() ? static_cast<double>(e.value()) : 0;
    }
    return count;
  }

  // Whether `v` has the shape of `operand` with the axes in `axes_` reduced to 1.
  [[nodiscard]] bool restores(value_id v, value_id operand) const {
    if (!facts_.has_rank(v) || facts_.rank(v) != facts_.rank(operand)) return false;
    auto const now = facts_.shape(v), before = facts_.shape(operand);
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < now.size(); ++axis) {
      bool const reduced = next < axes_.size() && axes_[next] == static_cast<int>(axis);
      if (reduced) ++next;
      if (!(now[axis] == (reduced ? extent(1) : before[axis]))) return false;
    }
    return true;
  }

  // Where the rank is not known: axes that count from the last, kept.
  bool axes_from_the_end(node_id n, std::uint64_t& axes) {
    double keep = 1;
    if (facts_.rank(image_.operand(n, 0)) >= 0 || !read_number(image_, facts_, names_, n, "keepdims", keep) ||
        keep == 0)
      return false;
    if (!read_integers(image_, facts_, names_, n, "axes", listed_) || listed_.empty()) return false;
    for (auto axis : listed_) {
      if (axis >= 0 || axis < -64) return false;
      axes |= std::uint64_t{1} << (-1 - axis);
    }
    return true;
  }

  frame_opener opener_;
  opened_group product_;
  std::vector<int> axes_;
  std::vector<std::int64_t> listed_;
};
using reduction_steps = basic_reduction_steps<graph_image>;

}  // namespace fuse::inline v0::detail
