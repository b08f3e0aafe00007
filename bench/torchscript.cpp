// SPDX-License-Identifier: BSL-1.0
// Time per node of matching in a torch::jit::Graph against the owned graph, from the graph as it is to all matches: the
// adapter, the image, shapes, the bundled rules. In turns in one run; medians.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/fuse.hpp>

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/constant_pooling.h>

#include "../examples/torchscript/adapt.hpp"
#include "graphs.hpp"
#include "timing.hpp"

namespace {

constexpr std::pair<std::string_view, char const*> names[] = {
    {"Add", "aten::add"}, {"Sub", "aten::sub"},   {"Mul", "aten::mul"},         {"Div", "aten::div"},
    {"Pow", "aten::pow"}, {"Sqrt", "aten::sqrt"}, {"ReduceMean", "aten::mean"}, {"MatMul", "aten::matmul"},
};

std::shared_ptr<torch::jit::Graph> copied(fuse::graph const& from) {
  auto made = std::make_shared<torch::jit::Graph>();
  std::vector<torch::jit::Value*> value_of;
  auto const at = [&](fuse::graph::value v) -> torch::jit::Value*& {
    if (v.id >= value_of.size()) value_of.resize(v.id + 1);
    return value_of[v.id];
  };
  for (auto const v : from.inputs()) {
    at(v) = made->addInput();
    at(v)->setType(c10::TensorType::get()
                       ->withScalarType(c10::kFloat)
                       ->withSymbolicShapes(c10::SymbolicShape(std::vector<c10::ShapeSymbol>{
                           c10::ShapeSymbol::fromStaticSize(2), c10::ShapeSymbol::newSymbol(),
                           c10::ShapeSymbol::fromStaticSize(8)})));
  }
  for (auto const n : from.nodes()) {
    std::vector<torch::jit::NamedValue> in;
    for (auto const v : from.operands(n)) {
      auto const held = from.constant(v);
      if (held && held.shape.empty()) {
        in.emplace_back(c10::IValue(held.number(0)));
        continue;
      }
      if (at(v) == nullptr) {
        torch::jit::WithInsertPoint const first(*made->nodes().begin());
        at(v) = made->insertConstant(torchscript::constant_of(held));
      }
      in.emplace_back(at(v));
    }
    if (auto const* axes = from.attribute(n, "axes"); axes != nullptr) {
      in.emplace_back(c10::IValue(std::get<std::vector<std::int64_t>>(axes->content)));
      in.emplace_back(c10::IValue(true));
    }
    for (auto const& [theirs, ours] : names)
      if (theirs == from.op(n)) at(from.result(n)) = made->insert(c10::Symbol::fromQualString(ours), in);
  }
  for (auto const v : from.outputs()) made->registerOutput(at(v));
  torch::jit::ConstantPooling(made);  // as freezing a module does
  return made;
}

}  // namespace

/// `bench_torchscript [nodes]`
int main(int argc, char** argv) {
  std::size_t const nodes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000;
  auto const owned = bench::blocks(nodes);
  auto const ir = copied(owned);
  std::size_t found[2] = {};
  std::vector<double> times[2], adapting;
  for (int round = 0; round < 7; ++round) {
    auto start = bench::now();
    found[0] = fuse::match_all<fuse::rules::norms>(owned).size();
    times[0].push_back(bench::now() - start);
    start = bench::now();
    torchscript::graph const graph(ir);
    adapting.push_back(bench::now() - start);
    found[1] = fuse::match_all<fuse::rules::norms>(graph).size();
    times[1].push_back(bench::now() - start);
  }
  auto const count = static_cast<double>(owned.node_count());
  std::printf(
      "blocks, %.0f nodes: owned %.0f ns per node, torch::jit::Graph %.0f (adapting %.0f), %.2f times; %zu and %zu "
      "matches\n",
      count, bench::median(times[0]) / count, bench::median(times[1]) / count, bench::median(adapting) / count,
      bench::median(times[1]) / bench::median(times[0]), found[0], found[1]);
  return found[0] == found[1] ? 0 : 1;
}
