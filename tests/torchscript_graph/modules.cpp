// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <sstream>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include "adapt.hpp"
#include "shapes.hpp"

namespace modules {

TEST_CASE("a rewritten module is saved, loaded, and computes what it did") {
  torch::NoGradGuard const no_gradients;
  torch::jit::Module module("m");
  module.register_parameter("scale", torch::rand({8}) + 0.5, false);
  module.define(R"(
def forward(self, x):
    return x * torch.rsqrt((x * x).mean(-1, True) + 1e-6) * self.scale
)");
  module.eval();
  auto frozen = torch::jit::freeze(module);
  auto const ir = frozen.get_method("forward").graph();
  torchscript::give_shapes(ir, {{2, 3, 8}});
  torchscript::graph graph(ir);
  fuse::rewrite_options options;
  options.target = fuse::target::vendor;
  REQUIRE(fuse::rewrite<fuse::rules::norms>(graph, options).applied() == 1);
  torch::jit::EliminateDeadCode(ir);

  std::stringstream file;
  frozen.save(file);
  auto loaded = torch::jit::load(file);
  REQUIRE(loaded.get_method("forward").graph()->toString(false).find("fuse::rms_norm") != std::string::npos);
  for (auto const& x : {torch::randn({2, 3, 8}), torch::randn({5, 8})})  // no kernel is bound to the shapes given
    REQUIRE(at::allclose(loaded.forward({x}).toTensor(), module.forward({x}).toTensor(), 1e-5, 1e-5));
}

TEST_CASE("a traced function is rewritten, whatever shapes its trace had") {
  torch::NoGradGuard const no_gradients;
  auto const norm = [](torch::jit::Stack in) -> torch::jit::Stack {
    auto const x = in.at(0).toTensor();
    auto const d = x - x.mean({-1}, true);
    return {d / at::sqrt(d.pow(2).mean({-1}, true) + 1e-5)};
  };
  auto const x = torch::randn({4, 8});
  auto const traced = torch::jit::tracer::trace({x}, norm, [](torch::autograd::Variable const&) { return ""; });
  auto const ir = traced.first->graph;
  torchscript::give_shapes(ir, {{3, 5, 16}});
  torchscript::graph graph(ir);
  REQUIRE(fuse::rewrite<fuse::rules::norms>(graph).applied() == 1);
  torch::jit::EliminateDeadCode(ir);
  torch::jit::GraphExecutor executor(ir, "norm");
  auto const y = torch::randn({3, 5, 16});
  torch::jit::Stack stack{y};
  executor.run(stack);
  REQUIRE(at::allclose(stack.at(0).toTensor(), norm({y}).at(0).toTensor(), 1e-5, 1e-5));
}

TEST_CASE("the operators take halves, doubles and several axes") {
  auto const x = torch::randn({2, 3, 4, 8}) + 1, scale = torch::rand({4, 8}), bias = torch::randn({4, 8});
  auto const layer = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("fuse::layer_norm", "")
                         .typed<at::Tensor(at::Tensor const&, c10::optional<at::Tensor> const&,
                                           c10::optional<at::Tensor> const&, std::int64_t, double)>();
  auto const rms = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("fuse::rms_norm", "")
                       .typed<at::Tensor(at::Tensor const&, c10::optional<at::Tensor> const&, std::int64_t, double)>();
  for (auto const type : {c10::kFloat, c10::kDouble, c10::kHalf, c10::kBFloat16}) {
    double const tolerance = type == c10::kBFloat16 ? 3e-2 : type == c10::kHalf ? 3e-3 : 1e-5;
    auto const in = x.to(type).to(c10::kDouble), s = scale.to(type).to(c10::kDouble),
               b = bias.to(type).to(c10::kDouble);
    auto const expected = at::layer_norm(in, {4, 8}, s, b, 1e-5);
    auto const expected_rms = in * (in.square().mean({2, 3}, true) + 1e-5).rsqrt() * s;
    auto const y = layer.call(x.to(type), scale.to(type), bias.to(type), -2, 1e-5);
    auto const z = rms.call(x.to(type).transpose(0, 1), scale.to(type), 2, 1e-5);
    REQUIRE(y.scalar_type() == type);
    REQUIRE(z.scalar_type() == type);
    REQUIRE(at::allclose(y.to(c10::kDouble), expected, tolerance, tolerance));
    REQUIRE(at::allclose(z.to(c10::kDouble), expected_rms.transpose(0, 1), tolerance, tolerance));
  }
  auto const y = layer.call(x, torch::tensor(2.0f), c10::nullopt, -1, 0.5);  // one element for all columns
  REQUIRE(at::allclose(y, 2 * at::layer_norm(x, {8}, {}, {}, 0.5), 1e-5, 1e-5));
  REQUIRE(layer.call(torch::ones({0, 8}), c10::nullopt, c10::nullopt, -1, 0.5).sizes() == at::IntArrayRef({0, 8}));
  REQUIRE_THROWS(layer.call(torch::ones({8}, c10::kLong), c10::nullopt, c10::nullopt, -1, 0.5));
  REQUIRE_THROWS(layer.call(x, torch::ones({7}), c10::nullopt, -1, 0.5));
  REQUIRE_THROWS(layer.call(x, c10::nullopt, c10::nullopt, 4, 0.5));
}

}  // namespace modules
