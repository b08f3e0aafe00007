// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/graph/image.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/onnx.hpp>

namespace fuse::inline v0 {

namespace detail {

template <class G>
concept has_dialect = requires {
  graph_traits<G>::dialect;
};

template <class G>
constexpr auto const& dialect_table_of() {
  if constexpr (has_dialect<G>)
    return graph_traits<G>::dialect;
  else
    return onnx;
}

}  // namespace detail

/// The dialect of a graph type: `graph_traits<G>::dialect`, ONNX by default.
template <class G>
inline constexpr dialect dialect_of = detail::dialect_table_of<std::remove_const_t<G>>();

/// The neutral operator of a node.
[[nodiscard]] inline opcode op_of(graph_image const& image, node_id n) {
  return static_cast<opcode>(image.node(n).tag.op);
}

namespace detail {

inline operator_names::found find_tag(void const* context, std::string_view name, int version) {
  auto const& names = *static_cast<dialect const*>(context);
  auto const code = names.code(name);
  auto const* row = names.row(code, version);
  return {{code, static_cast<std::uint16_t>(row == nullptr ? opcode::opaque : row->op)},
          row != nullptr && (row->needs.size() != 0 || row->most_results != 0)};
}

/// Whether an attribute of that contents, monostate where there is none, is what a row needs.
[[nodiscard]] inline bool is_met(required_attribute const& by, attribute_view const& given) {
  if (std::holds_alternative<std::monostate>(given)) return by.may_lack;
  auto const* number = std::get_if<std::int64_t>(&given);
  return number != nullptr && *number == by.number && by.number != required_attribute::none;
}

inline operator_tag settled_tag(void const* context, operator_tag tag, int version, graph_source const& graph,
                                node_id n, std::uint32_t results) {
  auto const& names = *static_cast<dialect const*>(context);
  auto const& row = *names.row(tag.name, version);
  bool meant = row.most_results == 0 || results <= row.most_results;
  for (auto const& by : row.needs) meant = meant && is_met(by, graph.attribute_of(n, by.name));
  return meant ? tag : find_tag(context, row.otherwise, version).tag;
}

}  // namespace detail

/// How an image tags operator names in this dialect; `names` must outlive the result.
[[nodiscard]] inline operator_names names_in(dialect const& names) {
  return {&detail::find_tag, &detail::settled_tag, &names};
}

}  // namespace fuse::inline v0
