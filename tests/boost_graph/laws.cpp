// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <deque>
#include <string>
#include <vector>

#include <boost/graph/adjacency_matrix.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

#include <fuse/graph/concepts.hpp>
#include <fuse/testing/graph_laws.hpp>

#include "copies.hpp"

namespace laws {

using namespace operations;

namespace {

// Shared values, one read twice by one node, several results, an absent operand, constants, an output twice.
fuse::graph sample() {
  fuse::graph g;
  auto const x = g.input("x", fuse::element_type::float32, {2, "n", 8});
  auto const held = g.input("held", fuse::make_tensor<float>({1}, std::vector{2.0f}));
  auto const mean = g.add("ReduceMean", {x, {}}, {{"axes", {-1}}});
  auto const d = g.add("Sub", {x, mean});
  auto const square = g.add("Mul", {d, d});
  auto const split = g.append("Split", {square, g.constant({4, 4})}, {{"axis", 2}}, 2);
  g.annotate(g.result(split, 0), fuse::element_type::float32, {2, "n", 4});
  g.annotate(g.result(split, 1), fuse::element_type::float32, {2, "n", 4});
  auto const clip = g.add("Clip", {g.result(split, 1), {}, held});
  auto const y = g.add("Add", {g.result(split, 0), clip});
  auto const root = g.add("Sqrt", {g.scalar(2.0f)});
  g.output(g.add("Mul", {y, root}), "y");
  g.output(d, "centred");
  g.output(d, "again");
  g.output(g.result(split, 1), "half");
  return g;
}

template <class G>
std::vector<std::string> broken() {
  static std::deque<program<G>> programs;  // adapters refer to them
  auto const make = [] {
    auto& p = programs.emplace_back(sample());
    return adapted(p.g, bgl::inputs(p.inputs), bgl::outputs(p.outputs));
  };
  using adapter = decltype(make());
  STATIC_REQUIRE(fuse::rewritable_graph<adapter>);
  STATIC_REQUIRE(fuse::use_tracking_graph<adapter>);
  return fuse::testing::graph_laws<adapter>(make);
}

using boost::bidirectionalS, boost::directedS, boost::vecS, boost::listS, boost::setS, boost::multisetS,
    boost::hash_setS;
using none = std::vector<std::string>;

}  // namespace

TEST_CASE("each storage of adjacency_list keeps the laws of graphs") {
  CHECK(broken<list_graph<vecS, vecS, bidirectionalS>>() == none{});
  CHECK(broken<list_graph<vecS, vecS, directedS>>() == none{});
  CHECK(broken<list_graph<listS, vecS, directedS>>() == none{});
  CHECK(broken<list_graph<multisetS, vecS, directedS>>() == none{});
  CHECK(broken<list_graph<vecS, listS, bidirectionalS>>() == none{});
  CHECK(broken<list_graph<listS, listS, bidirectionalS>>() == none{});
  CHECK(broken<list_graph<vecS, listS, directedS>>() == none{});
  CHECK(broken<list_graph<listS, setS, bidirectionalS>>() == none{});
}

TEST_CASE("a storage without parallel edges keeps the laws of graphs when edges hold several operands") {
  CHECK(broken<list_graph<setS, vecS, bidirectionalS, operands>>() == none{});
  CHECK(broken<list_graph<setS, listS, directedS, operands>>() == none{});
  CHECK(broken<list_graph<hash_setS, vecS, directedS, operands>>() == none{});
  CHECK(broken<list_graph<hash_setS, listS, bidirectionalS, operands>>() == none{});
  CHECK(broken<list_graph<vecS, vecS, directedS, operands>>() == none{});
}

TEST_CASE("a graph that cannot change keeps the laws of reading") {
  program<list_graph<setS, vecS, directedS, operands>> const p(sample());

  using matrix = boost::adjacency_matrix<directedS, operation, operands>;
  matrix m(num_vertices(p.g));
  using rows = boost::compressed_sparse_row_graph<directedS, operation, operands>;
  std::vector<std::pair<std::size_t, std::size_t>> ends;
  std::vector<operands> contents;
  for (auto const v : boost::make_iterator_range(vertices(p.g))) m[v] = p.g[v];
  for (auto const e : boost::make_iterator_range(edges(p.g))) {
    add_edge(source(e, p.g), target(e, p.g), p.g[e], m);
    ends.emplace_back(source(e, p.g), target(e, p.g));
    contents.push_back(p.g[e]);
  }
  rows r(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), contents.begin(), num_vertices(p.g));
  for (auto const v : boost::make_iterator_range(vertices(p.g))) r[v] = p.g[v];

  auto const check = [&]<class G>(G& g) {
    auto const make = [&] { return adapted(g, bgl::inputs(p.inputs), bgl::outputs(p.outputs)); };
    using adapter = decltype(make());
    STATIC_REQUIRE(fuse::readable_graph<adapter>);
    STATIC_REQUIRE(!fuse::rewritable_graph<adapter>);
    CHECK(fuse::testing::graph_laws<adapter>(make) == none{});
    auto const owned = sample();
    CHECK(listing(make(), g).text() == listing(owned).text());
  };
  check(m);
  check(r);
  check(p.g);
}

}  // namespace laws
