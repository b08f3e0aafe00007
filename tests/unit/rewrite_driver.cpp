// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_driver {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;

}  // namespace

TEST_CASE("what a rewrite makes may match again") {
  static constexpr auto shorter = fuse::rule<"shorter">(relu(relu(x))).replace(relu(x));
  sketch g;
  auto v = g.in("a");
  for (int i = 0; i < 6; ++i) v = g.add("Relu", {v});
  g.end(v);
  CHECK(applied<shorter>(g) == 5);
  CHECK(ops(g) == "Relu");
}

TEST_CASE("a larger match comes before the smaller one inside it") {
  static constexpr auto small = fuse::rule<"small">(tanh(exp(x))).replace(relu(x));
  static constexpr auto large = fuse::rule<"large">(abs(tanh(exp(x)))).replace(op<"Sin">(x));
  static constexpr auto both = fuse::rule_set<small, large>;
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.add("Exp", {g.in("a")})})}));
  CHECK(applied<both>(g) == 1);
  CHECK(ops(g) == "Sin");
}

TEST_CASE("a rewrite that saves nothing is not made, and says so") {
  static constexpr auto idle = fuse::rule<"idle">(abs(x)).replace(relu(x));
  static constexpr auto growing = fuse::rule<"growing">(tanh(x)).replace(relu(abs(x)));
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.in("a")})}));
  auto h = g;
  CHECK(refusal<idle>(g) == "cost");
  CHECK(refusal<growing>(h) == "cost");
}

TEST_CASE("rules that undo each other do not run for ever") {
  static constexpr auto there = fuse::rule<"there">(abs(x)).replace(relu(x)).at_equal_cost();
  static constexpr auto back = fuse::rule<"back">(relu(x)).replace(abs(x)).at_equal_cost();
  static constexpr auto both = fuse::rule_set<there, back>;
  sketch g;
  g.end(g.add("Abs", {g.in("a")}));
  auto const report = fuse::rewrite<both>(g);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].find("there") != std::string::npos);
  CHECK(report.notes[0].find("back") != std::string::npos);
}

TEST_CASE("two matches that share what they compute both apply") {
  static constexpr auto pair = fuse::rule<"pair">(abs(tanh(exp(x)))).replace(relu(x));
  sketch g;
  auto const t = g.add("Tanh", {g.add("Exp", {g.in("a")})});
  g.output(g.add("Abs", {t}), "y");
  g.output(g.add("Abs", {t}), "z");
  CHECK(applied<pair>(g) == 2);
  CHECK(ops(g) == "Relu Relu");
}

TEST_CASE("changes come from the rewriter: a rule that reproduces its match is not applied") {
  static constexpr auto same = fuse::rule<"same">(abs(tanh(x))).replace(abs(tanh(x)));
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.in("a")})}));
  auto const before = to_text(g);
  CHECK(applied<same>(g) == 0);
  CHECK(to_text(g) == before);
}

TEST_CASE("so it is where several operators are reproduced, or operands of one that commutes take turns") {
  static constexpr auto y = var<"y">;
  static constexpr auto several = fuse::rule<"several">(tanh(abs(x) * y)).replace(tanh(y * abs(x))).at_equal_cost();
  static constexpr auto ends =
      fuse::rule<"ends">(roots(exp(abs(x)), tanh(abs(x)))).replace(exp(abs(x)), tanh(abs(x))).at_equal_cost();
  static constexpr auto other = fuse::rule<"other">(abs(tanh(x) - y)).replace(abs(y - tanh(x))).at_equal_cost();
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  SECTION("several") {
    g.end(g.add("Tanh", {g.add("Mul", {g.add("Abs", {a}), b})}));
    CHECK(refusal<several>(g) == "");
  }
  SECTION("several results") {
    auto const magnitude = g.add("Abs", {a});
    g.output(g.add("Exp", {magnitude}), "z");
    g.end(g.add("Tanh", {magnitude}));
    CHECK(refusal<ends>(g) == "");
  }
  SECTION("but not those of one that does not commute") {
    g.end(g.add("Abs", {g.add("Sub", {g.add("Tanh", {a}), b})}));
    CHECK(applied<other>(g) == 1);
  }
}

TEST_CASE("what a later stage makes is taken by an earlier one: a second run has nothing to do") {
  static constexpr auto early = fuse::rule<"early">(relu(tanh(x))).replace(op<"Sigmoid">(x));
  static constexpr auto late = fuse::rule<"late">(abs(abs(x))).replace(tanh(x)).stage(1);
  static constexpr auto both = fuse::rule_set<early, late>;
  sketch g;
  g.end(g.add("Relu", {g.add("Abs", {g.add("Abs", {g.in("a")})})}));
  CHECK(applied<both>(g) == 2);
  CHECK(ops(g) == "Sigmoid");
  CHECK(applied<both>(g) == 0);
}

TEST_CASE("what others shared is cheaper once they are gone: a second run has nothing to do") {
  static constexpr auto dear = fuse::rule<"dear">(abs(tanh(exp(x)))).replace(op<"Max">(x, x, x, x));
  static constexpr auto other = fuse::rule<"other">(op<"Sin">(tanh(exp(x)))).replace(relu(x));
  bool const late = GENERATE(false, true), first = GENERATE(false, true);
  INFO("in a later stage " << late << ", visited first " << first);
  sketch g;
  auto const t = g.add("Tanh", {g.add("Exp", {g.in("a", {64, 64})})});
  if (first) g.output(g.add("Sin", {t}), "y");
  g.output(g.add("Abs", {t}), "z");
  if (!first) g.output(g.add("Sin", {t}), "y");
  auto const check = [&]<auto const & Rules>() {
    auto const report = fuse::rewrite<Rules>(g);
    CHECK(report.rule("dear")->matched == 1);
    CHECK(report.rule("dear")->applied == 1);
    CHECK(report.rule("dear")->refused.empty());
    CHECK(applied<Rules>(g) == 0);
  };
  static constexpr auto later = fuse::rule<"other">(op<"Sin">(tanh(exp(x)))).replace(relu(x)).stage(1);
  static constexpr auto together = fuse::rule_set<dear, other>;
  static constexpr auto apart = fuse::rule_set<dear, later>;
  late ? check.template operator()<apart>() : check.template operator()<together>();
  CHECK(ops(g) == (first ? "Relu Max" : "Max Relu"));
}

TEST_CASE("rules that are too dear in several ways at one node count once each, also where they take turns") {
  static constexpr auto y = var<"y">;
  static constexpr auto dear = fuse::rule<"dear">(tanh(x) + y).replace(op<"Max">(x, y, x, y, x, y));
  static constexpr auto as_dear = fuse::rule<"as dear">(tanh(x) + y).replace(op<"Min">(x, y, x, y, x, y));
  static constexpr auto elsewhere = fuse::rule<"elsewhere">(op<"Sin">(exp(x))).replace(relu(x)).stage(1);
  static constexpr auto all = fuse::rule_set<dear, as_dear, elsewhere>;
  sketch g;
  g.output(g.add("Add", {g.add("Tanh", {g.in("a", {64, 64})}), g.add("Tanh", {g.in("b", {64, 64})})}), "y");
  g.output(g.add("Sin", {g.add("Exp", {g.in("c", {64, 64})})}), "z");
  auto const report = fuse::rewrite<all>(g);
  CHECK(report.rule("elsewhere")->applied == 1);
  for (auto const* name : {"dear", "as dear"}) {
    CHECK(report.rule(name)->matched == 1);
    CHECK(refused(report, name) == "cost");
  }
}

TEST_CASE("what stays shared stays too dear, and is told once") {
  static constexpr auto dear = fuse::rule<"dear">(abs(tanh(exp(x)))).replace(op<"Max">(x, x, x, x));
  static constexpr auto elsewhere = fuse::rule<"elsewhere">(op<"Sin">(relu(x))).replace(relu(x));
  static constexpr auto both = fuse::rule_set<dear, elsewhere>;
  sketch g;
  auto const t = g.add("Tanh", {g.add("Exp", {g.in("a", {64, 64})})});
  g.output(g.add("Sin", {g.add("Relu", {t})}), "y");
  g.output(g.add("Abs", {t}), "z");
  auto const report = fuse::rewrite<both>(g);
  CHECK(report.rule("dear")->matched == 1);
  CHECK(refused(report, "dear") == "cost");
  CHECK(ops(g) == "Exp Tanh Relu Abs");
}

TEST_CASE("what becomes one computation far below a pattern is seen in it") {
  static constexpr auto y = var<"y">;
  static constexpr auto shorter = fuse::rule<"shorter">(abs(-x)).replace(abs(x));
  static constexpr auto twice = fuse::rule<"twice">(exp(y) * sigmoid(y)).replace(relu(y));
  static constexpr auto set = fuse::rule_set<shorter, twice>;
  for (int depth : {0, 1, 5}) {
    sketch g;
    auto const a = g.in("a");
    auto u = g.add("Abs", {g.add("Neg", {a})}), v = g.add("Abs", {a});
    for (int i = 0; i < depth; ++i) u = g.add("Tanh", {u}), v = g.add("Tanh", {v});
    g.end(g.add("Mul", {g.add("Exp", {u}), g.add("Sigmoid", {v})}));
    CHECK(applied<set>(g) == 2);
    CHECK(ops(g).substr(0, 3) == "Abs");
    CHECK(ops(g).substr(ops(g).size() - 4) == "Relu");
  }
}

TEST_CASE("what becomes a constant far below a pattern is seen in it") {
  static constexpr auto turned = fuse::rule<"turned">(op<"Transpose">(var<"w">))
                                     .where(is_constant<"w">)
                                     .replace(fold(op<"Transpose">(var<"w">).attr<"perm">(list(1, 0))));
  static constexpr auto of_constant = fuse::rule<"of-constant">(abs(tanh(op<"MatMul">(x, var<"w">))))
                                          .where(is_constant<"w">)
                                          .replace(matmul(x, var<"w">));
  static constexpr auto both = fuse::rule_set<turned, of_constant>;
  sketch g;
  auto const w = g.add("Transpose", {g.constant(fuse::make_tensor<float>({2, 1}, std::vector<float>{1, 2}))});
  g.end(g.add("Abs", {g.add("Tanh", {g.add("MatMul", {g.in("a", {2, 1}), w})})}));
  CHECK(applied<both>(g) == 2);
  CHECK(ops(g) == "MatMul");
}

TEST_CASE("what becomes a number far below a pattern is seen in it") {
  static constexpr auto turned = op<"Transpose">(x).attr<"perm">(list(1, 0));
  static constexpr auto back = fuse::rule<"back">(op<"Transpose">(turned).attr<"perm">(list(1, 0))).replace(x);
  static constexpr auto scaled =
      fuse::rule<"scaled">(x * scalar<"s">).replace(op<"LeakyRelu">(x).attr<"alpha">(scalar<"s">)).at_equal_cost();
  static constexpr auto both = fuse::rule_set<back, scaled>;
  sketch g;
  auto const turn = [&](graph::value v) {
    return g.add("Transpose", {v}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  };
  double const four[] = {4};
  auto const number = turn(turn(g.constant(fuse::make_tensor(element_type::float32, {1, 1}, four))));
  g.end(g.add("Mul", {g.in("a"), g.add("Sqrt", {number})}));
  CHECK(applied<both>(g) == 2);
  CHECK(rewriting::number(g, last(g), "alpha") == 2);
}

TEST_CASE("what becomes one value far below a pattern is seen in it") {
  static constexpr auto y = var<"y">;
  static constexpr auto nothing = fuse::rule<"nothing">(log(exp(x))).replace(x);
  static constexpr auto twice = fuse::rule<"twice">(exp(y) * sigmoid(y)).replace(relu(y));
  static constexpr auto set = fuse::rule_set<nothing, twice>;
  for (int depth : {0, 1, 5}) {
    sketch g;
    auto u = g.in("a"), v = g.add("Log", {g.add("Exp", {u})});
    for (int i = 0; i < depth; ++i) u = g.add("Tanh", {u}), v = g.add("Tanh", {v});
    g.end(g.add("Mul", {g.add("Exp", {u}), g.add("Sigmoid", {v})}));
    CHECK(applied<set>(g) == 2);
    CHECK(ops(g).substr(ops(g).size() - 4) == "Relu");
  }
}

TEST_CASE("what becomes a match below operators that are looked through is seen through them, filtered or not") {
  static constexpr auto shorter = fuse::rule<"shorter">(abs(abs(sum(x)))).replace(sum(x).attr<"axes">(param<"axes">));
  static constexpr auto all = fuse::rule<"all">(tanh(x / sum(x))).replace(relu(x));
  static constexpr auto set = fuse::rule_set<shorter, all>;
  for (bool const filter : {true, false})
    for (int pairs : {0, 1, 3}) {
      sketch g;
      auto const a = g.in("a", {2, 3, 4});
      auto v = g.add("Abs", {g.add("Abs", {g.add("ReduceSum", {a, g.constant({std::int64_t{-1}})})})});
      for (int i = 0; i < pairs; ++i) {
        v = g.add("Unsqueeze", {v, g.constant({std::int64_t{1}})});
        v = g.add("Squeeze", {v, g.constant({std::int64_t{1}})});
      }
      g.end(g.add("Tanh", {g.add("Div", {a, v})}));
      fuse::rewrite_options options;
      options.filter = filter;
      CHECK(applied<set>(g, options) == 2);
      CHECK(ops(g) == "Relu");
    }
}

}  // namespace rewrite_driver
