// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <fuse/draw/dot_writer.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0 {

/// Nodes that are drawn in one frame.
template <class G>
struct drawn_group {
  std::string label;
  std::vector<node_of<G>> nodes;
};

/// What a drawing shows.
template <class G>
struct drawing {
  std::vector<drawn_group<G>> groups{};  ///< a node that is in several is drawn in the first
  bool shapes = true;                    ///< element type and shape on each edge, as far as they are known
  std::vector<node_of<G>> around{};      ///< where not empty: only these, and what is near them
  std::size_t hops = 2;                  ///< how near: so many edges away, in either direction
};

/// The graph in the language of Graphviz: a box for each node, labelled by its operator and name, an ellipse for each
/// input that is read and each output that is computed, an edge for each operand. Linear. A graph with a cycle is drawn
/// without shapes.
template <class G>
[[nodiscard]] std::string draw(G const& graph, drawing<G> const& what = {}) {
  (void)sizeof(detail::require_readable<G>);
  auto const& names = dialect_of<G>;
  graph_binding<G const> const bound(graph, names_in(names), names.newest);
  detail::facts known(bound.image, names);
  if (what.shapes && !bound.cyclic()) known.run();
  auto const numbers_of = [&](std::vector<node_of<G>> const& nodes) {
    std::vector<node_id> numbers;
    for (auto const& n : nodes)
      for (auto const& v : graph_traits<G>::results(graph, n))
        if (auto const at = bound.number(v); at != absent) {
          numbers.push_back(bound.image.producer(at));
          break;
        }
    return numbers;
  };
  detail::dot_writer writer(bound, bound.image, known, what.shapes);
  for (auto const& g : what.groups) writer.add_group(g.label, numbers_of(g.nodes));
  if (!what.around.empty()) writer.keep_around(numbers_of(what.around), what.hops);
  return writer.write();
}

}  // namespace fuse::inline v0
