// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/graph/image.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/instruction.hpp>

namespace fuse::inline v0::detail {

/// A value as a match takes it.
struct reading {
  value_id value = absent;
  value_id shape = absent;  ///< in the shape of this one, which puts extents of 1 where a reduction took axes away
  double times = 1;         ///< its sign; of a product that is added, its coefficient
  std::uint16_t member = no_instruction;  ///< the step that found it as a factor
  std::uint8_t power = 1;                 ///< 2: its square, where an operator sums squares
  bool apart = false;  ///< a sum that numbers apart from it make a mean, or a mean that they make a sum

  [[nodiscard]] bool plain() const { return shape == absent && power == 1; }
};

/// A product or a sum of the graph, opened: a tree of its parts. Leaves are what is multiplied or added, inner parts
/// the operators in between (a capture may bind to either). A weight is an exponent in a product, a coefficient in a
/// sum.
struct opened_group {
  static constexpr std::uint8_t capacity = 32, leaf_capacity = 28;

  struct part {
    value_id value;  ///< absent: a number that a product has and no value is
    value_id shape;  ///< as of a reading
    double weight;
    double number;         ///< of a leaf that is a constant, the same number everywhere
    std::uint32_t leaves;  ///< which leaves it is made of
    std::uint8_t parent;
    std::uint8_t power;  ///< as of a reading
    bool leaf, has_number;

    [[nodiscard]] bool plain() const { return shape == absent && power == 1; }
  };

  part parts[capacity];
  std::uint8_t count, leaf_count;
  std::uint8_t through;
  op_group kind;
  bool clips;              ///< what is never negative is looked for below a Relu, too; set before it is opened
  bool free;               ///< what only repeats elements is passed whatever shape is left; set before it is opened
  bool divides;            ///< the pattern is one quotient: of integers, it may be one, too; set before it is opened
  bool scales;             ///< the pattern has a number: that of like terms is one, too; set before it is opened
  bool integers;           ///< its numbers are exact
  bool divided;            ///< it is a quotient of integers: its operands as they stand, nothing comes from elsewhere
  bool dropped;            ///< a neutral constant was left out
  bool repeated;           ///< what repeats elements was looked through, or numbers with axes were left out: a part may
                           ///< be larger than its leaves
  bool bounded;            ///< something was not opened because there is no room for more parts
  std::uint32_t minus;     ///< parts of a product that are minus what their leaves multiply to
  std::uint32_t closable;  ///< inner parts that may be matched as the operators that they are
  std::uint32_t passed_on;  ///< parts of an operator that changes nothing, or that broadcasting makes superfluous
  std::uint32_t neutral;    ///< leaves of 1 or 0 everywhere, of several elements: what is left of these is left out

  /// Whether an operator may be matched at part `k`.
  [[nodiscard]] bool whole(std::uint8_t k) const { return parts[k].leaf || (closable >> k & 1u) != 0; }
  [[nodiscard]] bool negative() const { return (minus & 1u) != 0; }
  [[nodiscard]] std::uint32_t all() const { return leaf_count == 0 ? 0 : (~0u >> (32 - leaf_count)); }
};

/// An opened group while a pattern's members are found in it.
struct frame {
  opened_group const* group = nullptr;
  std::uint32_t covered = 0;  ///< leaves that are matched
  std::uint32_t taken = 0;    ///< parts that are matched
  double sign = 1;            ///< product: of the whole, or its coefficient; sum: what weights are multiplied by
  double owed = 1;            ///< product: what its numbers make besides those of the pattern, see reading::apart
  std::uint16_t member = no_instruction;  ///< sum: of the reading that it opens

  [[nodiscard]] std::uint32_t left() const { return group->all() & ~covered; }
};

}  // namespace fuse::inline v0::detail
