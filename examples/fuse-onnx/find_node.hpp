// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <fuse/adapters/onnx/graph.hpp>
#include <string>
#include <vector>

namespace fuse_onnx {

/// A node by its name, or by the name of a value that it computes; none where there is none.
[[nodiscard]] inline fuse::adapters::onnx_node find_node(fuse::adapters::onnx_graph const& graph,
                                                         std::string const& name) {
  using traits = fuse::graph_traits<fuse::adapters::onnx_graph>;
  std::vector<fuse::adapters::onnx_body> bodies{{}};
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (auto const n : traits::nodes(graph, bodies[i])) {
      if (traits::name(graph, n) == name) return n;
      for (auto const v : traits::results(graph, n))
        if (v && traits::name(graph, v) == name) return n;
      for (auto const b : traits::bodies(graph, n)) bodies.push_back(b);
    }
  return {};
}

[[nodiscard]] inline std::string no_node(std::string const& name) {
  return "the model has no node, and no computed value, of the name '" + name + "'";
}

}  // namespace fuse_onnx
