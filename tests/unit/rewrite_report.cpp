// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_report {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto one = fuse::rule<"one">(relu(tanh(x))).where(rank<"x">(2)).replace(relu(x));

// Whether a value has all rows, all columns.
constexpr auto rows = [](auto v) { return v.shape()[0] == fuse::extent(4); };
constexpr auto columns = [](auto v) { return v.shape()[1] == fuse::extent(8); };

}  // namespace

TEST_CASE("a report counts, names the node and the reason") {
  sketch g;
  auto const refused_at = g.add("Relu", {g.add("Tanh", {g.in("b", {2, 4, 8})})});
  g.rename(g.producer(refused_at), "block/act");
  g.output(g.add("Relu", {g.add("Tanh", {g.in("a")})}), "y");
  g.output(refused_at, "z");
  auto const report = fuse::rewrite<one>(g);
  REQUIRE(report.rule("one") != nullptr);
  CHECK(report.rule("two") == nullptr);
  CHECK(report.rule("one")->matched == 1);
  CHECK(report.rule("one")->applied == 1);
  CHECK(report.applied() == 1);
  CHECK(report.nodes_before == 4);
  CHECK(report.nodes_after == 3);
  REQUIRE(report.rule("one")->refused.size() == 1);
  auto const& why = report.rule("one")->refused[0];
  CHECK(why.node == "block/act");
  CHECK(why.condition == "the rank");
  CHECK(why.reason.find("(x)") != std::string::npos);
}

TEST_CASE("the text has a line for each rule, each refusal and the nodes") {
  sketch g;
  g.end(g.add("Relu", {g.add("Tanh", {g.in("b", {2, 4, 8})})}));
  auto const text = to_text(fuse::rewrite<one>(g));
  CHECK(text.find("one: matched 0, applied 0, refused 1\n") != std::string::npos);
  CHECK(text.find("  not at ") != std::string::npos);
  CHECK(text.find("nodes: 2 before, 2 after\n") != std::string::npos);
}

TEST_CASE("the JSON is one object, with every text escaped") {
  fuse::rewrite_report report;
  report.rules.push_back({"a", 2, 1, {{"n\"1\\\n", "c", "r"}}});
  report.nodes_before = 5;
  report.nodes_after = 3;
  report.notes = {"first", "second"};
  CHECK(
      to_json(report) ==
      R"({"error":"","rules":[{"name":"a","matched":2,"applied":1,"refused":[{"node":"n\"1\\\u000a","reason":"r","condition":"c"}]}],)"
      R"("nodes":{"before":5,"after":3},"notes":["first","second"]})");
}

TEST_CASE("a place that is looked at again counts once, and not for a rule whose place another one takes") {
  static constexpr auto vetoed = fuse::rule<"vetoed">(relu(x)).replace(abs(x)).at_equal_cost();
  static constexpr auto inner = fuse::rule<"inner">(tanh(exp(x))).replace(op<"Sin">(x));
  static constexpr auto taker = fuse::rule<"taker">(relu(exp(x))).replace(op<"Cos">(x));
  static constexpr auto all = fuse::rule_set<vetoed, inner, taker>;
  fuse::rewrite_options options;
  options.veto = [](void*, std::string_view name, fuse::rewrite_cost const&) { return name == "vetoed"; };
  sketch g;
  g.output(g.add("Relu", {g.add("Tanh", {g.add("Exp", {g.in("a")})})}), "y");
  g.output(g.add("Relu", {g.add("Exp", {g.in("b")})}), "z");
  auto const report = fuse::rewrite<all>(g, options);
  CHECK(ops(g) == "Sin Relu Cos");
  CHECK(report.rule("vetoed")->matched == 1);
  CHECK(refused(report, "vetoed") == "veto");
  for (auto const* rule : {"inner", "taker"}) {
    CHECK(report.rule(rule)->matched == 1);
    CHECK(report.rule(rule)->applied == 1);
  }
}

TEST_CASE("where a rule takes a part of what it was refused for, nothing is told; where another one takes it, it is") {
  static constexpr auto scaled = fuse::rule<"scaled">(tanh(exp(x)) * rest<"scale">)
                                     .where(row_vector<"scale", "x">)
                                     .replace(op<"Sin">(x) * rest<"scale">);
  static constexpr auto plain = fuse::rule<"plain">(tanh(exp(x))).replace(op<"Sin">(x)).stage(1);
  static constexpr auto not_empty = fuse::rule<"scaled">(tanh(exp(x)) * rest<"scale">.not_empty())
                                        .where(row_vector<"scale", "x">)
                                        .replace(op<"Sin">(x) * rest<"scale">);
  static constexpr auto both = fuse::rule_set<not_empty, plain>;
  sketch g;
  g.end(g.add("Mul", {g.add("Tanh", {g.add("Exp", {g.in("a", {4, 8})})}), g.in("b", {4, 8})}));
  auto h = g;
  auto const by_itself = fuse::rewrite<scaled>(g);
  CAPTURE(to_text(by_itself), to_text(g));
  CHECK(by_itself.rule("scaled")->applied == 1);
  CHECK(refused(by_itself, "scaled") == "");
  auto const by_another = fuse::rewrite<both>(h);
  CAPTURE(to_text(by_another), to_text(h));
  CHECK(by_another.rule("plain")->applied == 1);
  CHECK(refused(by_another, "scaled") == "one row over the normalised axes");
}

TEST_CASE("a place counts once in however many ways it matches, and each requirement that refused one is told") {
  static constexpr auto dear = fuse::rule<"dear">(op<"Sum">(x, rest<"others">))
                                   .where<"not b">(pred<"x">([](auto v) { return rows(v) || !columns(v); }))
                                   .where<"not c">(pred<"x">([](auto v) { return !rows(v) || columns(v); }))
                                   .replace(relu(abs(x)));
  sketch g;
  g.end(g.add("Sum", {g.in("a", {4, 8}), g.in("b", {1, 8}), g.in("c", {4, 1}), g.in("d", {1, 1})}));
  auto const report = fuse::rewrite<dear>(g);
  CAPTURE(to_text(report));
  CHECK(report.rule("dear")->matched == 1);
  CHECK(refused(report, "dear") == "cost, not b, not c, shape and element type");
}

}  // namespace rewrite_report
