// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/math.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/match/filter/frame_needs.hpp>
#include <fuse/match/filter/operator_sets.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/instruction.hpp>

namespace fuse::inline v0::detail {

/// A value, or its square where an operator sums squares, in the shape that it is met in.
struct shaped_value {
  value_id value = absent;
  value_id shape = absent;  ///< of this one, which puts extents of 1 where a reduction took axes away
  std::uint8_t power = 1;

  [[nodiscard]] bool plain() const { return shape == absent && power == 1; }
  friend bool operator==(shaped_value const&, shaped_value const&) = default;
};

/// A value as a match takes it.
struct reading : shaped_value {
  double times = 1;                       ///< its sign; of a product that is added, its coefficient
  std::uint16_t member = no_instruction;  ///< the step that found it as a factor
  bool apart = false;  ///< a sum that numbers apart from it make a mean, or a mean that they make a sum

  /// A part, field by field: a copy of what was just written in parts waits for all of them, the row of 200 rules.
  void take(shaped_value const& part, double sign, std::uint16_t found_by) {
    value = part.value;
    shape = part.shape;
    power = part.power;
    times = sign;
    member = found_by;
    apart = false;
  }
};

/// A sum or product to open.
struct group_request {
  shaped_value of;
  op_group kind = op_group::none;
  std::uint8_t through = 0;  ///< set of operators to look through, 0: none
  std::uint8_t flags = 0;    ///< how: as of an instruction `group`
  std::uint32_t region = 0;
  frame_needs::needs sought = frame_needs::all;  ///< parts that have none of these below them stay closed

  [[nodiscard]] bool asks(std::uint8_t flag) const { return (flags & flag) != 0; }
  friend bool operator==(group_request const&, group_request const&) = default;
};

/// A product or a sum of the graph, opened: a tree of its parts. Leaves are what is multiplied or added, inner parts
/// the operators in between (a capture may bind to either). A weight is an exponent in a product, a coefficient in a
/// sum.
struct opened_group {
  static constexpr std::uint8_t capacity = 32, leaf_capacity = 28;

  struct part : shaped_value {  // no value: a number that a product has and no value is
    std::uint8_t parent = none;
    bool leaf = false, has_number = false;
    std::uint32_t leaves = 0;  ///< which leaves it is made of
    double weight = 1;
    double number = 0;  ///< of what is the same number everywhere
    static constexpr std::uint8_t none = 255;
  };

  group_request asked;
  part parts[capacity];
  operator_sets::sets there;  ///< the operators at one or the other of its parts
  std::uint8_t count, leaf_count;
  bool integers;           ///< its numbers are exact
  bool divided;            ///< it is a quotient of integers: its operands as they stand, nothing comes from elsewhere
  bool dropped;            ///< a neutral constant was left out
  bool repeated;           ///< what repeats elements was looked through, or numbers with axes were left out: a part may
                           ///< be larger than its leaves
  bool bounded;            ///< something was not opened because there is no room for more parts
  std::uint32_t numbers;   ///< leaves that are one number everywhere
  std::uint32_t minus;     ///< parts of a product that are minus what their leaves multiply to
  std::uint32_t closable;  ///< inner parts that may be matched as the operators that they are
  std::uint32_t passed_on;  ///< parts of an operator that changes nothing, or that broadcasting makes superfluous
  std::uint32_t neutral;    ///< leaves of 1 or 0 everywhere, of several elements: what is left of these is left out

  [[nodiscard]] bool sums() const { return asked.kind == op_group::sum; }
  /// Whether an operator may be matched at part `k`.
  [[nodiscard]] bool whole(std::uint8_t k) const { return parts[k].leaf || (closable >> k & 1u) != 0; }
  [[nodiscard]] bool negative() const { return (minus & 1u) != 0; }
  [[nodiscard]] std::uint32_t all() const { return leaf_count == 0 ? 0 : (~0u >> (32 - leaf_count)); }
  /// Behind the last part that is below part `k`, whose number is the next one.
  [[nodiscard]] std::uint8_t end_of(std::uint8_t k) const {
    auto end = static_cast<std::uint8_t>(k + 1);
    while (end < count && parts[end].parent >= k) ++end;
    return end;
  }
  /// What those of some leaves that are numbers add up or multiply to.
  [[nodiscard]] double number(std::uint32_t leaves) const {
    double made = sums() ? 0 : 1;
    for (auto const* p = parts; p != parts + count && (leaves & numbers) != 0; ++p) {
      if (!p->leaf || (p->leaves & leaves & numbers) == 0) continue;
      leaves &= ~p->leaves;
      made = sums()            ? made + p->weight * p->number
             : p->weight == -1 ? made / p->number
                               : made * math::pow(p->number, p->weight);
    }
    return made;
  }
};

/// How much of an opened group is matched.
struct frame_progress {
  std::uint32_t covered = 0;  ///< leaves that are matched
  std::uint32_t taken = 0;    ///< parts that are matched
  double sign = 1;            ///< product: of the whole, or its coefficient; sum: what weights are multiplied by
  double owed = 1;            ///< product: what its numbers make besides those of the pattern, see reading::apart
};

/// An opened group while a pattern's members are found in it.
struct frame : frame_progress {
  opened_group const* group = nullptr;
  std::uint16_t member = no_instruction;  ///< sum: of the reading that it opens

  [[nodiscard]] std::uint32_t left() const { return group->all() & ~covered; }
  /// The weight of a part as the pattern counts it.
  [[nodiscard]] double weight(opened_group::part const& p) const { return group->sums() ? p.weight * sign : p.weight; }
};

}  // namespace fuse::inline v0::detail
