// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_report {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto one = fuse::rule<"one">(relu(tanh(x))).where(rank<"x">(2)).replace(relu(x));

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

}  // namespace rewrite_report
