// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/norms.hpp>
#include <fuse/rules/skip_norms.hpp>

namespace rules_skip_norms {

using namespace rewriting;

namespace {

inline constexpr auto rules = fuse::rule_set<fuse::rules::norms, fuse::rules::skip_norms>;
constexpr auto skip_layer = "com.microsoft::SkipLayerNormalization",
               skip_rms = "com.microsoft::SkipSimplifiedLayerNormalization";

/// A residual connection before a norm, whose every part can be changed: one test for each condition changes one.
struct residual : sketch {
  explicit residual(bool is_layer = true, int version = 17) : sketch(version), layer(is_layer) {}
  bool layer;
  dims shape{2, 4, 8}, skip_shape{2, 4, 8}, scale_shape{8};
  element_type type = element_type::float32;
  std::int64_t axis = -1;
  double epsilon = 1e-5;
  bool biased = true;

  value scale() { return in("scale", scale_shape, type); }
  value norm(value of) {
    std::vector<value> operands{of, scale()};
    if (layer && biased) operands.push_back(in("bias", scale_shape, type));
    return add(layer             ? "LayerNormalization"
               : version() >= 23 ? "RMSNormalization"
                                 : "SimplifiedLayerNormalization",
               operands, {{"axis", axis}, {"epsilon", epsilon}});
  }
  value sum() { return add("Add", {in("input", shape, type), in("skip", skip_shape, type)}); }
  [[nodiscard]] char const* fused() const { return layer ? skip_layer : skip_rms; }
};

std::string rewritten(residual& g, fuse::target target = fuse::target::onnxruntime) {
  fuse::rewrite_options options;
  options.target = target;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<rules>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  return ops(g);
}

/// Checks that no norm of a sum is made, for a reason with `words`.
void refuses(residual& g, std::string_view words) {
  auto const before = to_text(g);
  fuse::rewrite_options options;
  options.target = fuse::target::onnxruntime;
  auto const report = fuse::rewrite<rules>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.applied() == 0);
  CHECK(to_text(g) == before);
  bool told = false;
  for (auto const& r : report.rule(g.layer ? "skip-layer-norm" : "skip-rms-norm")->refused)
    told = told || (r.condition + " " + r.reason).find(words) != std::string::npos;
  CHECK(told);
}

}  // namespace

TEST_CASE("a norm of a sum is one operator of onnxruntime, and two of the standard") {
  for (bool const layer : {true, false}) {
    residual g(layer, 23), standard(layer, 23);
    g.end(g.norm(g.sum()));
    CHECK(rewritten(g) == g.fused());
    CHECK(number(g, last(g), "epsilon") == Approx(1e-5));
    standard.end(standard.norm(standard.sum()));
    CHECK(rewritten(standard, fuse::target::standard) == (layer ? "Add LayerNormalization" : "Add RMSNormalization"));
  }
}

TEST_CASE("a norm without bias is one of a sum without bias") {
  residual g;
  g.biased = false;
  g.end(g.norm(g.sum()));
  CHECK(rewritten(g) == skip_layer);
  CHECK(g.operands(last(g)).size() == 3);
}

TEST_CASE("the larger match wins: primitives become the norm of the sum") {
  for (bool const layer : {true, false}) {
    residual g(layer);
    auto const mean = [&](fuse::graph::value v) {
      return g.add("ReduceMean", {v}, {{"axes", std::vector<std::int64_t>{-1}}});
    };
    auto const x = g.sum();
    auto const d = layer ? g.add("Sub", {x, mean(x)}) : x;
    auto const root = g.add("Sqrt", {g.add("Add", {mean(g.add("Mul", {d, d})), g.scalar(1e-5f)})});
    g.end(g.add("Mul", {g.add("Div", {d, root}), g.scale()}));
    CHECK(rewritten(g) == g.fused());
  }
}

TEST_CASE("a row that is added, too, is the bias of the sum, in each bracketing") {
  for (bool const layer : {true, false})
    for (int bracketing = 0; bracketing < 3; ++bracketing) {
      residual g(layer);
      auto const input = g.in("input", g.shape), skip = g.in("skip", g.shape), row = g.in("row", {8});
      auto const first = bracketing == 0   ? g.add("Add", {row, input})
                         : bracketing == 1 ? g.add("Add", {skip, row})
                                           : g.add("Add", {input, skip});
      g.end(g.norm(g.add("Add", {bracketing == 0 ? skip : bracketing == 1 ? input : row, first})));
      CHECK(rewritten(g) == g.fused());
      CHECK(g.operands(last(g)).size() == (layer ? 5u : 4u));
    }
}

TEST_CASE("a row that is added to a skip without a batch is the bias") {
  residual g;
  auto const input = g.in("input", g.shape), skip = g.add("Add", {g.in("skip", {4, 8}), g.in("row", {8})});
  g.end(g.norm(g.add("Add", {skip, input})));
  CHECK(rewritten(g) == g.fused());
}

TEST_CASE("what is added first and used elsewhere stays") {
  residual g;
  auto const first = g.add("Add", {g.in("input", g.shape), g.in("row", {8})});
  g.output(g.add("Relu", {first}), "other");
  g.end(g.norm(g.add("Add", {g.in("skip", g.shape), first})));
  CHECK(rewritten(g) == std::string("Add Relu ") + skip_layer);
}

TEST_CASE("a sum that others use is a result of the operator") {
  for (bool const layer : {true, false}) {
    residual g(layer);
    auto const sum = g.sum();
    auto const y = g.norm(sum);
    g.output(g.add("Add", {g.add("Relu", {y}), sum}), "next");
    g.output(sum, "sum");
    CHECK(rewritten(g) == std::string(g.fused()) + " Relu Add");
    fuse::graph::node norm;
    for (auto const n : g.nodes())
      if (g.op(n) == g.fused()) norm = n;
    CHECK(g.result(norm, 3) != fuse::graph::value{});
  }
}

TEST_CASE("a skip may lack the batch, or repeat along it") {
  for (auto const& skip : {fuse::graph::dims{4, 8}, fuse::graph::dims{1, 4, 8}}) {
    residual g;
    g.skip_shape = skip;
    g.end(g.norm(g.sum()));
    CHECK(rewritten(g) == skip_layer);
  }
  residual tokens;
  tokens.shape = tokens.skip_shape = {4, 8};
  tokens.end(tokens.norm(tokens.sum()));
  CHECK(rewritten(tokens) == skip_layer);
}

// One test per condition: that alone is broken.

TEST_CASE("a skip that repeats along another axis is refused") {
  for (auto const& skip : {fuse::graph::dims{8}, fuse::graph::dims{2, 1, 8}, fuse::graph::dims{1, 1, 8},
                           fuse::graph::dims{2, 4, 1}, fuse::graph::dims{-1, 4, 8}}) {
    residual g;
    g.skip_shape = skip;
    g.end(g.norm(g.sum()));
    refuses(g, "the skip has the shape of the input");
  }
}
TEST_CASE("inputs of one axis or four are refused") {
  for (auto const& shape : {fuse::graph::dims{8}, fuse::graph::dims{2, 3, 4, 8}}) {
    residual g;
    g.shape = g.skip_shape = shape;
    g.end(g.norm(g.sum()));
    refuses(g, "the skip has the shape of the input");
  }
}
TEST_CASE("a norm over other axes than the last is refused") {
  residual g;
  g.axis = -2;
  g.scale_shape = {4, 8};
  g.end(g.norm(g.sum()));
  refuses(g, "the norm is over the last axis");
}
TEST_CASE("a scale that is no row is refused") {
  residual g;
  g.scale_shape = {4, 8};
  g.end(g.norm(g.sum()));
  refuses(g, "one row over the normalised axes");
}
TEST_CASE("doubles are refused, for which the operator has no type") {
  residual g;
  g.type = element_type::float64;
  g.end(g.norm(g.sum()));
  refuses(g, "float64");
}
TEST_CASE("a difference is no residual connection") {
  residual g;
  g.end(g.norm(g.add("Sub", {g.in("input", g.shape), g.in("skip", g.shape)})));
  auto const before = to_text(g);
  rewritten(g);
  CHECK(to_text(g) == before);
}
TEST_CASE("a norm whose statistics are used stays a norm") {
  residual g;
  auto const sum = g.sum();
  fuse::graph::value const operands[] = {sum, g.scale()};
  auto const norm = g.append("LayerNormalization", operands, {}, 2);
  g.end(g.result(norm));
  g.output(g.result(norm, 1), "mean");
  CHECK(rewritten(g) == "Add LayerNormalization");
}

}  // namespace rules_skip_norms
