// SPDX-License-Identifier: BSL-1.0
#include <filesystem>
#include <fuse/adapters/onnx.hpp>
#include <fuse/adapters/onnx/outline.hpp>
#include <fuse/partition.hpp>
#include <set>
#include <string>

#include "../partition/random_graph.hpp"
#include "../sampled.hpp"
#include "catch.hpp"
#include "parsed.hpp"

namespace outline {

std::string bytes_of(google::protobuf::MessageLite const& message) {
  std::string bytes;
  REQUIRE(fuse::adapters::detail::serialize(message, bytes));
  return bytes;
}

// Outlines the groups of a model; how many functions there are.
std::size_t outlined(onnx::ModelProto& model) {
  fuse::adapters::onnx_graph graph(model);
  REQUIRE(graph.error() == "");
  return fuse::adapters::outline(graph, fuse::partition(graph));
}

char const* const chain = R"(graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
  node { name: "a" op_type: "Exp" input: "x" output: "e" }
  node { name: "o" domain: "own" op_type: "Op" input: "x" output: "p" }
  node { name: "b" op_type: "Relu" input: "e" output: "y" }
  output { name: "y" } output { name: "p" } output { name: "e" } }
  opset_import { version: 17 } opset_import { domain: "own" version: 2 })";

TEST_CASE("a group becomes a function that its call names") {
  auto model = parsed(std::string(chain) + " ir_version: 7");
  CHECK(outlined(model) == 1);
  REQUIRE(model.graph().node_size() == 2);
  CHECK(model.graph().node(0).name() == "o");
  auto const& call = model.graph().node(1);
  CHECK(call.domain() == fuse::adapters::outlined_domain);
  REQUIRE(model.functions_size() == 1);
  auto const& function = model.functions(0);
  CHECK(call.op_type() == function.name());
  CHECK(
      bytes_of(function) ==
      bytes_of(
          parsed(
              R"(functions { name: "elementwise_0" domain: "fuse.group" input: "x" output: "e" output: "y" doc_string: "0 2"
          node { name: "a" op_type: "Exp" input: "x" output: "e" } node { name: "b" op_type: "Relu" input: "e" output: "y" }
          opset_import { domain: "" version: 17 } })")
              .functions(0)));
  CHECK(model.ir_version() == 8);
  CHECK(model.opset_import_size() == 3);
  fuse::adapters::onnx_graph const again(model);
  CHECK(again.error() == "");
}

TEST_CASE("what was outlined is put back where it stood") {
  for (auto const& entry : std::filesystem::directory_iterator(FUSE_TEST_MODELS)) {
    if (entry.path().extension() != ".onnx") continue;
    CAPTURE(entry.path().string());
    fuse::adapters::onnx_file file;
    REQUIRE(file.read(entry.path()));
    auto const before = bytes_of(file.model().graph());
    auto const imports = file.model().opset_import_size();
    auto const functions = outlined(file.model());
    CHECK(functions != 0);
    CHECK(fuse::adapters::inline_groups(file.model()) == functions);
    CHECK(bytes_of(file.model().graph()) == before);
    CHECK(file.model().functions_size() == 0);
    CHECK(file.model().opset_import_size() == imports);
    CHECK(fuse::adapters::inline_groups(file.model()) == 0);
  }
  for (std::uint64_t seed = 1; seed <= 400; seed += one_case_in) {  // with bodies
    CAPTURE(seed);
    random_graph const made(seed);
    auto copy = fuse::adapters::model_of(made.graph);
    auto const before = bytes_of(copy.graph());
    auto const functions = outlined(copy);
    CHECK(fuse::adapters::inline_groups(copy) == functions);
    CHECK(bytes_of(copy.graph()) == before);
  }
}

TEST_CASE("nodes go back to their call where others changed the graph, and a call that others changed stays") {
  auto model = parsed(chain);
  REQUIRE(outlined(model) == 1);
  auto changed = model;
  changed.mutable_graph()->mutable_node()->SwapElements(0, 1);
  changed.mutable_graph()->mutable_node()->DeleteSubrange(1, 1);
  CHECK(fuse::adapters::inline_groups(changed) == 1);
  REQUIRE(changed.graph().node_size() == 2);
  CHECK(changed.graph().node(0).name() == "a");
  CHECK(changed.graph().node(1).name() == "b");

  model.mutable_graph()->mutable_node(1)->set_input(0, "p");
  CHECK(fuse::adapters::inline_groups(model) == 0);
  CHECK(model.functions_size() == 1);
}

TEST_CASE("a group inside of a function is a function that has the attributes of its caller") {
  auto model = parsed(R"(graph {
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 4 } } } } }
    node { name: "c" domain: "own" op_type: "twice" input: "x" output: "y" } output { name: "y" } }
    functions { domain: "own" name: "twice" input: "x" output: "y" attribute: "slope" opset_import { version: 17 }
      node { op_type: "LeakyRelu" input: "x" output: "e" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" } }
      node { op_type: "MatMul" input: "x" input: "x" output: "p" }
      node { op_type: "Elu" input: "e" output: "f" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" } }
      node { op_type: "MatMul" input: "f" input: "p" output: "y" } }
    ir_version: 8 opset_import { version: 17 } opset_import { domain: "own" version: 1 })");
  auto const before = bytes_of(model);
  REQUIRE(outlined(model) == 1);
  REQUIRE(model.functions_size() == 2);
  CHECK(bytes_of(model.functions(1)) ==
        bytes_of(parsed(R"(functions { name: "elementwise_0" domain: "fuse.group" input: "x" output: "f"
      attribute: "slope" doc_string: "0 2" opset_import { domain: "" version: 17 }
      node { op_type: "LeakyRelu" input: "x" output: "e" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" } }
      node { op_type: "Elu" input: "e" output: "f" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" } } })")
                     .functions(0)));
  CHECK(bytes_of(model.functions(0)) ==
        bytes_of(parsed(R"(functions { domain: "own" name: "twice" input: "x" output: "y" attribute: "slope"
      opset_import { version: 17 } opset_import { domain: "fuse.group" version: 1 }
      node { op_type: "MatMul" input: "x" input: "x" output: "p" }
      node { op_type: "elementwise_0" domain: "fuse.group" input: "x" output: "f"
        attribute { name: "slope" type: FLOAT ref_attr_name: "slope" } }
      node { op_type: "MatMul" input: "f" input: "p" output: "y" } })")
                     .functions(0)));
  CHECK(outlined(model) == 0);  // inside of a group
  CHECK(fuse::adapters::inline_groups(model) == 1);
  CHECK(bytes_of(model) == before);
}

TEST_CASE("edits are committed before groups are outlined") {
  auto edited = parsed(chain);
  fuse::adapters::onnx_graph graph(edited);
  auto const groups = fuse::partition(graph);
  auto const nodes = fuse::graph_traits<fuse::adapters::onnx_graph>::nodes(graph);
  fuse::graph_traits<fuse::adapters::onnx_graph>::insert(graph, *nodes.begin(), {"Relu", {}, {}, {}, ""});
  CHECK(fuse::adapters::outline(graph, groups) == 0);
}

}  // namespace outline
