// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_rest {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto more = rest<"more">;
constexpr auto factors = fuse::rule<"factors">(abs(tanh(x) * more)).replace(relu(x) * more);
constexpr auto addends = fuse::rule<"addends">(abs(tanh(x) + more)).replace(relu(x) + more);
constexpr auto operands = fuse::rule<"operands">(relu(op<"Max">(x, more))).replace(op<"Min">(x, more));

}  // namespace

TEST_CASE("the rest of a product are all other factors") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b"), c = g.in("c");
  SECTION("one") {
    g.end(g.add("Abs", {g.add("Mul", {b, t})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Relu Mul");
  }
  SECTION("two, bracketed on either side") {
    g.end(g.add("Abs", {g.add("Mul", {b, g.add("Mul", {t, c})})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(ops(g) == "Mul Relu Mul");
  }
  SECTION("a divisor") {
    g.end(g.add("Abs", {g.add("Div", {g.add("Mul", {t, b}), c})}));
    CHECK(applied<factors>(g) == 1);
    CHECK(to_text(g).find("Div(b, c)") != std::string::npos);
  }
}

TEST_CASE("the rest of a sum are all other addends, with their signs") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")}), b = g.in("b"), c = g.in("c");
  g.end(g.add("Abs", {g.add("Sub", {g.add("Add", {t, b}), c})}));
  CHECK(applied<addends>(g) == 1);
  CHECK(to_text(g).find("Sub(b, c)") != std::string::npos);
}

TEST_CASE("the rest of an operator are its trailing operands, possibly none") {
  for (std::size_t count : {1u, 2u, 4u}) {
    sketch g;
    std::vector<graph::value> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(g.in(std::string(1, static_cast<char>('a' + i))));
    g.end(g.add("Relu", {g.add("Max", all)}));
    CHECK(applied<operands>(g) == 1);
    CHECK(ops(g) == "Min");
    auto const found = g.operands(last(g));
    CHECK(std::vector<graph::value>(found.begin(), found.end()) == all);
  }
}

TEST_CASE("a rest may be nothing") {
  sketch g;
  SECTION("no product") {
    g.end(g.add("Abs", {g.add("Tanh", {g.in("a")})}));
    CHECK(applied<factors>(g) == 0);  // a product of one factor is no operator: relu(x) * nothing has no right side
  }
}

}  // namespace dsl_rest
