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

inline operator_tag find_tag(void const* context, std::string_view name, int version) {
  auto const& names = *static_cast<dialect const*>(context);
  auto const code = names.code(name);
  auto const* row = names.row(code, version);
  return {code, static_cast<std::uint16_t>(row == nullptr ? opcode::opaque : row->op)};
}

}  // namespace detail

/// How an image tags operator names in this dialect; `names` must outlive the result.
[[nodiscard]] inline operator_names names_in(dialect const& names) { return {&detail::find_tag, &names}; }

}  // namespace fuse::inline v0
