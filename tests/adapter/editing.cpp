// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/onnx.hpp>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "parsed.hpp"

namespace editing {

using namespace fuse;
using adapters::onnx_graph;
using adapters::onnx_node;
using adapters::onnx_value;
using traits = graph_traits<onnx_graph>;

namespace {

onnx_node find(onnx_graph const& g, std::string_view name, adapters::onnx_body body = {}) {
  for (auto const n : traits::nodes(g, body)) {
    if (traits::name(g, n) == name) return n;
    for (auto const b : traits::bodies(g, n))
      if (auto const inner = find(g, name, b)) return inner;
  }
  return {};
}
onnx_node insert(onnx_graph& g, onnx_node place, std::string_view op, std::vector<onnx_value> const& operands,
                 std::string_view origin = {}, std::vector<element_type> const& results = {element_type::float32}) {
  return traits::insert(g, place, {op, operands, {}, results, origin});
}
onnx_value result(onnx_graph const& g, onnx_node n) { return traits::results(g, n)[0]; }

std::string text(onnx::NodeProto const& n) {
  std::string line;
  for (auto const& output : n.output()) line += (line.empty() ? "" : ", ") + output;
  line += " = " + (n.domain().empty() ? "" : n.domain() + "::") + n.op_type() + "(";
  for (int i = 0; i < n.input_size(); ++i) line += (i == 0 ? "" : ", ") + n.input(i);
  return line + ")";
}
std::vector<std::string> text(onnx::GraphProto const& g) {
  std::vector<std::string> lines;
  for (auto const& n : g.node()) lines.push_back(text(n));
  return lines;
}
using lines = std::vector<std::string>;

// x -> d = Sub(x, Mean(x)) -> y = Sqrt(d), as a rewrite would replace it.
char const* const chain = R"(graph {
    input { name: "x" type { tensor_type { elem_type: 1 } } }
    initializer { name: "used" data_type: 1 float_data: 1 }
    initializer { name: "spare" data_type: 1 float_data: 1 }
    node { name: "mean" op_type: "Mul" input: "x" input: "used" output: "m" }
    node { name: "sub" op_type: "Sub" input: "x" input: "m" output: "d" }
    node { name: "root" op_type: "Sqrt" input: "d" output: "y" }
    node { name: "after" op_type: "Neg" input: "y" output: "z" }
    value_info { name: "d" } value_info { name: "y" } value_info { name: "elsewhere" }
    output { name: "z" } })";

}  // namespace

TEST_CASE("a new value takes over the name of the one that it replaces") {
  auto model = parsed(chain);
  onnx_graph g(model);
  auto const root = find(g, "root");
  auto const made = insert(g, root, "Norm", {traits::inputs(g)[0]}, "root");
  traits::replace_uses(g, result(g, root), result(g, made));
  traits::erase(g, root);
  traits::erase(g, find(g, "sub"));
  traits::erase(g, find(g, "mean"));
  g.commit();
  CHECK(text(model.graph()) == lines{"y = Norm(x)", "z = Neg(y)"});
  CHECK(model.graph().node(0).name() == "root_Norm");
  SECTION("what only the rewrite made useless is gone, what nobody used before stays") {
    REQUIRE(model.graph().initializer_size() == 1);
    CHECK(model.graph().initializer(0).name() == "spare");
    REQUIRE(model.graph().value_info_size() == 2);
    CHECK(model.graph().value_info(0).name() == "y");
    CHECK(model.graph().value_info(1).name() == "elsewhere");
  }
}

TEST_CASE("a replaced output keeps its name") {
  auto model = parsed(chain);
  onnx_graph g(model);
  auto const after = find(g, "after");
  SECTION("a new node computes it") {
    auto const made = insert(g, after, "Norm", {result(g, find(g, "sub"))});
    traits::replace_uses(g, result(g, after), result(g, made));
    traits::erase(g, after);
    g.commit();
    CHECK(text(model.graph())[3] == "z = Norm(d)");
  }
  SECTION("an old node computes it, and gives up its own name") {
    traits::replace_uses(g, result(g, after), result(g, find(g, "sub")));
    traits::erase(g, after);
    g.commit();
    CHECK(text(model.graph()) == lines{"m = Mul(x, used)", "z = Sub(x, m)", "y = Sqrt(z)"});
  }
  SECTION("an input takes its place: an Identity hands it on") {
    traits::replace_uses(g, result(g, after), traits::inputs(g)[0]);
    traits::erase(g, after);
    g.commit();
    CHECK(text(model.graph())[3] == "z = Identity(x)");
  }
  SECTION("what computed it before lives on under another name") {
    auto const made = insert(g, after, "Norm", {result(g, find(g, "sub"))});
    traits::replace_uses(g, result(g, after), result(g, made));
    auto const user = insert(g, after, "Use", {result(g, after)});
    traits::replace_uses(g, result(g, find(g, "root")), result(g, user));
    g.commit();
    CHECK(model.graph().output(0).name() == "z");
    CHECK(onnx_graph(model).error().find("cycle") !=
          std::string::npos);  // the edits above made one: names are right all the same
    CHECK(text(model.graph())[3] == "z = Norm(d)");
  }
  CHECK(model.graph().output(0).name() == "z");
}

TEST_CASE("two outputs of one value keep both names") {
  auto model = parsed(R"(graph { input { name: "x" } node { name: "a" op_type: "Neg" input: "x" output: "p" }
    node { name: "b" op_type: "Neg" input: "x" output: "q" } output { name: "p" } output { name: "q" } })");
  onnx_graph g(model);
  traits::replace_uses(g, result(g, find(g, "b")), result(g, find(g, "a")));
  traits::erase(g, find(g, "b"));
  g.commit();
  CHECK(text(model.graph()) == lines{"p = Neg(x)", "q = Identity(p)"});
}

TEST_CASE("captures follow") {
  auto model = parsed(branching);
  onnx_graph g(model);
  auto const sub = find(g, "sub");
  auto const made = insert(g, sub, "Center", {traits::inputs(g)[0]});
  traits::replace_uses(g, result(g, sub), result(g, made));
  SECTION("a node of a body is replaced in its body") {
    auto const scaled = find(g, "scaled");
    auto const inner = insert(g, scaled, "Inner", {result(g, made)});
    traits::replace_uses(g, result(g, scaled), result(g, inner));
    traits::erase(g, scaled);
    traits::erase(g, sub);
    g.commit();
    auto const& branch = model.graph().node(2).attribute(0).g();
    CHECK(text(branch) == lines{"then = Inner(d)"});
    CHECK(branch.output(0).name() == "then");
    CHECK(model.graph().initializer_size() == 0);  // "scale" was captured by nothing else
  }
  SECTION("the old value lives on under a new name") {
    auto const late = insert(g, find(g, "if"), "Late", {result(g, sub)});
    traits::replace_uses(g, result(g, find(g, "mean")), result(g, late));
    g.commit();
    CHECK(text(model.graph().node(4).attribute(0).g()) == lines{"then = Mul(d, scale)"});
    CHECK(text(model.graph())[1] == "d = Center(x)");
    CHECK(text(model.graph())[2] != text(model.graph())[1]);
  }
}

TEST_CASE("fresh names differ from all others, those in bodies among them") {
  auto model = parsed(branching);
  onnx_graph g(model);
  float const one = 1;
  tensor_view const number{element_type::float32, {}, std::as_bytes(std::span(&one, 1))};
  for (auto const* wanted : {"zero", "zero", "then"}) {
    auto const c = traits::add_constant(g, number, wanted);
    insert(g, find(g, "sub"), "Use", {c}, "sub");
  }
  g.commit();
  CHECK(model.graph().initializer(1).name() == "zero_1");
  CHECK(model.graph().initializer(2).name() == "zero_2");
  CHECK(model.graph().initializer(3).name() == "then_1");
  CHECK(text(model.graph())[1] == "sub_Use = Use(zero_1)");
  CHECK(text(model.graph())[2] == "sub_Use_1 = Use(zero_2)");
  CHECK(onnx_graph(model).error() == "");
}

TEST_CASE("new nodes have names that no node has, with a number or without") {
  auto model = parsed(R"(graph {
    input { name: "x" }
    node { name: "n_Neg_2" op_type: "Neg" input: "x" output: "a" }
    node { name: "n_Use2" op_type: "Neg" input: "a" output: "b" }
    node { name: "n3" op_type: "Neg" input: "b" output: "y" }
    output { name: "y" } })");
  onnx_graph g(model);
  auto const named = [&](std::string_view op, std::string_view origin) {
    return traits::name(g, insert(g, find(g, "n3"), op, {}, origin));
  };
  CHECK(named("Abs", "n3") == "n3_Abs");
  CHECK(named("Neg", "n") == "n_Neg");
  CHECK(named("Neg", "n") == "n_Neg_1");
  CHECK(named("Neg", "n") == "n_Neg_3");
  CHECK(named("Use2", "n") == "n_Use2_1");
  CHECK(named("Abs", "n3") == "n3_Abs_1");
}

TEST_CASE("a constant that nobody came to use is not written") {
  auto model = parsed(chain);
  auto const before = model.SerializeAsString();
  onnx_graph g(model);
  float const one = 1;
  traits::add_constant(g, {element_type::float32, {}, std::as_bytes(std::span(&one, 1))}, "unused");
  g.commit();
  CHECK(model.SerializeAsString() == before);
}

TEST_CASE("below IR version 4 new constants are nodes, which need not be inputs") {
  auto model = parsed(std::string("ir_version: 3 ") + chain);
  onnx_graph g(model);
  float const one = 1;
  auto const c = traits::add_constant(g, {element_type::float32, {}, std::as_bytes(std::span(&one, 1))}, "one");
  insert(g, find(g, "sub"), "Use", {c}, "sub");
  g.commit();
  CHECK(text(model.graph())[0] == "one = Constant()");
  CHECK(model.graph().node(0).attribute(0).t().raw_data().size() == 4);
  CHECK(model.graph().initializer_size() == 2);
}

TEST_CASE("absent operands and results keep their places, the last ones are left out") {
  auto model = parsed(chain);
  onnx_graph g(model);
  auto const x = traits::inputs(g)[0];
  auto const unknown = element_type::unknown, known = element_type::float32;
  insert(g, find(g, "sub"), "Use", {{}, x, {}}, "sub", {known, unknown, known, unknown});
  g.commit();
  CHECK(text(model.graph())[1] == "sub_Use, , sub_Use_1 = Use(, x)");
}

TEST_CASE("vendors' operators import their domain") {
  auto model = parsed(chain);
  onnx_graph g(model);
  insert(g, find(g, "sub"), "com.microsoft::Gelu", {traits::inputs(g)[0]});
  g.commit();
  REQUIRE(model.opset_import_size() == 2);
  CHECK(model.opset_import(1).domain() == "com.microsoft");
  CHECK(model.opset_import(1).version() == 1);
  CHECK(text(model.graph())[1] == "Gelu = com.microsoft::Gelu(x)");
}

TEST_CASE("an erased owner takes its bodies and their captures along") {
  auto model = parsed(branching);
  onnx_graph g(model);
  auto const owner = find(g, "if");
  traits::replace_uses(g, result(g, owner), traits::inputs(g)[0]);
  traits::erase(g, owner);
  CHECK(traits::users(g, result(g, find(g, "sub"))).empty());
  g.commit();
  CHECK(model.graph().initializer_size() == 0);
  CHECK(model.graph().node_size() == 4);
}

TEST_CASE("values that training reads are kept under their names") {
  auto model =
      parsed(std::string(chain) + R"( training_info { algorithm { node { op_type: "Neg" input: "d" output: "loss" } }
      update_binding { key: "used" value: "loss" } })");
  onnx_graph g(model);
  auto const sub = find(g, "sub");
  auto const made = insert(g, sub, "Center", {traits::inputs(g)[0]});
  traits::replace_uses(g, result(g, sub), result(g, made));
  traits::erase(g, sub);
  traits::erase(g, find(g, "mean"));
  g.commit();
  CHECK(text(model.graph())[0] == "d = Center(x)");
  CHECK(model.graph().initializer(0).name() == "used");
}

TEST_CASE("a name that a body hides is not captured by mistake") {
  auto model = parsed(R"(graph { input { name: "x" } input { name: "n" }
    node { name: "loop" op_type: "Loop" input: "n" output: "out" attribute { name: "body" type: GRAPH g {
      input { name: "x" } node { name: "in" op_type: "Neg" input: "x" output: "o" } output { name: "o" } } } }
    output { name: "out" } })");
  onnx_graph g(model);
  REQUIRE(g.error() == "");
  auto const in = find(g, "in");
  auto const made = insert(g, in, "Add", {traits::inputs(g)[0], traits::operands(g, in)[0]});
  traits::replace_uses(g, result(g, in), result(g, made));
  traits::erase(g, in);
  g.commit();
  auto const& body = model.graph().node(0).attribute(0).g();
  CHECK(body.input(0).name() == "x_1");
  CHECK(text(body) == lines{"o = Add(x, x_1)"});
}

TEST_CASE("models in an arena are edited likewise, and edits that are not committed leave no trace") {
  google::protobuf::Arena arena;
  auto* const model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  *model = parsed(chain);
  auto const before = model->SerializeAsString();
  for (bool const commit : {false, true}) {
    onnx_graph g(*model);
    auto const root = find(g, "root");
    auto const made = insert(g, root, "Norm", {traits::inputs(g)[0]}, "root");
    traits::replace_uses(g, result(g, root), result(g, made));
    traits::erase(g, root);
    if (commit) g.commit();
    CHECK((model->SerializeAsString() == before) != commit);
  }
  CHECK(text(model->graph())[2] == "y = Norm(x)");
}

}  // namespace editing
