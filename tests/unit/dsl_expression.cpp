// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_expression {

using namespace rewriting;
using namespace fuse::dsl;
using fuse::expression;
using fuse::term_kind;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto last_axis =
    fuse::rule<"last-axis">(relu(op<"Softmax">(x).attr<"axis">(-1))).replace(op<"Softmax">(x).attr<"axis">(-1));
constexpr auto once = fuse::rule<"once">(relu(tanh(x).users(1))).replace(relu(x));
constexpr auto nested = fuse::rule<"nested">(exp((x + w).users(1) + var<"v">)).replace(exp(x));
constexpr auto thrice = fuse::rule<"thrice">(relu(tanh(x).users(3))).replace(x);

// Equal subexpressions are one term, so that size counts what is distinct.
constexpr auto d = x - mean(x);
static_assert((d * d).size == d.size + 1);
static_assert((d + d * d / d).size == d.size + 3);
static_assert(expression(2).size == 1 && expression(2)[0].kind == term_kind::number);
static_assert(!(d * d).too_large);

}  // namespace

TEST_CASE("an attribute is required of what matches, wherever the axis is counted from") {
  for (auto [axis, fires] : {std::pair{-1, 1u}, {1, 1u}, {0, 0u}, {-2, 0u}}) {
    sketch g;
    g.end(g.add("Relu", {g.add("Softmax", {g.in("a")}, {{"axis", axis}})}));
    CHECK(applied<last_axis>(g) == fires);
  }
  sketch g;  // the attribute's default
  g.end(g.add("Relu", {g.add("Softmax", {g.in("a")})}));
  CHECK(applied<last_axis>(g) == 1);
}

TEST_CASE("an attribute is given to what is made, as the number that it is") {
  static constexpr auto given =
      fuse::rule<"given">(relu(tanh(x))).replace(op<"LRN">(x).attr<"alpha">(0.25).attr<"size">(3));
  sketch g;
  g.end(g.add("Relu", {g.add("Tanh", {g.in("a")})}));
  REQUIRE(applied<given>(g) == 1);
  CHECK(std::get<double>(g.attribute(last(g), "alpha")->content) == 0.25);
  CHECK(std::get<std::int64_t>(g.attribute(last(g), "size")->content) == 3);
}

TEST_CASE("a number of users is the number of uses, outputs included") {
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")});
  g.end(g.add("Relu", {t}));
  SECTION("one") { CHECK(applied<once>(g) == 1); }
  SECTION("two nodes") {
    g.output(g.add("Abs", {t}), "z");
    CHECK(applied<once>(g) == 0);
  }
  SECTION("an output") {
    g.output(t, "t");
    CHECK(applied<once>(g) == 0);
  }
  SECTION("three") {
    g.output(g.add("Abs", {t}), "z");
    g.output(t, "t");
    CHECK(fuse::rewrite<thrice>(g).rules[0].matched == 1);
  }
}

TEST_CASE("a name for a part lets a condition look at it and at what uses it") {
  static constexpr auto alone = fuse::rule<"alone">(relu(tanh(x).as<"inside">()))
                                    .where<"only Relu reads it">(pred<"inside">([](auto inside) {
                                      bool all = true;
                                      inside.for_each_user([&](auto user) { all = all && user.op_name() == "Relu"; });
                                      return all && inside.op_name() == "Tanh";
                                    }))
                                    .replace(relu(x));
  for (bool const read : {false, true}) {
    sketch g;
    auto const t = g.add("Tanh", {g.in("a")});
    g.end(g.add("Relu", {t}));
    if (read) g.output(g.add("Abs", {t}), "z");
    if (read)
      CHECK(refusal<alone>(g) == "only Relu reads it");
    else
      CHECK(applied<alone>(g) == 1);
  }
}

TEST_CASE("a sum that is never negative may be clipped at 0, but not a part of it alone") {
  static constexpr auto safe = fuse::rule<"safe">(rsqrt((exp(x) - abs(x) + 1).never_negative())).replace(tanh(x));
  static constexpr auto any = fuse::rule<"any">(rsqrt(exp(x) - abs(x) + 1)).replace(tanh(x));
  sketch g;
  auto const a = g.in("a");
  auto const exp = g.add("Exp", {a}), abs = g.add("Abs", {a}), one = g.scalar(1.0f), zero = g.scalar(0.0f);
  auto const end = [&](graph::value v, std::size_t fires) {
    g.end(g.add("Reciprocal", {g.add("Sqrt", {v})}));
    CHECK(applied<any>(g) == 0);
    CHECK(applied<safe>(g) == fires);
  };
  SECTION("all but the constant") { end(g.add("Add", {g.add("Relu", {g.add("Sub", {exp, abs})}), one}), 1); }
  SECTION("all") { end(g.add("Max", {zero, g.add("Add", {g.add("Sub", {exp, abs}), one})}), 1); }
  SECTION("by a clipping") { end(g.add("Add", {one, g.add("Clip", {g.add("Sub", {exp, abs}), zero})}), 1); }
  SECTION("a part") { end(g.add("Add", {exp, g.add("Relu", {g.add("Sub", {one, abs})})}), 0); }
  SECTION("at another number") { end(g.add("Add", {g.add("Max", {g.add("Sub", {exp, abs}), one}), one}), 0); }
  SECTION("above, too") { end(g.add("Add", {g.add("Clip", {g.add("Sub", {exp, abs}), zero, one}), one}), 0); }
}

TEST_CASE("a sum in a sum whose users are counted is one node") {
  for (bool const used : {false, true}) {
    sketch g;
    auto const inner = g.add("Add", {g.in("a"), g.in("b")});
    if (used) g.output(g.add("Relu", {inner}), "other");
    g.end(g.add("Exp", {g.add("Add", {g.in("c"), inner})}));
    CHECK(fuse::match_all<nested>(g).size() == (used ? 0 : 1));
  }
}

TEST_CASE("the tolerance of a number is relative") {
  static_assert(constant(2).within(0.5)[0].tolerance == 0.5);
  static_assert(constant(2)[0].tolerance == 1e-6);
  CHECK(constant(2).size == 1);
}

TEST_CASE("what is too large says so") {
  expression chain = x;
  for (int i = 1; i < 128; ++i) chain = relu(chain);
  CHECK_FALSE(chain.too_large);
  CHECK(relu(chain).too_large);
  CHECK((relu(chain) + x).too_large);
}

TEST_CASE("an operator with as many operands as it has room for takes attributes all the same") {
  constexpr auto eight = op<"Concat">(x, w, x, w, x, w, x, w);
  constexpr auto given = eight.attr<"axis">(0).attr<"by">(1);
  static_assert(eight[eight.root()].operands() == 8);
  static_assert(!given.too_large && given[given.root()].attributes == 2 && given[given.root()].operands() == 2);
  static_assert(given[given[given.root()].child[1]].kind == term_kind::further);
  CHECK(given[given[given.root()].child[1]].children == 7);
}

}  // namespace dsl_expression
