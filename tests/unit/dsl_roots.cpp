// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <functional>

namespace dsl_roots {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto shared = tanh(exp(x));
constexpr auto pair = fuse::rule<"pair">(roots(relu(shared), abs(shared))).replace(relu(exp(x)), abs(exp(x)));

}  // namespace

TEST_CASE("several roots are found together and replaced together") {
  sketch g;
  auto const t = g.add("Tanh", {g.add("Exp", {g.in("a")})});
  bool const exchanged = GENERATE(false, true);
  auto const first = g.add(exchanged ? "Abs" : "Relu", {t}), second = g.add(exchanged ? "Relu" : "Abs", {t});
  g.output(first, "first");
  g.output(second, "second");
  CHECK(applied<pair>(g) == 1);
  CHECK(ops(g).find("Tanh") == std::string::npos);
  CHECK(g.op(g.producer(g.outputs()[exchanged ? 1 : 0])) == "Relu");
  CHECK(g.op(g.producer(g.outputs()[exchanged ? 0 : 1])) == "Abs");
  CHECK(g.output_name(0) == "first");
}

TEST_CASE("one root alone is no match") {
  sketch g;
  auto const t = g.add("Tanh", {g.add("Exp", {g.in("a")})});
  SECTION("the first") { g.output(g.add("Relu", {t}), "y"); }
  SECTION("the second") { g.output(g.add("Abs", {t}), "y"); }
  SECTION("both, of two values") {
    g.output(g.add("Relu", {t}), "y");
    g.output(g.add("Abs", {g.add("Tanh", {g.add("Exp", {g.in("b")})})}), "z");
  }
  CHECK(applied<pair>(g) == 0);
}

TEST_CASE("quiet conditions on what is bound are asked before a further root is looked for") {
  static int asked = 0;
  static constexpr auto t = var<"t">;
  static constexpr auto never = fuse::rule<"never">(roots(relu(t), abs(t).as<"second">()))
                                    .where(pred<"second">([](auto) { return ++asked, true; }).quiet())
                                    .where<"no t">(pred<"t">([](auto) { return false; }).quiet())
                                    .replace(t, t);
  sketch g;
  auto const both = g.add("Exp", {g.in("a")});
  g.output(g.add("Relu", {both}), "first");
  g.output(g.add("Abs", {both}), "second");
  CHECK(applied<never>(g) == 0);
  CHECK(asked == 0);
  static constexpr auto told = fuse::rule<"told">(roots(relu(t), abs(t).as<"second">()))
                                   .where(pred<"second">([](auto) { return ++asked, true; }).quiet())
                                   .where<"no t">(pred<"t">([](auto) { return false; }))
                                   .replace(t, t);
  CHECK(applied<told>(g) == 0);
  CHECK(asked != 0);
}

TEST_CASE("what uses a named root is looked for before the root is: a sum in which it is not costs no search") {
  static int tried = 0;
  static constexpr auto y = var<"y">, z = var<"z">;
  static constexpr auto sum_of_three =
      fuse::rule<"sum-of-three">(roots((x + y + z).as<"sum">(), erf(var<"sum">)))
          .where<"never">(pred<"x", "y", "z">([](auto, auto, auto) { return ++tried, false; }))
          .replace(x, erf(x));
  for (bool const there : {false, true}) {
    sketch g;
    auto sum = g.in("a");
    for (int i = 0; i < 24; ++i) sum = g.add("Add", {sum, g.in("b" + std::to_string(i))});
    if (there) g.output(g.add("Erf", {sum}), "y");
    g.output(g.add("Softplus", {sum}), "z");
    tried = 0;
    CHECK(applied<sum_of_three>(g) == 0);
    CHECK((tried != 0) == there);
  }
}

TEST_CASE("a second root among many users is found") {
  sketch g;
  auto const t = g.add("Tanh", {g.add("Exp", {g.in("a")})});
  for (auto op : {"Erf", "Sin", "Cos", "Relu", "Sigmoid", "Abs", "Floor"}) g.output(g.add(op, {t}), op);
  CHECK(fuse::rewrite<pair>(g).rules[0].matched >= 1);
}

TEST_CASE("the second root lies where the first is needed: a place between, or a refusal") {
  static constexpr auto crossed =
      fuse::rule<"crossed">(roots(relu(shared), abs(shared))).replace(relu(exp(x)), tanh(relu(exp(x))));
  sketch g;
  auto const t = g.add("Tanh", {g.add("Exp", {g.in("a")})});
  auto const r = g.add("Relu", {t});
  g.output(g.add("Sin", {r}), "r");
  g.output(g.add("Abs", {t}), "s");
  CHECK(applied<crossed>(g) == 1);
  // Everything stands before what reads it.
  std::vector<std::uint32_t> seen;
  for (auto n : g.nodes()) {
    for (auto v : g.operands(n))
      if (g.producer(v)) CHECK(std::count(seen.begin(), seen.end(), g.producer(v).id) == 1);
    seen.push_back(n.id);
  }
}

TEST_CASE("between two roots may stand names, counts of users, and what is looked through") {
  static constexpr auto named = tanh(exp(x)).users(2).as<"t">();
  static constexpr auto counted = fuse::rule<"counted">(roots(relu(named), op<"Sin">(abs(named).as<"a">())))
                                      .replace(relu(exp(x)), op<"Sin">(abs(exp(x))));
  static constexpr auto seen_through =
      fuse::rule<"seen-through">(roots(relu(shared), op<"Sin">(through<"Identity">(abs(through<"Identity">(shared))))))
          .replace(relu(exp(x)), op<"Sin">(abs(exp(x))));
  static constexpr auto everywhere = fuse::rule<"everywhere">(roots(relu(shared), op<"Sin">(abs(shared))))
                                         .through<"Identity">()
                                         .replace(relu(exp(x)), op<"Sin">(abs(exp(x))));
  static constexpr auto wrapped =
      fuse::rule<"wrapped">(roots(relu(shared), op<"Sin">(with_or_without<"Floor">(abs(shared)))))
          .replace(relu(exp(x)), op<"Sin">(exp(x)));
  auto const graph_of = [](int identities, bool floor) {
    sketch g;
    auto const t = g.add("Tanh", {g.add("Exp", {g.in("a")})});
    g.output(g.add("Relu", {t}), "first");
    auto v = t;
    for (int i = 0; i < identities; ++i) v = g.add("Identity", {v});
    v = g.add("Abs", {v});
    for (int i = 0; i < identities; ++i) v = g.add("Identity", {v});
    if (floor) v = g.add("Floor", {v});
    g.output(g.add("Sin", {v}), "second");
    return g;
  };
  for (int const identities : {0, 1, 3}) {
    CAPTURE(identities);
    auto g = graph_of(identities, false), h = g, k = g;
    CHECK(applied<counted>(g) == (identities == 0 ? 1 : 0));
    CHECK(applied<seen_through>(h) == 1);
    CHECK(applied<everywhere>(k) == 1);
    CHECK(ops(h).find("Tanh") == std::string::npos);
  }
  auto g = graph_of(0, false), h = graph_of(0, true);
  CHECK(applied<wrapped>(g) == 1);
  CHECK(applied<wrapped>(h) == 1);
}

// A graph of tanh(a), its ReLU as output "first", and as "second" what is made of it and of inputs b and c, or of a.
template <class Make>
sketch beside_relu(Make const& make) {
  sketch g;
  auto const a = g.in("a"), t = g.add("Tanh", {a});
  g.output(g.add("Relu", {t}), "first");
  g.output(make(g, t, a), "second");
  return g;
}

TEST_CASE("a further root is found in any bracketing and spelling of its sums and products") {
  static constexpr auto t = tanh(x), y = var<"y">, z = var<"z">;
  static constexpr auto made = op<"Max">(x, x);
  static constexpr auto added = fuse::rule<"added">(roots(relu(t), t + y + z)).replace(made, made).at_equal_cost();
  static constexpr auto scaled =
      fuse::rule<"scaled">(roots(relu(t), abs(2.0 * t * y + z))).replace(made, made).at_equal_cost();
  static constexpr auto perhaps =
      fuse::rule<"perhaps">(roots(relu(t), abs(t * optional(y)))).replace(made, made).at_equal_cost();
  using value = graph::value;
  std::function<value(sketch&, value, value)> const sums[] = {
      [](sketch& g, value v, value) {
        return g.add("Add", {g.add("Add", {v, g.in("b")}), g.in("c")});
      },
      [](sketch& g, value v, value) {
        return g.add("Add", {g.add("Add", {g.in("b"), g.in("c")}), v});
      },
      [](sketch& g, value v, value) {
        return g.add("Add", {g.in("b"), g.add("Add", {g.in("c"), v})});
      },
      [](sketch& g, value v, value) {
        return g.add("Sum", {g.in("b"), g.in("c"), v});
      },
      [](sketch& g, value v, value) {
        return g.add("Sub", {g.in("b"), g.add("Neg", {g.add("Add", {v, g.in("c")})})});
      }};
  for (auto const& make : sums) {
    auto g = beside_relu(make);
    INFO(to_text(g));
    CHECK(applied<added>(g) == 1);
  }
  std::function<value(sketch&, value, value)> const products[] = {
      [](sketch& g, value v, value) {
        return g.add("Abs", {g.add("Add", {g.in("c"), g.add("Mul", {g.add("Mul", {v, g.scalar(2.0f)}), g.in("b")})})});
      },
      [](sketch& g, value v, value) {
        return g.add("Abs", {g.add("Add", {g.in("c"), g.add("Mul", {v, g.add("Mul", {g.scalar(2.0f), g.in("b")})})})});
      },
      [](sketch& g, value v, value) {
        return g.add("Abs", {g.add("Add", {g.in("c"), g.add("Div", {g.add("Mul", {g.in("b"), v}), g.scalar(0.5f)})})});
      },
      [](sketch& g, value v, value) {
        auto const n = g.add("Neg", {g.add("Mul", {g.in("b"), g.add("Mul", {v, g.scalar(2.0f)})})});
        return g.add("Abs", {g.add("Sub", {g.in("c"), n})});
      }};
  for (auto const& make : products) {
    auto g = beside_relu(make);
    INFO(to_text(g));
    CHECK(applied<scaled>(g) == 1);
  }
  auto with = beside_relu([](sketch& g, value v, value) { return g.add("Abs", {g.add("Mul", {v, g.in("b")})}); });
  auto without = beside_relu([](sketch& g, value v, value) { return g.add("Abs", {v}); });
  CHECK(applied<perhaps>(with) == 1);
  CHECK(applied<perhaps>(without) == 1);
}

TEST_CASE("a further root is found by each branch of an either, and below what is computed once more") {
  static constexpr auto t = tanh(x);
  static constexpr auto made = op<"Max">(x, x);
  static constexpr auto chosen =
      fuse::rule<"chosen">(roots(relu(t), abs(either(op<"Sin">(t), op<"Cos">(op<"Floor">(t))))))
          .replace(made, made)
          .at_equal_cost();
  static constexpr auto averaged = fuse::rule<"averaged">(roots(relu(t), abs(mean(square(t)))))
                                       .where(trailing_axes<"axes">)
                                       .replace(made, abs(mean(square(tanh(x))).attr<"axes">(param<"axes">)))
                                       .at_equal_cost();
  using value = graph::value;
  for (bool const again : {false, true}) {
    CAPTURE(again);
    auto const of = [&](sketch& g, value v, value a) { return again ? g.add("Tanh", {a}) : v; };
    auto first = beside_relu([&](sketch& g, value v, value a) { return g.add("Abs", {g.add("Sin", {of(g, v, a)})}); });
    auto second = beside_relu(
        [&](sketch& g, value v, value a) { return g.add("Abs", {g.add("Cos", {g.add("Floor", {of(g, v, a)})})}); });
    auto neither =
        beside_relu([&](sketch& g, value v, value a) { return g.add("Abs", {g.add("Cos", {of(g, v, a)})}); });
    CHECK(applied<chosen>(first) == 1);
    CHECK(applied<chosen>(second) == 1);
    CHECK(applied<chosen>(neither) == 0);
    auto mean = beside_relu([&](sketch& g, value v, value a) {
      auto const w = of(g, v, a);
      auto const sum = g.add("ReduceSum", {g.add("Mul", {w, w}), g.constant({-1})}, {{"keepdims", 1}});
      return g.add("Abs", {g.add("Div", {sum, g.scalar(8.0f)})});
    });
    INFO(to_text(mean));
    CHECK(fuse::rewrite<averaged>(mean).rules[0].matched >= 1);
  }
}

TEST_CASE("a further root may be what the first one is made of") {
  static constexpr auto t = tanh(x), both = op<"Max">(t, var<"y">);
  static constexpr auto inner = fuse::rule<"inner">(roots(abs(exp(t)), t)).replace(relu(x), sigmoid(x));
  static constexpr auto bound =
      fuse::rule<"bound">(roots(relu(both), both, t)).replace(x, op<"Min">(x, var<"y">), abs(x));
  sketch g;
  auto const v = g.add("Tanh", {g.in("a")});
  SECTION("which others read") {
    g.output(g.add("Abs", {g.add("Exp", {v})}), "first");
    g.output(g.add("Neg", {v}), "second");
    CHECK(applied<inner>(g) == 1);
    CHECK(ops(g) == "Relu Sigmoid Neg");
  }
  SECTION("which is an output") {
    g.output(v, "second");
    g.output(g.add("Abs", {g.add("Exp", {v})}), "first");
    CHECK(applied<inner>(g) == 1);
    CHECK(ops(g).find("Tanh") == std::string::npos);
    CHECK(g.op(g.producer(g.outputs()[0])) == "Sigmoid");
  }
  SECTION("several of them") {
    auto const m = g.add("Max", {v, g.in("b")});
    g.output(g.add("Relu", {m}), "first");
    g.output(g.add("Neg", {m}), "second");
    g.output(g.add("Exp", {v}), "third");
    CHECK(applied<bound>(g) == 1);
    CHECK(ops(g).find("Tanh") == std::string::npos);
    CHECK(ops(g).find("Max") == std::string::npos);
  }
}

TEST_CASE("a further root that the first one may lack is looked for where it does") {
  static constexpr auto t = tanh(x);
  static constexpr auto operand = fuse::rule<"operand">(roots(op<"LayerNormalization">(var<"y">, x, optional(t)), t))
                                      .replace(relu(var<"y">), sigmoid(x))
                                      .at_equal_cost();
  static constexpr auto addend =
      fuse::rule<"addend">(roots(relu(exp(x) + optional(t)), t)).replace(abs(x), sigmoid(x)).at_equal_cost();
  static constexpr auto branch =
      fuse::rule<"branch">(roots(relu(either(exp(t), op<"Sin">(x))), t)).replace(abs(x), sigmoid(x)).at_equal_cost();
  bool const lacks = GENERATE(false, true);
  sketch g;
  auto const a = g.in("a", {8}), v = g.add("Tanh", {a});
  SECTION("an operand") {
    auto const y = g.in("y");
    g.output(lacks ? g.add("LayerNormalization", {y, a}) : g.add("LayerNormalization", {y, a, v}), "first");
    g.output(v, "second");
    CHECK(applied<operand>(g) == 1);
  }
  SECTION("an addend") {
    auto const e = g.add("Exp", {a});
    g.output(g.add("Relu", {lacks ? e : g.add("Add", {v, e})}), "first");
    g.output(v, "second");
    CHECK(applied<addend>(g) == 1);
  }
  SECTION("of a branch") {
    g.output(g.add("Relu", {lacks ? g.add("Sin", {a}) : g.add("Exp", {v})}), "first");
    g.output(v, "second");
    CHECK(applied<branch>(g) == 1);
  }
  CHECK(ops(g).find("Tanh") == std::string::npos);
}

TEST_CASE("what reads a root, and goes with it, may stand before what the new nodes read") {
  static constexpr auto t = tanh(x), y = var<"y">;
  static constexpr auto made = op<"Max">(x, y);
  static constexpr auto late = fuse::rule<"late">(roots(op<"Mul">(abs(exp(t)), y), t)).replace(made, made);
  sketch g;
  auto const v = g.add("Tanh", {g.in("a")});
  auto const between = g.add("Abs", {g.add("Exp", {v})});
  std::size_t expected = 0;
  SECTION("it goes") { expected = 1; }
  SECTION("another reads it") { g.output(between, "third"); }
  SECTION("another that nobody reads") { g.add("Neg", {v}); }
  SECTION("another further on") { g.output(g.add("Neg", {between}), "third"); }
  auto const read = g.add("Sin", {g.in("b")});
  g.output(g.add("Mul", {between, read}), "first");
  g.output(v, "second");
  CHECK(applied<late>(g) == expected);
  if (expected != 0) CHECK(ops(g) == "Sin Max");
}

}  // namespace dsl_roots
