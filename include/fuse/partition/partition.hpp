// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/partition/group_contents.hpp>
#include <fuse/partition/grouping.hpp>
#include <fuse/partition/partitioner.hpp>

namespace fuse::inline v0 {

/// Nodes that may become one operator: none of them computes what another group needs before this one can begin.
template <class G>
struct fusion_group {
  op_kind kind = op_kind::opaque;    ///< what leads it: an anchor, else a reduction, else what is injective, and so on
  std::vector<node_of<G>> nodes;     ///< two or more, producers before users
  std::vector<value_of<G>> inputs;   ///< what they read and do not compute, constants too; in the order of reading
  std::vector<value_of<G>> outputs;  ///< what they compute that is read elsewhere or given out
  double bytes_saved = 0;            ///< that one operator moves less than the nodes do
  /// Of its nodes, norms that take part by their formula: their statistics are computed before the others begin, in one
  /// more reading of the norm's operand, and what is left of them goes element by element with the others.
  std::vector<node_of<G>> by_formula;
};

/// What to keep to. All limits are for one group.
template <class G>
struct partition_options {
  std::size_t max_depth = std::numeric_limits<std::size_t>::max();     ///< nodes
  std::size_t max_operands = std::numeric_limits<std::size_t>::max();  ///< values that it reads, each once
  double max_bytes = std::numeric_limits<double>::infinity();          ///< of all values that its nodes compute
  /// Whether `from` and `into`, the node that all paths from it lead to or one that reads it, stay apart. May be null.
  bool (*veto)(void* context, node_of<G> const& from, node_of<G> const& into) = nullptr;
  /// Whether a node is in no group, as if nobody knew its operator. May be null.
  bool (*alone)(void* context, node_of<G> const& n) = nullptr;
  void* context = nullptr;  ///< what both are given
  /// Whether a norm may be taken by its formula where that moves less, or is one operator always.
  bool by_formula = true;
};

/// The fusion groups of a graph.
template <class G>
struct partitioned {
  std::vector<fusion_group<G>> groups;  ///< in an order in which each comes after what it reads
  std::size_t nodes = 0;                ///< of the graph and all bodies, but for constants
  std::size_t operators = 0;            ///< what is left of them where each group is one
  bool cyclic = false;                  ///< the graph has a cycle, and no groups
};

/// Groups the nodes of `graph` by the kinds of their operators (`operator_info::kind`, or what the dialect's row says):
/// elementwise and injective operators go on into what reads them, a reduction takes along what follows in its rows, an
/// anchor what follows element by element. docs/partition.md has the rules.
///
/// A norm takes part as one operator, or by its formula where that moves less.
///
/// A node is in one group at most, no cycle leads through groups, and nothing is computed twice. Each body of control
/// flow is grouped by itself. Equal graphs have equal groups. What the graph cannot tell of shapes keeps nothing apart:
/// groups are right whatever the shapes are.
///
/// Near linear: n log n where the graph branches and meets again at any depth, times `max_operands` where that is
/// limited. After TVM's FuseOps (Chen et al., "TVM: An Automated End-to-End Optimizing Compiler for Deep Learning",
/// OSDI 2018).
template <class G>
[[nodiscard]] partitioned<G> partition(G const& graph, partition_options<G> const& options = {}) {
  (void)sizeof(detail::require_readable<G>);
  auto const& names = dialect_of<G>;
  graph_binding<G const> const bound(graph, names_in(names), names.newest);
  partitioned<G> made;
  made.cyclic = bound.cyclic();
  if (made.cyclic) return made;
  detail::facts known(bound.image, names);
  known.run();

  struct asked {
    graph_binding<G const> const& bound;
    partition_options<G> const& options;
  } context{bound, options};
  detail::partition_limits limits{options.max_depth, options.max_operands, options.max_bytes};
  limits.context = &context;
  limits.by_formula = options.by_formula;
  if (options.veto != nullptr)
    limits.veto = [](void* self, node_id from, node_id into) {
      auto const& [of, by] = *static_cast<asked*>(self);
      return by.veto(by.context, of.node(from), of.node(into));
    };
  if (options.alone != nullptr)
    limits.alone = [](void* self, node_id n) {
      auto const& [of, by] = *static_cast<asked*>(self);
      return by.alone(by.context, of.node(n));
    };
  detail::grouping grouped(bound.image, known, names, limits);
  detail::group_contents contents(bound.image, grouped.kinds(), grouped.run().groups());
  made.nodes = contents.nodes();
  made.operators = contents.operators();
  made.groups.reserve(contents.size());
  auto const values = [&](auto const& numbers) {
    std::vector<value_of<G>> all;
    all.reserve(numbers.size());
    for (auto const v : numbers) all.push_back(bound.value(v));
    return all;
  };
  for (std::uint32_t at = 0; at < contents.size(); ++at) {
    contents.read(at, grouped.traffic());
    auto& group = made.groups.emplace_back();
    auto const nodes = contents.nodes_of(at);
    group.kind = grouped.run().kind_of(nodes.back());
    group.nodes.reserve(nodes.size());
    for (auto const n : nodes) {
      group.nodes.push_back(bound.node(n));
      if (grouped.kinds().goes_by_formula(n)) group.by_formula.push_back(bound.node(n));
    }
    group.inputs = values(contents.inputs());
    group.outputs = values(contents.outputs());
    group.bytes_saved = contents.bytes_saved();
  }
  return made;
}

}  // namespace fuse::inline v0
