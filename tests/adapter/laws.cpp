// SPDX-License-Identifier: BSL-1.0
#include <deque>
#include <fuse/adapters/onnx.hpp>
#include <fuse/testing/graph_laws.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "parsed.hpp"

namespace laws {

using fuse::adapters::onnx_graph;

TEST_CASE("an adapted ONNX model keeps the laws of graphs") {
  std::deque<onnx::ModelProto> models;  // a graph looks into its model
  fuse::testing::graph_examples<onnx_graph> examples;
  examples.output_names = [](onnx_graph const& g) {
    std::vector<std::string> names;
    for (auto const& output : g.tables().model->graph().output()) names.push_back(output.name());
    return names;
  };
  auto const broken = fuse::testing::graph_laws<onnx_graph>(
      [&] { return onnx_graph(models.emplace_back(parsed(branching))); }, examples);
  CHECK(broken == std::vector<std::string>{});
  auto const in_functions =
      fuse::testing::graph_laws<onnx_graph>([&] { return onnx_graph(models.emplace_back(parsed(calling))); }, examples);
  CHECK(in_functions == std::vector<std::string>{});
}

}  // namespace laws
