// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/fuse.hpp>

#include "../corpus/operators.hpp"
#include "../second_dialect.hpp"

namespace soundness {

using corpus::array;

// Operators of the test's own, in either dialect.

constexpr bool product_extents(fuse::known_extents of, std::vector<fuse::result_extent>& into) {
  if (of.size() < 2 || of[0].empty() || of[1].empty()) return false;
  for (std::size_t i = 0; i + 1 < of[0].size(); ++i) into.push_back({-1, 0, static_cast<std::int8_t>(i)});
  into.push_back({-1, 1, -1});
  return true;
}

namespace rows {
using result = fuse::result_info::kind;
inline constexpr fuse::parameter_source axis[] = {{"axis", fuse::parameter_source::kind::attribute, "axis", 0,
                                                   std::numeric_limits<double>::quiet_NaN(), fuse::axis_use::one}};
/// What a right side becomes: the pattern itself as one operator, over what its names captured. Which rule's it is
/// stands in an attribute. `test::Product` has the shape of a product of matrices, over these.
inline constexpr fuse::operator_row all[] = {
    {.name = "test::Formula", .parameters = axis, .result = {.shape = result::broadcast}},
    {.name = "test::Product", .result = {.shape = result::function, .extents = &product_extents}},
    {.name = "test::Blend", .result = {.shape = result::broadcast}}};
}  // namespace rows

/// `test::Blend`, which has no meaning to the library: a + by * b.
[[nodiscard]] inline std::vector<array> blend(std::vector<array const*> const& in, corpus::parameters const& p) {
  auto const by = p.number({"by"}, 1);
  return {combine(*in.at(0), *in.at(1), [by](double a, double b) { return a + by * b; })};
}

/// Graphs of the two dialects. Tests pass `fuse::graph` around; the type is for the rewrite alone.
struct graph : fuse::graph {
  explicit graph(fuse::graph of) : fuse::graph(std::move(of)) {}
};
struct second_graph : fuse::graph {
  explicit second_graph(fuse::graph of) : fuse::graph(std::move(of)) {}
};

inline constexpr auto dialect = fuse::onnx.with(rows::all);
inline constexpr auto second_dialect = second::dialect.with(rows::all);

}  // namespace soundness

template <>
struct fuse::graph_traits<soundness::graph> : fuse::graph_traits<fuse::graph> {
  static constexpr auto& dialect = soundness::dialect;
};
template <>
struct fuse::graph_traits<soundness::second_graph> : fuse::graph_traits<fuse::graph> {
  static constexpr auto& dialect = soundness::second_dialect;
};
