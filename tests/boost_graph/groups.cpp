// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/graph/dominator_tree.hpp>

#include <fuse/adapters/boost_graph/view.hpp>
#include <fuse/partition.hpp>

#include "../partition/equal_groups.hpp"
#include "../partition/random_graph.hpp"
#include "../sampled.hpp"
#include "copies.hpp"

namespace groups {

using namespace operations;

TEST_CASE("a Boost graph has the groups of the owned graph") {
  for (std::uint64_t seed = 1; seed <= 400; seed += one_case_in) {
    CAPTURE(seed);
    random_graph const made(seed, {.bodies = false});
    program<vertex_list> p(made.graph);
    auto const ir = adapted(p.g, bgl::inputs(p.inputs), bgl::outputs(p.outputs), bgl::operator_set(12));
    CHECK(text_of_groups(ir) == text_of_groups(made.graph));
  }
}

TEST_CASE("the post-dominator tree is Boost's dominator tree of the reversed graph") {
  for (std::uint64_t seed = 1; seed <= 2000; seed += one_case_in) {
    CAPTURE(seed);
    random_graph const made(seed, {.bodies = false});
    bgl::view<fuse::graph> const seen(made.graph);
    auto const nodes = seen.node_count();
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS> reversed(nodes + 1);
    std::vector<bool> read(nodes, false);
    for (auto [e, last] = edges(seen); e != last; ++e)
      if ((*e).from < nodes) {
        add_edge((*e).to, (*e).from, reversed);
        read[(*e).from] = true;
      }
    for (std::size_t n = 0; n < nodes; ++n)
      if (!read[n]) add_edge(nodes, n, reversed);
    std::vector<std::size_t> expected(nodes + 1, nodes);
    boost::lengauer_tarjan_dominator_tree(
        reversed, nodes, boost::make_iterator_property_map(expected.begin(), get(boost::vertex_index, reversed)));

    auto const& names = fuse::dialect_of<fuse::graph>;
    fuse::graph_binding<fuse::graph const> const bound(made.graph, fuse::names_in(names), names.newest);
    fuse::detail::operator_kinds const kinds(bound.image, names);
    fuse::detail::post_dominators const tree(bound.image, kinds);
    for (fuse::node_id n = 0; n < nodes; ++n) {
      auto const parent = tree.parent(n);
      CHECK((parent == fuse::absent ? nodes : parent) == expected[n]);
    }
  }
}

}  // namespace groups
