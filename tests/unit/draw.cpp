// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <vector>

#include <fuse/draw.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/graph_text.hpp>
#include <fuse/rules/norms.hpp>

namespace draw {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

// An RMS norm, then Relu.
fuse::graph sample() {
  fuse::graph g(23);
  auto const x = g.input("x", fuse::element_type::float32, {2, "n", 2});
  auto const mean = g.add("ReduceMean", {g.add("Mul", {x, x}), g.constant({-1}, "axes")});
  auto const root = g.add("Sqrt", {g.add("Add", {mean, g.scalar(0.5f)})});
  auto const norm = g.add("Mul", {g.add("Div", {x, root}), g.constant({1.f, 2.f}, "scale")});
  g.output(g.add("Relu", {norm}), "y");
  return g;
}

TEST_CASE("a drawing has a box for each node, and an edge with its shape for each operand") {
  CHECK(fuse::draw(sample()) == R"(digraph graph_of_operators {
  node [shape=box, style="rounded,filled", fillcolor=white];
  n0 [label="Mul\n%1"];
  n1 [label="ReduceMean\n%3"];
  n2 [label="Add\n%5"];
  n3 [label="Sqrt\n%6"];
  n4 [label="Div\n%7"];
  n5 [label="Mul\n%9"];
  n6 [label="Relu\ny"];
  v7 [shape=ellipse, label="x"];
  v7 -> n0 [label="float32[2,n,2]"];
  v7 -> n0 [label="float32[2,n,2]"];
  n0 -> n1 [label="float32[2,n,2]"];
  v8 [shape=plaintext, style="", label="-1"];
  v8 -> n1 [label="int64[1]"];
  n1 -> n2 [label="float32[2,n,1]"];
  v9 [shape=plaintext, style="", label="0.5"];
  v9 -> n2 [label="float32[]"];
  n2 -> n3 [label="float32[2,n,1]"];
  v7 -> n4 [label="float32[2,n,2]"];
  n3 -> n4 [label="float32[2,n,1]"];
  n4 -> n5 [label="float32[2,n,2]"];
  v10 [shape=plaintext, style="", label="scale"];
  v10 -> n5 [label="float32[2]"];
  n5 -> n6 [label="float32[2,n,2]"];
  o6 [shape=ellipse, label="y"];
  n6 -> o6 [label="float32[2,n,2]"];
}
)");
  CHECK(!has(fuse::draw(sample(), {.shapes = false}), "float32"));
}

TEST_CASE("frames stand around what rules match, and around what they replace") {
  auto const g = sample();
  auto const matched = fuse::matched<fuse::rules::norms>(g);
  REQUIRE(matched.size() == 1);
  CHECK(matched[0].label == "rms-norm");
  CHECK(matched[0].nodes.size() == 6);
  auto after = g;
  auto const replaced = fuse::replaced<fuse::rules::norms>(after);
  REQUIRE(replaced.size() == 1);
  CHECK(replaced[0].label == "rms-norm");
  CHECK(replaced[0].nodes.size() == 6);
  CHECK(after.node_count() == 2);
  auto const text = fuse::draw(g, {.groups = replaced});
  CHECK(has(text, "subgraph cluster_0 {\n    label=\"rms-norm\""));
  CHECK(has(text, "    n5 [label=\"Mul"));
  CHECK(has(text, "\n  n6 [label=\"Relu"));
}

TEST_CASE("frames stand around fusion groups") {
  auto const g = sample();
  auto const text = fuse::draw(g, {.groups = fuse::framed(fuse::partition(g))});
  CHECK(has(text, "subgraph cluster_0 {\n    label=\"reduction\""));
  CHECK(!has(text, "cluster_1"));
}

TEST_CASE("what is near a node is drawn alone") {
  auto const g = sample();
  std::vector<fuse::graph::node> nodes;
  for (auto const n : g.nodes()) nodes.push_back(n);
  auto const text = fuse::draw(g, {.around = {nodes[3]}, .hops = 1});
  for (auto const* near : {"n2 [", "n3 [", "n4 ["}) CHECK(has(text, near));
  for (auto const* far : {"n0 [", "n1 [", "n5 [", "n6 ["}) CHECK(!has(text, far));
  CHECK(has(text, "[style=dashed]"));  // from what is left out
}

TEST_CASE("names are quoted, and a cycle is drawn") {
  fuse::graph g;
  auto const a = g.append("Relu", {fuse::graph::value{}});
  g.set_operand(a, 0, g.result(a));
  g.rename(a, "say \"hi\"\\");
  CHECK(has(fuse::draw(g), R"(n0 [label="Relu\nsay \"hi\"\\"];)"));
  CHECK(has(fuse::draw(g), "n0 -> n0"));
}

}  // namespace draw
