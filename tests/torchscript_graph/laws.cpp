// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/testing/graph_laws.hpp>

#include <torch/csrc/jit/ir/irparser.h>

#include "adapt.hpp"

namespace laws {

namespace {

using traits = fuse::graph_traits<torchscript::graph>;

torchscript::graph parsed(std::string const& text) {
  auto ir = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR("graph" + text, ir.get());
  return torchscript::graph(ir);
}

torch::jit::Node* first(torchscript::graph const& g, std::string_view op) {
  auto const all = traits::nodes(g);
  auto const found = std::find_if(all.begin(), all.end(), [&](auto* n) { return traits::op_name(g, n) == op; });
  return found == all.end() ? nullptr : *found;
}

// Shared values, several results, absent operands, numbers and lists, an output twice, captures in nested bodies.
constexpr char const* sample = R"IR((%x : Float(2, *, 8), %n : int, %flag : bool):
  %none : NoneType = prim::Constant()
  %yes : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %half : float = prim::Constant[value=0.5]()
  %minus : int = prim::Constant[value=-1]()
  %last : int[] = prim::ListConstruct(%minus)
  %dims : int[] = prim::ListConstruct(%n, %one)
  %mean : Tensor = aten::mean(%x, %last, %yes, %none)
  %d : Tensor = aten::sub(%x, %mean, %one)
  %s : Tensor = aten::mul(%d, %d)
  %v : Tensor, %m : Tensor = aten::var_mean(%s, %yes)
  %c : Tensor = aten::clamp(%d, %none, %half)
  %r : Tensor = aten::reshape(%c, %dims)
  %y : Tensor = prim::If(%flag)
    block0():
      %z : Tensor = prim::Loop(%n, %yes, %v)
        block0(%i : int, %carried : Tensor):
          %more : Tensor = aten::add(%carried, %mean, %one)
          -> (%yes, %more)
      -> (%z)
    block1():
      %neg : Tensor = aten::neg(%m)
      -> (%neg)
  %w : Tensor = aten::mul(%y, %half)
  return (%w, %d, %d, %r))IR";

}  // namespace

TEST_CASE("a TorchScript graph keeps the laws of graphs") {
  STATIC_REQUIRE(fuse::rewritable_graph<torchscript::graph>);
  STATIC_REQUIRE(fuse::use_tracking_graph<torchscript::graph>);
  fuse::testing::graph_examples<torchscript::graph> examples;
  examples.attributes = {};          // which there are, the operator's schema says
  examples.absent_operands = false;  // ... and which operands may be absent
  REQUIRE(fuse::testing::graph_laws<torchscript::graph>([] { return parsed(sample); }, examples) ==
          std::vector<std::string>{});
}

TEST_CASE("a new node has its parameters as inputs, named by the operator's schema") {
  auto g = parsed(sample);
  auto* const place = first(g, "aten::sub.Tensor");
  REQUIRE(place != nullptr);
  std::vector<traits::value> const operands{g.ir->inputs()[0]};
  std::vector<fuse::attribute> attributes{{"dim", std::vector<std::int64_t>{-2, -1}}, {"keepdim", std::int64_t{1}}};
  fuse::element_type const type[] = {fuse::element_type::float32};
  auto* const mean = traits::insert(g, place, {"aten::mean.dim", operands, attributes, type, "origin"});
  REQUIRE(traits::op_name(g, mean) == "aten::mean.dim");
  REQUIRE(mean->inputs().size() == 4);
  REQUIRE(traits::operands(g, mean) == operands);
  auto const axes = std::get<fuse::span<std::int64_t const>>(traits::attribute(g, mean, "dim"));
  REQUIRE(std::vector<std::int64_t>(axes.begin(), axes.end()) == std::vector<std::int64_t>{-2, -1});
  REQUIRE(std::get<std::int64_t>(traits::attribute(g, mean, "keepdim")) == 1);
  REQUIRE(traits::attribute(g, mean, "dtype").index() == 0);

  attributes = {{"axis", std::int64_t{-2}}, {"epsilon", 0.5}};
  auto* const norm = traits::insert(g, place, {"fuse::layer_norm", operands, attributes, type, "origin"});
  REQUIRE(traits::op_name(g, norm) == "fuse::layer_norm");
  REQUIRE(traits::operands(g, norm) == std::vector<traits::value>{operands[0], nullptr, nullptr});
  REQUIRE(std::get<std::int64_t>(traits::attribute(g, norm, "axis")) == -2);
  REQUIRE(std::get<double>(traits::attribute(g, norm, "epsilon")) == 0.5);
  g.ir->lint();
}

TEST_CASE("operands of libtorch's own norm stand around the list of its extents") {
  auto g = parsed(R"IR((%x : Float(3, 4, 8), %scale : Float(4, 8)):
  return (%x))IR");
  std::vector<traits::value> const operands{g.ir->inputs()[0], nullptr, g.ir->inputs()[1]};
  std::vector<fuse::attribute> attributes{{"normalized_shape", std::vector<std::int64_t>{4, 8}}, {"eps", 0.5}};
  fuse::element_type const type[] = {fuse::element_type::float32};
  auto* const norm = traits::insert(g, g.ir->return_node(), {"aten::layer_norm", operands, attributes, type, "origin"});
  g.ir->lint();
  REQUIRE(norm->inputs().size() == 6);
  REQUIRE(norm->input(3) == operands[2]);
  REQUIRE(torch::jit::toIValue(norm->input(5))->toBool());  // as the schema says
  REQUIRE(traits::operands(g, norm) == operands);
  auto const extents = std::get<fuse::span<std::int64_t const>>(traits::attribute(g, norm, "normalized_shape"));
  REQUIRE(std::vector<std::int64_t>(extents.begin(), extents.end()) == std::vector<std::int64_t>{4, 8});
}

TEST_CASE("a parameter that is computed is an operand, and no constant") {
  auto const g = parsed(sample);
  auto* const reshape = first(g, "aten::reshape");
  REQUIRE(traits::operands(g, reshape).size() == 2);
  REQUIRE(std::holds_alternative<fuse::opaque_attribute>(traits::attribute(g, reshape, "shape")));
  REQUIRE(traits::producer(g, reshape->input(1)) == first(g, "prim::ListConstruct"));
}

TEST_CASE("parameters that change what an operator computes make it another one") {
  auto const g = parsed(R"IR((%x : Tensor, %a : Scalar):
  %two : int = prim::Constant[value=2]()
  %half : float = prim::Constant[value=0.5]()
  %double : int = prim::Constant[value=7]()
  %1 : Tensor = aten::add(%x, %x, %two)
  %2 : Tensor = aten::sub(%1, %half, %two)
  %3 : Tensor = aten::add(%2, %x, %a)
  %4 : Tensor = aten::sum(%3, %double)
  return (%4))IR");
  std::vector<std::string> names;
  for (auto* const n : traits::nodes(g)) names.emplace_back(traits::op_name(g, n));
  REQUIRE(names == std::vector<std::string>{"aten::add.Tensor with alpha", "aten::sub.Scalar with alpha",
                                            "aten::add.Tensor with alpha", "aten::sum with dtype"});
}

TEST_CASE("what touches memory that is written to stays, and nothing else") {
  std::string const norm = R"IR(
  %d : Tensor = aten::sub(%x, %mean, %one)
  %s : Tensor = aten::mul(%d, %d)
  %v : Tensor = aten::mean(%s, %last, %yes, %none)
  %e : Tensor = aten::add(%v, %epsilon, %one)
  %r : Tensor = aten::sqrt(%e)
  %y : Tensor = aten::div(%d, %r))IR";
  std::string const head = R"IR((%x : Float(2, 8), %self : Float(8)):
  %none : NoneType = prim::Constant()
  %yes : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %epsilon : float = prim::Constant[value=0.5]()
  %last : int[] = prim::Constant[value=[-1]]()
  %mean : Tensor = aten::mean(%x, %last, %yes, %none))IR";
  auto const applied = [&](std::string const& between, std::string const& after) {
    auto g = parsed(head + between + norm + after);
    auto const before = g.ir->toString(false);
    auto const report = fuse::rewrite<fuse::rules::norms>(g);
    g.ir->lint();
    if (report.applied() == 0) REQUIRE(g.ir->toString(false) == before);
    return report.applied();
  };
  REQUIRE(applied("", "\n  return (%y)") == 1);
  // What is made here is not what comes in.
  REQUIRE(applied("", "\n  %c : Tensor = aten::sqrt(%v)\n  %w : Tensor = aten::relu_(%c)\n  return (%y, %w)") == 1);
  // The result, the input, a view of the input, and an interior value.
  REQUIRE(applied("", "\n  %w : Tensor = aten::relu_(%y)\n  return (%w)") == 0);
  REQUIRE(applied("\n  %w : Tensor = aten::relu_(%x)", "\n  return (%y)") == 0);
  REQUIRE(applied("\n  %t : Tensor = aten::t(%x)\n  %w : Tensor = aten::relu_(%t)", "\n  return (%y)") == 0);
  REQUIRE(applied("\n  %w : Tensor = aten::relu_(%mean)", "\n  return (%y)") == 0);
}

}  // namespace laws
