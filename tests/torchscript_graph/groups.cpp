// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fuse/partition.hpp>

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include "../partition/equal_groups.hpp"
#include "../partition/random_graph.hpp"
#include "adapt.hpp"
#include "copy.hpp"

namespace groups {

namespace {

using torch::jit::NamedValue;
using torch::jit::Value;

/// A random graph of matrices as TorchScript, and its nodes in the order of those of the owned graph.
class script {
 public:
  explicit script(fuse::graph const& from) {
    auto const matrix = c10::TensorType::get()->withScalarType(c10::kFloat)->withSizes({4, 4});
    for (auto const v : from.inputs()) {
      auto* const input = values_[v.id] = ir->addInput();
      input->setType(matrix);
    }
    for (auto const n : from.nodes()) {
      std::vector<NamedValue> in;
      for (auto const v : from.operands(n)) {
        auto& known = values_[v.id];
        if (known == nullptr) known = ir->insertConstant(copied::tensor(from.constant(v)));
        in.emplace_back(known);
      }
      auto* const made = values_[from.result(n).id] = call(from, n, in);
      nodes.push_back(made->node());
    }
    for (auto const v : from.outputs()) ir->registerOutput(values_.at(v.id));
    ir->lint();
  }

  std::shared_ptr<torch::jit::Graph> ir = std::make_shared<torch::jit::Graph>();
  std::vector<torch::jit::Node*> nodes;

 private:
  Value* call(fuse::graph const& from, fuse::graph::node n, std::vector<NamedValue> in) {
    auto const op = from.op(n);
    auto const insert = [&](char const* name, std::vector<NamedValue> const& more = {}) {
      in.insert(in.end(), more.begin(), more.end());
      return ir->insert(c10::Symbol::fromQualString(name), in);
    };
    if (op == "Relu") return insert("aten::relu");
    if (op == "Exp") return insert("aten::exp");
    if (op == "Neg") return insert("aten::neg");
    if (op == "Add") return insert("aten::add");
    if (op == "Mul") return insert("aten::mul");
    if (op == "Div") return insert("aten::div");
    if (op == "MatMul") return insert("aten::matmul");
    if (op == "Transpose") return insert("aten::t");
    if (op == "Softmax") return insert("aten::softmax", {c10::IValue(1)});
    if (op == "LogSoftmax" || op == "LpNormalization") return insert("aten::log_softmax", {c10::IValue(1)});
    if (op == "ReduceMax" || op == "ReduceMean") {
      auto const axes = std::get<std::vector<std::int64_t>>(from.attribute(n, "axes")->content);
      return insert(op == "ReduceMax" ? "aten::sum" : "aten::mean", {c10::IValue(axes), c10::IValue(true)});
    }
    return insert("aten::atan2");  // nobody describes it
  }

  std::map<std::uint32_t, Value*> values_;
};

}  // namespace

TEST_CASE("TorchScript has the groups of the owned graph") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    random_graph const made(seed, {.bodies = false, .onnx_only = false});
    script const written(made.graph);
    CAPTURE(written.ir->toString(false));
    REQUIRE(text_of_groups(torchscript::graph(written.ir), written.nodes) == text_of_groups(made.graph));
  }
}

}  // namespace groups
