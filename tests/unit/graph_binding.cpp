// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <vector>

#include <fuse/graph/binding.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/ops/names.hpp>

using fuse::absent;
using fuse::element_type;
using fuse::graph;
using fuse::node_id;
using fuse::opcode;

namespace {

constexpr fuse::dialect names = fuse::onnx;

template <class G>
fuse::graph_binding<G> bind(G& g) {
  return fuse::graph_binding<G>(g, fuse::names_in(names), names.newest);
}

template <class G>
std::vector<std::string> ops(fuse::graph_binding<G> const& b) {
  std::vector<std::string> all;
  for (node_id n = 0; n < b.image.node_count(); ++n) all.emplace_back(b.op_name(n));
  return all;
}

// A graph that offers what is required and no more: no index, no constants, no types.
struct bare {
  graph g;
};

}  // namespace

template <>
struct fuse::graph_traits<bare> {
  // Handles that only hash: what a graph without dense indices has.
  using node = unsigned;
  using value = unsigned;
  static std::vector<node> nodes(bare const& b) {
    std::vector<node> all;
    for (auto n : b.g.nodes()) all.push_back(n.id + 1);
    return all;
  }
  static std::string_view op_name(bare const& b, node n) { return b.g.op({n - 1}); }
  static std::vector<value> operands(bare const& b, node n) {
    std::vector<value> all;
    for (auto v : b.g.operands({n - 1})) all.push_back(v.id + 1);
    return all;
  }
  static std::vector<value> results(bare const& b, node n) {
    std::vector<value> all;
    for (auto v : b.g.results({n - 1})) all.push_back(v.id + 1);
    return all;
  }
  static node producer(bare const& b, value v) { return b.g.producer({v - 1}).id + 1; }
  static std::vector<value> outputs(bare const& b) {
    std::vector<value> all;
    for (auto v : b.g.outputs()) all.push_back(v.id + 1);
    return all;
  }
};

TEST_CASE("an image numbers nodes in order, and knows operators by the dialect") {
  graph g(13);
  auto x = g.input("x", element_type::float32, {2});
  auto e = g.constant({0.5f});
  g.output(g.add("Exotic", {g.add("Sub", {x, e}), {}}), "y");
  auto b = bind(g);
  CHECK_FALSE(b.cyclic());
  CHECK(ops(b) == std::vector<std::string>{"Sub", "Exotic"});
  CHECK(b.image.version == 13);
  CHECK(op_of(b.image, 0) == opcode::sub);
  CHECK(op_of(b.image, 1) == opcode::opaque);
  CHECK(b.image.operand(1, 1) == absent);
  CHECK(b.image.operand(0, 0) == b.number(x));
  CHECK(b.image.value(b.number(e)).constant);
  CHECK_FALSE(b.image.value(b.number(x)).constant);
  CHECK(b.image.value(b.image.result(1)).outputs == 1);
  CHECK(b.number(graph::value{}) == absent);
}

TEST_CASE("a constant that the caller may override is none, a Constant node is one") {
  graph g;
  auto w = g.input("w", fuse::make_tensor(element_type::float32, {1}, std::vector{2.0}));
  auto c = g.add("Constant", {}, {{"value", fuse::make_tensor(element_type::float32, {1}, std::vector{2.0})}});
  g.output(g.add("Add", {w, c}), "y");
  auto b = bind(g);
  CHECK_FALSE(b.image.value(b.number(w)).constant);
  CHECK(b.image.value(b.number(c)).constant);
}

TEST_CASE("a graph in no topological order is sorted, ties as the graph lists them") {
  graph g;
  auto x = g.input("x");
  auto last = g.append("Last", {x}), a = g.append("A", {x}), b = g.append("B", {x});
  g.set_operand(last, 0, g.result(b));
  g.output(g.result(last), "y");
  g.output(g.result(a), "z");
  auto bound = bind(g);
  CHECK_FALSE(bound.cyclic());
  CHECK(ops(bound) == std::vector<std::string>{"A", "B", "Last"});
  CHECK(bound.image.operand(2, 0) == bound.image.result(1));
  CHECK(bound.node(2) == last);
  CHECK(bound.image.value(bound.number(x)).use_count == 2);
}

TEST_CASE("a cycle is told") {
  graph g;
  auto a = g.append("A", {g.input("x")}), b = g.append("B", {g.result(a)});
  g.set_operand(a, 0, g.result(b));
  CHECK(bind(g).cyclic());
}

TEST_CASE("bodies are part of the image: their nodes come before their owner, their captures are uses") {
  graph g;
  auto x = g.input("x"), condition = g.input("c");
  auto outer = g.add("Exp", {x});
  auto branch = g.append("If", {condition});
  g.append_to(g.add_body(branch, "then_branch"));
  auto const inner = g.add("Neg", {outer});
  g.output(inner, "out");
  g.append_to(graph::main_body);
  g.output(g.result(branch), "y");
  auto b = bind(g);
  CHECK(ops(b) == std::vector<std::string>{"Exp", "Neg", "If"});
  CHECK(b.image.node(1).region == 1);
  CHECK(b.image.node(2).region == 0);
  CHECK(b.image.node(2).has_bodies);
  CHECK(b.image.value(b.number(outer)).use_count == 1);
  CHECK(b.image.value(b.number(inner)).outputs == 1);
}

TEST_CASE("an edit reaches the graph, and binds the new handles to the next numbers") {
  graph g;
  auto x = g.input("x", element_type::float32, {2});
  auto y = g.add("Neg", {x});
  g.output(y, "y");
  auto b = bind(g);
  fuse::value_id const operands[]{b.number(x), absent};
  fuse::attribute const attributes[]{{"axis", std::int64_t{-1}}};
  element_type const types[]{element_type::float32};
  auto const next = b.image.value_count();
  REQUIRE(b.insert(0, "Fused", operands, attributes, types, "origin"));
  auto const made = b.value(next);
  CHECK(g.op(g.producer(made)) == "Fused");
  CHECK_FALSE(g.operands(g.producer(made))[1]);
  b.replace_uses(b.number(y), next);
  b.erase(0);
  CHECK(g.outputs() == std::vector{made});
  CHECK(g.node_count() == 1);
}

TEST_CASE("a graph without indices, constants, types or shapes is read all the same") {
  bare b;
  auto x = b.g.input("x");
  auto y = b.g.add("Add", {x, b.g.constant({1.f})});
  b.g.output(b.g.add("Mul", {y, y}), "y");
  STATIC_REQUIRE(fuse::readable_graph<bare>);
  STATIC_REQUIRE_FALSE(fuse::rewritable_graph<bare>);
  auto bound = bind(b);
  CHECK(ops(bound) == std::vector<std::string>{"Add", "Mul"});
  CHECK(bound.image.version == names.newest);
  CHECK(bound.image.value(bound.image.result(0)).use_count == 2);
  CHECK(bound.type(0) == element_type::unknown);
  CHECK_FALSE(bound.has_shapes());
  CHECK(bound.node_name(1) == "node 1");
  CHECK_FALSE(bound.insert(0, "A", {}, {}, {}, ""));
}

TEST_CASE("a chain of a hundred thousand nodes in reverse order is sorted without recursion") {
  graph g;
  auto const x = g.input("x");
  std::vector<graph::node> chain;
  for (int i = 0; i < 100'000; ++i) chain.push_back(g.append("Neg", {x}));
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) g.set_operand(chain[i], 0, g.result(chain[i + 1]));
  g.output(g.result(chain[0]), "y");
  auto b = bind(g);
  CHECK_FALSE(b.cyclic());
  CHECK(b.node(0) == chain.back());
  CHECK(b.image.producer(b.image.operand(99'999, 0)) == 99'998);
}
