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

}  // namespace dsl_roots
