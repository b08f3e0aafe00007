// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/fused_layers.hpp>
#include <fuse/rules/parallel_layers.hpp>

namespace rules_parallel_layers {

using namespace rewriting;
using value = graph::value;

namespace {

enum class kind { product, biased_product, gemm, transposed_gemm };
constexpr kind kinds[] = {kind::product, kind::biased_product, kind::gemm, kind::transposed_gemm};

/// Layers of `x`, each with constants of its own.
struct layers : sketch {
  static constexpr std::int64_t width = 32;

  explicit layers(kind is) : sketch(17), is_(is), x(in("x", {"tokens", width})) {}

  value numbers(std::vector<std::int64_t> const& shape) {
    std::size_t count = 1;
    for (auto const extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(std::sin(++drawn_));
    return constant(fuse::make_tensor(element_type::float32, shape, all));
  }
  value weights(std::int64_t columns) {
    return is_ == kind::transposed_gemm ? numbers({columns, width}) : numbers({width, columns});
  }
  value layer(value by, std::int64_t columns, double alpha = 0.5) {
    if (is_ == kind::product) return add("MatMul", {x, by});
    if (is_ == kind::biased_product) return add("Add", {numbers({columns}), add("MatMul", {x, by})});
    return add("Gemm", {x, by, numbers({columns})},
               {{"alpha", alpha}, {"transB", std::int64_t{is_ == kind::transposed_gemm}}});
  }
  value layer(std::int64_t columns) { return layer(weights(columns), columns); }
  void give(value y) { output(add("Abs", {y}), "y" + std::to_string(++given_)); }
  std::size_t count(std::string_view op) const {
    std::size_t found = 0;
    for (auto const n : nodes()) found += std::string_view(graph::op(n)) == op;
    return found;
  }
  std::size_t left() const { return count("MatMul") + count("Gemm"); }

 private:
  kind is_;
  double drawn_ = 0;
  int given_ = 0;

 public:
  value x;
};

template <auto const& Rules = fuse::rules::parallel_layers>
fuse::rewrite_report run(layers& g) {
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  auto report = fuse::rewrite<Rules>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) CHECK(r.condition != "check");
  return report;
}

}  // namespace

TEST_CASE("narrow layers of one value are one, whose result is cut") {
  for (auto const is : kinds)
    for (int const count : {2, 3}) {
      layers g(is);
      for (int i = 0; i < count; ++i) g.give(g.layer(3 + i));
      CHECK(run(g).applied() == 1);
      CHECK(g.left() == 1);
      CHECK(g.count("Split") == 1);
      CHECK(g.count("Add") == (is == kind::biased_product ? 1 : 0));
    }
}

TEST_CASE("biases of one element, or with more axes, are rows") {
  layers g(kind::biased_product);
  auto const product = [&](std::int64_t columns) { return g.add("MatMul", {g.x, g.weights(columns)}); };
  g.give(g.add("Add", {product(3), g.numbers({1})}));
  g.give(g.add("Add", {product(4), g.numbers({1, 4})}));
  SECTION("two") { CHECK(run(g).applied() == 1); }
  SECTION("three") {
    g.give(g.add("Add", {product(3), g.scalar(2.0f)}));
    CHECK(run(g).applied() == 1);
    CHECK(g.left() == 1);
  }
}

TEST_CASE("a bias for each token stays, whatever becomes of the product") {
  layers g(kind::biased_product);
  g.x = g.in("three", {3, layers::width});
  g.give(g.layer(3));
  g.give(g.add("Add", {g.add("MatMul", {g.x, g.weights(3)}), g.numbers({3, 1})}));
  auto const report = run(g);
  CHECK(report.rule("parallel-biased-matmuls")->applied == 0);
  CHECK(report.rule("parallel-matmuls")->applied == 1);
}

TEST_CASE("what a layer gives may be an output of the graph, and be read several times") {
  layers g(kind::product);
  auto const one = g.layer(4), other = g.layer(5);
  g.output(one, "one");
  g.give(other);
  g.give(other);
  CHECK(run(g).applied() == 1);
  CHECK(g.left() == 1);
}

TEST_CASE("layers that are as wide together as what they read stay, without a word") {
  for (auto const is : kinds) {
    layers g(is);
    g.give(g.layer(layers::width / 2));
    g.give(g.layer(layers::width / 2));
    auto const report = run(g);
    CHECK(report.applied() == 0);
    for (auto const& rule : report.rules) CHECK(rule.refused.empty());
  }
}

TEST_CASE("so do those that are half as wide, where no call is saved that could be worth it") {
  for (auto const is : {kind::product, kind::gemm, kind::transposed_gemm}) {
    layers g(is);
    g.give(g.layer(layers::width / 4));
    g.give(g.layer(layers::width / 4));
    auto const report = run(g);
    CHECK(report.applied() == 0);
    for (auto const& rule : report.rules) CHECK(rule.refused.empty());
  }
}

TEST_CASE("layers that would cost more as one stay, though calls are saved") {
  SECTION("that of an addition") {
    layers g(kind::biased_product);
    g.give(g.layer(10));  // to cut 20 elements of a token moves 40, to read it again 32
    g.give(g.layer(10));
    auto const report = run(g);
    CHECK(report.applied() == 0);
    CHECK(refused(report, "parallel-biased-matmuls") == "cost, cost");
  }
  SECTION("that of a third layer") {
    layers g(kind::product);
    for (int i = 0; i < 3; ++i) g.give(g.layer(20));
    auto const report = run(g);
    CHECK(report.applied() == 0);
    CHECK(refused(report, "three-parallel-matmuls") == "cost, cost, cost");
  }
}

TEST_CASE("they are one where tokens are so few that a call less is worth more") {
  auto const is = GENERATE(kind::product, kind::biased_product);
  auto const count = GENERATE(2, 3);
  layers g(is);
  g.x = g.in("three", {3, layers::width});
  for (int i = 0; i < count; ++i) g.give(g.layer(10 * (count - 1)));
  auto const pays = count == 3 || is == kind::biased_product;
  CHECK(run(g).applied() == (pays ? 1 : 0));
  CHECK(g.left() == (pays ? 1 : static_cast<std::size_t>(count)));
}

TEST_CASE("layers that have not all in common stay") {
  SECTION("one layer is no two") {
    layers g(kind::product);
    auto const y = g.layer(4);
    g.give(y);
    g.give(y);
    CHECK(run(g).applied() == 0);
  }
  SECTION("others use the weights, which would be there twice") {
    for (auto const is : kinds) {
      layers g(is);
      auto const w = g.weights(4);
      g.give(g.layer(w, 4));
      g.give(g.layer(4));
      g.give(w);
      CHECK(run(g).applied() == 0);
    }
  }
  SECTION("both have the same weights") {
    layers g(kind::biased_product);
    auto const w = g.weights(4);
    g.give(g.layer(w, 4));
    g.give(g.layer(w, 4));
    CHECK(run(g).applied() == 0);
  }
  SECTION("weights that are computed") {
    layers g(kind::product);
    g.give(g.layer(g.in("w", {layers::width, 4}), 4));
    g.give(g.layer(4));
    CHECK(run(g).applied() == 0);
  }
  SECTION("Gemms of two factors") {
    layers g(kind::gemm);
    g.give(g.layer(g.weights(4), 4, 0.5));
    g.give(g.layer(g.weights(4), 4, 0.25));
    CHECK(run(g).applied() == 0);
  }
  SECTION("another input") {
    layers g(kind::product);
    g.give(g.layer(4));
    g.x = g.add("Exp", {g.x});
    g.give(g.layer(4));
    CHECK(run(g).applied() == 0);
  }
  SECTION("an input of unknown rank") {
    layers g(kind::product);
    g.x = g.add("Unknown", {g.x});
    g.give(g.layer(4));
    g.give(g.layer(4));
    CHECK(run(g).applied() == 0);
  }
}

TEST_CASE("a layer that makes one operator with what follows does that first") {
  static constexpr auto rules = fuse::rule_set<fuse::rules::fused_layers, fuse::rules::parallel_layers>;
  layers g(kind::gemm);
  for (int i = 0; i < 2; ++i) g.output(g.add("Relu", {g.layer(4)}), "y" + std::to_string(i));
  fuse::rewrite_options options;
  options.target = fuse::target::onnxruntime;
  fuse::rewrite<rules>(static_cast<graph&>(g), options);
  CHECK(g.count("com.microsoft::FusedGemm") == 2);
}

}  // namespace rules_parallel_layers
