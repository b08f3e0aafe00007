// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <vector>

#include <fuse/graph/concepts.hpp>
#include <fuse/testing/graph_laws.hpp>

#include "../../examples/your_graph/adapt.hpp"

namespace testing_your_graph {

static_assert(fuse::rewritable_graph<ir::function>);
static_assert(!fuse::use_tracking_graph<ir::function>);

TEST_CASE("the adaptation that the example shows keeps every law") {
  fuse::testing::graph_examples<ir::function> examples;
  examples.absent_operands = false;
  examples.output_names = [](ir::function const& f) {
    std::vector<std::string> names;
    for (auto const& [name, result] : f.results) names.push_back(name);
    return names;
  };
  CHECK(fuse::testing::graph_laws<ir::function>(
            [] {
              using ir::opcode;
              ir::function f;
              auto x = f.parameter("x", {2, 8});
              auto mean = f.append(opcode::average, {x}, {{"over", std::vector<std::int64_t>{1}}});
              auto d = f.append(opcode::subtract, {x, mean});
              auto squares = f.append(opcode::multiply, {d, d});
              auto y = f.append(opcode::add, {squares, f.literal({8}, std::vector<float>(8, 0.5f))});
              f.results = {{"y", y}, {"centred", d}, {"again", y}};
              return f;
            },
            examples) == std::vector<std::string>{});
}

}  // namespace testing_your_graph
