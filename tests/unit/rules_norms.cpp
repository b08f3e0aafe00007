// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <bit>

namespace rules_norms {

using namespace rewriting;

namespace {

/// A norm whose every part can be changed: one test for each condition changes one.
struct norm : sketch {
  explicit norm(int version = 17) : sketch(version) {}
  dims shape{2, 4, 8}, scale_shape{8}, bias_shape{8};
  std::vector<std::int64_t> axes{-1}, variance_axes{-1};
  double epsilon = 1e-5, exponent = 2;
  bool centred = true, scaled = true, biased = true, exchanged = false, epsilon_is_input = false, keeps = true;

  value mean(value v, std::vector<std::int64_t> over) {
    if (version() >= 18)
      return add("ReduceMean",
                 {v, constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(over.size())}, over))},
                 {{"keepdims", keeps ? 1 : 0}});
    return add("ReduceMean", {v}, {{"axes", over}, {"keepdims", keeps ? 1 : 0}});
  }
  std::string build() {
    auto const a = in("x", shape);
    auto d = a;
    if (centred) {
      auto const m = mean(a, axes);
      d = exchanged ? add("Sub", {m, a}) : add("Sub", {a, m});
    }
    auto const e = epsilon_is_input ? in("epsilon", {}) : scalar(static_cast<float>(epsilon));
    auto const v = mean(add("Pow", {d, scalar(static_cast<float>(exponent))}), variance_axes);
    auto y = add("Div", {d, add("Sqrt", {add("Add", {v, e})})});
    if (scaled) y = add("Mul", {in("scale", scale_shape), y});
    if (biased) y = add("Add", {y, in("bias", bias_shape)});
    end(y);
    return to_text(*this);
  }
};

std::string normalised(norm& g) {
  g.build();
  auto const report = fuse::rewrite<fuse::rules::norms>(static_cast<graph&>(g));
  INFO(to_text(report));
  CHECK(report.error.empty());
  return ops(g);
}

/// Checks that no norm is made, that the graph is unchanged, and that layer-norm's refusals tell of `words`.
void refuses(norm& g, std::string_view words) {
  auto const before = g.build();
  auto const report = fuse::rewrite<fuse::rules::norms>(static_cast<graph&>(g));
  INFO(to_text(report));
  CHECK(to_text(g) == before);
  CHECK(report.applied() == 0);
  bool told = false;
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) told = told || (r.condition + " " + r.reason).find(words) != std::string::npos;
  CHECK(told);
}

}  // namespace

TEST_CASE("a layer norm with and without scale and bias becomes one operator") {
  norm g;
  g.scaled = GENERATE(true, false);
  g.biased = GENERATE(true, false);
  CHECK(normalised(g) == "LayerNormalization");
  CHECK(number(g, last(g), "epsilon") == Approx(1e-5));
  CHECK(number(g, last(g), "axis") == -1);
}

TEST_CASE("an RMS norm becomes one operator, by target and operator set version") {
  for (auto [version, target, name] : {std::tuple{23, fuse::target::standard, "RMSNormalization"},
                                       {17, fuse::target::onnxruntime, "SimplifiedLayerNormalization"}}) {
    norm g(version);
    g.centred = g.biased = false;
    g.scaled = GENERATE(true, false);
    g.build();
    fuse::rewrite_options options;
    options.target = target;
    CHECK(applied<fuse::rules::norms>(g, options) == 1);
    CHECK(ops(g) == name);
  }
}

TEST_CASE("where the operator set has no such operator, the graph gets a function and calls it") {
  norm g(16);
  CHECK(normalised(g).substr(0, 6) == "fuse::");
  CHECK(g.functions().size() == 1);
}

TEST_CASE("a function counts its axes from the first one where the operator set has no others") {
  for (int const version : {9, 10, 11}) {
    norm g(version);
    g.build();
    fuse::rewrite_options options;
    options.target = fuse::target::standard;
    REQUIRE(applied<fuse::rules::norms>(g, options) == 1);
    std::vector<std::int64_t> axes;
    for (auto const& step : g.functions().front().steps)
      for (auto const& a : step.attributes)
        if (a.name == "axes") axes = std::get<std::vector<std::int64_t>>(a.content);
    CHECK(axes == std::vector<std::int64_t>{version < 11 ? 2 : -1});
  }
}

TEST_CASE("several trailing axes are one norm") {
  norm g;
  g.axes = {1, 2};
  g.variance_axes = {-1, -2};
  g.scale_shape = g.bias_shape = {4, 8};
  CHECK(normalised(g) == "LayerNormalization");
  CHECK(number(g, last(g), "axis") == -2);
}

TEST_CASE("the epsilon is carried: 0 and 0.5 are epsilons") {
  norm g;
  g.epsilon = GENERATE(0.0, 0.5);
  auto const wanted = g.epsilon;
  CHECK(normalised(g) == "LayerNormalization");
  CHECK(number(g, last(g), "epsilon") == wanted);
}

// One test per condition: that alone is broken.

TEST_CASE("an exponent that is not 2 is refused") {
  norm g;
  g.exponent = GENERATE(3.0, 1.0, 2.5);
  refuses(g, "a square among the factors");
}
TEST_CASE("an epsilon that is no constant is refused") {
  norm g;
  g.epsilon_is_input = true;
  refuses(g, "epsilon");
}
TEST_CASE("a mean over other axes than the variance is refused") {
  norm g;
  g.shape = {8, 8, 8};
  g.variance_axes = {1};
  refuses(g, "axes");
}
TEST_CASE("axes that are not the last are refused") {
  norm g;
  g.axes = g.variance_axes = {1};
  g.scaled = g.biased = false;
  refuses(g, "trailing");
}
TEST_CASE("reduced axes that are not kept are refused where that means something else") {
  norm g;
  g.shape = {8, 8};
  g.keeps = false;
  refuses(g, "keeps its axes");
}

TEST_CASE("a scale that is no row is left where it is, and the norm without it is made") {
  norm g;
  g.scale_shape = {2, 4, 1};
  g.biased = false;
  CHECK(normalised(g) == "LayerNormalization Mul");
}

TEST_CASE("a scale that enlarges the result is left where it is") {
  norm g;
  g.scale_shape = {3, 1, 1, 8};
  g.biased = false;
  CHECK(normalised(g) == "LayerNormalization Mul");
}

TEST_CASE("a bias that is no row is left where it is") {
  norm g;
  g.bias_shape = {2, 4, 8};
  CHECK(normalised(g) == "LayerNormalization Add");
}

TEST_CASE("minus signs are neither lost nor made, wherever they stand") {
  auto const centred = GENERATE(true, false);
  auto const signs = GENERATE(range(0, 8));
  INFO("centred " << centred << ", signs " << signs);
  norm g(23);
  auto const negated = [&](int bit, graph::value v) { return (signs >> bit & 1) != 0 ? g.add("Neg", {v}) : v; };
  auto const x = g.in("x", g.shape);
  auto const d = negated(0, centred ? g.add("Sub", {x, g.mean(x, g.axes)}) : x);
  auto const root = g.add("Sqrt", {g.add("Add", {g.mean(g.add("Mul", {d, d}), g.axes), g.scalar(1e-5f)})});
  auto const factor = negated(1, g.add("Reciprocal", {root}));
  g.end(g.add("Mul", {g.add("Mul", {d, factor}), negated(2, g.in("scale", g.scale_shape))}));
  fuse::rewrite<fuse::rules::norms>(static_cast<graph&>(g));
  int left = 0;
  for (auto n : g.nodes()) left += g.op(n) == "Neg" ? 1 : 0;
  INFO(to_text(g));
  CHECK(left % 2 == std::popcount(static_cast<unsigned>(signs)) % 2);
}

TEST_CASE("a norm of what was flattened is one over the axes from there on, if there are any") {
  auto const axis = GENERATE(0, 2, 3);
  sketch g;
  auto const x = g.in("x", {2, 3, 1});
  auto const scale = g.in("scale", {axis == 0 ? 6 : 1});
  auto const n = g.add("LayerNormalization", {g.add("Flatten", {x}, {{"axis", axis}}), scale});
  g.end(g.add("Reshape", {n, g.add("Shape", {x})}));
  CHECK(applied<fuse::rules::norms>(g) == (axis == 3 ? 0 : 1));
}

TEST_CASE("x by its length times the root of its number is an RMS norm, by its length alone is none") {
  auto const fused = [](float number) {
    sketch g(23);
    auto const a = g.in("x");
    auto const axes = g.constant({-1});
    auto const unit = g.add("Div", {a, g.add("ReduceL2", {a, axes}, {{"keepdims", 1}})});
    g.end(g.add("Mul", {g.add("Mul", {unit, g.scalar(number)}), g.in("scale", {8})}));
    auto const report = fuse::rewrite<fuse::rules::norms>(static_cast<graph&>(g));
    CHECK(report.error.empty());
    if (report.applied() != 0) CHECK(rewriting::number(g, last(g), "epsilon") == 0);
    return ops(g);
  };
  CHECK(fused(2.8284271f) == "RMSNormalization");
  CHECK(fused(3.0f) == "ReduceL2 Div Mul Mul");
  CHECK(fused(8.0f) == "ReduceL2 Div Mul Mul");
}

TEST_CASE("an RMS norm of a centred x is a layer norm") {
  auto const fused = [](std::vector<std::int64_t> axes, std::int64_t axis, bool exchanged, int keepdims = 1) {
    sketch g(23);
    auto const a = g.in("x", {2, 4, 4});
    auto const over = g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes));
    auto const m = g.add("ReduceMean", {a, over}, {{"keepdims", keepdims}});
    auto const d = exchanged ? g.add("Sub", {m, a}) : g.add("Sub", {a, m});
    auto const row = axis == -1 ? graph::dims{4} : graph::dims{4, 4};
    auto const n = g.add("RMSNormalization", {d, g.in("scale", row)}, {{"axis", axis}, {"epsilon", 0.25}});
    g.end(g.add("Add", {n, g.in("bias", row)}));
    auto const report = fuse::rewrite<fuse::rules::norms>(static_cast<graph&>(g));
    CHECK(report.error.empty());
    if (ops(g) == "LayerNormalization") {
      CHECK(number(g, last(g), "epsilon") == 0.25);
      CHECK(number(g, last(g), "axis") == static_cast<double>(axis));
    }
    return ops(g);
  };
  CHECK(fused({-1}, -1, false) == "LayerNormalization");
  CHECK(fused({2}, -1, false) == "LayerNormalization");
  CHECK(fused({-1, -2}, -2, false) == "LayerNormalization");
  std::string const apart = "ReduceMean Sub RMSNormalization Add";
  CHECK(fused({-2}, -1, false) == apart);
  CHECK(fused({-1}, -2, false) == apart);
  CHECK(fused({-1, -2}, -1, false) == apart);
  CHECK(fused({-1}, -1, true) == apart);
  CHECK(fused({-1}, -1, false, 0) == apart);  // (2, 4) against (2, 4, 4): the means of other rows
}

TEST_CASE("a norm absorbs one row after the other past what does nothing") {
  sketch g;
  auto v = g.add("LayerNormalization", {g.in("x"), g.in("scale", {8})}, {{"axis", -1}});
  v = g.add("Mul", {v, g.in("factor", {8})});
  for (auto const* nothing : {"Max", "Identity", "Mean"}) v = g.add(nothing, {v});
  g.end(g.add("Add", {v, g.in("bias", {8})}));
  CHECK(applied<fuse::rules::norms>(g) == 2);
  CHECK(ops(g) == "Mul LayerNormalization");
}

TEST_CASE("a variance is one where it is divided by a positive number of elements, as JAX writes it") {
  for (float const count : {8.f, 0.f}) {
    sketch g;
    auto const x = g.in("x", {2, 4, 8});
    auto const d = g.add("Sub", {x, g.add("ReduceMean", {x}, {{"axes", {-1}}})});
    auto const sum = g.add("ReduceSum", {g.add("Mul", {d, d}), g.constant({-1})});
    auto const elements = g.add("Sub", {g.scalar(count), g.scalar(0.f)});
    auto const v =
        g.add("Where", {g.add("Greater", {elements, g.scalar(0.f)}), g.add("Div", {sum, g.scalar(8.f)}),
                        g.constant(fuse::make_tensor(element_type::float32, {2, 4, 1}, std::vector<double>(8, 7)))});
    g.end(g.add("Div", {d, g.add("Sqrt", {g.add("Add", {v, g.scalar(1e-5f)})})}));
    CHECK(applied<fuse::rules::norms>(g) == (count == 8));
    CHECK((ops(g) == "LayerNormalization") == (count == 8));
  }
}

TEST_CASE("two norms that share their statistics both become operators") {
  sketch g;
  auto const a = g.in("x", {2, 4, 8});
  auto const m = g.add("ReduceMean", {a}, {{"axes", {-1}}});
  auto const d = g.add("Sub", {a, m});
  auto const v = g.add("ReduceMean", {g.add("Mul", {d, d})}, {{"axes", {-1}}});
  auto const n = g.add("Div", {d, g.add("Sqrt", {g.add("Add", {v, g.scalar(1e-5f)})})});
  g.output(g.add("Add", {g.add("Mul", {n, g.in("s", {8})}), g.in("b", {8})}), "y");
  g.output(g.add("Add", {g.add("Mul", {n, g.in("t", {8})}), g.in("c", {8})}), "z");
  CHECK(fuse::rewrite<fuse::rules::norms>(g).error.empty());
  CHECK(ops(g) == "LayerNormalization LayerNormalization");
}

TEST_CASE("a statistic that is an output is not lost") {
  sketch g;
  auto const a = g.in("x", {2, 4, 8});
  auto const m = g.add("ReduceMean", {a}, {{"axes", {-1}}});
  auto const d = g.add("Sub", {a, m});
  auto const v = g.add("ReduceMean", {g.add("Mul", {d, d})}, {{"axes", {-1}}});
  g.output(g.add("Div", {d, g.add("Sqrt", {g.add("Add", {v, g.scalar(1e-5f)})})}), "y");
  g.output(m, "mean");
  CHECK(fuse::rewrite<fuse::rules::norms>(g).error.empty());
  REQUIRE(g.outputs().size() == 2);
  CHECK(g.output_name(1) == "mean");
  CHECK(g.producer(g.outputs()[1]));
}

TEST_CASE("a mean that is the norm's own scale stays: the norm would read itself") {
  sketch g;
  auto const x = g.in("x", {1, 1});
  g.end(g.add("LayerNormalization", {x, g.add("ReduceMean", {x}, {{"axes", {-1}}})}));
  CHECK(applied<fuse::rules::norms>(g) == 0);
  CHECK(ops(g) == "ReduceMean LayerNormalization");
}

TEST_CASE("a norm of nothing is refused: runtimes have none") {
  norm g;
  g.shape = {2, 4, 0};
  g.scale_shape = g.bias_shape = {0};
  refuses(g, "has no elements");
}

TEST_CASE("a mean that is an output comes of the norm, one that is squared elsewhere stays") {
  for (bool const squared : {false, true}) {
    sketch g;
    auto const a = g.in("x");
    auto const mean = [&](auto v) { return g.add("ReduceMean", {v}, {{"axes", {-1}}}); };
    auto const m = mean(a);
    auto const v = g.add("Sub", {mean(g.add("Mul", {a, a})), g.add("Mul", {m, m})});
    auto const deviation = g.add("Sqrt", {g.add("Add", {v, g.scalar(1e-5f)})});
    g.end(g.add("Div", {g.add("Sub", {a, m}), deviation}));
    g.output(m, "mean");
    if (squared) g.output(v, "variance");
    fuse::rewrite<fuse::rules::norms>(static_cast<graph&>(g));
    CHECK(ops(g) == (squared ? "ReduceMean Mul ReduceMean Mul Sub LayerNormalization" : "LayerNormalization"));
  }
}

}  // namespace rules_norms
