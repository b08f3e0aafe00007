// SPDX-License-Identifier: BSL-1.0

// A program keeps its operators in a Boost graph. Named property by property, it is a graph of fuse: its norms are
// rewritten in place. The other way round, Boost's algorithms run on fuse's own graph.

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include <fuse/adapters/boost_graph.hpp>
#include <fuse/adapters/boost_graph/view.hpp>
#include <fuse/fuse.hpp>

namespace {

struct operation {
  std::string op{}, name{};
  std::vector<fuse::attribute> attributes{};
  std::optional<std::vector<std::int64_t>> shape{};
  std::optional<fuse::tensor> contents{};
};
struct reads {
  int operand = 0;
};
using network = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, operation, reads>;
using vertex = network::vertex_descriptor;

vertex add(network& g, operation o, std::vector<vertex> const& operands = {}) {
  auto const v = add_vertex(std::move(o), g);
  for (std::size_t i = 0; i < operands.size(); ++i) add_edge(operands[i], v, {static_cast<int>(i)}, g);
  return v;
}
vertex constant(network& g, std::vector<std::int64_t> shape, std::vector<float> const& numbers) {
  return add(g, {{}, {}, {}, {}, fuse::make_tensor<float>(std::move(shape), numbers)});
}

// x / sqrt(mean(x * x) + e) * scale
network build() {
  network g;
  auto const x = add(g, {{}, "x", {}, std::vector<std::int64_t>{2, 3, 4}});
  auto const square = add(g, {"Mul", "square"}, {x, x});
  auto const mean = add(g, {"ReduceMean", "mean", {{"axes", std::vector<std::int64_t>{-1}}}}, {square});
  auto const root = add(g, {"Sqrt", "root"}, {add(g, {"Add", "sum"}, {mean, constant(g, {}, {1e-5f})})});
  auto const normal = add(g, {"Div", "normal"}, {x, root});
  add(g, {"Mul", "y"}, {normal, constant(g, {4}, {1.f, 0.5f, 0.25f, 2.f})});
  return g;
}

void print(network const& g) {
  for (auto [v, last] = vertices(g); v != last; ++v) {
    if (g[*v].op.empty()) continue;
    std::cout << "  " << *v << ": " << g[*v].op << " of";
    for (auto [e, end] = in_edges(*v, g); e != end; ++e) std::cout << ' ' << source(*e, g);
    std::cout << '\n';
  }
}

}  // namespace

int main() {
  namespace bgl = fuse::adapters::bgl;

  auto g = build();
  std::cout << "before:\n";
  print(g);
  bgl::graph ir(g, bgl::operator_name(&operation::op), bgl::position(&reads::operand),
                bgl::attributes(&operation::attributes), bgl::constant(&operation::contents),
                bgl::shape(&operation::shape), bgl::name(&operation::name),
                bgl::element_type([](vertex) { return fuse::element_type::float32; }), bgl::operator_set(23));
  auto const report = fuse::rewrite<fuse::rules::norms>(ir);
  ir.finish();
  std::cout << "after:\n";
  print(g);
  std::cout << to_text(report);

  fuse::graph owned;
  auto const x = owned.input("x");
  owned.output(owned.add("Add", {owned.add("Relu", {x}), owned.add("Sigmoid", {x})}));
  bgl::view const seen(owned);
  std::vector<std::size_t> order;
  boost::topological_sort(seen, std::back_inserter(order));
  std::cout << "users before producers:";
  for (auto const v : order) std::cout << ' ' << get(boost::vertex_name, seen, v);
  std::cout << '\n';
}
