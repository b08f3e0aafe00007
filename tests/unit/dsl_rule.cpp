// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_rule {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto pattern = relu(tanh(x));
constexpr auto plain = fuse::rule<"plain">(pattern).replace(relu(x));

static_assert(plain.name == "plain");
static_assert(plain.condition_count == 0 && plain.stage_number == 0);
static_assert(plain.where(rank<"x">(2), floating<"x">).condition_count == 2);
static_assert(plain.where<"mine">(rank<"x">(2)).conditions[0].name == "mine");

}  // namespace

namespace {

constexpr auto to_sin = fuse::rule<"to-sin">(pattern).replace(op<"Sin">(x));
constexpr auto to_cos = fuse::rule<"to-cos">(pattern).replace(op<"Cos">(x));
constexpr auto better_cos = to_cos.benefit(1);
constexpr auto late_sin = to_sin.stage(1).benefit(9);
constexpr auto high_rank_sin = to_sin.where(rank<"x">(3)).benefit(2);

constexpr auto in_order = fuse::rule_set<to_sin, to_cos>;
constexpr auto in_other_order = fuse::rule_set<to_cos, to_sin>;
constexpr auto by_benefit = fuse::rule_set<to_sin, better_cos>;
constexpr auto by_stage = fuse::rule_set<late_sin, to_cos>;
constexpr auto fallback = fuse::rule_set<high_rank_sin, to_cos>;

template <auto const& Rules>
std::string winner() {
  sketch g;
  g.end(g.add("Relu", {g.add("Tanh", {g.in("a")})}));
  CHECK(applied<Rules>(g) == 1);
  return ops(g);
}

}  // namespace

TEST_CASE("of rules that match at one node the order of the set decides") {
  CHECK(winner<in_order>() == "Sin");
  CHECK(winner<in_other_order>() == "Cos");
}

TEST_CASE("a higher benefit comes before the order of the set") { CHECK(winner<by_benefit>() == "Cos"); }

TEST_CASE("a lower stage comes before a higher benefit") { CHECK(winner<by_stage>() == "Cos"); }

TEST_CASE("where the better rule is refused, the next one may apply") { CHECK(winner<fallback>() == "Cos"); }

TEST_CASE("a stage is done everywhere before the next one begins") {
  static constexpr auto inner = fuse::rule<"inner">(relu(tanh(x))).replace(op<"Sin">(x));
  static constexpr auto outer = fuse::rule<"outer">(abs(op<"Sin">(x))).replace(op<"Cos">(x)).stage(1);
  static constexpr auto both = fuse::rule_set<outer, inner>;
  sketch g;
  g.end(g.add("Abs", {g.add("Relu", {g.add("Tanh", {g.in("a")})})}));
  CHECK(applied<both>(g) == 2);
  CHECK(ops(g) == "Cos");
}

TEST_CASE("conditions add up, and each is named when it fails") {
  static constexpr auto narrow =
      plain.where(rank<"x">(2)).where<"a small one">(pred<"x">([](auto v) { return v.shape()[0] == fuse::extent(4); }));
  for (auto [rows, depth, why] : {std::tuple{4, 2, ""}, {4, 3, "the rank"}, {5, 2, "a small one"}}) {
    sketch g;
    auto const shape = depth == 2 ? graph::dims{rows, 8} : graph::dims{rows, 8, 8};
    g.end(g.add("Relu", {g.add("Tanh", {g.in("a", shape)})}));
    if (std::string_view(why).empty())
      CHECK(applied<narrow>(g) == 1);
    else
      CHECK(refusal<narrow>(g) == why);
  }
}

}  // namespace dsl_rule
