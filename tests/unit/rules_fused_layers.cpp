// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/fused_layers.hpp>
#include <fuse/rules/linear.hpp>

namespace rules_fused_layers {

using namespace rewriting;
using value = graph::value;
using integer_list = std::vector<std::int64_t>;
using given = std::vector<graph::named>;
using dims = graph::dims;

namespace {

inline constexpr auto layers_and_activations = fuse::rule_set<fuse::rules::linear, fuse::rules::fused_layers>;

/// A layer, and what stands behind it.
struct layered : sketch {
  explicit layered(int version = 17) : sketch(version) {}

  value numbers(integer_list const& of, element_type type = element_type::float32) {
    std::size_t count = 1;
    for (auto const extent : of) count *= static_cast<std::size_t>(extent);
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(-1 + 0.0625 * static_cast<double>(i % 32));
    return constant(fuse::make_tensor(type, of, all));
  }
  value conv(given const& how = {}, element_type type = element_type::float32) {
    return add("Conv", {in("x", {2, 4, 8}, type), numbers({6, 4, 3}, type), numbers({6}, type)}, how);
  }
  value gemm(given const& how = {}) { return add("Gemm", {in("x", {3, 4}), numbers({4, 5}), numbers({5})}, how); }
};

/// What is left for a target; each rewrite is checked.
template <auto const& Rules = fuse::rules::fused_layers>
std::string left(layered& g, value y, fuse::target to = fuse::target::onnxruntime) {
  g.end(y);
  fuse::rewrite_options options;
  options.target = to;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<Rules>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  return ops(g);
}
std::string activation(graph const& g) { return std::get<std::string>(g.attribute(last(g), "activation")->content); }

}  // namespace

TEST_CASE("a convolution computes the activation behind it, with all of its own attributes") {
  for (int const version : {1, 6, 11, 13, 17, 22})
    for (auto const* name : {"Relu", "Sigmoid", "Tanh"}) {
      layered g(version);
      CHECK(left(g, g.add(name, {g.conv({{"pads", integer_list{2, 1}}, {"auto_pad", "NOTSET"}})})) ==
            "com.microsoft::FusedConv");
      CHECK(activation(g) == name);
      CHECK(std::get<integer_list>(g.attribute(last(g), "pads")->content) == integer_list{2, 1});
      CHECK(std::get<std::string>(g.attribute(last(g), "auto_pad")->content) == "NOTSET");
      CHECK(g.attribute(last(g), "strides") == nullptr);
    }
}

TEST_CASE("groups, strides, no bias, weights that are computed") {
  layered g;
  auto const y = g.add("Conv", {g.in("x", {1, 4, "h", "w"}), g.in("weights", {8, 2, 3, 3})},
                       {{"group", 2}, {"strides", integer_list{2, 1}}});
  CHECK(left(g, g.add("Relu", {y})) == "com.microsoft::FusedConv");
  CHECK(number(g, last(g), "group") == 2);
  CHECK(g.operands(last(g)).size() == 2);
}

TEST_CASE("with the numbers of the activation") {
  using numbers = std::vector<float>;
  struct {
    char const* name;
    given said;
    numbers of_conv;
  } const all[] = {{"LeakyRelu", {{"alpha", 0.25}}, {0.25f}},
                   {"LeakyRelu", {}, {0.01f}},
                   {"LeakyRelu", {{"alpha", 1.0}}, {1}},
                   {"HardSigmoid", {}, {0.2f, 0.5f}},
                   {"HardSigmoid", {{"alpha", 0.5}, {"beta", 0.25}}, {0.5f, 0.25f}}};
  for (auto const& each : all) {
    layered g, h;
    REQUIRE(left(g, g.add(each.name, {g.conv()}, each.said)) == "com.microsoft::FusedConv");
    CHECK(activation(g) == each.name);
    CHECK(std::get<numbers>(g.attribute(last(g), "activation_params")->content) == each.of_conv);
    CHECK(left(h, h.add(each.name, {h.gemm()}, each.said)) == "com.microsoft::FusedGemm");
    CHECK(static_cast<float>(number(h, last(h), "activation_alpha")) == each.of_conv[0]);
    if (each.of_conv.size() > 1) CHECK(static_cast<float>(number(h, last(h), "activation_beta")) == each.of_conv[1]);
  }
  for (auto const* name : {"Elu", "ThresholdedRelu", "Softplus", "Softsign"}) {
    layered g, h;
    CHECK(left(g, g.add(name, {g.conv()})) == "Conv " + std::string(name));
    CHECK(left(h, h.add(name, {h.gemm()})) == "com.microsoft::FusedGemm");
  }
}

TEST_CASE("a convolution that is clipped, between numbers that are known") {
  using numbers = std::vector<float>;
  constexpr float none = std::numeric_limits<float>::infinity();
  SECTION("as operands") {
    for (auto const& [low, high] : {std::pair{0.f, 6.f}, {-1.f, none}, {-none, 0.5f}}) {
      layered g(13);
      auto const bound = [&](float of) { return std::isinf(of) ? value{} : g.scalar(of); };
      CHECK(left(g, g.add("Clip", {g.conv(), bound(low), bound(high)})) == "com.microsoft::FusedConv");
      CHECK(std::get<numbers>(g.attribute(last(g), "activation_params")->content) == numbers{low, high});
    }
  }
  SECTION("as attributes") {
    layered g(6);
    CHECK(left(g, g.add("Clip", {g.conv()}, {{"min", 0.0}, {"max", 6.0}})) == "com.microsoft::FusedConv");
    CHECK(std::get<numbers>(g.attribute(last(g), "activation_params")->content) == numbers{0, 6});
  }
  SECTION("not where they are computed, nor a Gemm") {
    layered g(13), h(13);
    CHECK(left(g, g.add("Clip", {g.conv(), g.in("low", {})})) == "Conv Clip");
    CHECK(left(h, h.add("Clip", {h.gemm(), h.scalar(0.f)})) == "Gemm Clip");
  }
}

TEST_CASE("so does a Gemm") {
  for (auto const* name : {"Relu", "Sigmoid", "Tanh"}) {
    layered g;
    CHECK(left(g, g.add(name, {g.gemm({{"alpha", 0.5}, {"beta", 2.0}})})) == "com.microsoft::FusedGemm");
    CHECK(activation(g) == name);
    CHECK(number(g, last(g), "alpha") == 0.5);
    CHECK(number(g, last(g), "beta") == 2);
  }
  SECTION("without a bias") {
    layered g(11);
    auto const y = g.add("Gemm", {g.in("x", {3, 4}), g.numbers({5, 4})}, {{"transB", 1}});
    CHECK(left(g, g.add("Relu", {y})) == "com.microsoft::FusedGemm");
    CHECK(number(g, last(g), "transB") == 1);
  }
  SECTION("that was a product and a sum before") {
    layered g;
    auto const product = g.add("MatMul", {g.in("x", {3, 4}), g.numbers({4, 5})});
    CHECK(left<layers_and_activations>(g, g.add("Relu", {g.add("Add", {product, g.numbers({5})})})) ==
          "com.microsoft::FusedGemm");
  }
}

TEST_CASE("a rule of one's own adds what has the shape of the result, and nothing else") {
  using namespace fuse::dsl;
  static constexpr auto with_sum =
      fuse::rule<"with-sum">(relu(op<"Conv">(var<"x">, var<"w">, var<"b">).as<"layer">().users(1) + var<"z">))
          .replace(again<"layer">(fuse::opcode::fused_conv, var<"x">, var<"w">, var<"b">, var<"z">)
                       .attr<"activation">(static_cast<int>(fuse::layer_activation::relu)));
  static constexpr auto by_name =
      fuse::rule<"by-name">(relu(op<"Conv">(var<"x">, var<"w">, var<"b">).as<"layer">().users(1) + var<"z">))
          .replace(again<"layer", "com.microsoft::FusedConv">(var<"x">, var<"w">, var<"b">, var<"z">)
                       .attr<"activation">(static_cast<int>(fuse::layer_activation::relu)));
  auto const sum = [](layered& g, dims const& z) { return g.add("Relu", {g.add("Add", {g.conv(), g.in("z", z)})}); };
  layered g;
  CHECK(left<with_sum>(g, sum(g, {2, 6, 6})) == "com.microsoft::FusedConv");
  CHECK(g.operands(last(g)).size() == 4);
  layered h;
  CHECK(left<by_name>(h, sum(h, {2, 6, 6})) == "com.microsoft::FusedConv");
  for (auto const& z : {dims{6, 1}, dims{2, 6, 1}, dims{1, 6, 6}, dims{"n", 6, 6}}) {
    layered other;
    CHECK(left<with_sum>(other, sum(other, z)) == "Conv Add Relu");
  }
}

TEST_CASE("what stays as it is") {
  layered g;
  SECTION("for other targets") { CHECK(left(g, g.add("Relu", {g.conv()}), fuse::target::standard) == "Conv Relu"); }
  SECTION("a layer that something else uses") {
    auto const y = g.conv();
    g.output(y, "layer");
    CHECK(left(g, g.add("Relu", {y})) == "Conv Relu");
  }
  SECTION("elements that the operator does not take") {
    for (auto const type : {element_type::float16, element_type::float64}) {
      layered other;
      CHECK(left(other, other.add("Relu", {other.conv({}, type)})) == "Conv Relu");
    }
  }
  SECTION("other activations") { CHECK(left(g, g.add("Selu", {g.conv()})) == "Conv Selu"); }
  SECTION("a Gemm of operator set 6, whose attributes are others") {
    layered old(6);
    CHECK(left(old, old.add("Relu", {old.gemm({{"broadcast", 1}})})) == "Gemm Relu");
  }
}

}  // namespace rules_fused_layers
