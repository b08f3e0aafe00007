// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/eval/conversion.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/eval/rounding.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// Pseudorandom bits, the same in every run: xorshift (Marsaglia, Journal of Statistical Software 8, 2003).
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u) {}

  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  bool coin() { return (next() >> 20 & 1) != 0; }
  double from_0_to_1() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Far above the last place of a double, far below what a mistake moves: the part of itself by which a number that is
/// computed may come out elsewhere in another order of its operations.
inline constexpr double nudge_of_results = 0x1p-46;

/// What is nudged where a graph is computed to see how far rounding moves its results, and by which of the ways there
/// are: each moves the numbers in a way of its own.
struct nudging {
  enum class what : std::uint8_t { nothing, constants, results };
  static constexpr std::uint64_t ways = 8;

  what moved = what::nothing;
  std::uint64_t way = 0;
};

/// Moves each number of a result of `op` up or down, as another order of operations may; integers and truth values
/// stay, and so does a number that a float holds: it is exact, as a whole exponent is, but where a curve has reached
/// its end.
inline void nudge(dense& result, opcode op, random_bits& by) {
  if (result.type == element_type::boolean) return;
  bool const ends_at_1 = op == opcode::sigmoid || op == opcode::tanh || op == opcode::erf;
  for (auto& x : result.elements)
    if (rounded(x, element_type::float32) != x || (ends_at_1 && std::fabs(x) == 1))
      x *= 1 + nudge_of_results * (2 * by.from_0_to_1() - 1);
}
/// Moves each number of a constant up or down by all that rounding to its type may move it.
inline void nudge_by_type(dense& constant, random_bits& by) {
  for (auto& x : constant.elements) x *= 1 + (by.coin() ? 1 : -1) * rounding_of(constant.type);
}

/// Element by element, how far a result came out elsewhere, at most, where it was a number.
class displacement {
 public:
  explicit displacement(dense const& still)
      : still_(in_doubles(still)), most_(still_.elements.size(), 0), endless_(still_.elements.size(), false) {}

  /// Takes in how a result came out; one of another shape tells nothing.
  void add(dense const& there) {
    if (there.shape != still_.shape) return;
    auto const moved = in_doubles(there);
    for (std::size_t i = 0; i < most_.size(); ++i)
      if (auto const off = std::fabs(moved.elements[i] - still_.elements[i]); std::isfinite(off))
        most_[i] = std::fmax(most_[i], off);
      else
        endless_[i] = true;
  }
  /// Whether rounding explains that an element is another number, not much further away than `allowed` and all that it
  /// moved.
  [[nodiscard]] bool explains(std::size_t element, double other, double allowed) const {
    return std::fabs(other - still_.elements[element]) <= allowed + 4 * most_[element];
  }
  /// Whether rounding explains that an element is no number: it was none elsewhere, or moved by as much as it is.
  [[nodiscard]] bool explains_none(std::size_t element) const {
    return endless_[element] || (most_[element] > 0 && most_[element] >= std::fabs(still_.elements[element]));
  }
  [[nodiscard]] double of_all() const {
    double most = 0;
    for (auto const x : most_) most = std::fmax(most, x);
    return most;
  }

 private:
  dense still_;
  std::vector<double> most_;
  std::vector<bool> endless_;
};

}  // namespace fuse::inline v0::detail
