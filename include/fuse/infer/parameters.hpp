// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/infer/fact_table.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/node_parameters.hpp>

namespace fuse::inline v0::detail {

/// Makes axes of a value of `rank` non-negative and sorts them; false if one is out of range or named twice.
[[nodiscard]] inline bool normalise_axes(span<std::int64_t const> axes, int rank, std::vector<int>& out) {
  out.clear();
  std::uint64_t seen = 0;
  if (rank < 0 || rank > static_cast<int>(fact_table::most_rank)) return false;
  for (auto axis : axes) {
    if (axis < -rank || axis >= rank) return false;
    auto const bit = std::uint64_t{1} << (axis < 0 ? axis + rank : axis);
    if ((seen & bit) != 0) return false;
    seen |= bit;
  }
  for (int axis = 0; axis < rank; ++axis)
    if ((seen >> axis & 1u) != 0) out.push_back(axis);
  return true;
}

/// A list of integers that may be symbolic, into `out`.
template <class Image>
[[nodiscard]] parameter_state read_extents(Image const& image, fact_table const& known, dialect const& names, node_id n,
                                           std::string_view parameter, std::vector<extent>& out,
                                           std::vector<std::int64_t>& list) {
  out.clear();
  parameter_place const place(image, names, n, parameter);
  if (place.source.where == parameter_source::kind::operand) {
    auto const at = static_cast<std::uint32_t>(place.source.operand);
    auto const v = at < image.operand_count(n) ? image.operand(n, at) : absent;
    if (v == absent) return parameter_state::missing;
    if (!known.has_integers(v)) return parameter_state::unknown;
    auto const elements = known.symbolic_integers(v);
    out.assign(elements.begin(), elements.end());
    return parameter_state::known;
  }
  auto const state = read_parameter(image, known, names, n, parameter, list);
  out.assign(list.begin(), list.end());
  return state;
}

/// The axes of a reduction, non-negative and rising, and whether it keeps them with extent 1. An absent list means all
/// axes, or none where the node says so. False where axes or rank are not known; `axes` is empty then.
template <class Image>
[[nodiscard]] bool reduction_axes(Image const& image, fact_table const& known, dialect const& names, node_id n,
                                  std::vector<int>& axes, bool& keepdims, std::vector<std::int64_t>& listed) {
  axes.clear();
  if (known.reduction(n, axes, keepdims)) return true;
  if (image.operand_count(n) == 0 || image.operand(n, 0) == absent) return false;
  auto const rank = known.rank(image.operand(n, 0));
  if (rank < 0) return false;
  double flag = 1;
  if (!read_number(image, known, names, n, "keepdims", flag)) return false;
  keepdims = flag != 0;
  listed.clear();
  auto const state = read_parameter(image, known, names, n, "axes", listed);
  if (state == parameter_state::unknown) return false;
  if (listed.empty()) {
    double none = 0;
    if (!read_number(image, known, names, n, "noop_with_empty_axes", none)) return false;
    if (none == 0)
      for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
    return true;
  }
  return normalise_axes(listed, rank, axes);
}
template <class Image>
[[nodiscard]] bool reduction_axes(Image const& image, fact_table const& known, dialect const& names, node_id n,
                                  std::vector<int>& axes, bool& keepdims) {
  std::vector<std::int64_t> listed;  // those who ask often keep one
  return reduction_axes(image, known, names, n, axes, keepdims, listed);
}

}  // namespace fuse::inline v0::detail
