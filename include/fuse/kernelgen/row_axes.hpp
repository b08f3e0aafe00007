// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/node_parameters.hpp>

namespace fuse::inline v0::detail {

/// Whether rows are computed of such elements: in float, what holds being 1 and what does not 0.
[[nodiscard]] constexpr bool is_row_type(element_type type) {
  return type == element_type::float32 || type == element_type::float16 || type == element_type::bfloat16 ||
         type == element_type::boolean;
}

/// What computes each element of a row from all of it.
[[nodiscard]] constexpr bool is_row_to_row(opcode op) {
  return op == opcode::softmax || op == opcode::log_softmax || op == opcode::layer_norm || op == opcode::rms_norm;
}
[[nodiscard]] constexpr bool is_over_rows(opcode op) {
  return is_row_to_row(op) || info(op).kind == op_kind::reduction;
}

/// Into `axes`: those that `n`, which is over rows, goes along, counted from the front. Returns what is not known of
/// them, to stand behind the node, or nothing. The rank of its first operand is known.
[[nodiscard]] inline std::string_view row_axes(graph_image const& image, facts const& known, dialect const& names,
                                               node_id n, std::vector<int>& axes) {
  axes.clear();
  bool keepdims = false;
  if (!is_row_to_row(op_of(image, n)))
    return reduction_axes(image, known, names, n, axes, keepdims) ? "" : " reduces axes that are not known";
  double axis = 0;
  if (!read_number(image, known, names, n, "axis", axis)) return " has an axis that is not known";
  auto use = parameter_of(op_of(image, n), "axis")->axis;
  if (auto const by = parameter_place(image, names, n, "axis").source.axis; by != axis_use::none) use = by;
  auto const rank = static_cast<int>(known.shape(image.operand(n, 0)).size());
  auto const first = static_cast<int>(axis) + (axis < 0 ? rank : 0);
  if (first < 0 || first >= rank) return " has an axis that its operand does not have";
  axes.push_back(first);
  for (int i = first + 1; use == axis_use::trailing && i < rank; ++i) axes.push_back(i);
  return "";
}

/// Whether none but axes of extent 1 stands behind these.
[[nodiscard]] inline bool are_last(span<extent const> shape, std::vector<int> const& axes) {
  bool all_behind = true, begun = false;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (shape[static_cast<std::size_t>(i)] == extent(1)) continue;
    bool const is_one = std::find(axes.begin(), axes.end(), i) != axes.end();
    all_behind = all_behind && (is_one || !begun);
    begun = begun || is_one;
  }
  return all_behind;
}

}  // namespace fuse::inline v0::detail
