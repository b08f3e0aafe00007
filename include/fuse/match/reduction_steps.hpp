// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/infer/congruence.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/match/group_steps.hpp>
#include <fuse/match/value_steps.hpp>

namespace fuse::inline v0::detail {

/// The step that looks for a reduction over axes which it keeps: by itself, because all axes are reduced and
/// broadcasting restores them, or because something puts extents of 1 where the axes were, here or further up. A sum or
/// a mean is any operator of the table of summings to a power, times numbers that make up the count of its elements;
/// these may stand elsewhere among the factors.
template <class Image>
class basic_reduction_steps {
 public:
  basic_reduction_steps(program const& rules, Image const& image, facts const& known, dialect const& names,
                        congruence& congruent, basic_value_steps<Image>& values, basic_group_steps<Image>& groups,
                        match_state& state)
      : rules_(rules),
        image_(image),
        facts_(known),
        names_(names),
        congruent_(congruent),
        values_(values),
        groups_(groups),
        s_(state) {}

  bool reduction(instruction const& i) {
    auto& from = s_.registers[i.a];
    scaled found{values_.stripped(i, true), from.shape, static_cast<double>(from.power)};
    auto const wanted = static_cast<opcode>(i.op);
    if (!is_node(found.value)) return false;
    if (op_of(found.value) != wanted && summing_of(op_of(found.value)).of == 0 && !below_factors(i, found))
      return false;
    auto const n = image_.producer(found.value);
    auto const op = op_of(found.value);
    summing const as = summing_of(wanted);
    summing how = op == wanted ? as : summing_of(op);
    if (op == wanted && (as.of == 0 || found.power == 1))
      how.of = 1, how.power = 1;  // whatever it is
    else if (!is_summing_of_others(wanted) || how.of == 0)
      return false;
    if (how.power * found.power != 1 || image_.operand_count(n) == 0) return false;
    auto const operand = image_.operand(n, 0);
    // How often a count is missing: what is divided by one may be a mean, or what is multiplied by it a sum.
    int const counts = int{how.divided} - int{as.divided};
    std::uint64_t axes = 0;
    if (!axes_of(n, operand, found.shape, axes)) return false;
    bool apart = false;
    if (counts == 0) {
      if (found.factor != 1) return false;
    } else if (axes_.empty()) {
      return false;
    } else if (auto const number = elements(operand); !makes_up(number, counts, found.factor)) {
      apart = number != 0 && found.factor == 1 && from.member != no_instruction && (i.flags & instruction::alone) == 0;
      if (!apart) return false;
      auto const& member = rules_.code[from.member];
      if (!groups_.owe(member.a, math::pow(number, counts * member.number))) return false;
    }
    if (!bind(i.c, axes)) return false;
    from.apart = apart;
    s_.registers[i.b] = {operand};
    s_.registers[i.b].power = static_cast<std::uint8_t>(how.of);
    s_.add_matched(n);
    return true;
  }

 private:
  // A reduction to a power, times a number.
  struct scaled {
    value_id value, shape;
    double power = 1, factor = 1;
  };

  [[nodiscard]] opcode op_of(value_id v) const { return v0::op_of(image_, image_.producer(v)); }
  [[nodiscard]] bool is_node(value_id v) const {
    return v != absent && image_.producer(v) != absent && image_.node(image_.producer(v)).region == s_.region;
  }

  // Opens the product at `found`: numbers, and one value, perhaps several times.
  bool below_factors(instruction const& i, scaled& found) {
    if (opening_of(op_of(found.value), op_group::product).when == opens_with::none &&
        !may_keep_elements(op_of(found.value)))
      return false;
    auto& f = product_;
    f.clips = f.divides = f.scales = false;
    f.free = (i.flags & instruction::free) != 0;
    groups_.opener().open(f, {found.value, found.shape}, op_group::product, i.through, s_.region, frame_needs::all);
    s_.bounded = s_.bounded || f.bounded;
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
          found.value = p.value, found.shape = p.shape;
        else if (found.shape != p.shape || !congruent_.same(values_.bare(found.value), values_.bare(p.value)))
          return false;
        found.power += p.weight * p.power;
      } else if (p.leaves != 0) {
        s_.add_matched(image_.producer(p.value));
      }
    }
    return is_node(found.value) && groups_.may_leave_out(f, numbers);
  }

  // The axes of `n` as bits, in `axes_` as well where the rank is known; false where they are not kept.
  bool axes_of(node_id n, value_id operand, value_id shape, std::uint64_t& axes) {
    bool keep = true;
    auto const rank = facts_.rank(operand);
    if (!reduction_axes(image_, facts_, names_, n, axes_, keep, listed_)) {
      axes_.clear();
      return shape == absent && axes_from_the_end(n, axes);
    }
    for (auto axis : axes_) axes |= std::uint64_t{1} << (rank - 1 - axis);
    if (shape != absent) return restores(shape, operand);
    return keep || static_cast<int>(axes_.size()) == rank;
  }

  bool bind(std::uint8_t slot, std::uint64_t axes) {
    auto const& known = s_.slot(slot);
    if (known.bound)
      return known.is_single() && (known.axes == axes || (known.axes == 0 && known.number == -1 && axes == 1));
    auto* made = s_.bind(slot);
    if (made == nullptr) return false;
    made->axes = axes;
    if (axes == 0) made->number = std::numeric_limits<double>::quiet_NaN();  // none, which is no number of an axis
    return true;
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

  // Whether `factor` is `count` to the power 1 or -1: exactly, or as float rounds that, or a root whose square it is.
  [[nodiscard]] static bool makes_up(double count, int power, double factor) {
    auto const rounded = [](double number) { return static_cast<double>(static_cast<float>(number)); };
    auto const is = [&](double wanted) { return factor == wanted || factor == rounded(wanted); };
    auto const root = rounded(math::sqrt(count)), inverse = rounded(1 / math::sqrt(count));
    if (count == 0) return false;
    if (power > 0)
      return is(count) || factor == 1 / rounded(1 / count) || factor == root * root ||
             factor == 1 / (inverse * inverse);
    return is(1 / count) || factor == inverse * inverse || factor == 1 / (root * root);
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

  program const& rules_;
  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  congruence& congruent_;
  basic_value_steps<Image>& values_;
  basic_group_steps<Image>& groups_;
  match_state& s_;
  opened_group product_;
  std::vector<int> axes_;
  std::vector<std::int64_t> listed_;
};
using reduction_steps = basic_reduction_steps<graph_image>;

}  // namespace fuse::inline v0::detail
