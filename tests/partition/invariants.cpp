// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fuse/partition.hpp>

#include "../sampled.hpp"
#include "random_graph.hpp"

namespace invariants {

using node = fuse::graph::node;
using value = fuse::graph::value;
using fuse::op_kind;
using options = fuse::partition_options<fuse::graph>;

/// The graph as pairs of who computes and who reads, by the numbers of nodes; what a body reads its owner reads.
class reader {
 public:
  struct edge {
    std::uint32_t from, to;
  };
  std::vector<edge> edges;                         // of nodes of one body
  std::map<std::uint32_t, std::uint32_t> body_of;  // every node's

  explicit reader(fuse::graph const& g) : graph_(g) {
    read(fuse::graph::main_body, {});
    std::map<std::uint32_t, std::vector<std::uint32_t>> owners;  // of every node: the nodes around it, the nearest last
    for (auto const& [n, around] : around_) owners[n] = around;
    for (auto const& [n, around] : around_)
      for (auto const v : g.operands(node{n})) {
        if (!v || !g.producer(v)) continue;
        auto const from = g.producer(v).id;
        auto const depth = owners[from].size();
        edges.push_back({from, depth == around.size() ? n : around[depth]});
      }
  }

 private:
  void read(fuse::graph::body body, std::vector<std::uint32_t> around) {
    for (auto const n : graph_.nodes(body)) {
      around_[n.id] = around;
      body_of[n.id] = body.id;
      around.push_back(n.id);
      for (auto const inner : graph_.bodies(n)) read(inner, around);
      around.pop_back();
    }
  }

  fuse::graph const& graph_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> around_;
};

op_kind kind_of(fuse::graph const& g, std::uint32_t n) {
  auto const op = g.op(node{n});
  if (op == "Relu" || op == "Exp" || op == "Neg" || op == "Flatten") return op_kind::elementwise;
  if (op == "Add" || op == "Mul" || op == "Div") return op_kind::broadcast;
  if (op == "Transpose" || op == "Concat" || op == "Split") return op_kind::injective;
  if (op == "Softmax" || op == "ReduceMax" || op == "ReduceMean" || op == "LogSoftmax" || op == "LpNormalization")
    return op_kind::reduction;
  return op == "MatMul" ? op_kind::anchor : op_kind::opaque;
}

/// What is wrong with the groups, or nothing.
std::string wrong(fuse::graph const& g, fuse::partitioned<fuse::graph> const& made, options const& to) {
  reader const read(g);
  std::map<std::uint32_t, std::uint32_t> group_of;  // a lone node's is its own, behind those of groups
  auto const groups = static_cast<std::uint32_t>(made.groups.size());
  for (auto const& [n, body] : read.body_of) group_of[n] = groups + n;
  std::uint32_t number = 0;
  for (auto const& group : made.groups) {
    if (group.nodes.size() < 2) return "a group of one";
    for (auto const n : group.nodes) {
      if (group_of.at(n.id) < groups) return "a node in two groups";
      if (read.body_of.at(n.id) != read.body_of.at(group.nodes[0].id)) return "a group in two bodies";
      group_of[n.id] = number;
    }
    ++number;
  }

  // No cycle: taking away what reads nothing that is left, nothing is left.
  std::map<std::uint32_t, std::set<std::uint32_t>> reads;
  for (auto const& [n, group] : group_of) reads[group];
  for (auto const& [from, user] : read.edges)
    if (group_of.at(from) != group_of.at(user)) reads[group_of.at(user)].insert(group_of.at(from));
  for (bool more = true; more && !reads.empty();) {
    more = false;
    for (auto at = reads.begin(); at != reads.end();) {
      if (!at->second.empty()) {
        ++at;
        continue;
      }
      for (auto& [other, of] : reads) of.erase(at->first);
      at = reads.erase(at);
      more = true;
    }
  }
  if (!reads.empty()) return "a cycle of groups";

  if (made.nodes != read.body_of.size()) return "another number of nodes";
  std::size_t grouped = 0;
  for (auto const& group : made.groups) grouped += group.nodes.size();
  if (made.operators != made.nodes - grouped + made.groups.size()) return "another number of operators";

  for (std::uint32_t at = 0; at < groups; ++at) {
    auto const& group = made.groups[at];
    std::size_t anchors = 0, reductions = 0;
    std::set<std::uint32_t> after_anchor, after_reduction;
    std::vector<value> inputs, outputs;
    for (auto const n : group.nodes) {
      bool const by_formula = std::find(group.by_formula.begin(), group.by_formula.end(), n) != group.by_formula.end();
      if (by_formula && g.op(n) != "LogSoftmax" && g.op(n) != "LpNormalization") return "no norm by its formula";
      if (auto const from = g.producer(g.operands(n)[0]); by_formula && from && group_of.at(from.id) == at)
        return "statistics of what is not there yet";
      auto const kind = by_formula ? op_kind::broadcast : kind_of(g, n.id);
      if (kind == op_kind::opaque) return "something opaque in a group";
      anchors += kind == op_kind::anchor;
      reductions += kind == op_kind::reduction;
      bool behind_anchor = false, behind_reduction = false, reads_group = n == group.nodes[0];
      for (auto const v : g.operands(n)) {
        auto const from = g.producer(v);
        bool const inside = from && group_of.at(from.id) == at;
        reads_group = reads_group || inside;
        if (inside && std::find(group.nodes.begin(), group.nodes.end(), from) >
                          std::find(group.nodes.begin(), group.nodes.end(), n))
          return "a user before its producer";
        behind_anchor = behind_anchor || (inside && after_anchor.count(from.id) != 0);
        behind_reduction = behind_reduction || (inside && after_reduction.count(from.id) != 0);
        if (!inside && std::find(inputs.begin(), inputs.end(), v) == inputs.end()) inputs.push_back(v);
      }
      bool const pointwise = kind == op_kind::elementwise || kind == op_kind::broadcast;
      if (behind_anchor && !pointwise && g.op(n) != "Transpose")
        return "behind an anchor something that does not go element by element";
      if (behind_reduction && !pointwise && kind != op_kind::reduction) return "behind a reduction another layout";
      if (behind_anchor || kind == op_kind::anchor) after_anchor.insert(n.id);
      if (behind_reduction || kind == op_kind::reduction) after_reduction.insert(n.id);
      for (auto const v : g.results(n)) {
        bool outside = g.use_count(v) > g.users(v).size();
        for (auto const user : g.users(v)) outside = outside || group_of.at(user.id) != at;
        if (outside) outputs.push_back(v);
      }
    }
    if (anchors > 1 || (anchors == 1 && reductions != 0)) return "two loops in a group";
    auto const leading = anchors != 0 ? op_kind::anchor : reductions != 0 ? op_kind::reduction : group.kind;
    if (group.kind != leading) return "another kind";
    if (inputs != group.inputs) return "other inputs";
    if (outputs != group.outputs) return "other outputs";
    if (group.bytes_saved < 0) return "a group that moves more than its nodes do";
    if (group.nodes.size() > to.max_depth) return "more nodes than are allowed";
    if (group.inputs.size() > to.max_operands) return "more operands than are allowed";
  }
  return {};
}

// Bytes, a call of an operator counted as some; statistics are one more.
double saved(fuse::partitioned<fuse::graph> const& made) {
  constexpr double call = 1024;
  auto sum = call * static_cast<double>(made.nodes - made.operators);
  for (auto const& group : made.groups) sum += group.bytes_saved - call * static_cast<double>(group.by_formula.size());
  return sum;
}

bool same(fuse::partitioned<fuse::graph> const& a, fuse::partitioned<fuse::graph> const& b, std::uint32_t shift) {
  if (a.groups.size() != b.groups.size()) return false;
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    auto const &x = a.groups[i].nodes, &y = b.groups[i].nodes;
    if (x.size() != y.size() || a.groups[i].bytes_saved != b.groups[i].bytes_saved) return false;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (x[k].id + shift != y[k].id) return false;
  }
  return true;
}

TEST_CASE("equal graphs have equal groups, whatever their handles are") {
  for (std::uint64_t seed = 1; seed <= 1000; seed += one_case_in) {
    CAPTURE(seed);
    random_graph const one(seed), other(seed, {.used_handles = 7});
    auto const groups = fuse::partition(one.graph);
    CHECK(same(groups, fuse::partition(one.graph), 0));
    CHECK(same(groups, fuse::partition(other.graph), 7));
  }
}

TEST_CASE("groups of random graphs are what groups have to be") {
  std::size_t grouped = 0, by_formula = 0;
  constexpr auto step = one_case_in * one_case_in * one_case_in;
  for (std::uint64_t seed = 1; seed <= 100'000; seed += step) {
    random_graph made(seed);
    options to;
    if (seed % 3 == 1) to.max_depth = 2 + made.below(5);
    if (seed % 5 == 1) to.max_operands = 2 + made.below(4);
    auto const groups = fuse::partition(made.graph, to);
    auto const reason = wrong(made.graph, groups, to);
    if (!reason.empty()) {
      CAPTURE(seed);
      FAIL(reason);
    }
    grouped += groups.nodes - groups.operators;
    for (auto const& group : groups.groups) by_formula += group.by_formula.size();
    // Norms as one operator are never better.
    to.by_formula = false;
    CHECK(saved(groups) >= saved(fuse::partition(made.graph, to)));
  }
  CHECK(grouped > 100'000 / step);
  CHECK(by_formula > 1000 / step);
}

// What all paths from each node lead through, itself too, by the definition.
class paths_from {
 public:
  explicit paths_from(reader const& read) {
    for (auto const& [from, user] : read.edges) users_[from].insert(user);
  }
  std::set<std::uint32_t> const& all(std::uint32_t n) {
    auto const known = through_.find(n);
    if (known != through_.end()) return known->second;
    std::set<std::uint32_t> common;
    bool first = true;
    for (auto const user : users_[n]) {
      auto const& behind = all(user);
      if (first)
        common = behind;
      else
        std::erase_if(common, [&](std::uint32_t m) { return behind.count(m) == 0; });
      first = false;
    }
    common.insert(n);
    return through_[n] = common;
  }

 private:
  std::map<std::uint32_t, std::set<std::uint32_t>> users_, through_;
};

void check_post_dominators(fuse::graph const& g) {
  auto const& names = fuse::dialect_of<fuse::graph>;
  fuse::graph_binding<fuse::graph const> const bound(g, fuse::names_in(names), names.newest);
  fuse::detail::operator_kinds const kinds(bound.image, names);
  fuse::detail::post_dominators const tree(bound.image, kinds);
  reader const read(g);
  paths_from paths(read);
  for (fuse::node_id n = 0; n < bound.image.node_count(); ++n) {
    std::set<std::uint32_t> above{bound.node(n).id};
    for (auto at = tree.parent(n); at != fuse::absent; at = tree.parent(at)) above.insert(bound.node(at).id);
    auto const& all = paths.all(bound.node(n).id);
    CHECK(std::includes(all.begin(), all.end(), above.begin(), above.end()));
    CHECK((above == all || !tree.in_order()));
  }
}

// A graph that was changed has nodes in bodies whose owners are numbered before them, or behind.
TEST_CASE("post-dominators are what all paths to the end lead through, in every body") {
  for (std::uint64_t seed = 1; seed <= 2000; seed += one_case_in) {
    CAPTURE(seed);
    random_graph made(seed);
    check_post_dominators(made.graph);
    auto const groups = fuse::partition(made.graph);
    fuse::outline(made.graph, groups, [](auto const&) { return fuse::group_operator{"my::group", {}}; });
    check_post_dominators(made.graph);
  }
}

}  // namespace invariants
