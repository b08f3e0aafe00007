// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace dsl_row {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto scale = rest<"scale">, bias = rest<"bias">;
// No norm, but what a norm's right side is made of.
constexpr auto normed = fuse::rule<"normed">(abs(tanh(x) * scale + bias))
                            .replace(layer_norm(x, row(scale, x), row_or_none(bias, x)).attr<"axis">(-1));

graph::node norm(sketch& g) {
  REQUIRE(applied<normed>(g) == 1);
  REQUIRE(g.op(last(g)) == "LayerNormalization");
  return last(g);
}

}  // namespace

TEST_CASE("a constant of the row's shape is taken as it stands") {
  sketch g;
  auto const s = g.constant({1.0f, 2.0f, 3.0f}), b = g.constant({4.0f, 5.0f, 6.0f});
  g.end(g.add("Abs", {g.add("Add", {b, g.add("Mul", {s, g.add("Tanh", {g.in("x", {2, 3})})})})}));
  auto const n = norm(g);
  CHECK(g.operands(n)[1] == s);
  CHECK(g.operands(n)[2] == b);
}

TEST_CASE("a constant row is reshaped, broadcast, converted, multiplied out") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("x", {2, 3})});
  auto const scaled = [&](graph::value s) { return g.add("Mul", {t, s}); };
  std::array<double, 3> wanted{};  // a vector makes g++ 14 warn of its own code
  SECTION("leading ones") {
    g.end(g.add("Abs", {g.add("Add", {scaled(g.constant(fuse::make_tensor<float>({1, 3}, std::vector<float>{1, 2, 3}))),
                                      g.scalar(7.0f)})}));
    wanted = {1, 2, 3};
  }
  SECTION("one number") {
    g.end(g.add("Abs", {g.add("Add", {scaled(g.scalar(2.0f)), g.scalar(7.0f)})}));
    wanted = {2, 2, 2};
  }
  SECTION("a product") {
    g.end(g.add("Abs", {g.add("Add", {g.add("Div", {scaled(g.constant({2.0f, 4.0f, 6.0f})), g.scalar(2.0f)}),
                                      g.scalar(7.0f)})}));
    wanted = {1, 2, 3};
  }
  SECTION("none") {
    g.end(g.add("Abs", {g.add("Add", {t, g.scalar(7.0f)})}));
    wanted = {1, 1, 1};
  }
  auto const n = norm(g);
  auto const s = g.constant(g.operands(n)[1]), b = g.constant(g.operands(n)[2]);
  REQUIRE(s.size() == 3);
  REQUIRE(b.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(s.number(i) == wanted[i]);
    CHECK(b.number(i) == 7);
  }
}

TEST_CASE("an absent bias stays absent") {
  static constexpr auto scaled = fuse::rule<"scaled">(abs(tanh(x) * scale))
                                     .replace(layer_norm(x, row(scale, x), row_or_none(bias, x)).attr<"axis">(-1));
  static constexpr auto either_way = fuse::rule<"either-way">(either(abs(tanh(x) * scale + bias), abs(tanh(x) * scale)))
                                         .replace(layer_norm(x, row(scale, x), row_or_none(bias, x)).attr<"axis">(-1));
  (void)scaled;
  sketch g;
  g.end(g.add("Abs", {g.add("Mul", {g.constant({1.0f, 2.0f, 3.0f}), g.add("Tanh", {g.in("x", {2, 3})})})}));
  CHECK(applied<either_way>(g) == 1);
  CHECK(g.operands(last(g)).size() == 2);
}

TEST_CASE("computed factors stay nodes") {
  sketch g;
  auto const s = g.in("s", {3}), r = g.in("r", {3});
  auto const t = g.add("Tanh", {g.in("x", {2, 3})});
  SECTION("one") {
    g.end(g.add("Abs", {g.add("Add", {g.add("Mul", {t, s}), g.in("b", {3})})}));
    CHECK(g.operands(norm(g))[1] == s);
  }
  SECTION("two") {
    g.end(g.add("Abs", {g.add("Add", {g.add("Mul", {g.add("Mul", {t, s}), r}), g.in("b", {3})})}));
    auto const n = norm(g);
    CHECK(g.op(g.producer(g.operands(n)[1])) == "Mul");
  }
  SECTION("a wider one is refused") {
    g.end(g.add("Abs", {g.add("Add", {g.add("Mul", {t, g.in("m", {2, 3})}), g.in("b", {3})})}));
    CHECK(refusal<normed>(g) == "right side");
  }
}

TEST_CASE("a constant that is not exact in the row's type is not rounded: the wider type stays") {
  sketch g;
  bool const exact = GENERATE(true, false);
  auto const t = g.add("Cast", {g.add("Tanh", {g.in("x", {2, 3}, element_type::float16)})}, {{"to", 1}});
  auto const y = g.add("Abs", {g.add("Add", {g.add("Mul", {t, g.scalar(exact ? 0.5f : 0.1f)}), g.scalar(0.0f)})});
  g.end(g.add("Cast", {y}, {{"to", 10}}));
  static constexpr auto island = normed.through<"Cast">();
  CHECK(applied<island>(g) == 1);
  CHECK(ops(g) == (exact ? "LayerNormalization" : "Cast LayerNormalization Cast"));
}

TEST_CASE("a row along one axis, and zeros or ones where there is none") {
  static constexpr auto along =
      fuse::rule<"along">(abs(tanh(x) * scale + bias))
          .replace(instance_norm(x, row_along<1>(scale, x), row_along<1>(or_else(bias, 0), x)).attr<"epsilon">(0.1));
  auto const made = [](sketch& g, graph::value y) {
    g.end(g.add("Abs", {y}));
    auto const report = fuse::rewrite<along>(static_cast<graph&>(g));
    UNSCOPED_INFO(to_text(report));
    return report.applied() == 1 ? ops(g) : report.rule("along")->refused.at(0).reason;
  };
  auto const constant = [](sketch& g, std::vector<std::int64_t> const& shape) {
    return g.constant(fuse::make_tensor<float>(shape, std::vector<float>{1, 2, 3}));
  };
  auto const numbers = [](graph const& g, std::size_t operand) {
    auto const held = g.constant(g.operands(last(g))[operand]);
    REQUIRE(held.shape.size() == 1);
    std::vector<double> all;
    for (std::size_t i = 0; i < held.size(); ++i) all.push_back(held.number(i));
    return all;
  };
  sketch g;
  auto const t = g.add("Tanh", {g.in("x", {2, 3, 4, 5})});
  SECTION("constants of several shapes together, and no bias") {
    auto const y = g.add("Mul", {g.add("Mul", {t, constant(g, {3, 1, 1})}), constant(g, {1, 3, 1, 1})});
    CHECK(made(g, g.add("Div", {y, g.scalar(0.5f)})) == "InstanceNormalization");
    CHECK(numbers(g, 1) == std::vector<double>{2, 8, 18});
    CHECK(numbers(g, 2) == std::vector<double>{0, 0, 0});
  }
  SECTION("no scale") {
    CHECK(made(g, g.add("Sub", {t, constant(g, {3, 1, 1})})) == "InstanceNormalization");
    CHECK(numbers(g, 1) == std::vector<double>{1, 1, 1});
    CHECK(numbers(g, 2) == std::vector<double>{-1, -2, -3});
  }
  SECTION("what is computed is reshaped; one element is repeated") {
    auto const y = g.add("Mul", {t, g.in("s", {3, 1, 1})});
    CHECK(made(g, g.add("Add", {y, g.in("b", {1, 1})})) == "Reshape Expand Reshape InstanceNormalization");
  }
  SECTION("of what is computed and a constant") {
    auto const y = g.add("Mul", {g.add("Mul", {t, g.in("s", {3, 1, 1})}), constant(g, {1, 3, 1, 1})});
    CHECK(made(g, y) == "Reshape Mul InstanceNormalization");
  }
  SECTION("a constant along another axis") {
    sketch h;
    auto const wide = h.add("Tanh", {h.in("x", {2, 3, 3, 5})});
    CHECK(made(h, h.add("Mul", {wide, constant(h, {3, 1})})) ==
          "a constant of row_along() does not lie along its axis");
  }
  SECTION("a computed value along another axis") {
    sketch h;
    auto const wide = h.add("Tanh", {h.in("x", {2, 3, 3, 5})});
    CHECK(made(h, h.add("Mul", {wide, h.in("s", {3, 1})})) ==
          "a computed operand of row_along() does not lie along its axis");
  }
  SECTION("of too few axes") {
    sketch h;
    CHECK(made(h, h.add("Mul", {h.add("Tanh", {h.in("x", {3})}), constant(h, {3})})) ==
          "row_along() needs an axis that there is");
  }
}

}  // namespace dsl_row
