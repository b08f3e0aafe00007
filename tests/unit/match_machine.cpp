// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace match_machine {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">, c = var<"c">, s = var<"s">;

// A rotary embedding: x appears on its own and inside; which factor is which shows only at the end.
constexpr auto rotated = fuse::rule<"rotated">(relu(x * c + abs(x) * s)).replace(op<"Max">(x, op<"Max">(c, s)));

}  // namespace

TEST_CASE("a choice that fits at first is taken back when the rest of the rule fails") {
  // All operand orders of three commutative operators. Whoever binds x to the first factor and never looks back loses
  // half of them.
  for (int order = 0; order < 8; ++order) {
    sketch g;
    auto const a = g.in("a"), b = g.in("b"), d = g.in("d");
    auto const pick = [&](char const* op, graph::value p, graph::value q, bool exchange) {
      return exchange ? g.add(op, {q, p}) : g.add(op, {p, q});
    };
    auto const first = pick("Mul", a, b, (order & 1) != 0);
    auto const second = pick("Mul", g.add("Abs", {a}), d, (order & 2) != 0);
    g.end(g.add("Relu", {pick("Add", first, second, (order & 4) != 0)}));
    INFO("order " << order);
    CHECK(applied<rotated>(g) == 1);
    CHECK(to_text(g).find("Max(b, d)") != std::string::npos);
  }
}

TEST_CASE("backtracking finds the one assignment of many") {
  // Five factors; only one pairing of captures makes the second operand agree.
  static constexpr auto a = var<"a">, b = var<"b">, e = var<"e">;
  static constexpr auto paired =
      fuse::rule<"paired">(op<"PRelu">(tanh(a * b * e), op<"PRelu">(e, op<"PRelu">(a, b)))).replace(op<"Max">(a, b));
  sketch g;
  auto const p = g.in("p"), q = g.in("q"), r = g.in("r");
  auto const product = g.add("Mul", {r, g.add("Mul", {q, p})});
  SECTION("it is there") {
    g.end(g.add("PRelu", {g.add("Tanh", {product}), g.add("PRelu", {p, g.add("PRelu", {q, r})})}));
    CHECK(applied<paired>(g) == 1);
    CHECK(to_text(g).find("Max(q, r)") != std::string::npos);
  }
  SECTION("it is not") {
    g.end(g.add("PRelu", {g.add("Tanh", {product}), g.add("PRelu", {p, g.add("PRelu", {q, q})})}));
    CHECK(applied<paired>(g) == 0);
  }
}

TEST_CASE("a capture may be the whole of a product or one of its factors") {
  static constexpr auto whole = fuse::rule<"whole">(relu(op<"PRelu">(x * w, x))).replace(op<"Max">(x, w));
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), d = g.in("d");
  auto const inner = g.add("Mul", {a, b});
  SECTION("x is the inner product") {
    g.end(g.add("Relu", {g.add("PRelu", {g.add("Mul", {d, inner}), inner})}));
    CHECK(applied<whole>(g) == 1);
  }
  SECTION("x is a factor, w the inner product") {
    g.end(g.add("Relu", {g.add("PRelu", {g.add("Mul", {d, inner}), d})}));
    CHECK(applied<whole>(g) == 1);
  }
}

TEST_CASE("the search at a node is bounded, and reaching the bound is reported") {
  // 20 factors that are all alike, of which the rule wants 12 in every order, and then something that is not there.
  static constexpr auto v1 = var<"1">, v2 = var<"2">, v3 = var<"3">, v4 = var<"4">, v5 = var<"5">, v6 = var<"6">,
                        v7 = var<"7">;
  static constexpr auto hopeless = fuse::rule<"hopeless">(relu(v1 * v2 * v3 * v4 * v5 * v6 * v7 * rest<"more">))
                                       .where(rank<"7">(9))
                                       .replace(op<"Max">(v1, v2));
  sketch g;
  auto product = g.in("0");
  for (int i = 1; i < 20; ++i) product = g.add("Mul", {product, g.in(std::to_string(i))});
  g.end(g.add("Relu", {product}));
  auto const before = to_text(g);
  auto const report = fuse::rewrite<hopeless>(g);
  CHECK(report.applied() == 0);
  CHECK(to_text(g) == before);
  REQUIRE(report.notes.size() == 2);
  CHECK(report.notes[0].find("reached a bound") != std::string::npos);
  CHECK(report.notes[1].find("parts") != std::string::npos);
}

TEST_CASE("a product of more parts than the machine opens stays closed beyond: no match, and no hang") {
  static constexpr auto scaled = fuse::rule<"scaled">(relu(tanh(x) * rest<"more">)).replace(x * rest<"more">);
  for (int factors : {12, 60, 2000}) {
    sketch g;
    auto product = g.add("Tanh", {g.in("0")});
    for (int i = 1; i < factors; ++i) product = g.add("Mul", {product, g.in(std::to_string(i))});
    auto const y = g.add("Relu", {product});
    g.end(y);
    auto const why = fuse::matcher<scaled, graph>(g).why(g.producer(y));
    INFO(to_text(why));
    CHECK(why.matched == (factors == 12));
    if (!why.matched) CHECK_FALSE(why.expected.empty());
    auto const notes = fuse::rewrite<scaled>(g).notes;
    REQUIRE(notes.size() == (factors == 12 ? 0 : 1));
    if (!notes.empty()) CHECK(notes[0].find("more than 32 parts") != std::string::npos);
  }
}

TEST_CASE("a long chain of nodes is no deep recursion") {
  static constexpr auto doubled = fuse::rule<"doubled">(relu(relu(x))).replace(relu(x));
  sketch g;
  auto v = g.in("a", {4});
  for (int i = 0; i < 20'000; ++i) v = g.add("Relu", {v});
  g.end(v);
  CHECK(applied<doubled>(g) == 19'999);
  CHECK(ops(g) == "Relu");
}

TEST_CASE("matching does not cross into a body") {
  static constexpr auto pair = fuse::rule<"pair">(abs(tanh(x))).replace(relu(x));
  sketch g;
  auto const a = g.in("a");
  auto const t = g.add("Tanh", {a});
  auto const n = g.append("If", {g.in("c", {}, element_type::boolean)});
  for (auto name : {"then_branch", "else_branch"}) {
    g.append_to(g.add_body(n, name));
    g.output(g.add("Abs", {t}), name);
  }
  g.append_to(graph::main_body);
  g.annotate(g.result(n), element_type::float32, {4, 8});
  g.end(g.result(n));
  CHECK(applied<pair>(g) == 0);
}

TEST_CASE("what is inside a body is rewritten there, and captured values stay") {
  static constexpr auto pair = fuse::rule<"pair">(abs(tanh(x))).replace(relu(x));
  sketch g;
  auto const a = g.in("a");
  auto const e = g.add("Exp", {a});
  auto const n = g.append("If", {g.in("c", {}, element_type::boolean)});
  for (auto name : {"then_branch", "else_branch"}) {
    g.append_to(g.add_body(n, name));
    g.output(g.add("Abs", {g.add("Tanh", {e})}), name);
  }
  g.append_to(graph::main_body);
  g.annotate(g.result(n), element_type::float32, {4, 8});
  g.end(g.result(n));
  CHECK(applied<pair>(g) == 2);
  CHECK(ops(g) == "Exp If");
}

}  // namespace match_machine
