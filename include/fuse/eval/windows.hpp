// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

/// How a kernel moves over the spatial axes, those from 2 on: of each axis, its extent there, its steps, the distance
/// of its entries, and what is padded before and behind.
struct window_places {
  std::vector<std::int64_t> kernel, strides, dilations, before, behind;

  /// Reads strides, dilations and pads for a kernel of these extents, over inputs of extents `whole`; false where they
  /// do not fit. "SAME" pads so that only the strides count, with the odd one behind or before.
  [[nodiscard]] bool read(call const& c, std::vector<std::int64_t> extents, span<std::int64_t const> whole) {
    kernel = static_cast<std::vector<std::int64_t>&&>(extents);
    auto const count = kernel.size();
    std::vector<std::int64_t> pads;
    if (whole.size() != count || !c.list("strides", count, 1, strides) || !c.list("dilations", count, 1, dilations) ||
        !c.list("pads", 2 * count, 0, pads))
      return false;
    for (std::size_t i = 0; i < count; ++i)
      if (kernel[i] < 1 || strides[i] < 1 || dilations[i] < 1) return false;
    before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(count));
    behind.assign(pads.begin() + static_cast<std::ptrdiff_t>(count), pads.end());
    auto const how = c.text("auto_pad", "NOTSET");
    if (how == "NOTSET" || how.empty()) return true;
    for (std::size_t i = 0; i < count; ++i) {
      auto const made = (whole[i] + strides[i] - 1) / strides[i];
      auto const missing = (made - 1) * strides[i] + covered(i) - whole[i];
      auto const all = how == "VALID" || missing < 0 ? 0 : missing;
      before[i] = how == "SAME_LOWER" ? (all + 1) / 2 : all / 2;
      behind[i] = all - before[i];
    }
    return true;
  }

  /// The extent that the kernel covers along an axis.
  [[nodiscard]] std::int64_t covered(std::size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }

  /// How many places there are along an axis; `up` counts one that reaches beyond the end, but none that starts there.
  [[nodiscard]] std::int64_t places(std::size_t axis, std::int64_t whole, bool up = false) const {
    auto const room = whole + before[axis] + behind[axis] - covered(axis);
    if (room < 0) return 0;
    auto count = room / strides[axis] + 1;
    if (up && room % strides[axis] != 0 && count * strides[axis] < whole + before[axis]) ++count;
    return count;
  }

  /// Where entry `k` of the kernel lies along an axis, at place `at`.
  [[nodiscard]] std::int64_t position(std::size_t axis, std::int64_t at, std::int64_t k) const {
    return at * strides[axis] + k * dilations[axis] - before[axis];
  }
};

/// The extents from axis 2 on.
[[nodiscard]] inline std::vector<std::int64_t> spatial(std::vector<std::int64_t> const& shape) {
  return {shape.begin() + 2, shape.end()};
}

}  // namespace fuse::inline v0::detail
