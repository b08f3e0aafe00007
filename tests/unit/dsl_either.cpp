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

}  // namespace dsl_either
