// SPDX-License-Identifier: BSL-1.0
// Time per node of matching through the adapter of Boost graphs against the owned graph, from the graph as it is to all
// matches: the adapter, the image, shapes, the bundled rules. In turns in one run; medians.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include <fuse/adapters/boost_graph.hpp>
#include <fuse/fuse.hpp>

#include "graphs.hpp"
#include "timing.hpp"

namespace {

namespace bgl = fuse::adapters::bgl;

struct operation {
  std::string op{};
  std::vector<fuse::graph::named> attributes{};
  std::optional<fuse::tensor> contents{};
  std::optional<fuse::graph::dims> shape{};
};
struct reads {
  int operand = 0;
};
using network = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, operation, reads>;

network copied(fuse::graph const& from) {
  network made;
  std::vector<std::size_t> vertex_of;
  auto const leaf = [&](fuse::graph::value v) {
    operation o;
    if (auto const c = from.constant(v))
      o.contents = fuse::tensor{c.type, {c.shape.begin(), c.shape.end()}, {c.bytes.begin(), c.bytes.end()}};
    else
      o.shape = fuse::graph::dims{2, "sequence", 8};
    return add_vertex(std::move(o), made);
  };
  auto const vertex = [&](fuse::graph::value v) -> std::size_t& {
    if (v.id >= vertex_of.size()) vertex_of.resize(v.id + 1, network::null_vertex());
    return vertex_of[v.id];
  };
  for (auto const n : from.nodes()) {
    operation o;
    o.op = from.op(n);
    o.attributes.assign(from.attributes(n).begin(), from.attributes(n).end());
    auto const to = add_vertex(std::move(o), made);
    int position = 0;
    for (auto const v : from.operands(n)) {
      if (vertex(v) == network::null_vertex()) vertex(v) = leaf(v);
      add_edge(vertex(v), to, reads{position++}, made);
    }
    vertex(from.result(n)) = to;
  }
  return made;
}

}  // namespace

/// `bench_boost_graph [nodes]`
int main(int argc, char** argv) {
  std::size_t const nodes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000;
  auto const owned = bench::blocks(nodes);
  auto g = copied(owned);
  std::size_t found[2] = {};
  std::vector<double> times[2], adapting;
  for (int round = 0; round < 7; ++round) {
    auto start = bench::now();
    found[0] = fuse::match_all<fuse::rules::norms>(owned).size();
    times[0].push_back(bench::now() - start);
    start = bench::now();
    bgl::graph const ir(
        g, bgl::operator_name(&operation::op), bgl::position(&reads::operand), bgl::attributes(&operation::attributes),
        bgl::constant(&operation::contents), bgl::shape(&operation::shape),
        bgl::element_type([](std::size_t) { return fuse::element_type::float32; }), bgl::operator_set(17));
    adapting.push_back(bench::now() - start);
    found[1] = fuse::match_all<fuse::rules::norms>(ir).size();
    times[1].push_back(bench::now() - start);
  }
  auto const count = static_cast<double>(owned.node_count());
  std::printf(
      "blocks, %.0f nodes: owned %.0f ns per node, Boost graph %.0f (adapting %.0f), %.2f times; %zu and %zu matches\n",
      count, bench::median(times[0]) / count, bench::median(times[1]) / count, bench::median(adapting) / count,
      bench::median(times[1]) / bench::median(times[0]), found[0], found[1]);
  return found[0] == found[1] ? 0 : 1;
}
