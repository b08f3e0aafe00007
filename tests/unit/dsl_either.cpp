// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_either {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto inner = fuse::rule<"inner">(abs(either(tanh(x), exp(x)))).replace(relu(x));
constexpr auto outer = fuse::rule<"outer">(either(abs(tanh(x)), exp(abs(x)))).replace(relu(x));
constexpr auto factor = fuse::rule<"factor">(abs(x * either(tanh(w), exp(w) / erf(w)))).replace(op<"Max">(x, w));

}  // namespace

TEST_CASE("any of the forms matches inside") {
  for (auto [op, fires] : {std::pair{"Tanh", 1u}, {"Exp", 1u}, {"Erf", 0u}}) {
    sketch g;
    g.end(g.add("Abs", {g.add(op, {g.in("a")})}));
    CHECK(applied<inner>(g) == fires);
  }
}

TEST_CASE("any of the forms matches as the root") {
  sketch g;
  auto const a = g.in("a");
  SECTION("the first") {
    g.end(g.add("Abs", {g.add("Tanh", {a})}));
    CHECK(applied<outer>(g) == 1);
  }
  SECTION("the second") {
    g.end(g.add("Exp", {g.add("Abs", {a})}));
    CHECK(applied<outer>(g) == 1);
  }
  SECTION("a mixture of both") {
    g.end(g.add("Abs", {g.add("Exp", {a})}));
    CHECK(applied<outer>(g) == 0);
  }
}

TEST_CASE("a form that is a product adds its factors to the product around it") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  SECTION("one factor") {
    g.end(g.add("Abs", {g.add("Mul", {g.add("Tanh", {b}), a})}));
    CHECK(applied<factor>(g) == 1);
  }
  SECTION("two factors, bracketed otherwise") {
    g.end(g.add("Abs", {g.add("Div", {g.add("Mul", {a, g.add("Exp", {b})}), g.add("Erf", {b})})}));
    CHECK(applied<factor>(g) == 1);
  }
  SECTION("half a form") {
    g.end(g.add("Abs", {g.add("Mul", {a, g.add("Exp", {b})})}));
    CHECK(applied<factor>(g) == 0);
  }
}

TEST_CASE("a form that fits is given up when the rest of the rule fails") {
  // The first form fits at once; only with the second is w what stands on the right.
  static constexpr auto late = fuse::rule<"late">(matmul(abs(either(x, tanh(x))), x)).replace(relu(x));
  sketch g;
  auto const a = g.in("a", {8, 8});
  g.end(g.add("MatMul", {g.add("Abs", {g.add("Tanh", {a})}), a}));
  CHECK(applied<late>(g) == 1);
  CHECK(g.operands(last(g))[0] == a);
}

TEST_CASE("the numbers of a branch and those around it make one") {
  static constexpr auto z = var<"z">;
  static constexpr auto s = scalar<"s">;
  static constexpr auto multiple =
      fuse::rule<"multiple">(tanh(x) * either(2 * exp(z), sigmoid(z)) * s).replace(op<"Max">(x, z) * s).at_equal_cost();
  static constexpr auto product =
      fuse::rule<"product">(tanh(x) * 3 * either(2 * exp(z), sigmoid(z))).replace(op<"Max">(x, z)).at_equal_cost();
  static constexpr auto addend =
      fuse::rule<"addend">(tanh(x) + 3 + optional(2 + exp(z))).replace(op<"Max">(x, z)).at_equal_cost();
  static constexpr auto nested = fuse::rule<"nested">(tanh(x) + 3 + either(sigmoid(z) + optional(2 + exp(z)), 1 + z))
                                     .replace(op<"Max">(x, z))
                                     .at_equal_cost();
  static constexpr auto back =
      fuse::rule<"back">(tanh(x) + 3 + either(exp(z) - 3, sigmoid(z))).replace(op<"Max">(x, z)).at_equal_cost();
  static constexpr auto left = fuse::rule<"left">(abs(tanh(x) * either(2 * exp(z), sigmoid(z)) * rest<"r">))
                                   .replace(op<"Max">(x, z) * rest<"r">);
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b");
  auto const e = g.add("Exp", {b}), sigmoid_of = g.add("Sigmoid", {b});
  auto const mul = [&](graph::value p, graph::value q) { return g.add("Mul", {p, q}); };
  auto const add = [&](graph::value p, graph::value q) { return g.add("Add", {p, q}); };
  auto const n = [&](float number) { return g.scalar(number); };
  SECTION("a captured number beside that of the branch") {
    g.end(mul(mul(t, mul(n(2), e)), n(0.25f)));
    auto const found = fuse::match_all<multiple>(g);
    REQUIRE(found.size() == 1);
    CHECK(found[0].template number<"s">() == 0.25);
  }
  SECTION("the number of the branch is missing") {
    g.end(mul(mul(t, e), n(0.25f)));
    CHECK(fuse::match_all<multiple>(g).empty());
  }
  SECTION("multiplied in the graph, and apart") {
    g.end(GENERATE(0, 1) == 0 ? mul(mul(t, e), n(6)) : mul(mul(t, n(2)), mul(e, n(3))));
    CHECK(fuse::match_all<product>(g).size() == 1);
  }
  SECTION("of the other branch") {
    auto const number = GENERATE(3.0f, 6.0f);
    g.end(mul(mul(t, sigmoid_of), n(number)));
    CHECK(fuse::match_all<product>(g).size() == (number == 3 ? 1u : 0u));
  }
  SECTION("added") {
    bool const apart = GENERATE(true, false);
    g.end(apart ? add(add(t, add(n(2), e)), n(3)) : add(add(t, e), n(5)));
    CHECK(fuse::match_all<addend>(g).size() == 1);
  }
  SECTION("where the branch is absent") {
    auto const number = GENERATE(3.0f, 5.0f);
    g.end(add(t, n(number)));
    CHECK(fuse::match_all<addend>(g).size() == (number == 3 ? 1u : 0u));
  }
  SECTION("of branches of branches") {
    int const which = GENERATE(0, 1, 2, 3);
    g.end(which == 0   ? add(add(add(t, sigmoid_of), e), n(5))
          : which == 1 ? add(add(t, sigmoid_of), n(3))
          : which == 2 ? add(add(t, b), n(4))
                       : add(add(t, sigmoid_of), n(5)));
    CHECK(fuse::match_all<nested>(g).size() == (which == 3 ? 0u : 1u));
  }
  SECTION("that add up to nothing") {
    g.end(GENERATE(true, false) ? add(t, e) : add(add(t, n(3)), add(e, n(-3))));
    CHECK(fuse::match_all<back>(g).size() == 1);
  }
  SECTION("before a rest") {
    g.end(g.add("Abs", {mul(mul(mul(t, n(2)), e), g.in("c"))}));
    CHECK(fuse::match_all<left>(g).size() == 1);
  }
}

TEST_CASE("of equal forms that can be written a right side is the first") {
  static constexpr auto of_extents = fuse::rule<"extents">(abs(tanh(x)))
                                         .replace(either(op<"LeakyRelu">(x).attr<"alpha">(dim<"x", 0>),
                                                         op<"Elu">(x).attr<"alpha">(dim<"x", 1>), relu(x)))
                                         .at_equal_cost();
  auto const by_extents = [](graph::dim first, graph::dim second) {
    sketch g;
    g.end(g.add("Abs", {g.add("Tanh", {g.in("a", {first, second})})}));
    CHECK(applied<of_extents>(g) == 1);
    return ops(g);
  };
  CHECK(by_extents(4, 8) == "LeakyRelu");
  CHECK(by_extents("n", 8) == "Elu");
  CHECK(by_extents("n", "m") == "Relu");
}

TEST_CASE("where no form can be written, the first that the dialect has says why") {
  static constexpr auto rule =
      fuse::rule<"forms">(abs(tanh(x)))
          .replace(either(exactly<"com.microsoft::QuickGelu">(x), op<"LeakyRelu">(x).attr<"alpha">(dim<"x", 0>),
                          op<"Elu">(x).attr<"alpha">(dim<"x", 1>)))
          .at_equal_cost();
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.in("a", {"n", "m"})})}));
  auto const before = to_text(g);
  auto const report = fuse::rewrite<rule>(g);
  REQUIRE(report.rules[0].refused.size() == 1);
  INFO(report.rules[0].refused[0].reason);
  CHECK(report.rules[0].refused[0].reason.find("axis 0 of 'x' is n") != std::string::npos);
  CHECK(to_text(g) == before);
}

TEST_CASE("a form that does not pay gives way to one that does") {
  static constexpr auto rule = fuse::rule<"forms">(abs(tanh(x))).replace(either(exp(erf(log(x))), relu(x)));
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.in("a")})}));
  CHECK(applied<rule>(g) == 1);
  CHECK(ops(g) == "Relu");
}

TEST_CASE("of forms that pay the one is written that saves most") {
  static constexpr auto rule =
      fuse::rule<"forms">(abs(abs(abs(tanh(x))))).replace(either(relu(exp(x)), op<"Elu">(x), relu(x)));
  static constexpr auto last = fuse::rule<"forms">(abs(abs(abs(tanh(x))))).replace(either(relu(exp(x)), relu(x)));
  auto const made = [](sketch& g) {
    auto v = g.add("Tanh", {g.in("a")});
    for (int i = 0; i < 3; ++i) v = g.add("Abs", {v});
    g.end(v);
  };
  sketch several, two;
  made(several);
  made(two);
  CHECK(applied<rule>(several) == 1);
  CHECK(ops(several) == "Elu");
  CHECK(applied<last>(two) == 1);
  CHECK(ops(two) == "Relu");
}

}  // namespace dsl_either
