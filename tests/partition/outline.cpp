// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fuse/graph/graph_text.hpp>
#include <fuse/partition.hpp>
#include <fuse/testing/graph_laws.hpp>

#include "../sampled.hpp"
#include "random_graph.hpp"
#include "written_graph.hpp"

namespace outline {

auto const as_one = [](auto const& group) {
  return fuse::group_operator{"my::" + std::string(fuse::name_of(group.kind)),
                              {{"nodes", static_cast<std::int64_t>(group.nodes.size())}}};
};

/// A graph that takes so many new nodes, and then no more.
struct reluctant {
  fuse::graph graph;
  int room;
};

}  // namespace outline

template <>
struct fuse::graph_traits<outline::reluctant> {
  using graph = outline::reluctant;
  using of = fuse::graph_traits<fuse::graph>;
  using node = of::node;
  using value = of::value;
  static auto nodes(graph const& g) { return of::nodes(g.graph); }
  static auto op_name(graph const& g, node n) { return of::op_name(g.graph, n); }
  static auto operands(graph const& g, node n) { return of::operands(g.graph, n); }
  static auto results(graph const& g, node n) { return of::results(g.graph, n); }
  static auto producer(graph const& g, value v) { return of::producer(g.graph, v); }
  static auto outputs(graph const& g) { return of::outputs(g.graph); }
  static auto index(graph const& g, value v) { return of::index(g.graph, v); }
  static auto type(graph const& g, value v) { return of::type(g.graph, v); }
  static auto insert(graph& g, node place, fuse::new_node<value> const& made) {
    return g.room-- > 0 ? of::insert(g.graph, place, made) : node{};
  }
  static void replace_uses(graph& g, value from, value to) { of::replace_uses(g.graph, from, to); }
  static void erase(graph& g, node n) { of::erase(g.graph, n); }
};

namespace outline {

TEST_CASE("one node stands for each group, with its inputs and outputs") {
  written_graph w("x[4] w[4,4] a=Exp(x) b=Relu(a) o=my::Op(b) m=MatMul(o,w) r=Relu(m) -> r a");
  auto const done = fuse::outline(w.graph, fuse::partition(w.graph), as_one);
  CHECK(done.refused == "");
  CHECK(done.nodes.size() == 2);
  CHECK(to_text(w.graph) == R"(graph, operator set 12
  input x: float32[4]
  input w: float32[4,4]
  %1: float32, %2: float32 = my::elementwise(x) nodes=2
  %3 = my::Op(%2)
  %4 = my::anchor(%3, w) nodes=2
  output r = %4
  output a = %1
)");
}

TEST_CASE("a group that is given no operator stays") {
  written_graph w("x[4] w[4,4] a=Exp(x) b=Relu(a) o=my::Op(b) m=MatMul(o,w) r=Relu(m) -> r");
  auto const done = fuse::outline(w.graph, fuse::partition(w.graph), [](auto const& group) {
    return group.kind == fuse::op_kind::anchor ? fuse::group_operator{} : as_one(group);
  });
  CHECK(done.nodes.size() == 1);
  CHECK(w.graph.node_count() == 4);
}

TEST_CASE("a graph that refuses one node is as it was") {
  written_graph w("x[4] a=Exp(x) b=Relu(a) o=my::Op(b) d=Exp(o) r=Relu(d) -> r");
  for (int room = 0; room < 3; ++room) {
    CAPTURE(room);
    reluctant g{w.graph, room};
    auto const done = fuse::outline(g, fuse::partition(g), as_one);
    CHECK(done.refused.empty() == (room == 2));
    CHECK(done.nodes.size() == (room == 2 ? 2 : 0));
    CHECK((to_text(g.graph) == to_text(w.graph)) == (room != 2));
  }
}

TEST_CASE("outlined graphs have a node for each group and no cycle, and nothing is lost") {
  for (std::uint64_t seed = 1; seed <= 2000; seed += one_case_in) {
    CAPTURE(seed);
    random_graph made(seed);
    auto const outputs = made.graph.outputs().size();
    auto groups = fuse::partition(made.graph);
    auto const done = fuse::outline(made.graph, groups, as_one);
    auto left = groups.nodes + done.nodes.size();
    std::erase_if(groups.groups, [](auto const& group) { return group.outputs.empty(); });
    for (auto const& group : groups.groups) left -= group.nodes.size();
    CHECK(done.nodes.size() == groups.groups.size());
    auto const again = fuse::partition(made.graph);
    CHECK(!again.cyclic);
    CHECK(again.nodes == left);
    CHECK(made.graph.outputs().size() == outputs);
  }
}

}  // namespace outline
