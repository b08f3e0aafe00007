// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/onnx.hpp>
#include <fuse/eval/reference.hpp>
#include <fuse/fuse.hpp>
#include <fuse/verify/equivalent.hpp>
#include <string>

#include "catch.hpp"

namespace model_of {

using namespace fuse;
using adapters::onnx_graph;

TEST_CASE("the model of a graph computes what the graph does") {
  graph g(17);
  auto const x = g.input("x", element_type::float32, {2, "n", 4});
  auto const mean = g.add("ReduceMean", {x}, {{"axes", {-1}}});
  auto const d = g.add("Sub", {x, mean}), shifted = g.add("Add", {d, g.constant({1.f, 2.f, 3.f, 4.f})});
  auto const parts = g.append("Split", {shifted}, {{"axis", -1}}, 2);
  g.output(g.result(parts, 0), "y");
  g.output(g.result(parts, 0), "again");
  g.output(x, "passed");
  g.output(g.add("Clip", {g.result(parts, 1), {}, g.scalar(2.f)}), "clipped");
  auto model = adapters::model_of(g);
  onnx_graph const made(model, ".");
  REQUIRE(made);
  auto const same = equivalent(g, made);
  INFO(same);
  CHECK(same);
  CHECK(same.compared >= 100);
  REQUIRE(model.graph().output_size() == 4);
  CHECK(model.graph().output(1).name() == "again");
  CHECK(model.graph().output(3).type().tensor_type().elem_type() == 1);
  CHECK(model.graph().input(0).type().tensor_type().shape().dim(1).dim_param() == "n");
}

TEST_CASE("what a graph tells of computed values its model tells, too") {
  graph g(17);
  auto const x = g.input("x", element_type::float32, {2, 3});
  auto const told = g.add("acme::Unheard", {x}), open = g.add("acme::Unheard", {x});
  g.annotate(told, element_type::float16, {2, "n"});
  g.output(g.add("acme::Unheard", {told, open}), "y");
  auto const model = adapters::model_of(g);
  REQUIRE(model.graph().value_info_size() == 1);
  auto const& info = model.graph().value_info(0);
  CHECK(info.name() == model.graph().node(2).input(0));
  CHECK(info.type().tensor_type().elem_type() == 10);
  CHECK(info.type().tensor_type().shape().dim(1).dim_param() == "n");
}

TEST_CASE("what is passed becomes what an input holds by default") {
  graph g(17);
  auto const x = g.input("x", element_type::float32, {2});
  auto const held = g.input("held", make_tensor(element_type::float32, {1}, std::vector<double>{3}));
  g.output(g.add("Mul", {x, held}), "y");
  auto const model = adapters::model_of(g, {{"x", make_tensor(element_type::float32, {2}, std::vector<double>{1, 2})}});
  REQUIRE(model.graph().initializer_size() == 2);
  CHECK(model.graph().input_size() == 2);
  CHECK(model.graph().initializer(0).name() == "x");
  CHECK(model.graph().initializer(0).raw_data().size() == 8);
  CHECK(model.graph().initializer(1).name() == "held");
}

TEST_CASE("a model has the bodies, domains and functions of its graph") {
  graph g(16);
  auto const x = g.input("x", element_type::float32, {2, 4});
  auto const branch = g.append("If", {g.input("flag", element_type::boolean, graph::dims{})});
  for (auto const* name : {"then_branch", "else_branch"}) {
    auto const b = g.add_body(branch, name);
    g.append_to(b);
    g.output(g.add(name[0] == 't' ? "Neg" : "Abs", {x}), "chosen");
  }
  g.append_to(graph::main_body);
  auto const h = g.add("acme::Unheard", {g.result(branch)});
  auto const d = g.add("Sub", {x, g.add("ReduceMean", {x}, {{"axes", {-1}}})});
  auto const v = g.add("ReduceMean", {g.add("Mul", {d, d})}, {{"axes", {-1}}});
  g.output(h, "unheard");
  g.output(g.add("Div", {d, g.add("Sqrt", {g.add("Add", {v, g.scalar(1e-5f)})})}), "y");
  REQUIRE(fuse::rewrite<fuse::rules::norms>(g).applied() == 1);
  auto const model = adapters::model_of(g);
  REQUIRE(model.opset_import_size() == 3);
  CHECK(model.opset_import(0).version() == 16);
  CHECK(model.opset_import(1).domain() == "acme");
  CHECK(model.opset_import(2).domain() == "fuse");
  REQUIRE(model.functions_size() == 1);
  CHECK(model.functions(0).domain() == "fuse");
  CHECK(model.functions(0).node_size() > 3);
  REQUIRE(model.graph().node(0).attribute_size() == 2);
  CHECK(model.graph().node(0).attribute(0).g().output(0).name() == "chosen");
  CHECK(model.graph().node(0).attribute(1).g().node(0).op_type() == "Abs");
}

TEST_CASE("no name is defined twice, and no body gives out what it does not compute") {
  graph g(17);
  auto const x = g.input("x", element_type::float32, {2});
  auto const branch = g.append("If", {g.input("flag", element_type::boolean, graph::dims{})});
  for (auto const* name : {"then_branch", "else_branch"}) {
    g.append_to(g.add_body(branch, name));
    g.output(name[0] == 't' ? g.add("Neg", {x}) : x, "y");
  }
  g.append_to(graph::main_body);
  auto const y = g.add("Abs", {g.result(branch)});
  g.output(y, "y");
  g.output(y);
  auto model = adapters::model_of(g);
  onnx_graph const made(model, ".");
  INFO(made.error());
  REQUIRE(made);
  CHECK(equivalent(g, made));
  CHECK(model.graph().output(0).name() == "y");
  CHECK(model.graph().output(1).name() != "y");
  auto const& other = model.graph().node(0).attribute(1).g();
  REQUIRE(other.node_size() == 1);
  CHECK(other.node(0).op_type() == "Identity");
}

}  // namespace model_of
