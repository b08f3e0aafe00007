// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

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

}  // namespace dsl_roots
