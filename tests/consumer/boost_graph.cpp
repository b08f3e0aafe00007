// SPDX-License-Identifier: BSL-1.0
#include <string>

#include <boost/graph/adjacency_list.hpp>

#include <fuse/adapters/boost_graph.hpp>
#include <fuse/adapters/boost_graph/view.hpp>

struct operation {
  std::string op{};
};

int main() {
  namespace bgl = fuse::adapters::bgl;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, operation, int> g;
  add_edge(add_vertex(operation{}, g), add_vertex(operation{"Relu"}, g), 0, g);
  bgl::graph const ir(g, bgl::operator_name(&operation::op), bgl::position(get(boost::edge_bundle, g)));
  return num_edges(bgl::view(ir)) == 1 ? 0 : 1;
}
