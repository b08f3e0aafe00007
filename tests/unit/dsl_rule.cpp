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

TEST_CASE("a rule that begins as a better one does comes after those between them") {
  static constexpr auto best = fuse::rule<"best">(relu(tanh(exp(x)))).replace(op<"Sin">(x)).benefit(3);
  static constexpr auto better = fuse::rule<"better">(relu(x)).replace(op<"Cos">(x)).at_equal_cost().benefit(2);
  static constexpr auto good = fuse::rule<"good">(relu(tanh(x))).replace(op<"Sign">(x)).benefit(1);
  static constexpr auto all = fuse::rule_set<good, better, best>;
  CHECK(winner<all>() == "Tanh Cos");
}

TEST_CASE("... whichever part of a sum it finds first") {
  static constexpr auto sum_of_abs = abs(x) + var<"y">;
  static constexpr auto of_matrix =
      fuse::rule<"of-matrix">(sum_of_abs).where(rank<"x">(2)).replace(op<"Max">(x, var<"y">)).at_equal_cost();
  static constexpr auto of_row =
      fuse::rule<"of-row">(sum_of_abs).where(rank<"x">(1)).replace(op<"Min">(x, var<"y">)).at_equal_cost();
  static constexpr auto matrix_first = fuse::rule_set<of_matrix, of_row>;
  static constexpr auto row_first = fuse::rule_set<of_row, of_matrix>;
  bool const turned = GENERATE(false, true);
  auto const sum = [&] {
    sketch g;
    auto const matrix = g.add("Abs", {g.in("a", {4, 8})}), row = g.add("Abs", {g.in("b", {8})});
    g.end(turned ? g.add("Add", {row, matrix}) : g.add("Add", {matrix, row}));
    return g;
  };
  auto first = sum(), second = sum();
  CHECK(applied<matrix_first>(first) >= 1);
  CHECK(applied<row_first>(second) >= 1);
  CHECK(ops(first) == "Abs Max");
  CHECK(ops(second) == "Abs Min");
}

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

namespace {

constexpr auto chain = fuse::rule<"tidy">(relu(tanh(exp(x))));
constexpr auto dear = chain.replace(op<"Max">(x, x, x, x, x, x, x, x));
constexpr auto flat = chain.where(rank<"x">(2)).replace(relu(x));
constexpr auto dear_quiet = dear.quiet(), flat_quiet = flat.quiet();

sketch above(std::string_view innermost, graph::dims const& shape = {64, 64}) {
  sketch g;
  g.end(g.add("Relu", {g.add("Tanh", {g.add(innermost, {g.in("a", shape)})})}));
  return g;
}

// Checks for what the rule "tidy" is refused, and how often it matched.
template <auto const& Rules>
void check_tidy(sketch g, std::string_view why, std::size_t matched) {
  auto const report = fuse::rewrite<Rules>(g);
  INFO(to_text(report));
  CHECK(refused(report, "tidy") == why);
  CHECK(report.rule("tidy")->matched == matched);
}

}  // namespace

TEST_CASE("a quiet rule says why it was refused where its pattern is, and nothing of near misses") {
  check_tidy<dear>(above("Exp"), "cost", 1);
  check_tidy<dear_quiet>(above("Exp"), "cost", 1);
  check_tidy<flat>(above("Exp", {2, 4, 8}), "the rank", 0);
  check_tidy<flat_quiet>(above("Exp", {2, 4, 8}), "the rank", 0);
  check_tidy<dear>(above("Sin"), "another operator", 0);
  check_tidy<dear_quiet>(above("Sin"), "", 0);
}

TEST_CASE("a quiet rule says nothing of what another rule has rewritten since") {
  static constexpr auto later = fuse::rule<"later">(tanh(exp(x))).replace(op<"Sin">(x)).stage(1);
  static constexpr auto loud = fuse::rule_set<dear, later>;
  static constexpr auto quiet = fuse::rule_set<dear_quiet, later>;
  check_tidy<loud>(above("Exp"), "cost", 1);
  check_tidy<quiet>(above("Exp"), "", 0);
  check_tidy<quiet>(above("Sin"), "", 0);
}

TEST_CASE("a quiet rule does not repeat what another rule said of a condition") {
  static constexpr auto first = fuse::rule<"first">(relu(tanh(x))).where(rank<"x">(2)).replace(abs(x));
  static constexpr auto both = fuse::rule_set<first, flat_quiet>;
  check_tidy<both>(above("Exp", {2, 4, 8}), "", 0);
}

}  // namespace dsl_rule
