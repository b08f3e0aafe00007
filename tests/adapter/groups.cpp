// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <fuse/adapters/onnx.hpp>
#include <fuse/partition.hpp>

#include "../partition/equal_groups.hpp"
#include "../partition/random_graph.hpp"
#include "../sampled.hpp"
#include "catch.hpp"

namespace groups {

TEST_CASE("a model has the groups of the owned graph") {
  for (std::uint64_t seed = 1; seed <= 400; seed += one_case_in) {
    CAPTURE(seed);
    random_graph const made(seed, {.outputs_again = false});  // a model would have a node for that
    auto copy = fuse::adapters::model_of(made.graph);
    fuse::adapters::onnx_graph const graph(copy);
    CAPTURE(graph.error());
    REQUIRE(graph.error() == "");
    CHECK(text_of_groups(graph) == text_of_groups(made.graph));
  }
}

}  // namespace groups
