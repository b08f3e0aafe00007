// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

/// Right sides that would compute something else than what they replace.
namespace rewrite_right_sides {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr int float32 = 1, float16 = 10;
constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, w = var<"w">, b = var<"b">;

graph::node norm(sketch& g, graph::value of, double epsilon, std::uint32_t results) {
  return g.append("LayerNormalization", {of, g.in("w", {8}), g.in("b", {8})}, {{"epsilon", epsilon}}, results);
}

}  // namespace

TEST_CASE("another result of a norm that is used is taken over where it is the same") {
  static constexpr auto shifted =
      fuse::rule<"shifted">(op<"LayerNormalization">(x + scalar<"s">, w, b).attr<"epsilon">(param<"e">))
          .replace(op<"LayerNormalization">(x, w, b).attr<"epsilon">(param<"e">));
  static constexpr auto unscaled = fuse::rule<"unscaled">(op<"LayerNormalization">(x, w, b).attr<"epsilon">(param<"e">))
                                       .replace(op<"LayerNormalization">(x, b, w).attr<"epsilon">(param<"e">))
                                       .at_equal_cost();
  static constexpr auto sharper = fuse::rule<"sharper">(op<"LayerNormalization">(x, w, b).attr<"epsilon">(0.5))
                                      .replace(op<"LayerNormalization">(x, w, b).attr<"epsilon">(0.25))
                                      .at_equal_cost();
  static constexpr auto twice =
      fuse::rule<"twice">(op<"LayerNormalization">(op<"LayerNormalization">(x, w, b).as<"inner">(), w, b))
          .replace(var<"inner">);
  sketch g;
  auto const a = g.in("a");
  SECTION("of another operand") {
    auto const n = norm(g, g.add("Add", {a, g.scalar(3.0f)}), 0.5, 2);
    g.end(g.result(n));
    SECTION("and used") {
      g.output(g.result(n, 1), "mean");
      CHECK(refusal<shifted>(g) == "results");
    }
    SECTION("and not used") { CHECK(applied<shifted>(g) == 1); }
  }
  SECTION("of another scale and bias") {
    auto const n = norm(g, a, 0.5, 2);
    g.end(g.result(n));
    g.output(g.result(n, 1), "mean");
    auto const report = fuse::rewrite<unscaled>(g);
    CHECK(report.applied() != 0);
    CHECK(g.outputs()[1] == g.result(last(g), 1));
  }
  SECTION("of another parameter") {
    auto const n = norm(g, a, 0.5, 3);
    g.end(g.result(n));
    g.output(g.result(n, 2), "deviation");
    CHECK(refusal<sharper>(g) == "results");
  }
  SECTION("of what stands there already") {
    auto const scale = g.in("w", {8}), bias = g.in("b", {8});
    auto const inner = g.append("LayerNormalization", {a, scale, bias}, {}, 2);
    auto const outer = g.append("LayerNormalization", {g.result(inner), scale, bias}, {}, 2);
    g.end(g.result(outer));
    g.output(g.result(outer, 1), "mean");
    CHECK(refusal<twice>(g) == "results");
  }
}

TEST_CASE("what a comparison tells apart is not rounded less than before") {
  static constexpr auto less =
      fuse::rule<"less">(op<"Not">(op<"Less">(relu(x), y))).through<"Cast">().replace(op<"GreaterOrEqual">(relu(x), y));
  static constexpr auto largest = fuse::rule<"largest">(op<"ArgMax">(exp(x)).attr<"axis">(1))
                                      .through<"Cast">()
                                      .replace(op<"ArgMax">(x).attr<"axis">(1));
  static constexpr auto chosen =
      fuse::rule<"chosen">(abs(op<"Where">(op<"Less">(relu(x), y), z, z))).through<"Cast">().replace(relu(z));
  sketch g;
  auto const cast = [&g](graph::value v, int to) { return g.add("Cast", {v}, {{"to", to}}); };
  SECTION("the result itself") {
    auto const a = g.in("a"), c = g.in("c");
    SECTION("of what is rounded") {
      g.end(g.add("Not", {g.add("Less", {cast(g.add("Relu", {a}), float16), cast(c, float16)})}));
      CHECK(applied<less>(g) == 0);
    }
    SECTION("of what is not") {
      g.end(g.add("Not", {g.add("Less", {g.add("Relu", {a}), c})}));
      CHECK(applied<less>(g) == 1);
    }
  }
  SECTION("the result itself, of what is widened") {
    auto const a = g.in("a", {4}, element_type::float16), c = g.in("c", {4}, element_type::float16);
    g.end(g.add("Not", {g.add("Less", {cast(g.add("Relu", {a}), float32), cast(c, float32)})}));
    CHECK(applied<less>(g) == 1);
  }
  SECTION("the result itself, of what is widened and taken back") {
    auto const a = g.in("a", {4}, element_type::float16), c = g.in("c", {4}, element_type::float16);
    g.end(g.add("Not", {g.add("Less", {cast(cast(g.add("Relu", {a}), float32), float16), c})}));
    CHECK(applied<less>(g) == 1);
  }
  SECTION("a place") {
    g.end(g.add("ArgMax", {cast(g.add("Exp", {g.in("a")}), float16)}, {{"axis", 1}}));
    CHECK(refusal<largest>(g) == "element type");
  }
  SECTION("a choice among halves") {
    auto const a = g.in("a", {4}), c = g.in("c", {4}), h = g.in("h", {4}, element_type::float16);
    auto const condition = g.add("Less", {cast(g.add("Relu", {a}), float16), cast(c, float16)});
    g.end(g.add("Abs", {g.add("Where", {condition, h, h})}));
    CHECK(refusal<chosen>(g) == "element type");
  }
}

TEST_CASE("a Cast from a type that nobody knows may round") {
  static constexpr auto factored =
      fuse::rule<"factored">(abs(x) * y + abs(x) * z).through<"Cast">().replace((y + z) * abs(x));
  for (auto const type : {element_type::unknown, element_type::float16}) {
    sketch g;
    auto const c = g.add("Cast", {g.add("Abs", {g.in("a", {4}, type)})}, {{"to", float32}});
    g.end(g.add("Add", {g.add("Mul", {c, g.in("c", {4})}), g.add("Mul", {c, g.in("d", {4})})}));
    if (type == element_type::unknown)
      CHECK(refusal<factored>(g) == "element type");
    else
      CHECK(fuse::rewrite<factored>(g).rule("factored")->matched != 0);
  }
}

TEST_CASE("two roots of a rule are two values") {
  constexpr auto t = tanh(sigmoid(exp(x)));
  static constexpr auto both =
      fuse::rule<"both">(roots(t * y, t * z)).replace(op<"Max">(x, y, z), op<"Min">(x, y, z)).at_equal_cost();
  sketch g;
  auto const a = g.in("a"), c = g.in("c");
  auto const product = g.add("Mul", {g.add("Tanh", {g.add("Sigmoid", {g.add("Exp", {a})})}), c});
  g.end(product);
  CHECK(refusal<both>(g) == "roots");
}

}  // namespace rewrite_right_sides
