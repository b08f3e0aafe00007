// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_instantiation {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, y = var<"y">;
constexpr auto s = scalar<"s">;
constexpr auto more = rest<"more">;

std::vector<double> numbers(graph const& g, graph::value v) {
  std::vector<double> all;
  auto const t = g.constant(v);
  for (std::size_t i = 0; i < t.size(); ++i) all.push_back(t.number(i));
  return all;
}

}  // namespace

TEST_CASE("what occurs twice on the right side is made once") {
  static constexpr auto twice = fuse::rule<"twice">(abs(abs(abs(abs(x))))).replace(tanh(x) * tanh(x));
  sketch g;
  auto v = g.in("a");
  for (int i = 0; i < 4; ++i) v = g.add("Abs", {v});
  g.end(v);
  REQUIRE(applied<twice>(g) == 1);
  CHECK(ops(g) == "Tanh Mul");
}

TEST_CASE("a number takes the element type of what is replaced") {
  static constexpr auto shifted = fuse::rule<"shifted">(abs(tanh(abs(x)))).replace(x + 0.5);
  for (auto const type : {element_type::float16, element_type::float64}) {
    sketch g;
    g.end(g.add("Abs", {g.add("Tanh", {g.add("Abs", {g.in("a", {4}, type)})})}));
    REQUIRE(applied<shifted>(g) == 1);
    auto const half = g.operands(last(g))[1];
    CHECK(g.constant(half).type == type);
    CHECK(numbers(g, half) == std::vector<double>{0.5});
  }
}

TEST_CASE("fold computes in double what stands on constants, and refuses the rest") {
  static constexpr auto folded = fuse::rule<"folded">(tanh(x * s) * y).replace(x * fold(sqrt(s) * y));
  sketch g;
  auto const t = g.add("Tanh", {g.add("Mul", {g.in("a"), g.scalar(4.0f)})});
  SECTION("constants") {
    g.end(g.add("Mul", {t, g.constant({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f})}));
    REQUIRE(applied<folded>(g) == 1);
    CHECK(numbers(g, g.operands(last(g))[1]) == std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16});
  }
  SECTION("an input") {
    g.end(g.add("Mul", {t, g.in("b", {8})}));
    CHECK(refusal<folded>(g) == "right side");
  }
}

TEST_CASE("a rest where one value is wanted is its product, or its sum") {
  static constexpr auto product = fuse::rule<"product">(abs(tanh(x) * more)).replace(relu(more));
  static constexpr auto sum = fuse::rule<"sum">(abs(tanh(x) + more)).replace(relu(more));
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b"), c = g.in("c");
  SECTION("factors") {
    g.end(g.add("Abs", {g.add("Div", {g.add("Mul", {b, t}), c})}));
    REQUIRE(applied<product>(g) == 1);
    CHECK(ops(g) == "Div Relu");
  }
  SECTION("addends") {
    g.end(g.add("Abs", {g.add("Sub", {g.add("Add", {b, t}), c})}));
    REQUIRE(applied<sum>(g) == 1);
    CHECK(ops(g) == "Sub Relu");
  }
  SECTION("a negative addend alone") {
    g.end(g.add("Abs", {g.add("Sub", {t, c})}));
    REQUIRE(applied<sum>(g) == 1);
    CHECK(ops(g) == "Sub Relu");
  }
}

TEST_CASE("a product of one factor and nothing is that factor, by whatever name") {
  static constexpr auto product = fuse::rule<"product">(abs(tanh(x) * more)).replace(op<"Mul">(relu(x), more));
  static constexpr auto quotient = fuse::rule<"quotient">(abs(tanh(x) * more)).replace(op<"Div">(more, relu(x)));
  static constexpr auto power = fuse::rule<"power">(abs(tanh(x) * more)).replace(op<"Pow">(more, relu(x)));
  static constexpr auto exact = fuse::rule<"exact">(abs(tanh(x) * more)).replace(exactly<"Mul">(relu(x), more));
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")});
  SECTION("nothing") {
    g.end(g.add("Abs", {t}));
    SECTION("a factor") {
      CHECK(applied<product>(g) == 1);
      CHECK(ops(g) == "Relu");
    }
    SECTION("what is divided") { CHECK(refusal<quotient>(g) == "right side"); }
    SECTION("what is raised to a power") { CHECK(refusal<power>(g) == "right side"); }
    SECTION("an operand of that operator and no other") { CHECK(refusal<exact>(g) == "right side"); }
  }
  SECTION("something") {
    g.end(g.add("Abs", {g.add("Mul", {t, g.in("b")})}));
    SECTION("a factor") { CHECK(applied<product>(g) == 1); }
    SECTION("an operand of that operator and no other") { CHECK(applied<exact>(g) == 1); }
    CHECK(ops(g) == "Relu Mul");
  }
}

TEST_CASE("an operator is not given fewer operands than it takes, nor more") {
  static constexpr auto product =
      fuse::rule<"product">(relu(abs(op<"Max">(x, more)))).replace(op<"Mul">(tanh(x), more));
  static constexpr auto alone = fuse::rule<"alone">(relu(abs(op<"Max">(x, more)))).replace(op<"Max">(more));
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c");
  auto const end = [&g](std::vector<graph::value> const& of) {
    g.end(g.add("Relu", {g.add("Abs", {g.add("Max", of)})}));
  };
  SECTION("none is left") {
    end({a});
    SECTION("beside another") {
      CHECK(applied<product>(g) == 1);
      CHECK(ops(g) == "Tanh");
    }
    SECTION("alone") { CHECK(refusal<alone>(g) == "right side"); }
  }
  SECTION("one is left") {
    end({a, b});
    SECTION("beside another") { CHECK(applied<product>(g) == 1); }
    SECTION("alone") { CHECK(applied<alone>(g) == 1); }
  }
  SECTION("two are left") {
    end({a, b, c});
    CHECK(refusal<product>(g) == "right side");
  }
}

TEST_CASE("as many results are made as are asked for") {
  static constexpr auto second =
      fuse::rule<"second">(abs(tanh(tanh(x)))).replace(result<1>(op<"Split">(x).attr<"axis">(0)));
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.add("Tanh", {g.in("a", {4})})})}));
  // The halves of (4) are no (4): refused, and nothing stays of the try.
  CHECK(refusal<second>(g) == "shape and element type");
}

TEST_CASE("a parameter that was captured is given with its own kind") {
  static constexpr auto kept = fuse::rule<"kept">(relu(op<"Softmax">(x).attr<"axis">(param<"axis">)))
                                   .replace(op<"LogSoftmax">(x).attr<"axis">(param<"axis">));
  sketch g;
  g.end(g.add("Relu", {g.add("Softmax", {g.in("a")}, {{"axis", 0}})}));
  REQUIRE(applied<kept>(g) == 1);
  CHECK(std::holds_alternative<std::int64_t>(g.attribute(last(g), "axis")->content));
  CHECK(number(g, last(g), "axis") == -2);  // counted from the last
}

TEST_CASE("a norm that is computed wider stands between two Casts") {
  static constexpr auto island =
      fuse::rule<"island">(abs(tanh(x) * more)).through<"Cast">().replace(layer_norm(x, row(more, x)).attr<"axis">(-1));
  sketch g;
  auto const wide = g.add("Cast", {g.in("a", {2, 3}, element_type::float16)}, {{"to", 1}});
  auto const scaled = g.add("Mul", {g.add("Tanh", {wide}), g.in("w", {3})});
  g.end(g.add("Cast", {g.add("Abs", {scaled})}, {{"to", 10}}));
  REQUIRE(applied<island>(g) == 1);
  CHECK(ops(g) == "Cast LayerNormalization Cast");
  CHECK(number(g, last(g), "to") == 10);
}

TEST_CASE("what the dialect refuses is a reason, and nothing stays of the try") {
  static constexpr auto normed = fuse::rule<"normed">(abs(abs(abs(abs(x))))).replace(layer_norm(x, x));
  for (auto const type : {element_type::int32, element_type::float32}) {
    sketch g;
    auto v = g.in("a", {4}, type);
    for (int i = 0; i < 4; ++i) v = g.add("Abs", {v});
    g.end(v);
    if (type == element_type::int32)
      CHECK(refusal<normed>(g).find("right side") != std::string::npos);
    else
      CHECK(applied<normed>(g) == 1);
  }
}

}  // namespace rewrite_instantiation
