// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/partition/partition.hpp>

namespace fuse::inline v0 {

/// The operator that takes the place of a group.
struct group_operator {
  std::string op;  ///< as the graph spells it; empty: the group stays as it is
  std::vector<attribute> attributes{};
};

/// What became of groups.
template <class G>
struct outlined {
  std::vector<node_of<G>> nodes;  ///< one for each group that did not stay as it is, in their order
  std::string refused;            ///< what the graph refused, in one sentence; it is as it was, and has no new nodes
};

/// Puts one node in the place of each group, through `graph_traits<G>::insert`: it reads the group's inputs, and its
/// results are the group's outputs, in their order. It stands where the group's last node stood. A group without
/// outputs stays: nobody reads it.
///
/// `groups` are those of `graph` as it is; `describe(fusion_group<G> const&)` gives the `group_operator` of one. Where
/// the graph refuses a node, or makes one with another number of results, none is put anywhere. Linear in the graph.
template <rewritable_graph G, class Describe>
outlined<G> outline(G& graph, partitioned<G> const& groups, Describe const& describe) {
  using traits = graph_traits<G>;
  outlined<G> done;
  std::vector<fusion_group<G> const*> replaced;
  {
    auto const& names = dialect_of<G>;
    graph_binding<G const> const bound(graph, names_in(names), names.newest);
    if (bound.cyclic()) return done;
    detail::facts known(bound.image, names);
    known.run();
    std::vector<element_type> types;
    for (auto const& group : groups.groups) {
      if (group.outputs.empty()) continue;
      group_operator const made = describe(group);
      if (made.op.empty()) continue;
      types.clear();
      for (auto const& v : group.outputs) types.push_back(known.type(bound.number(v)));
      auto const origin = bound.node_name(bound.image.producer(bound.number(group.outputs.back())));
      auto const node = traits::insert(
          graph, group.nodes.back(),
          {made.op, span<value_of<G> const>(group.inputs), made.attributes, span<element_type const>(types), origin});
      bool usable = !(node == node_of<G>{});
      if (usable) {
        done.nodes.push_back(node);
        replaced.push_back(&group);
        std::size_t results = 0;
        for (auto const& v : traits::results(graph, node)) {
          usable = usable && !(v == value_of<G>{});
          ++results;
        }
        usable = usable && results == group.outputs.size();
      }
      if (usable) continue;
      done.refused = "the graph refuses a new " + made.op + " for " + origin + ", or makes one with other results";
      for (; !done.nodes.empty(); done.nodes.pop_back()) traits::erase(graph, done.nodes.back());
      return done;
    }
  }
  for (std::size_t i = 0; i < replaced.size(); ++i) {
    std::vector<value_of<G>> results;
    for (auto const& v : traits::results(graph, done.nodes[i])) results.push_back(v);
    for (std::size_t k = 0; k < results.size(); ++k) traits::replace_uses(graph, replaced[i]->outputs[k], results[k]);
  }
  // Users first: of groups, and of the nodes in them.
  for (auto group = replaced.rbegin(); group != replaced.rend(); ++group)
    for (auto n = (*group)->nodes.rbegin(); n != (*group)->nodes.rend(); ++n) traits::erase(graph, *n);
  return done;
}

}  // namespace fuse::inline v0
