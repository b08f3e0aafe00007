// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <fuse/core/plain_vector.hpp>

namespace fuse::inline v0::detail {

/// Finds numbers by a hash of what they stand for, which the caller keeps and compares. <unordered_map> would cost
/// every file its time to compile.
template <class Number>
class hash_index {
 public:
  static constexpr Number none = static_cast<Number>(-1);

  /// The number under `hash` of which `is(number)` holds, or none.
  template <class Is>
  [[nodiscard]] Number find(std::size_t hash, Is const& is) const {
    if (slots_.empty()) return none;
    for (auto at = mixed(hash) & mask(); slots_[at].number != none; at = (at + 1) & mask())
      if (slots_[at].hash == hash && is(slots_[at].number)) return slots_[at].number;
    return none;
  }
  /// Adds a number that is not there.
  void add(std::size_t hash, Number number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    ++count_;
    place({hash, number});
  }

 private:
  struct slot {
    std::size_t hash;
    Number number;
  };
  // Hashes of integers may be the integers themselves.
  [[nodiscard]] static std::size_t mixed(std::size_t hash) { return hash ^ (hash >> 4) ^ (hash >> 15); }
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void place(slot const& added) {
    auto at = mixed(added.hash) & mask();
    while (slots_[at].number != none) at = (at + 1) & mask();
    slots_[at] = added;
  }
  void grow() {
    auto const before = static_cast<plain_vector<slot>&&>(slots_);
    slots_ = plain_vector<slot>(before.empty() ? 64 : 2 * before.size(), slot{0, none});
    for (auto const& s : before)
      if (s.number != none) place(s);
  }

  plain_vector<slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace fuse::inline v0::detail
