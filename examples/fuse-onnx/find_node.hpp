// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <fuse/adapters/onnx/graph.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace fuse_onnx {

/// A node by its name, or by the name of a value that it computes; none where there is none. Of a node in a function,
/// the name of the function may stand behind its own, as reports say it.
[[nodiscard]] inline fuse::adapters::onnx_node find_node(fuse::adapters::onnx_graph const& graph,
                                                         std::string const& name) {
  using traits = fuse::graph_traits<fuse::adapters::onnx_graph>;
  std::vector<fuse::adapters::onnx_body> bodies{{}};
  for (auto const function : traits::functions(graph)) bodies.push_back(function);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    auto const where = graph.tables().where(bodies[i].id);
    auto const is = [&](std::string_view own) { return own == name || std::string(own) + where == name; };
    for (auto const n : traits::nodes(graph, bodies[i])) {
      auto const reported = traits::name(graph, n);
      if (is(std::string_view(reported).substr(0, reported.size() - where.size()))) return n;
      for (auto const v : traits::results(graph, n))
        if (v && is(traits::name(graph, v))) return n;
      for (auto const b : traits::bodies(graph, n)) bodies.push_back(b);
    }
  }
  return {};
}

[[nodiscard]] inline std::string no_node(std::string const& name) {
  return "the model has no node, and no computed value, of the name '" + name + "'";
}

}  // namespace fuse_onnx
