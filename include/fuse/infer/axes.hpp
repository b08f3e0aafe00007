// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/fact_table.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

// Axes as bits: bit k is the k-th from the last, so that ranks do not matter.

/// The axes that `axis` names, which counts from the last; none where that is not known.
[[nodiscard]] inline std::uint64_t axes_named(double axis, axis_use use) {
  if (!(axis < 0 && axis >= -63) || use == axis_use::none) return 0;
  auto const bit = std::uint64_t{1} << static_cast<int>(-axis - 1);
  return use == axis_use::one ? bit : 2 * bit - 1;
}

/// The axes of a list, each counted from the first one or from the last; false where that is not known.
[[nodiscard]] inline bool axes_of_list(std::vector<std::int64_t> const& listed, int rank, std::uint64_t& into) {
  into = 0;
  for (auto axis : listed) {
    if (axis >= 0 && rank >= 0) axis -= rank;
    if (axis >= 0 || axis < -64) return false;
    into |= std::uint64_t{1} << static_cast<int>(-1 - axis);
  }
  return true;
}

/// The rank of what the parameters of `n` count axes of, negative where it is not known.
template <class Image>
[[nodiscard]] int rank_of_axes(Image const& image, fact_table const& known, node_id n) {
  auto const op = op_of(image, n);
  if (op == opcode::unsqueeze || op == opcode::one_hot) return known.rank(image.result(n));
  return image.operand_count(n) == 0 ? -1 : known.rank(image.operand(n, 0));
}

/// Counts an axis of `n` from the last, where the rank is known; false where there is no such axis.
template <class Image>
[[nodiscard]] bool count_from_last(Image const& image, fact_table const& known, node_id n, double& axis) {
  auto const rank = rank_of_axes(image, known, n);
  if (axis >= 0 && rank >= 0) axis -= rank;
  return axis < 0 || rank < 0;
}

/// Whether two numbers, each counted from the first axis of `n` or from the last, name one.
template <class Image>
[[nodiscard]] bool is_same_axis(Image const& image, fact_table const& known, node_id n, double a, double b) {
  auto const rank = rank_of_axes(image, known, n);
  return a == b || (rank >= 0 && (a < 0) != (b < 0) && a + (a < 0 ? rank : -rank) == b);
}

/// Whether `factor` is `count` to the power 1 or -1: exactly, or as float rounds that, or a root whose square it is.
[[nodiscard]] inline bool makes_up(double count, int power, double factor) {
  auto const rounded = [](double number) { return static_cast<double>(static_cast<float>(number)); };
  auto const is = [&](double wanted) { return factor == wanted || factor == rounded(wanted); };
  auto const root = rounded(math::sqrt(count)), inverse = rounded(1 / math::sqrt(count));
  if (count == 0) return false;
  if (power < 0) return is(1 / count) || factor == inverse * inverse || factor == 1 / (root * root);
  return is(count) || factor == 1 / rounded(1 / count) || factor == root * root || factor == 1 / (inverse * inverse);
}

/// What a reduction reduces. One for all nodes: its buffers stay.
template <class Image>
class basic_reduced_axes {
 public:
  basic_reduced_axes(Image const& image, fact_table const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  /// Reads the axes of `n`; false where they are not known, or not kept with extent 1: by itself, because all are
  /// reduced and broadcasting restores them, or because something gives the result the shape of `restored`.
  [[nodiscard]] bool read(node_id n, value_id restored) {
    bool keep = true;
    bits_ = 0;
    operand_ = image_.operand(n, 0);
    auto const rank = facts_.rank(operand_);
    if (!reduction_axes(image_, facts_, names_, n, axes_, keep, listed_)) {
      axes_.clear();
      return restored == absent && rank < 0 && count_from_last(n);
    }
    for (auto axis : axes_) bits_ |= std::uint64_t{1} << (rank - 1 - axis);
    if (restored != absent) return restores(restored);
    return keep || static_cast<int>(axes_.size()) == rank;
  }

  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  /// Whether there is an axis, and the rank is known.
  [[nodiscard]] bool any() const { return !axes_.empty(); }
  /// How many elements make one; 0 where that is not known.
  [[nodiscard]] double elements() const {
    double count = 1;
    auto const extents = facts_.shape(operand_);
    for (auto axis : axes_) {
      auto const e = extents[static_cast<std::size_t>(axis)];
      count *= e.known() ? static_cast<double>(e.value()) : 0;
    }
    return count;
  }

 private:
  // Whether `v` has the shape of the operand with the axes reduced to 1.
  [[nodiscard]] bool restores(value_id v) const {
    if (!facts_.has_rank(v) || facts_.rank(v) != facts_.rank(operand_)) return false;
    auto const now = facts_.shape(v), before = facts_.shape(operand_);
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < now.size(); ++axis) {
      bool const reduced = next < axes_.size() && axes_[next] == static_cast<int>(axis);
      if (reduced) ++next;
      if (!(now[axis] == (reduced ? extent(1) : before[axis]))) return false;
    }
    return true;
  }

  // Where the rank is not known: axes that count from the last, kept.
  [[nodiscard]] bool count_from_last(node_id n) {
    double keep = 1;
    if (!read_number(image_, facts_, names_, n, "keepdims", keep) || keep == 0) return false;
    if (!read_integers(image_, facts_, names_, n, "axes", listed_) || listed_.empty()) return false;
    return axes_of_list(listed_, -1, bits_);
  }

  Image const& image_;
  fact_table const& facts_;
  dialect const& names_;
  value_id operand_ = absent;
  std::uint64_t bits_ = 0;
  std::vector<int> axes_;  // from the first, rising; none where the rank is not known
  std::vector<std::int64_t> listed_;
};

}  // namespace fuse::inline v0::detail
