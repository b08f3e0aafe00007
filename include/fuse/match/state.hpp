// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/match/frame.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0 {

/// What a slot of a rule holds while matching.
struct binding {
  value_id value = absent;
  value_id bare = absent;  ///< below what is looked through: what a second occurrence is compared with
  double number = 0;
  std::uint64_t axes = 0;               ///< bit k: the k-th axis from the last; of a rest, its op_group
  std::uint8_t first = 0, members = 0;  ///< of a rest: in the machine's list
  bool bound = false;
};

/// A member of a rest: a value and its exponent in the product, or its sign in the sum.
struct rest_member {
  value_id value;
  double weight;
};

namespace detail {

/// Told where matching failed, for explanations; see match/explain.hpp.
class failure_listener {
 public:
  failure_listener() = default;
  failure_listener(failure_listener const&) = delete;
  failure_listener& operator=(failure_listener const&) = delete;
  virtual ~failure_listener() = default;
  virtual void failed(std::uint16_t instruction, value_id at, int score) = 0;
};

/// What a search has found so far, and how to take it back.
class match_state {
 public:
  static constexpr std::size_t slot_capacity = lowered_rule::name_capacity, matched_capacity = 192, rest_capacity = 64;

  // The current match

  [[nodiscard]] binding const& slot(std::size_t at) const { return slots_[at]; }
  [[nodiscard]] span<rest_member const> members(std::size_t at) const {
    return {rest_ + slots_[at].first, slots_[at].members};
  }
  /// Value of a register; the first root is in register 1, or in 0 with what was looked through above it.
  [[nodiscard]] value_id value(std::uint8_t at) const { return registers_[at]; }
  /// Nodes that the pattern's operators were found in, in the order in which they were met; a node may occur more than
  /// once.
  [[nodiscard]] span<node_id const> matched() const { return {matched_, matched_count_}; }
  /// Whether the last search was cut off at a bound.
  [[nodiscard]] bool exceeded() const { return exceeded_; }
  /// Whether it looked into a sum or product that has more parts than were opened.
  [[nodiscard]] bool bounded() const { return bounded_; }
  [[nodiscard]] opened_group const& opened(std::uint8_t at) const { return *frames_[at].group; }

  failure_listener* listener = nullptr;

 protected:
  static constexpr std::size_t undo_capacity = 512, frame_count = 32;

  // What a step changed and a failure takes back.
  struct undo {
    enum class kind : std::uint8_t { slot, cover, sign } what;
    std::uint8_t at;
    std::uint32_t covered, taken;
    double sign;
  };
  struct mark {
    std::uint16_t undo, matched, rest;
  };

  [[nodiscard]] mark here() const { return {undo_count_, matched_count_, rest_count_}; }

  void rewind(mark const& to) {
    while (undo_count_ > to.undo) {
      auto const& u = undo_[--undo_count_];
      switch (u.what) {
        case undo::kind::slot: slots_[u.at].bound = false; break;
        case undo::kind::cover:
          frames_[u.at].covered = u.covered;
          frames_[u.at].taken = u.taken;
          break;
        case undo::kind::sign: frames_[u.at].sign = u.sign; break;
      }
    }
    matched_count_ = to.matched;
    rest_count_ = to.rest;
  }

  bool remember(undo const& change) {
    if (undo_count_ == undo_capacity) return exceeded_ = true, false;
    undo_[undo_count_++] = change;
    return true;
  }

  bool cover(std::uint8_t at, std::uint32_t leaves, std::uint32_t taken) {
    auto& f = frames_[at];
    if (!remember({undo::kind::cover, at, f.covered, f.taken, 0})) return false;
    f.covered |= leaves;
    f.taken |= taken;
    // What is taken whole keeps its minus sign.
    auto const minus = taken & f.group->minus;
    if (minus == 0 || (std::popcount(minus) & 1) == 0) return true;
    if (!remember({undo::kind::sign, at, 0, 0, f.sign})) return false;
    f.sign = -f.sign;
    return true;
  }

  binding* bind(std::uint8_t at) {
    if (!remember({undo::kind::slot, at, 0, 0, 0})) return nullptr;
    slots_[at] = binding{};
    slots_[at].bound = true;
    return &slots_[at];
  }

  // What is replaced is nothing that a name may stand for: the right side would read itself.
  [[nodiscard]] bool is_root(value_id v) const { return v == registers_[0] || v == registers_[1]; }

  bool add_member(value_id v, double weight) {
    if (rest_count_ == rest_capacity) return exceeded_ = true, false;
    rest_[rest_count_++] = {v, weight};
    return true;
  }

  // Binds the members from `first` on.
  bool bind_members(std::uint8_t at, std::uint16_t first, op_group kind) {
    auto* made = bind(at);
    if (made == nullptr) return false;
    made->axes = static_cast<std::uint64_t>(kind);
    made->first = static_cast<std::uint8_t>(first);
    made->members = static_cast<std::uint8_t>(rest_count_ - first);
    return true;
  }

  void matched(node_id n) {
    if (matched_count_ < matched_capacity)
      matched_[matched_count_++] = n;
    else
      exceeded_ = true;
  }

  bool exceeded_ = false, bounded_ = false;
  frame frames_[frame_count];
  std::uint16_t undo_count_ = 0, matched_count_ = 0, rest_count_ = 0;
  undo undo_[undo_capacity];
  node_id matched_[matched_capacity];
  rest_member rest_[rest_capacity];
  binding slots_[slot_capacity];
  value_id registers_[256];
  double signs_[256];
  value_id stands_for_[256];  // see summed_squares
};

}  // namespace detail
}  // namespace fuse::inline v0
