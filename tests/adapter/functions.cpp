// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/onnx.hpp>
#include <fuse/ops/onnx.hpp>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "parsed.hpp"

namespace functions {

using namespace fuse;
using adapters::onnx_graph;
using traits = graph_traits<onnx_graph>;

namespace {

function_body centered(double factor) {
  tensor const number = make_tensor(element_type::float32, {}, std::vector<double>{factor});
  return {"fuse::Centered",
          {"x"},
          {"y", "m"},
          {"axes"},
          {{"Constant", {}, {"c"}, {{"value", number}}, {}},
           {"ReduceMean", {"x"}, {"m"}, {{"keepdims", std::int64_t{1}}}, {{"axes", "axes"}}},
           {"Sub", {"x", "m"}, {"y"}, {}, {}}}};
}
char const* const model_text = R"(graph { input { name: "x" type { tensor_type { elem_type: 1 } } }
    node { name: "root" op_type: "Neg" input: "x" output: "y" } output { name: "y" } })";

void call(onnx_graph& g, std::string_view op) {
  auto const root = *traits::nodes(g).begin();
  std::vector<adapters::onnx_value> const operands{traits::inputs(g)[0]};
  attribute const axes[]{{"axes", std::vector<std::int64_t>{-1}}};
  element_type const types[]{element_type::float32, element_type::unknown};
  auto const made = traits::insert(g, root, {op, operands, axes, types, "root"});
  traits::replace_uses(g, traits::results(g, root)[0], traits::results(g, made)[0]);
  traits::erase(g, root);
}

}  // namespace

TEST_CASE("overloads of a function are told apart, and are no operators") {
  auto model = parsed(R"(opset_import { version: 17 } opset_import { domain: "f" version: 1 } graph {
    node { op_type: "Neg" output: "a" } node { op_type: "Neg" output: "b" } node { op_type: "Neg" output: "c" }
    node { op_type: "G" domain: "f" output: "d" } node { op_type: "G" domain: "f" output: "e" }
    node { op_type: "G" domain: "f" output: "g" } }
    functions { name: "G" domain: "f" } functions { name: "Neg" })");
  for (auto const& [node, field] : {std::pair(1, "\x42\x03one"), {4, "\x42\x03one"}, {5, "\x42\x03two"}})
    REQUIRE(model.mutable_graph()->mutable_node(node)->MergeFromString(field));
  REQUIRE(model.mutable_functions(1)->MergeFromString("\x6a\x03one"));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  CHECK_FALSE(g.redefines_operators());
  std::vector<std::string> names;
  for (auto const n : traits::nodes(g)) names.emplace_back(traits::op_name(g, n));
  CHECK(names == std::vector<std::string>{"Neg", "overload 'one' of function ::Neg", "Neg", "function f::G",
                                          "overload 'one' of function f::G", "overload 'two' of function f::G"});
}

TEST_CASE("a function is written with the model's own operator set") {
  auto model = parsed(std::string("ir_version: 7 opset_import { version: 12 } ") + model_text);
  onnx_graph g(model);
  REQUIRE(traits::declare(g, centered(2)));
  call(g, "fuse::Centered");
  g.commit();
  CHECK(model.ir_version() == 8);
  REQUIRE(model.functions_size() == 1);
  auto const& function = model.functions(0);
  CHECK(function.name() == "Centered");
  CHECK(function.domain() == "fuse");
  REQUIRE(function.opset_import_size() == 1);
  CHECK(function.opset_import(0).version() == 12);
  CHECK(function.attribute(0) == "axes");
  CHECK(function.node(1).attribute(1).ref_attr_name() == "axes");
  CHECK(function.node(1).attribute(1).type() == ::onnx::AttributeProto::INTS);
  CHECK(function.node(0).attribute(0).t().data_type() == 1);
  REQUIRE(model.opset_import_size() == 2);
  CHECK(model.opset_import(1).domain() == "fuse");
  auto const& node = model.graph().node(0);
  CHECK(node.domain() == "fuse");
  REQUIRE(node.output_size() == 2);  // a call names every result
  CHECK(node.output(0) == "y");
  CHECK(node.output(1).empty());
  CHECK(onnx_graph(model).error() == "");
  SECTION("a second run uses the equal one") {
    onnx_graph again(model);
    REQUIRE(traits::declare(again, centered(2)));
    call(again, "fuse::Centered");
    again.commit();
    CHECK(model.functions_size() == 1);
  }
  SECTION("it goes with its last call") {
    onnx_graph again(model);
    call(again, "Neg");
    again.commit();
    CHECK(model.functions_size() == 0);
    CHECK(model.opset_import_size() == 1);
  }
  SECTION("another one of the same name gets a name of its own") {
    onnx_graph again(model);
    REQUIRE(traits::declare(again, centered(3)));
    call(again, "fuse::Centered");
    again.commit();
    REQUIRE(model.functions_size() == 1);  // nothing calls the first any more
    CHECK(model.functions(0).name() == "Centered_1");
    CHECK(model.graph().node(0).op_type() == "Centered_1");
  }
}

TEST_CASE("a function that nothing calls is not written") {
  auto model = parsed(std::string("ir_version: 3 ") + model_text);
  auto const before = model.SerializeAsString();
  onnx_graph g(model);
  CHECK(traits::declare(g, centered(2)));
  g.commit();
  CHECK(model.SerializeAsString() == before);
}

TEST_CASE("raising the IR version past 3 keeps constants constant") {
  auto model =
      parsed(R"(ir_version: 3 graph { input { name: "x" type { tensor_type { elem_type: 1 } } } input { name: "w" }
    initializer { name: "w" data_type: 1 float_data: 1 }
    node { name: "root" op_type: "Neg" input: "x" output: "y" } node { op_type: "Mul" input: "y" input: "w" output: "z" } output { name: "z" } })");
  onnx_graph g(model);
  traits::declare(g, centered(2));
  call(g, "fuse::Centered");
  g.commit();
  CHECK(model.ir_version() == 8);
  REQUIRE(model.graph().input_size() == 1);
  CHECK(model.graph().input(0).name() == "x");
  CHECK(model.graph().initializer_size() == 1);
}

TEST_CASE("a call of a norm's function is known by its body, not by its name") {
  for (int const version : {9, 14, 18}) {
    INFO("operator set " << version);
    auto model = parsed("ir_version: 8 opset_import { version: " + std::to_string(version) + R"( }
      graph { input { name: "x" } input { name: "w" } node { name: "root" op_type: "Neg" input: "x" output: "y" } output { name: "y" } })");
    emission norm;
    norm.op = opcode::rms_norm;
    norm.version = version;
    norm.operands = {element_type::float16, element_type::float16};
    norm.present = {true, true};
    norm.axis = -2;
    norm.epsilon = 1e-5;
    function_body body;
    REQUIRE(fuse::dialect(fuse::onnx).function(norm, body));
    {
      onnx_graph g(model);
      REQUIRE(traits::declare(g, body));
      auto const root = *traits::nodes(g).begin();
      std::vector<adapters::onnx_value> const operands{traits::inputs(g)[0], traits::inputs(g)[1]};
      attribute const attributes[]{{"axis", std::int64_t{-2}}, {"epsilon", 1e-5}};
      element_type const types[]{element_type::float16};
      auto const made = traits::insert(g, root, {body.name, operands, attributes, types, "root"});
      traits::replace_uses(g, traits::results(g, root)[0], traits::results(g, made)[0]);
      traits::erase(g, root);
      g.commit();
    }
    auto const name = [](::onnx::ModelProto& m) {
      onnx_graph const g(m);
      return g ? std::string(traits::op_name(g, *traits::nodes(g).begin())) : g.error();
    };
    CHECK(name(model) == body.name);
    auto other = model;
    other.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_i(-1);
    CHECK(name(other).starts_with("function fuse::RMSNormalization"));
    if (version < 12) {
      other = model;
      other.mutable_graph()->mutable_node(0)->mutable_attribute(1)->set_f(1e-6f);
      CHECK(name(other).starts_with("function fuse::RMSNormalization"));
    }
    other = model;
    auto& function = *other.mutable_functions(0);
    std::swap(*function.mutable_node(0)->mutable_output(0), *function.mutable_node(1)->mutable_output(0));
    CHECK(name(other).starts_with("function fuse::RMSNormalization"));
    other = model;
    *other.add_functions() = model.functions(0);
    CHECK(name(other).starts_with("function fuse::RMSNormalization"));
  }
}

}  // namespace functions
