// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include <fuse/core/math.hpp>
#include <fuse/infer/axes.hpp>
#include <fuse/infer/congruence.hpp>
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
        congruent_(congruent),
        values_(values),
        groups_(groups),
        s_(state),
        axes_(image, known, names) {}

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
    // How often a count is missing: what is divided by one may be a mean, or what is multiplied by it a sum.
    int const counts = int{how.divided} - int{as.divided};
    if (!axes_.read(n, found.shape)) return false;
    bool apart = false;
    if (counts == 0) {
      if (found.factor != 1) return false;
    } else if (!axes_.any()) {
      return false;
    } else if (auto const number = axes_.elements(); !makes_up(number, counts, found.factor)) {
      apart = number != 0 && found.factor == 1 && from.member != no_instruction && (i.flags & instruction::alone) == 0;
      if (!apart) return false;
      auto const& member = rules_.code[from.member];
      if (!groups_.owe(member.a, math::pow(number, counts * member.number))) return false;
    }
    // None is no number of an axis.
    auto const axis = axes_.bits() != 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    if (!values_.bind_axes(i.c, axes_.bits(), axis)) return false;
    from.apart = apart;
    s_.registers[i.b] = {{image_.operand(n, 0), absent, static_cast<std::uint8_t>(how.of)}};
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
    auto const flags = static_cast<std::uint8_t>(i.flags & instruction::free);
    groups_.opener().open(f, {{found.value, found.shape}, op_group::product, i.through, flags, s_.region});
    s_.bounded = s_.bounded || f.bounded;
    if (f.negative()) return false;
    found = {absent, absent, 0, f.number(f.all())};
    for (std::uint8_t k = 0; k < f.count; ++k) {
      auto const& p = f.parts[k];
      if (p.leaf && !p.has_number) {
        if (found.value == absent)
          found.value = p.value, found.shape = p.shape;
        else if (found.shape != p.shape || !congruent_.same_bare(found.value, p.value))
          return false;
        found.power += p.weight * p.power;
      } else if (!p.leaf && p.leaves != 0) {
        s_.add_matched(image_.producer(p.value));
      }
    }
    return is_node(found.value) && groups_.may_leave_out(f, f.numbers);
  }

  program const& rules_;
  Image const& image_;
  congruence& congruent_;
  basic_value_steps<Image>& values_;
  basic_group_steps<Image>& groups_;
  match_state& s_;
  opened_group product_;
  basic_reduced_axes<Image> axes_;
};

}  // namespace fuse::inline v0::detail
