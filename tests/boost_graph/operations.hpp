// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include <fuse/adapters/boost_graph.hpp>

/// Boost graphs of operations as somebody might have them, with one bundled property each for vertices and edges.
namespace operations {

namespace bgl = fuse::adapters::bgl;

struct operation {
  std::string op{};
  std::string name{};
  std::vector<fuse::graph::named> attributes{};
  std::optional<fuse::tensor> contents{};
  bool overridable = false;
  std::vector<fuse::element_type> types{fuse::element_type::unknown};  // one for each result
  std::vector<std::optional<fuse::graph::dims>> shapes{1};
  std::size_t results = 1;
  int order = 0;
};
struct one_operand {
  int operand = 0, result = 0;
};
struct operands {
  std::vector<int> positions{}, results{};
};

template <class Out, class Vertices, class Directed, class Edge = one_operand>
using list_graph = boost::adjacency_list<Out, Vertices, Directed, operation, Edge>;
using vertex_list = list_graph<boost::vecS, boost::vecS, boost::bidirectionalS>;

/// All that fuse can use of such a graph; `more`: where inputs and outputs are listed, the dialect.
template <class G, class... More>
auto adapted(G& g, More... more) {
  auto const position = [] {
    if constexpr (std::is_same_v<typename G::edge_bundled, operands>)
      return std::pair(bgl::position(&operands::positions), bgl::result_number(&operands::results));
    else
      return std::pair(bgl::position(&one_operand::operand), bgl::result_number(&one_operand::result));
  }();
  return bgl::graph(g, bgl::operator_name(&operation::op), position.first, position.second,
                    bgl::result_count(&operation::results), bgl::attributes(&operation::attributes),
                    bgl::constant(&operation::contents), bgl::overridable(&operation::overridable),
                    bgl::element_type(&operation::types), bgl::shape(&operation::shapes), bgl::name(&operation::name),
                    bgl::order(&operation::order), more...);
}

}  // namespace operations
