// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include "../second_dialect.hpp"

namespace program_rule_set {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto one = fuse::rule<"one">(relu(tanh(x))).replace(relu(x));
constexpr auto two = fuse::rule<"two">(abs(tanh(x))).replace(relu(x));
constexpr auto three = fuse::rule<"three">(abs(exp(x))).replace(relu(x));
constexpr auto inner = fuse::rule_set<one, two>;
constexpr auto outer = fuse::rule_set<inner, three>;
constexpr auto nothing = fuse::rule_set<>;

}  // namespace

TEST_CASE("sets nest, and keep the order of their rules") {
  constexpr fuse::program p = fuse::program_of<outer>;
  REQUIRE(p.rules.size() == 3);
  CHECK(p.rules[0].name == "one");
  CHECK(p.rules[1].name == "two");
  CHECK(p.rules[2].name == "three");
}

TEST_CASE("a rule alone is a set of one") { CHECK(fuse::program_of<one>.rules.size() == 1); }

TEST_CASE("an empty set does nothing") {
  sketch g;
  g.end(g.add("Relu", {g.add("Tanh", {g.in("a")})}));
  CHECK(applied<nothing>(g) == 0);
}

TEST_CASE("a rule may be a static constant of a function") {
  static constexpr auto local = fuse::rule<"local">(relu(exp(x))).replace(relu(x));
  static constexpr auto both = fuse::rule_set<inner, local>;
  sketch g;
  g.end(g.add("Relu", {g.add("Exp", {g.in("a")})}));
  CHECK(applied<both>(g) == 1);
}

TEST_CASE("one rule becomes a program for each dialect") {
  second::graph g;
  g.output(g.add("ramp", {g.add("power", {g.input("a", element_type::float32, {4}), g.scalar(2.0f)})}), "y");
  static constexpr auto squared = fuse::rule<"squared">(relu(square(x))).replace(x * x);
  CHECK(fuse::rewrite<squared>(g).applied() == 1);
  CHECK(ops(g) == "times");
}

}  // namespace program_rule_set
