// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>

#include <fuse/adapters/boost_graph/view.hpp>

#include "../corpus/spelling.hpp"

namespace view {

namespace bgl = fuse::adapters::bgl;
using seen = bgl::view<fuse::graph>;

BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<seen>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<seen>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<seen>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<seen, seen::vertex_descriptor, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<seen, seen::vertex_descriptor, boost::vertex_name_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<seen, seen::edge_descriptor, boost::edge_index_t>));

namespace {

using copy = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

copy copied(seen const& g) {
  copy made(num_vertices(g));
  for (auto [e, last] = edges(g); e != last; ++e) add_edge((*e).from, (*e).to, made);
  return made;
}

// Algorithms of Boost.Graph that name vertices; each as it is called for any graph.
template <class G>
std::vector<std::size_t> sorted(G const& g) {
  std::vector<std::size_t> order;
  boost::topological_sort(g, std::back_inserter(order));
  return order;
}
template <class G>
std::vector<std::size_t> dominators(G const& g, std::size_t entry) {
  std::vector<std::size_t> of(num_vertices(g), boost::graph_traits<G>::null_vertex());
  boost::lengauer_tarjan_dominator_tree(g, entry,
                                        boost::make_iterator_property_map(of.begin(), get(boost::vertex_index, g)));
  return of;
}
template <class G>
std::vector<int> components(G const& g) {
  std::vector<int> of(num_vertices(g));
  boost::strong_components(g, boost::make_iterator_property_map(of.begin(), get(boost::vertex_index, g)));
  return of;
}
template <class G>
std::string drawn(G const& g) {
  std::ostringstream text;
  boost::write_graphviz(text, g);
  return text.str();
}

}  // namespace

TEST_CASE("Boost's algorithms give on a view what they give on a copy") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    fuse::graph g(corpus::spelling::version(seed, false));
    corpus::spelling const spelled(g, false, seed);
    seen const s(g);
    auto const c = copied(s);
    CHECK(s.node_count() == g.node_count());
    auto const order = sorted(s);
    CHECK(order == sorted(c));
    CHECK(order.size() == num_vertices(s));
    for (auto const entry : {s.node_count(), num_vertices(s) - 1}) CHECK(dominators(s, entry) == dominators(c, entry));
    CHECK(components(s) == components(c));
    // A copy keeps its edges by source, a view by target.
    auto lines = [](std::string const& text) {
      std::vector<std::string> all;
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);) all.push_back(line);
      std::sort(all.begin(), all.end());
      return all;
    };
    CHECK(lines(drawn(s)) == lines(drawn(c)));
  }
}

TEST_CASE("a view shows every operand as an edge, in order, and leads back to the graph") {
  fuse::graph g;
  auto const x = g.input("x");
  auto const split = g.append("Split", {x}, {}, 2);
  auto const square = g.append("Mul", {g.result(split, 1), g.result(split, 1)});
  auto const clip = g.append("Clip", {g.result(square), {}, g.constant({1.f}, "high")});
  g.output(g.result(clip), "y");
  seen const s(g);
  REQUIRE(num_vertices(s) == 5);
  REQUIRE(num_edges(s) == 5);
  CHECK(s.node(1) == square);
  CHECK(s.node(3) == fuse::graph::node{});
  CHECK(s.leaf(3) == x);
  CHECK(get(boost::vertex_name, s, 0) == "Split");
  CHECK(get(boost::vertex_name, s)[4] == "high");
  CHECK(out_degree(0, s) == 2);
  CHECK(in_degree(1, s) == 2);
  auto const [first, last] = in_edges(2, s);
  std::vector<bgl::operand_edge> const read(first, last);
  REQUIRE(read.size() == 2);
  CHECK(source(read[0], s) == 1);
  CHECK(read[0].operand == 0);
  CHECK(read[1].operand == 2);
  CHECK((*in_edges(1, s).first).result == 1);
  std::ostringstream text;
  boost::write_graphviz(text, s, boost::make_label_writer(get(boost::vertex_name, s)));
  CHECK(text.str().find("2[label=Clip];") != std::string::npos);
}

TEST_CASE("a view of a cycle shows it") {
  fuse::graph g;
  auto const a = g.append("Relu", {fuse::graph::value{}});
  auto const b = g.append("Relu", {g.result(a)});
  g.set_operand(a, 0, g.result(b));
  g.output(g.result(b));
  seen const s(g);
  auto const of = components(s);
  CHECK(of[0] == of[1]);
}

}  // namespace view
