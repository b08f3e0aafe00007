// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <catch.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <fuse/fuse.hpp>

/// What the tests of the language and of the rewriter share: small graphs, and what became of them.
namespace rewriting {

using fuse::element_type;
using fuse::graph;

/// A graph under construction: inputs of one shape, and an end that makes its last value the output "y".
struct sketch : graph {
  explicit sketch(int version = 17) : graph(version) {}
  value in(std::string_view name, dims const& shape = {4, 8}, element_type type = element_type::float32) {
    return input(name, type, shape);
  }
  void end(value v) { output(v, "y"); }
};

}  // namespace rewriting

template <>
struct fuse::graph_traits<rewriting::sketch> : fuse::graph_traits<fuse::graph> {};

namespace rewriting {

/// Operators of the graph in their order, "MatMul Relu".
inline std::string ops(graph const& g) {
  std::string all;
  for (auto n : g.nodes()) all += (all.empty() ? "" : " ") + std::string(g.op(n));
  return all;
}

/// How often `Rules` is applied to the graph.
template <auto const& Rules>
std::size_t applied(graph& g, fuse::rewrite_options const& options = {}) {
  auto const report = fuse::rewrite<Rules>(g, options);
  UNSCOPED_INFO(to_text(report));
  CHECK(report.error.empty());
  return report.applied();
}

/// Conditions for which `rule` was refused, "rank, cost".
inline std::string refused(fuse::rewrite_report const& report, std::string_view rule) {
  std::string all;
  for (auto const& r : report.rule(rule)->refused) all += (all.empty() ? "" : ", ") + r.condition;
  return all;
}

/// Why `Rules`, one rule, leaves the graph as it is: the conditions. Checks that it does.
template <auto const& Rule>
std::string refusal(graph& g, fuse::rewrite_options const& options = {}) {
  auto const before = to_text(g);
  auto const report = fuse::rewrite<Rule>(g, options);
  UNSCOPED_INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.applied() == 0);
  CHECK(to_text(g) == before);
  return refused(report, Rule.name);
}

/// The double in an attribute; fails where there is none.
inline double number(graph const& g, graph::node n, std::string_view name) {
  auto const* a = g.attribute(n, name);
  REQUIRE(a != nullptr);
  if (auto const* integer = std::get_if<std::int64_t>(&a->content)) return static_cast<double>(*integer);
  return std::get<double>(a->content);
}

/// The last node.
inline graph::node last(graph const& g) {
  graph::node found;
  for (auto n : g.nodes()) found = n;
  return found;
}

}  // namespace rewriting
