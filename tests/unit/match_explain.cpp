// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace match_explain {

using namespace rewriting;

namespace {

struct norm : sketch {
  double exponent = 2;
  bool exchanged = false, own_epsilon = true;

  graph::node build() {
    auto const a = in("a", {2, 4, 8});
    auto const m = add("ReduceMean", {a}, {{"axes", {-1}}});
    auto const d = exchanged ? add("Sub", {m, a}) : add("Sub", {a, m});
    auto const v = add("ReduceMean", {add("Pow", {d, scalar(static_cast<float>(exponent))})}, {{"axes", {-1}}});
    auto const e = own_epsilon ? scalar(1e-5f) : in("epsilon", {});
    auto const y = add("Div", {d, add("Sqrt", {add("Add", {v, e})})});
    auto const z = add("Add", {add("Mul", {y, in("scale", {8})}), in("bias", {8})});
    end(z);
    return producer(z);
  }
};

}  // namespace

TEST_CASE("a match says that it matches") {
  norm g;
  auto const n = g.build();
  auto const why = fuse::matcher<fuse::rules::layer_norm, graph>(g).why(n);
  CHECK(why.matched);
  CHECK(to_text(why) == "matches");
}

TEST_CASE("an explanation names what was wanted and what was found") {
  norm g;
  SECTION("an exponent that is not 2") {
    g.exponent = 3;
    auto const n = g.build();
    auto const why = fuse::matcher<fuse::rules::layer_norm, graph>(g).why(n);
    CHECK_FALSE(why.matched);
    CHECK(to_text(why).find("expected") != std::string::npos);
    CHECK_FALSE(why.condition.empty());
    CHECK_FALSE(why.found.empty());
  }
  SECTION("an epsilon that is no constant") {
    g.own_epsilon = false;
    auto const n = g.build();
    auto const why = fuse::matcher<fuse::rules::layer_norm, graph>(g).why(n);
    CHECK_FALSE(why.matched);
    CHECK(to_text(why).find("epsilon") != std::string::npos);
  }
}

TEST_CASE("an explanation calls what a rest stands for factors, addends or operands") {
  using namespace fuse::dsl;
  static constexpr auto x = var<"x">;
  static constexpr auto more = rest<"more">;
  static constexpr auto factors = fuse::rule<"factors">(tanh(relu(x) * more) - exp(relu(x) * more)).replace(x);
  static constexpr auto addends = fuse::rule<"addends">(tanh(relu(x) + more) - exp(relu(x) + more)).replace(x);
  static constexpr auto operands = fuse::rule<"operands">(op<"Max">(x, more) - op<"Min">(x, more)).replace(x);
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c");
  auto const two = [&g](char const* op, auto v, auto w, auto other) {
    auto const r = g.add("Relu", {v});
    auto const y = g.add("Sub", {g.add("Tanh", {g.add(op, {r, w})}), g.add("Exp", {g.add(op, {r, other})})});
    g.end(y);
    return g.producer(y);
  };
  SECTION("factors") {
    auto const n = two("Mul", a, b, c);
    auto const why = to_text(fuse::matcher<factors, graph>(g).why(n));
    CHECK(why.find("factors that can be 'more'") != std::string::npos);
  }
  SECTION("addends") {
    auto const n = two("Add", a, b, c);
    auto const why = to_text(fuse::matcher<addends, graph>(g).why(n));
    CHECK(why.find("addends that can be 'more'") != std::string::npos);
  }
  SECTION("operands") {
    auto const y = g.add("Sub", {g.add("Max", {a, b}), g.add("Min", {a, c})});
    g.end(y);
    auto const why = to_text(fuse::matcher<operands, graph>(g).why(g.producer(y)));
    CHECK(why.find("operands that can be 'more'") != std::string::npos);
  }
}

TEST_CASE("the nearest misses of a graph come first, and at most as many as asked for") {
  norm g;
  g.own_epsilon = false;
  g.build();
  fuse::matcher<fuse::rules::layer_norm, graph> search(g);
  auto const misses = search.near_misses(3);
  REQUIRE_FALSE(misses.empty());
  CHECK(misses.size() <= 3);
  for (std::size_t i = 1; i < misses.size(); ++i) CHECK(misses[i - 1].score >= misses[i].score);
  CHECK(to_text(misses[0]).find("epsilon") != std::string::npos);
}

TEST_CASE("a graph that is nowhere near has no near misses") {
  sketch g;
  g.end(g.add("Relu", {g.in("a")}));
  CHECK(fuse::matcher<fuse::rules::layer_norm, graph>(g).near_misses().empty());
}

TEST_CASE("what explanations say stands in the report, for the node") {
  norm g;
  g.own_epsilon = false;
  g.build();
  auto const before = to_text(g);
  auto const report = fuse::rewrite<fuse::rules::layer_norm>(static_cast<graph&>(g));
  CHECK(to_text(g) == before);
  REQUIRE_FALSE(report.rules[0].refused.empty());
  bool named = false;
  for (auto const& r : report.rules[0].refused) named = named || r.reason.find("epsilon") != std::string::npos;
  CHECK(named);
}

}  // namespace match_explain
