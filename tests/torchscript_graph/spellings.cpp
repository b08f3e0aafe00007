// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <second_dialect.hpp>

#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "../corpus/lookalike_list.hpp"
#include "../corpus/spelling.hpp"
#include "../corpus/summary.hpp"
#include "adapt.hpp"
#include "copy.hpp"

namespace spellings {

namespace {

std::vector<at::Tensor> run(std::shared_ptr<torch::jit::Graph> const& ir, std::vector<at::Tensor> const& inputs) {
  torch::jit::GraphExecutor executor(ir->copy(), "corpus");
  torch::jit::Stack stack(inputs.begin(), inputs.end());
  executor.run(stack);
  std::vector<at::Tensor> outputs;
  for (auto const& output : stack) outputs.push_back(output.toTensor());
  return outputs;
}

// `feeds`: also runs the graph as it was and as fuse left it.
void compare(second::graph const& from, bool numbers, std::map<std::string, corpus::array> const* feeds = nullptr) {
  fuse::rewrite_options options;
  options.except = {"layer-norm-mean", "layer-norm-inverse-deviation"};  // fuse::layer_norm returns no statistics
  auto owned = from;
  auto const expected = fuse::rewrite<fuse::rules::norms>(owned, options);

  copied::script const script(from, numbers);
  std::vector<at::Tensor> inputs;
  for (auto const v : from.inputs()) {
    if (feeds == nullptr) break;
    auto const& feed = feeds->at(std::string(from.name(v)));
    inputs.push_back(at::tensor(feed.data, at::kDouble).reshape(feed.shape).to(copied::scalar_type(from.type(v))));
  }
  std::vector<at::Tensor> before, after;
  if (feeds != nullptr) before = run(script.ir, inputs);
  torchscript::graph graph(script.ir);
  auto const report = fuse::rewrite<fuse::rules::norms>(graph, options);
  torch::jit::EliminateDeadCode(script.ir);
  script.ir->lint();
  CAPTURE(to_text(from), to_text(owned), script.ir->toString(false));
  REQUIRE(corpus::summary_of(report) == corpus::summary_of(expected));
  if (feeds != nullptr) after = run(script.ir, inputs);
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) REQUIRE(at::allclose(after[i], before[i], 1e-3, 1e-3));
}

bool all_single(second::graph const& g) {
  auto const inputs = g.inputs();
  return std::all_of(inputs.begin(), inputs.end(), [&](auto v) { return g.type(v) == fuse::element_type::float32; });
}

}  // namespace

TEST_CASE("every spelling has the same verdict in TorchScript as in the owned graph, and computes what it did") {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    second::graph g;
    corpus::spelling const spelled(g, true, seed);
    auto const feeds = spelled.feeds();
    compare(g, seed % 2 == 0, all_single(g) ? &feeds : nullptr);
  }
}

TEST_CASE("every look-alike has the same verdict in TorchScript as in the owned graph") {
  for (auto const& look : corpus::lookalike_list().all)
    for (bool const layer : {true, false}) {
      if (!corpus::concerns(look, layer, true)) continue;
      CAPTURE(look.name, layer);
      second::graph g;
      corpus::plain_norm n(g, true, layer, look.shape);
      look.change(n);
      n.write();
      for (bool const numbers : {false, true}) compare(g, numbers);
    }
}

}  // namespace spellings
