// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fuse/core/mixed.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr std::uint64_t hashed(std::uint64_t h, std::int64_t item) {
  return mixed(h, static_cast<std::uint64_t>(item));
}
[[nodiscard]] constexpr bool same(std::int64_t a, std::int64_t b) { return a == b; }
// By their bits: a zero differs from its negative, a NaN equals itself.
[[nodiscard]] constexpr std::uint64_t hashed(std::uint64_t h, double item) {
  return mixed(h, std::bit_cast<std::uint64_t>(item));
}
[[nodiscard]] constexpr bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Short sequences kept once each: equal sequences have equal numbers, counted from 0. Constant time a sequence.
///
/// A span of a sequence is valid until the next one is kept.
template <class T>
class sequence_pool {
 public:
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(hashes_.size()); }
  [[nodiscard]] span<T const> operator[](std::uint32_t id) const {
    return {items_.data() + starts_[id], starts_[id + 1] - starts_[id]};
  }

  /// The number of a sequence, which must not lie in this pool.
  std::uint32_t keep(span<T const> sequence) {
    if (2 * (hashes_.size() + 1) > slots_.size()) grow();
    std::uint64_t h = sequence.size();
    for (auto const& item : sequence) h = hashed(h, item);
    auto const hash = static_cast<std::uint32_t>(h >> 32);
    auto const mask = slots_.size() - 1;
    auto at = hash & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask)
      if (hashes_[slots_[at] - 1] == hash && holds(slots_[at] - 1, sequence)) return slots_[at] - 1;
    items_.append(sequence);
    starts_.push_back(items_.size());
    hashes_.push_back(hash);
    slots_[at] = count();
    return count() - 1;
  }

 private:
  [[nodiscard]] bool holds(std::uint32_t id, span<T const> sequence) const {
    auto const kept = (*this)[id];
    if (kept.size() != sequence.size()) return false;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (!same(kept[i], sequence[i])) return false;
    return true;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), 0);
    auto const mask = slots_.size() - 1;
    for (std::uint32_t id = 0; id < count(); ++id) {
      auto at = hashes_[id] & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = id + 1;
    }
  }

  plain_vector<T> items_;
  plain_vector<std::size_t> starts_ = plain_vector<std::size_t>(1, 0);  // and behind the last one
  plain_vector<std::uint32_t> hashes_, slots_;
};

}  // namespace fuse::inline v0::detail
