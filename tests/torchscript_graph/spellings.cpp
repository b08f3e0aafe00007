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

#include "../corpus/all.hpp"
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

using feeds_of = std::map<std::string, corpus::array>;

std::vector<at::Tensor> inputs_of(second::graph const& g, feeds_of const& feeds) {
  std::vector<at::Tensor> inputs;
  for (auto const v : g.inputs()) {
    auto const& feed = feeds.at(std::string(g.name(v)));
    inputs.push_back(at::tensor(feed.data, at::kDouble).reshape(feed.shape).to(copied::scalar_type(g.type(v))));
  }
  return inputs;
}

// The graph as TorchScript, rewritten for `target`; with `feeds`, run as it was and as fuse left it.
fuse::rewrite_report rewritten(second::graph const& from, bool numbers, fuse::target target, feeds_of const* feeds) {
  copied::script const script(from, numbers);
  std::vector<at::Tensor> inputs, before;
  if (feeds != nullptr) before = run(script.ir, inputs = inputs_of(from, *feeds));
  torchscript::graph graph(script.ir);
  fuse::rewrite_options options;
  options.except = {"layer-norm-mean", "layer-norm-inverse-deviation"};  // norms of TorchScript return no statistics
  options.target = target;
  auto report = fuse::rewrite<fuse::rules::norms>(graph, options);
  torch::jit::EliminateDeadCode(script.ir);
  script.ir->lint();
  if (feeds == nullptr) return report;
  auto const after = run(script.ir, inputs);
  CAPTURE(to_text(from), script.ir->toString(false));
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) REQUIRE(at::allclose(after[i], before[i], 1e-3, 1e-3));
  return report;
}

// fuse's own operators are what the second dialect has, too.
bool compare(second::graph const& from, bool numbers, feeds_of const* feeds = nullptr) {
  fuse::rewrite_options options;
  options.except = {"layer-norm-mean", "layer-norm-inverse-deviation"};
  auto owned = from;
  auto const expected = fuse::rewrite<fuse::rules::norms>(owned, options);
  auto const report = rewritten(from, numbers, fuse::target::vendor, feeds);
  CAPTURE(to_text(from), to_text(owned));
  REQUIRE(corpus::summary_of(report) == corpus::summary_of(expected));
  return true;
}

bool all_single(second::graph const& g) {
  auto const inputs = g.inputs();
  return std::all_of(inputs.begin(), inputs.end(), [&](auto v) { return g.type(v) == fuse::element_type::float32; });
}

}  // namespace

TEST_CASE("every spelling has the same verdict in TorchScript as in the owned graph, and computes what it did") {
  CHECK(corpus::all_spellings<second::graph>([](auto const& g, auto const& spelled, std::uint64_t seed) {
          auto const feeds = spelled.feeds();
          return compare(g, seed % 2 == 0, all_single(g) ? &feeds : nullptr);
        }) == corpus::spellings);
}

TEST_CASE("with libtorch's own operator layer norms compute what they did, or the extents of their rows are a reason") {
  std::size_t applied = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    second::graph g;
    corpus::spelling const spelled(g, true, seed);
    auto const feeds = spelled.feeds();
    if (!all_single(g)) continue;
    auto const fused = rewritten(g, seed % 2 == 0, fuse::target::standard, &feeds);
    auto const ours = rewritten(g, seed % 2 == 0, fuse::target::vendor, nullptr);
    if (ours.rules[0].applied == 0) continue;  // the rule of layer norms
    bool told = false;
    for (auto const& refusal : fused.rules[0].refused)
      told = told || refusal.reason.find("of just the normalised axes") != std::string::npos ||
             refusal.reason.find("not all of them are known") != std::string::npos;
    ++(fused.rules[0].applied != 0 ? applied : refused);
    REQUIRE((fused.rules[0].applied != 0 || told));
  }
  CAPTURE(applied, refused);
  REQUIRE(applied > 60);
}

TEST_CASE("every look-alike has the same verdict in TorchScript as in the owned graph") {
  CHECK(corpus::all_lookalikes<second::graph>([](auto const& g) { return compare(g, false) && compare(g, true); }) ==
        corpus::lookalikes_in_second);
}

}  // namespace spellings
