// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/onnx.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "parsed.hpp"

namespace reading {

using fuse::adapters::onnx_graph;
using traits = fuse::graph_traits<onnx_graph>;

namespace {

std::string error_of(std::string const& text) {
  auto model = parsed(text);
  return onnx_graph(model).error();
}
// A graph of two nodes: x -> a -> b, with more text inside the graph.
std::string graph_with(std::string const& more) {
  return R"(graph { input { name: "x" } node { name: "first" op_type: "Neg" input: "x" output: "a" } )" + more + "}";
}

}  // namespace

TEST_CASE("a sound model has no error") { CHECK(error_of(branching) == ""); }

TEST_CASE("of several imports of a domain, the last one counts") {
  CHECK(error_of("opset_import { version: 13 } opset_import { version: 14 domain: 'ai.onnx' } graph { }") == "");
  CHECK(error_of("opset_import { version: 14 } opset_import { version: 0 domain: 'acme' } graph { }") == "");
  CHECK(error_of("opset_import { version: 14 } opset_import { version: 0 } graph { }") ==
        "the model imports version 0 of domain 'ai.onnx'");
}

TEST_CASE("each defect of a model is named with its place") {
  CHECK(error_of("") == "the model has no graph");
  CHECK(error_of("ir_version: 0 graph { }") == "the model states no IR version");
  CHECK(error_of("opset_import { version: -3 } graph { }") == "the model imports version -3 of domain 'ai.onnx'");
  CHECK(error_of("opset_import { version: 0 } graph { }") == "the model imports version 0 of domain 'ai.onnx'");
  CHECK(error_of("opset_import { version: 17 } opset_import { version: -1 domain: 'acme' } graph { }") ==
        "the model imports version -1 of domain 'acme'");
  CHECK(error_of("opset_import { domain: 'mine' version: 1 } " + graph_with("")) ==
        "operator Neg belongs to domain 'ai.onnx', which the model does not import");
  CHECK(error_of(graph_with(R"(node { name: "n" output: "b" })")) == "an operator has no name: that of node 'n'");
  CHECK(error_of(graph_with(R"(node { name: "n" op_type: "Neg" input: "q" output: "b" })")) ==
        "node 'n' (Neg) reads value 'q', which nothing defines");
  CHECK(error_of(graph_with(R"(node { op_type: "Neg" input: "q" output: "b" })")) ==
        "the node (Neg) that computes 'b' reads value 'q', which nothing defines");
  CHECK(error_of(graph_with(R"(node { name: "n" op_type: "Neg" input: "x" output: "a" })")) ==
        "value 'a' is defined twice, by node 'first' (Neg) and by node 'n' (Neg)");
  CHECK(error_of(graph_with(R"(input { name: "x" })")) ==
        "value 'x' is defined twice, as an input and as an initializer");
  CHECK(error_of(graph_with(R"(initializer { name: "a" data_type: 1 float_data: 1 })")) ==
        "value 'a' is defined twice, as an initializer and by node 'first' (Neg)");
  CHECK(error_of(graph_with(R"(output { name: "z" })")) == "output 'z' is computed by nothing");
}

TEST_CASE("a cycle is named as one") {
  auto const error = error_of(R"(graph { node { name: "p" op_type: "Neg" input: "b" output: "a" }
                                         node { name: "q" op_type: "Abs" input: "a" output: "b" } })");
  CHECK(error == "the graph has a cycle through node 'p' (Neg) and node 'q' (Abs)");
}

TEST_CASE("a body that reads its owner's result is a cycle") {
  auto const error = error_of(R"(graph { input { name: "c" } node { name: "if" op_type: "If" input: "c" output: "r"
      attribute { name: "then_branch" type: GRAPH g { node { name: "in" op_type: "Neg" input: "r" output: "o" } output { name: "o" } } } } })");
  CHECK(error.find("the graph has a cycle through") == 0);
}

TEST_CASE("nodes may stand in any order that has no cycle") {
  CHECK(error_of(R"(graph { input { name: "x" } node { op_type: "Neg" input: "a" output: "b" }
                            node { op_type: "Abs" input: "x" output: "a" } output { name: "b" } })") == "");
}

TEST_CASE("tensors must agree with their shapes") {
  auto const tensor = [](std::string const& fields) {
    return error_of("graph { initializer { name: 't' " + fields + " } }");
  };
  CHECK(tensor("data_type: 1 dims: 2 raw_data: 'abcdefgh'") == "");
  CHECK(tensor("data_type: 1 dims: 2 raw_data: 'abcdefg'") == "initializer 't' holds 7 bytes where its shape wants 8");
  CHECK(tensor("data_type: 1 dims: 2 float_data: 1") == "initializer 't' holds 1 elements where its shape wants 2");
  CHECK(tensor("data_type: 1 dims: 2") == "initializer 't' holds 0 elements where its shape wants 2");
  CHECK(tensor("data_type: 1 dims: 0") == "");
  CHECK(tensor("data_type: 1 dims: -2 dims: -1 float_data: 1") == "initializer 't' has the negative dimension -2");
  CHECK(tensor("data_type: 1 dims: 4294967296 dims: 4294967296") ==
        "initializer 't' has dimensions whose product overflows");
  CHECK(tensor("dims: 0") == "initializer 't' has no element type");
  CHECK(tensor("data_type: 7 int32_data: 1") ==
        "initializer 't' keeps its contents in more than one field, or in the wrong one");
  CHECK(tensor("data_type: 10 dims: 2 int32_data: 15360 int32_data: 16384") == "");
  CHECK(tensor("data_type: 17 dims: 3 raw_data: 'abc'") == "");
  CHECK(tensor("data_type: 22 dims: 3 raw_data: 'ab'") == "");
  CHECK(tensor("data_type: 22 dims: 3 raw_data: 'abc'") == "initializer 't' holds 3 bytes where its shape wants 2");
  CHECK(
      error_of(graph_with(
          R"(node { name: "c" op_type: "Constant" output: "k" attribute { name: "value" type: TENSOR t { data_type: 1 dims: 3 } } })")) ==
      "the tensor in attribute 'value' of node 'c' (Constant) holds 0 elements where its shape wants 3");
}

TEST_CASE("bodies that nest absurdly deep are refused") {
  std::string text = "graph { ";
  std::string end = "}";
  for (int i = 0; i < 110; ++i) {
    auto const name = std::to_string(i);
    text += "node { op_type: 'If' name: 'if" + name + "' output: 'o" + name +
            "' attribute { name: 'then_branch' type: GRAPH g { ";
    end += "} } }";
  }
  onnx::ModelProto model;
  google::protobuf::TextFormat::Parser parser;
  parser.SetRecursionLimit(1000);
  REQUIRE(parser.ParseFromString(text + end + " ir_version: 8 opset_import { version: 17 }", &model));
  CHECK(onnx_graph(model).error() == "bodies nest deeper than 100 levels in a body of node 'if100' (If)");
  fuse::adapters::onnx_file file;
  CHECK_FALSE(file.read_bytes(model.SerializeAsString()));
  CHECK(file.error() == "the model has bodies that nest deeper than protobuf reads (100 messages within each other)");
}

TEST_CASE("files that are no models are told apart") {
  auto const error = [](std::string bytes) {
    fuse::adapters::onnx_file file;
    file.read_bytes(std::move(bytes));
    return file.error();
  };
  auto const whole = parsed(branching).SerializeAsString();
  CHECK(error("") == "the model is empty");
  CHECK(error(whole) == "");
  CHECK(error(whole.substr(0, whole.size() / 2)).find("is cut off") != std::string::npos);
  CHECK(error("{\"graph\": 1}").find("is no ONNX model") != std::string::npos);
  CHECK(error(std::string("\x3f\x3f\x3f", 3)).find("is no ONNX model") != std::string::npos);
}

TEST_CASE("contents, types and shapes are read from wherever ONNX keeps them") {
  auto model = parsed(R"(ir_version: 7 graph {
    input { name: "x" type { tensor_type { elem_type: 10 shape { dim { dim_value: -1 } dim { dim_param: "n" } dim { dim_value: 3 } } } } }
    input { name: "default" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
    initializer { name: "default" dims: 1 data_type: 1 float_data: 5 }
    initializer { name: "halves" dims: 2 data_type: 10 int32_data: 15360 int32_data: 49152 }
    initializer { name: "flags" dims: 3 data_type: 9 int32_data: 0 int32_data: 1 int32_data: 1 }
    node { op_type: "Constant" output: "list" attribute { name: "value_ints" type: INTS ints: 4 ints: -5 } }
    node { op_type: "Constant" output: "half" attribute { name: "value_float" type: FLOAT f: 0.5 } }
    node { op_type: "Neg" input: "x" output: "y" }
    node { op_type: "Sum" input: "x" input: "default" input: "halves" input: "flags" input: "list" input: "half" output: "z" }
    output { name: "y" } })");
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  auto const sum = *std::next(traits::nodes(g).begin(), 3);
  auto const operands = traits::operands(g, sum);
  std::vector<fuse::dimension> shape;
  CHECK(traits::type(g, operands[0]) == fuse::element_type::float16);
  REQUIRE(traits::shape(g, operands[0], shape));
  REQUIRE(shape.size() == 3);
  CHECK(shape[0].extent == -1);
  CHECK(shape[1].symbol == "n");
  CHECK(shape[2].extent == 3);
  CHECK_FALSE(traits::constant(g, operands[0]));
  CHECK(traits::overridable(g, operands[1]));
  CHECK_FALSE(traits::overridable(g, operands[2]));
  CHECK(traits::constant(g, operands[2]).number(1) == -2.0);
  CHECK(traits::constant(g, operands[3]).integer(2) == 1);
  CHECK(traits::constant(g, operands[4]).integer(1) == -5);
  REQUIRE(traits::shape(g, operands[4], shape));
  CHECK(shape.size() == 1);
  CHECK(traits::constant(g, operands[5]).number(0) == 0.5);
  REQUIRE(traits::shape(g, operands[5], shape));
  CHECK(shape.empty());
}

TEST_CASE("below IR version 4 an initializer that is an input is a constant") {
  auto model = parsed(R"(ir_version: 3 graph { input { name: "w" type { tensor_type { elem_type: 1 } } }
    initializer { name: "w" data_type: 1 float_data: 2 } node { op_type: "Neg" input: "w" output: "y" } output { name: "y" } })");
  onnx_graph const g(model);
  auto const w = traits::inputs(g)[0];
  CHECK(traits::constant(g, w).number(0) == 2.0);
  CHECK_FALSE(traits::overridable(g, w));
}

TEST_CASE("a call of the model's own function is not the standard operator of that name") {
  auto model = parsed(R"(opset_import { version: 17 } opset_import { domain: "mine" version: 1 }
    functions { domain: "" name: "Neg" input: "a" output: "b" node { op_type: "Abs" input: "a" output: "b" } opset_import { version: 17 } }
    functions { domain: "mine" name: "Sub" input: "a" output: "b" node { op_type: "Abs" input: "a" output: "b" } opset_import { version: 17 } }
    graph { input { name: "x" } node { op_type: "Neg" input: "x" output: "y" } node { op_type: "Sub" domain: "mine" input: "y" output: "z" }
            output { name: "z" } })");
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  auto const first = *traits::nodes(g).begin();
  CHECK(traits::op_name(g, first) == "function Neg");
  CHECK(traits::op_name(g, *std::next(traits::nodes(g).begin())) == "function mine::Sub");
  CHECK(traits::version(g) == 0);
}

}  // namespace reading
