// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/graph/binding.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rewrite/compiled_rules.hpp>
#include <fuse/rewrite/driver.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/report.hpp>

namespace fuse::inline v0 {

namespace detail {

/// What does not depend on the graph's type. The engine's classes are templates of the image's type, of which there is
/// one: a file that only states rules need not compile them.
template <class Image>
void rewrite(compiled_rules const& rules, graph_source& source, Image& image, bool cyclic, dialect const& names,
             rewrite_options const& options, rewrite_report& report) {
  if (cyclic) {
    report.error = "the graph has a cycle";
    return;
  }
  report.nodes_before = image.node_count();
  auto const phase = [&](std::string_view name) {
    if (options.observer.phase != nullptr) options.observer.phase(options.observer.context, name);
  };
  phase("shapes");
  facts known(image, names);
  known.run();
  phase("match");
  basic_driver<Image> run(rules, image, known, names, options, report);
  run.run();
  if (options.trust_shapes && !source.has_shapes())
    report.notes.push_back(
        "the graph tells no shapes: that replacements have the shape of what they replace was taken on trust");
  report.nodes_after = image.alive_count();
}

#ifdef FUSE_REWRITE_SEPARATE
extern template void rewrite(compiled_rules const&, graph_source&, graph_image&, bool, dialect const&,
                             rewrite_options const&, rewrite_report&);
#endif

/// The same of a user's graph: compiled once for a type of graph, whatever the rules.
template <class Graph>
void rewrite(compiled_rules const& rules, Graph& graph, rewrite_options const& options, rewrite_report& report) {
  static constexpr auto const& names = dialect_of<Graph>;
  graph_binding<Graph> bound(graph, names_in(names), names.newest);
  rewrite(rules, bound, bound.image, bound.cyclic(), names, options, report);
}

}  // namespace detail

/// Rewrites `graph` in place with a rule or rule set and says what it did: `auto report =
/// fuse::rewrite<my_rules>(graph);`.
///
/// A rewrite happens only if its result has provably the shape and element type of what it replaces, every condition
/// holds, no output is lost and no cycle arises; else the graph stays as it is there, and the report says why. Linear
/// in the graph in practice; one image of the graph is built (under 200 bytes a node).
template <auto const& Rules, class Graph>
rewrite_report rewrite(Graph& graph, rewrite_options const& options = {}) {
  (void)sizeof(detail::require_rewritable<Graph>);
  rewrite_report report;
  if constexpr (rewritable_graph<Graph>) {
    static constexpr auto const& table = detail::dialect_table_of<Graph>();
    if constexpr (detail::require_rules<Rules, table>::met) {
      static_assert(!detail::program_table_of<Rules, table>.overflow,
                    "fuse: a rule set has at most 1024 rules, 64 parameter names, 32 sets to look through and 256 "
                    "rearrangements");
      detail::rewrite(detail::compiled_rules_of<Rules, table>(), graph, options, report);
    }
  }
  return report;
}

}  // namespace fuse::inline v0
