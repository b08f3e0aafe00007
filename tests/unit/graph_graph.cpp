// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <set>
#include <string>
#include <vector>

#include <fuse/graph/concepts.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/graph_text.hpp>

namespace graph_graph {

using fuse::element_type;
using fuse::graph;
using traits = fuse::graph_traits<graph>;

static_assert(fuse::rewritable_graph<graph>);
static_assert(fuse::use_tracking_graph<graph>);

namespace {

std::vector<std::string> ops(graph const& g, graph::body b = graph::main_body) {
  std::vector<std::string> all;
  for (auto n : g.nodes(b)) all.emplace_back(g.op(n));
  return all;
}

}  // namespace

TEST_CASE("a graph is built as it reads") {
  graph g;
  auto x = g.input("x", element_type::float32, {2, "seq", 8});
  auto mean = g.add("ReduceMean", {x}, {{"axes", {-1}}, {"keepdims", 1}});
  auto y = g.add("Add", {g.add("Sub", {x, mean}), g.scalar(1e-5f)});
  auto split = g.append("Split", {y}, {{"axis", -1}, {"mode", "even"}, {"ratio", 0.5}}, 2);
  g.output(g.result(split, 0), "low");
  g.output(g.result(split, 1), "high");
  CHECK(to_text(g) == R"(graph, operator set 17
  input x: float32[2,seq,8]
  %1 = ReduceMean(x) axes=[-1] keepdims=1
  %2 = Sub(x, %1)
  %3 = Add(%2, float32[]{1e-05})
  %4, %5 = Split(%3) axis=-1 mode="even" ratio=0.5
  output low = %4
  output high = %5
)");
  CHECK(g.node_count() == 4);
  CHECK(g.producer(g.result(split, 1)) == split);
  CHECK_FALSE(g.producer(x));
}

TEST_CASE("an int becomes an int64 constant, other numbers keep their type") {
  graph g;
  CHECK(g.type(g.constant({-1, 2})) == element_type::int64);
  CHECK(g.constant(g.constant({-1, 2})).integer(1) == 2);
  CHECK(g.type(g.scalar(std::int32_t{3})) == element_type::int64);
  CHECK(g.type(g.scalar(2.0)) == element_type::float64);
  CHECK(g.constant(g.scalar(2.0)).shape.empty());
  CHECK(g.type(g.constant({true, false})) == element_type::boolean);
}

TEST_CASE("every use is found, once for each operand") {
  graph g;
  auto x = g.input("x");
  auto square = g.add("Mul", {x, x});
  auto sum = g.add("Add", {square, x});
  g.output(sum, "y");
  g.output(sum, "z");
  CHECK(g.users(x).size() == 3);
  CHECK(g.users(sum).empty());
  CHECK(g.use_count(sum) == 2);
  CHECK(g.users(square) == std::vector{g.producer(sum)});
}

TEST_CASE("a node is inserted right before its place") {
  graph g;
  auto x = g.input("x");
  auto first = g.add("A", {x}), last = g.add("B", {first});
  g.output(last, "y");
  auto const made = g.insert_before(g.producer(last), "C", std::vector{first, graph::value{}}, {{"k", 1}}, 2);
  CHECK(ops(g) == std::vector<std::string>{"A", "C", "B"});
  CHECK(g.operands(made)[0] == first);
  CHECK_FALSE(g.operands(made)[1]);
  CHECK(g.results(made).size() == 2);
  CHECK(std::get<std::int64_t>(g.attribute(made, "k")->content) == 1);
  g.insert_before(g.producer(first), "D", std::vector{x});
  CHECK(ops(g) == std::vector<std::string>{"D", "A", "C", "B"});
}

TEST_CASE("replacing uses moves operands and outputs, and outputs keep their names") {
  graph g;
  auto x = g.input("x");
  auto a = g.add("A", {x}), b = g.add("B", {x}), c = g.add("C", {a, a});
  g.output(a, "y");
  g.replace_uses(a, b);
  CHECK(g.use_count(a) == 0);
  CHECK(g.operands(g.producer(c))[0] == b);
  CHECK(g.operands(g.producer(c))[1] == b);
  CHECK(g.outputs() == std::vector{b});
  CHECK(g.output_name(0) == "y");
  g.replace_uses(b, b);
  CHECK(g.use_count(b) == 3);
}

TEST_CASE("an erased node is gone, from both ends and the middle") {
  for (int victim : {0, 1, 2}) {
    graph g;
    auto x = g.input("x");
    std::vector<graph::value> all{g.add("A", {x}), g.add("B", {x}), g.add("C", {x})};
    auto expected = ops(g);
    expected.erase(expected.begin() + victim);
    g.erase(g.producer(all[static_cast<std::size_t>(victim)]));
    CHECK(ops(g) == expected);
    CHECK(g.users(x).size() == 2);
    CHECK(g.node_count() == 2);
    g.add("D", {x});
    CHECK(ops(g).back() == "D");
  }
}

TEST_CASE("a body captures values from around it, and goes with its owner") {
  graph g;
  auto x = g.input("x"), condition = g.input("c", element_type::boolean, {});
  auto outer = g.add("Exp", {x});
  auto branch = g.append("If", {condition});
  for (auto const* name : {"then_branch", "else_branch"}) {
    g.append_to(g.add_body(branch, name));
    auto in = g.add("Neg", {outer});
    auto inner = g.append("If", {condition});
    g.append_to(g.add_body(inner, "deep"));
    g.output(g.add("Abs", {outer}), "deep_out");
    g.append_to(g.bodies(branch).back());
    g.output(in, "out");
  }
  g.append_to(graph::main_body);
  g.output(g.result(branch), "y");
  CHECK(g.users(outer).size() == 4);
  CHECK(g.node_count() == 8);
  CHECK(ops(g) == std::vector<std::string>{"Exp", "If"});
  CHECK(ops(g, g.bodies(branch)[1]) == std::vector<std::string>{"Neg", "If"});
  CHECK(g.name(g.bodies(branch)[1]) == "else_branch");
  CHECK(to_text(g).find("\n    then_branch:\n      %3 = Neg(%1)") != std::string::npos);
  auto const copy = g;
  g.replace_uses(g.result(branch), x);
  g.erase(branch);
  CHECK(g.users(outer).empty());
  CHECK(g.node_count() == 1);
  CHECK(copy.users(outer).size() == 4);
}

TEST_CASE("the text tells what the graph is, not how it came about") {
  auto build = [](bool detour) {
    graph g;
    auto x = g.input("x", element_type::float32, {"n", -1});
    if (detour) g.constant({1.f, 2.f, 3.f});
    auto wrong = detour ? g.add("Wrong", {x}) : x;
    auto a = g.add("A", {x, g.constant({1.f, 2.f})});
    if (detour) {
      g.replace_uses(wrong, x);
      g.erase(g.producer(wrong));
    }
    g.output(g.add("B", {a}), "y");
    return g;
  };
  CHECK(to_text(build(false)) == to_text(build(true)));
  auto different = [&](auto change) {
    auto g = build(false);
    change(g);
    CHECK(to_text(g) != to_text(build(false)));
  };
  auto last = [](graph const& g) { return g.producer(g.outputs()[0]); };
  different([&](graph& g) { g.set(last(g), {"k", 1}); });
  different([&](graph& g) { g.set_operand(last(g), 0, g.inputs()[0]); });
  different([&](graph& g) { g.annotate(g.result(last(g)), element_type::float16); });
  different([&](graph& g) { g.output(g.inputs()[0], "z"); });
  different([&](graph& g) { g.set_operand(g.producer(g.operands(last(g))[0]), 1, g.constant({1.f, 2.5f})); });
  std::vector<float> many(100, 1.f);
  auto wide = [&] {
    graph g;
    g.output(g.add("A", {g.constant(fuse::make_tensor<float>({100}, many))}), "y");
    return to_text(g);
  };
  auto const before = wide();
  many[57] = 2;
  CHECK(wide() != before);
}

TEST_CASE("attributes are set, replaced, and added to any node") {
  graph g;
  auto x = g.input("x");
  auto a = g.producer(g.add("A", {x}, {{"p", 1}})), b = g.producer(g.add("B", {x}, {{"q", {1, 2}}}));
  g.set(a, {"p", 2});
  g.set(a, {"r", 0.25});
  CHECK(std::get<std::int64_t>(traits::attribute(g, a, "p")) == 2);
  CHECK(std::get<double>(traits::attribute(g, a, "r")) == 0.25);
  CHECK(std::get<fuse::span<std::int64_t const>>(traits::attribute(g, b, "q"))[1] == 2);
  CHECK(traits::attribute(g, b, "p").index() == 0);
  CHECK(g.attributes(a).size() == 2);
}

TEST_CASE("the traits tell shapes, contents and who may override them") {
  graph g;
  std::vector<fuse::dimension> shape;
  auto unranked = g.input("u", element_type::float32);
  CHECK_FALSE(traits::shape(g, unranked, shape));
  auto x = g.input("x", element_type::float16, {2, "batch", -1});
  REQUIRE(traits::shape(g, x, shape));
  CHECK((shape[0].extent == 2 && shape[1].symbol == "batch" && shape[1].extent == -1 && shape[2].symbol.empty()));
  auto rank_0 = g.input("r", element_type::float32, {});
  REQUIRE(traits::shape(g, rank_0, shape));
  CHECK(shape.empty());
  auto weights = g.input("w", fuse::make_tensor(element_type::float32, {2}, std::vector{1.0, 2.0}));
  CHECK(traits::overridable(g, weights));
  CHECK(traits::constant(g, weights).number(1) == 2);
  auto fixed = traits::add_constant(g, traits::constant(g, weights), "");
  CHECK_FALSE(traits::overridable(g, fixed));
  REQUIRE(traits::shape(g, fixed, shape));
  CHECK(shape[0].extent == 2);
  CHECK_FALSE(traits::constant(g, x));
}

TEST_CASE("reports call a value by its name, that of the output it is, or its number") {
  graph g;
  auto x = g.input("x");
  auto a = g.add("A", {x}), b = g.add("B", {a}), c = g.add("C", {b});
  g.output(b, "y");
  g.rename(g.producer(c), "last");
  CHECK(traits::name(g, x) == "x");
  CHECK(traits::name(g, a) == "%1");
  CHECK(traits::name(g, b) == "y");
  CHECK(traits::name(g, g.producer(b)) == "y");
  CHECK(traits::name(g, g.producer(c)) == "last");
}

TEST_CASE("a node without operands that holds a tensor is a constant, too") {
  graph g;
  auto c = g.add("Constant", {}, {{"value", fuse::make_tensor(element_type::float32, {2}, std::vector{1.0, 2.0})}});
  CHECK(traits::constant(g, c).number(1) == 2);
  CHECK_FALSE(traits::constant(g, g.add("Shape", {c})));
}

TEST_CASE("a function is declared once, whoever asks for it again; another of its name is refused") {
  graph g;
  fuse::function_body body;
  body.name = "fuse::F";
  body.steps.push_back({"Neg", {"x"}, {"y"}, {{"k", std::int64_t{1}}}, {}});
  CHECK(traits::declare(g, body));
  CHECK(traits::declare(g, body));
  CHECK(g.functions().size() == 1);
  body.steps[0].attributes[0].content = std::int64_t{2};
  CHECK_FALSE(traits::declare(g, body));
  CHECK(to_text(g).find("function fuse::F") != std::string::npos);
}

TEST_CASE("a long chain is built and erased without recursion") {
  graph g;
  auto v = g.input("x");
  for (int i = 0; i < 200'000; ++i) v = g.add("Neg", {v});
  while (auto n = g.producer(v)) {
    v = g.operands(n)[0];
    g.erase(n);
  }
  CHECK(g.node_count() == 0);
}

}  // namespace graph_graph
