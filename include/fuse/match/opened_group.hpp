// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/graph/image.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// What a value stands for in a match: itself (absent), itself in the shape of another value, which puts extents of 1
/// where reductions took axes away, the squares that it sums, or the mean that it makes with a number apart from it.
inline constexpr value_id summed_squares = absent - 1, mean_with_number = absent - 2;

/// A product or a sum of the graph, opened: a tree of its parts. Leaves are what is multiplied or added, inner parts
/// the operators in between (a capture may bind to either). A weight is an exponent in a product, a coefficient in a
/// sum.
struct opened_group {
  static constexpr std::uint8_t capacity = 32, leaf_capacity = 28;

  struct part {
    value_id value;       ///< absent: a number that a product has and no value is
    value_id stands_for;  ///< itself, the shape of a value, summed_squares or mean_with_number
    double weight;
    double number;         ///< of a leaf that is a constant, the same number everywhere
    std::uint32_t leaves;  ///< which leaves it is made of
    std::uint8_t parent;
    bool leaf, has_number;
  };

  part parts[capacity];
  std::uint8_t count, leaf_count;
  std::uint8_t through;
  op_group kind;
  bool clips;               ///< what is never negative is looked for below a Relu, too; set before it is opened
  bool free;                ///< what only repeats elements is passed whatever shape is left; set before it is opened
  bool divides;             ///< the pattern is one quotient: of integers, it may be one, too; set before it is opened
  bool scales;              ///< the pattern has a number: that of like terms is one, too; set before it is opened
  bool dropped;             ///< a neutral constant was left out
  bool repeated;            ///< what repeats elements was looked through: a part may be larger than its leaves
  bool bounded;             ///< something was not opened because there is no room for more parts
  std::uint32_t minus;      ///< parts of a product that are minus what their leaves multiply to
  std::uint32_t scaled;     ///< parts of a sum that are numbers times their one part, and may be taken as that
  std::uint32_t passed_on;  ///< parts of an operator that changes nothing, or that broadcasting makes superfluous
  std::uint32_t neutral;    ///< leaves of 1 or 0 everywhere, of several elements: what is left of these is left out

  /// Whether an operator may be matched at part `k`.
  [[nodiscard]] bool whole(std::uint8_t k) const { return parts[k].leaf || (scaled >> k & 1u) != 0; }
  [[nodiscard]] bool negative() const { return (minus & 1u) != 0; }
  [[nodiscard]] std::uint32_t all() const { return leaf_count == 0 ? 0 : (~0u >> (32 - leaf_count)); }
};

/// An opened group while a pattern's members are found in it.
struct frame {
  opened_group const* group = nullptr;
  std::uint32_t covered = 0;  ///< leaves that are matched
  std::uint32_t taken = 0;    ///< parts that are matched
  double sign = 1;            ///< product: of the whole, or its coefficient; sum: what weights are multiplied by

  [[nodiscard]] std::uint32_t left() const { return group->all() & ~covered; }
};

}  // namespace fuse::inline v0::detail
