// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/rotated_layers.hpp>

namespace rules_rotated_layers {

using namespace rewriting;
using value = graph::value;

namespace {

/// A layer, what it makes as heads, and those turned.
struct rotated : sketch {
  explicit rotated(int version = 17) : sketch(version) {}

  value numbers(std::vector<std::int64_t> const& shape, double from, double by) {
    std::size_t count = 1;
    for (auto const extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(from + by * static_cast<double>(i));
    return constant(fuse::make_tensor(element_type::float32, shape, all));
  }
  value product(std::int64_t columns) {
    return add("MatMul", {in("x", {"b", 5, 3}), numbers({3, columns}, -1, 0.0625)});
  }
  value biased(std::int64_t columns) { return add("Add", {product(columns), numbers({columns}, 0.5, 0.25)}); }
  value gemm(std::int64_t columns, bool transposed, bool with_bias = true) {
    auto const rows = transposed ? columns : 3, width = transposed ? 3 : columns;
    std::vector<value> operands{in("x", {10, 3}), numbers({rows, width}, -1, 0.0625)};
    if (with_bias) operands.push_back(numbers({columns}, 0.5, 0.25));
    return add("Gemm", operands, {{"transB", std::int64_t{transposed}}, {"alpha", 0.5}, {"beta", 2.0}});
  }
  value apart(value of) {
    return add("Transpose", {add("Reshape", {of, constant({-1, 5, 2, 4})})},
               {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  }
  value of_tokens(value of) { return add("Reshape", {of, constant({-1, 5, 2, 4})}); }

  value cut(value v, std::int64_t from, std::int64_t to) {
    std::int64_t const axis = -1;
    return add("Slice", {v, constant({from}), constant({to}), constant({axis})});
  }
  value joined(value a, value b) { return add("Concat", {a, b}, {{"axis", std::int64_t{-1}}}); }
  value minus(value v) { return add("Neg", {v}); }
  value turned(value y, std::int64_t half) { return joined(minus(cut(y, half, 2 * half)), cut(y, 0, half)); }
  value by_angles(value y, std::int64_t half) {
    auto const c = numbers({2 * half}, 0.25, 0.125), s = numbers({1, 2 * half}, 1, -0.25);
    return add("Add", {add("Mul", {y, c}), add("Mul", {turned(y, half), s})});
  }
};

/// What is left of the graph with output `y`; each rewrite is checked.
std::string left(rotated& g, value y) {
  g.end(y);
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<fuse::rules::rotated_layers>(static_cast<graph&>(g), options);
  UNSCOPED_INFO(to_text(report));
  UNSCOPED_INFO(to_text(g));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) CHECK(r.condition != "check");
  return ops(g);
}

}  // namespace

TEST_CASE("a quarter turn goes into the layer before it, and so does a rotation by the same angles for all tokens") {
  for (bool const by_angles : {false, true})
    for (int layer = 0; layer < 6; ++layer)
      for (int heads = 0; heads < 3; ++heads) {
        CAPTURE(by_angles, layer, heads);
        rotated g;
        auto const made = layer == 0 ? g.product(8) : layer == 1 ? g.biased(8) : g.gemm(8, layer % 2 == 1, layer < 4);
        auto const y = heads == 0 ? made : heads == 1 ? g.apart(made) : g.of_tokens(made);
        auto const half = heads == 0 ? 4 : 2;
        std::string expected = layer == 0 ? "MatMul" : layer == 1 ? "MatMul Add" : "Gemm";
        expected += heads == 0 ? "" : heads == 1 ? " Reshape Transpose" : " Reshape";
        CHECK(left(g, by_angles ? g.by_angles(y, half) : g.turned(y, half)) == expected);
      }
}

TEST_CASE("the other ways to write a quarter turn") {
  rotated g;
  auto const y = g.product(8);
  SECTION("by a split") {
    auto const halves = g.append("Split", {y, g.constant({4, 4})}, {{"axis", std::int64_t{-1}}}, 2);
    CHECK(left(g, g.joined(g.minus(g.result(halves, 1)), g.result(halves, 0))) == "MatMul");
  }
  SECTION("the whole is negated before it is cut") {
    CHECK(left(g, g.joined(g.cut(g.minus(y), 4, 8), g.cut(y, 0, 4))) == "MatMul");
  }
  SECTION("all but the other half") {
    CHECK(left(g, g.minus(g.joined(g.cut(y, 4, 8), g.minus(g.cut(y, 0, 4))))) == "MatMul");
  }
  SECTION("of angles that are subtracted") {
    auto const c = g.numbers({8}, 0.25, 0.125), s = g.numbers({1, 8}, 1, -0.25);
    auto const back = g.joined(g.cut(y, 4, 8), g.minus(g.cut(y, 0, 4)));
    CHECK(left(g, g.add("Sub", {g.add("Mul", {y, c}), g.add("Mul", {s, back})})) == "MatMul");
  }
}

TEST_CASE("what is no turn of a layer's result, or would keep the layer, stays") {
  rotated g;
  auto const same = [&](graph::value y) {
    g.end(y);
    auto const before = to_text(g);
    auto const report = fuse::rewrite<fuse::rules::rotated_layers>(static_cast<graph&>(g));
    CHECK(report.applied() == 0);
    CHECK(to_text(g) == before);
  };
  SECTION("halves that keep their places") {
    auto const y = g.product(8);
    same(g.joined(g.minus(g.cut(y, 0, 4)), g.cut(y, 4, 8)));
  }
  SECTION("without a sign") {
    auto const y = g.product(8);
    same(g.joined(g.cut(y, 4, 8), g.cut(y, 0, 4)));
  }
  SECTION("others use the layer") {
    auto const y = g.product(8);
    g.output(y, "z");
    same(g.turned(y, 4));
  }
  SECTION("others use a half") {
    auto const y = g.product(8), half = g.cut(y, 0, 4);
    g.output(half, "z");
    same(g.joined(g.minus(g.cut(y, 4, 8)), half));
  }
  SECTION("others use the heads") {
    auto const y = g.apart(g.product(8));
    g.output(g.add("Tanh", {y}), "z");
    same(g.by_angles(y, 2));
  }
  SECTION("others use the weights") {
    auto const w = g.numbers({3, 8}, -1, 0.0625), x = g.in("x", {5, 3});
    g.output(g.add("MatMul", {g.add("Tanh", {x}), w}), "z");
    same(g.turned(g.add("MatMul", {x, w}), 4));
  }
  SECTION("an activation between") { same(g.turned(g.add("Tanh", {g.product(8)}), 4)); }
  SECTION("weights that are no constants") {
    same(g.turned(g.add("MatMul", {g.in("x", {5, 3}), g.in("w", {3, 8})}), 4));
  }
  SECTION("a bias that is no constant") { same(g.turned(g.add("Add", {g.product(8), g.in("bias", {8})}), 4)); }
  SECTION("a bias for each token") { same(g.turned(g.add("Add", {g.product(8), g.numbers({5, 8}, 0.5, 0.25)}), 4)); }
  SECTION("angles of each token") {
    auto const y = g.product(8);
    auto const c = g.numbers({5, 8}, 0.25, 0.125), s = g.numbers({1, 8}, 1, -0.25);
    same(g.add("Add", {g.add("Mul", {y, c}), g.add("Mul", {g.turned(y, 4), s})}));
  }
  SECTION("angles that are no constants") {
    auto const y = g.product(8);
    same(g.add("Add", {g.add("Mul", {y, g.in("c", {8})}), g.add("Mul", {g.turned(y, 4), g.in("s", {8})})}));
  }
  SECTION("weights of several matrices") {
    same(g.turned(g.add("MatMul", {g.in("x", {2, 5, 3}), g.numbers({2, 3, 8}, -1, 0.0625)}), 4));
  }
}

}  // namespace rules_rotated_layers
