// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/match/opened_group.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0 {

/// What a slot of a rule holds while matching.
struct binding {
  value_id value = absent;
  value_id bare = absent;  ///< below what is looked through: what a second occurrence is compared with
  double number = 0;
  std::uint64_t axes = 0;               ///< bit k: the k-th axis from the last; of a rest, its op_group
  std::uint8_t first = 0, members = 0;  ///< of a rest, or of a list: among all of them
  bool bound = false;
  bool listed = false;  ///< a list of integers; `number` is the first of them

  /// Not a list, unless of one integer.
  [[nodiscard]] bool is_single() const { return !listed || members == 1; }
};

/// A member of a rest: a value and its exponent in the product, or its sign in the sum.
struct rest_member {
  value_id value;
  double weight;
};

namespace detail {

/// What a search has found so far, and how to take it back. The steps write to it; who is given a match reads it.
class match_state {
 public:
  static constexpr std::size_t slot_capacity = lowered_rule::name_capacity, matched_capacity = 192, rest_capacity = 64,
                               frame_capacity = 32, integer_capacity = 256;

  // What is bound

  [[nodiscard]] binding const& slot(std::size_t at) const { return slots_[at]; }
  /// The value of a register; the first root is in register 1, or in 0 with what was looked through above it.
  [[nodiscard]] value_id value(std::uint8_t at) const { return registers[at].value; }
  [[nodiscard]] span<rest_member const> members(std::size_t at) const {
    return {rest_ + slots_[at].first, slots_[at].members};
  }
  /// The integers of a list.
  [[nodiscard]] span<std::int64_t const> integers(std::size_t at) const {
    if (!slots_[at].bound || !slots_[at].listed) return {};
    return {integers_ + slots_[at].first, slots_[at].members};
  }
  /// The members that were added last, from number `first` of all rests on.
  [[nodiscard]] span<rest_member const> members_from(std::uint16_t first) const {
    return {rest_ + first, static_cast<std::size_t>(rest_count_ - first)};
  }
  [[nodiscard]] std::uint16_t member_count() const { return rest_count_; }
  /// Nodes that the pattern's operators were found in, in the order in which they were met; a node may occur more than
  /// once.
  [[nodiscard]] span<node_id const> matched() const { return {matched_, matched_count_}; }
  /// The sum or product that a frame holds, of this search or an earlier one.
  [[nodiscard]] opened_group const& opened(std::uint8_t frame) const { return *frames[frame].group; }
  /// What is replaced is nothing that a name may stand for: the right side would read itself.
  [[nodiscard]] bool is_root(value_id v) const { return v == value(0) || v == value(1); }

  reading registers[256];
  frame frames[frame_capacity];
  std::uint32_t region = 0;  ///< where the root is
  bool exceeded = false;     ///< the search was cut off at a bound
  bool bounded = false;      ///< it looked into a sum or product that has more parts than were opened

  // Changes; false, or null, where there is no room for another one

  bool bind(std::uint8_t at, binding const& to) {
    if (!remember({at, true, {}})) return false;
    slots_[at] = to;
    return slots_[at].bound = true;
  }
  frame_progress* change(std::uint8_t frame) {
    return remember({frame, false, frames[frame]}) ? &frames[frame] : nullptr;
  }
  bool cover(std::uint8_t frame, std::uint32_t leaves, std::uint32_t taken) {
    auto* f = change(frame);
    if (f == nullptr) return false;
    f->covered |= leaves;
    f->taken |= taken;
    // What is taken whole keeps its minus sign.
    if ((std::popcount(taken & frames[frame].group->minus) & 1) != 0) f->sign = -f->sign;
    return true;
  }
  bool add_member(value_id v, double weight) {
    if (rest_count_ == rest_capacity) return exceeded = true, false;
    rest_[rest_count_++] = {v, weight};
    return true;
  }
  void drop_members(std::uint16_t from) { rest_count_ = from; }
  /// Binds the members from `first` on.
  bool bind_members(std::uint8_t at, std::uint16_t first, op_group kind) {
    return bind(at, {.axes = static_cast<std::uint64_t>(kind),
                     .first = static_cast<std::uint8_t>(first),
                     .members = static_cast<std::uint8_t>(rest_count_ - first)});
  }
  /// Binds a list of integers.
  bool bind_integers(std::uint8_t at, span<std::int64_t const> list) {
    if (list.size() >= integer_capacity - integer_count_) return exceeded = true, false;
    auto const first = static_cast<std::uint8_t>(integer_count_);
    for (auto each : list) integers_[integer_count_++] = each;
    return bind(at,
                {.number = list.size() == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(list[0]),
                 .first = first,
                 .members = static_cast<std::uint8_t>(list.size()),
                 .listed = true});
  }
  void add_matched(node_id n) {
    if (matched_count_ < matched_capacity)
      matched_[matched_count_++] = n;
    else
      exceeded = true;
  }

  // And back

  struct mark {
    std::uint16_t undo, matched, rest, integers;
  };
  [[nodiscard]] mark here() const { return {undo_count_, matched_count_, rest_count_, integer_count_}; }
  void rewind(mark const& to) {
    while (undo_count_ > to.undo) {
      auto const& u = undo_[--undo_count_];
      if (u.is_slot)
        slots_[u.at].bound = false;
      else
        static_cast<frame_progress&>(frames[u.at]) = u.before;
    }
    matched_count_ = to.matched;
    rest_count_ = to.rest;
    integer_count_ = to.integers;
  }

 private:
  static constexpr std::size_t undo_capacity = 512;

  // What a step changed and a failure takes back.
  struct undo {
    std::uint8_t at;
    bool is_slot;           // bound; else a frame
    frame_progress before;  // of that
  };

  bool remember(undo const& change) {
    if (undo_count_ == undo_capacity) return exceeded = true, false;
    undo_[undo_count_++] = change;
    return true;
  }

  std::uint16_t undo_count_ = 0, matched_count_ = 0, rest_count_ = 0, integer_count_ = 0;
  undo undo_[undo_capacity];
  node_id matched_[matched_capacity];
  rest_member rest_[rest_capacity];
  std::int64_t integers_[integer_capacity];
  binding slots_[slot_capacity];
};

}  // namespace detail
}  // namespace fuse::inline v0
