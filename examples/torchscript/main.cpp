// SPDX-License-Identifier: BSL-1.0

// TorchScript, rewritten by fuse in place and run by libtorch, the norms on the kernels of fuse:
//
//   torchscript [--aten] [--time]                     programs compiled here
//   torchscript [--aten] [--time] MODEL.pt 8x128x64   a saved module, and the shape of its one input of type float
//
// --aten: with libtorch's own aten::layer_norm instead.

#include "adapt.hpp"
#include "programs.hpp"
#include "shapes.hpp"

#include <fuse/fuse.hpp>

#include <ATen/Parallel.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

torch::jit::Module compiled(program const& p) {
  torch::manual_seed(1);
  torch::jit::Module module("program");
  module.register_parameter("scale", torch::rand(p.columns) + 0.5, false);
  module.register_parameter("bias", torch::randn(p.columns), false);
  module.register_parameter("gate", torch::randn(p.columns), false);
  module.define(p.source);
  return module;
}

// The best of some runs, in microseconds.
double time_of(torch::jit::Module& module, at::Tensor const& x) {
  double best = 1e300;
  for (int run = 0; run < 60; ++run) {
    auto const start = std::chrono::steady_clock::now();
    module.forward({x});
    std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void print(fuse::rewrite_report const& report) {
  std::printf("  nodes: %zu before, %zu after\n", report.nodes_before, report.nodes_after);
  for (auto const& rule : report.rules) {
    if (rule.applied != 0) std::printf("  %s: applied %zu\n", rule.name.c_str(), rule.applied);
    for (auto const& refusal : rule.refused)
      std::printf("  %s: not at %s: %s\n", rule.name.c_str(), refusal.node.c_str(), refusal.reason.c_str());
  }
}

void show(std::string_view name, torch::jit::Module module, std::vector<std::int64_t> const& dims, fuse::target target,
          bool timed) {
  torch::NoGradGuard const no_gradients;
  module.eval();
  auto before = torch::jit::freeze(module), after = torch::jit::freeze(module);  // parameters become constants
  auto ir = after.get_method("forward").graph();
  torchscript::give_shapes(ir, {dims});
  torchscript::graph graph(ir);
  auto const writers = graph.writers();
  fuse::rewrite_options options;
  options.target = target;
  auto const report = fuse::rewrite<fuse::rules::norms>(graph, options);
  torch::jit::EliminateDeadCode(ir);  // the parameters of what is gone
  ir->lint();

  auto const x = torch::randn(dims) * 3 + 1;
  auto const expected = before.forward({x}).toTensor(), found = after.forward({x}).toTensor();
  auto const off = ((found - expected).abs() / expected.abs().clamp_min(1)).max().item<double>();
  std::printf("%s\n", std::string(name).c_str());
  print(report);
  for (auto const& writer : writers)
    std::printf("  left as it is: what touches the memory that %s writes to\n", writer.c_str());
  std::printf("  %s what it was within 1e-5\n", off <= 1e-5 ? "computes" : "DOES NOT COMPUTE");
  if (timed) {
    auto const slow = time_of(before, x), fast = time_of(after, x);
    std::printf("  %.0f us before, %.0f us after: %.2f times\n", slow, fast, slow / fast);
  }
}

std::vector<std::int64_t> dims_of(std::string const& text) {
  std::vector<std::int64_t> all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    all.push_back(std::stoll(text.substr(at), &length));
    at += length + 1;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  at::set_num_threads(1);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  bool const timed = std::erase(arguments, "--time") != 0;
  auto const target = std::erase(arguments, "--aten") != 0 ? fuse::target::standard : fuse::target::vendor;
  if (arguments.empty()) {
    for (auto const& p : programs)
      show(p.name, compiled(p), timed ? std::vector<std::int64_t>{32, 16, 64} : std::vector<std::int64_t>{3, 16, 64},
           target, timed);
  } else if (arguments.size() == 2) {
    show(arguments[0], torch::jit::load(arguments[0]), dims_of(arguments[1]), target, timed);
  } else {
    std::fputs("usage: torchscript [--aten] [--time] [MODEL.pt 8x128x64]\n", stderr);
    return 2;
  }
  return 0;
} catch (c10::Error const& error) {
  std::fprintf(stderr, "torchscript: %s\n", error.what_without_backtrace());
  return 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "torchscript: %s\n", error.what());
  return 1;
}
