// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_options {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto one = fuse::rule<"one">(relu(tanh(x))).replace(relu(x));
constexpr auto two = fuse::rule<"two">(abs(tanh(x))).replace(relu(x));
constexpr auto both = fuse::rule_set<one, two>;

sketch two_places() {
  sketch g;
  g.output(g.add("Relu", {g.add("Tanh", {g.in("a")})}), "y");
  g.output(g.add("Abs", {g.add("Tanh", {g.in("b")})}), "z");
  return g;
}

}  // namespace

TEST_CASE("rules are selected and left out by name") {
  auto g = two_places();
  fuse::rewrite_options options;
  SECTION("only one") {
    options.only = {"one"};
    CHECK(applied<both>(g, options) == 1);
    CHECK(ops(g) == "Relu Tanh Abs");
  }
  SECTION("all but one") {
    options.except = {"one"};
    CHECK(applied<both>(g, options) == 1);
    CHECK(ops(g) == "Tanh Relu Relu");
  }
  SECTION("one, but not that one") {
    options.only = options.except = {"one"};
    CHECK(applied<both>(g, options) == 0);
  }
}

TEST_CASE("a name that no rule has is an error that lists the names") {
  auto g = two_places();
  auto const before = to_text(g);
  fuse::rewrite_options options;
  SECTION("only") { options.only = {"three"}; }
  SECTION("except") { options.except = {"three"}; }
  auto const report = fuse::rewrite<both>(g, options);
  CHECK(report.error.find("'three'") != std::string::npos);
  CHECK(report.error.find("one two") != std::string::npos);
  CHECK(to_text(report).substr(0, 6) == "error:");
  CHECK(to_text(g) == before);
}

TEST_CASE("the caller's veto is asked with the cost and obeyed") {
  struct asked {
    int times = 0;
    double removed = 0, added = 0;
  } seen;
  auto g = two_places();
  fuse::rewrite_options options;
  options.veto_context = &seen;
  options.veto = [](void* context, std::string_view rule, fuse::rewrite_cost const& cost) {
    auto& to = *static_cast<asked*>(context);
    ++to.times;
    to.removed = cost.removed;
    to.added = cost.added;
    return rule == "one";
  };
  auto const report = fuse::rewrite<both>(g, options);
  CHECK(report.rule("two")->applied == 1);
  CHECK(report.rule("one")->applied == 0);
  CHECK(refused(report, "one").find("veto") != std::string::npos);
  CHECK(seen.times == 2);
  CHECK(seen.removed > seen.added);
}

TEST_CASE("an observer sees phases, progress and what is applied") {
  struct seen_by_observer {
    std::vector<std::string> applied, phases;
  } seen;
  auto g = two_places();
  fuse::rewrite_options options;
  options.observer.context = &seen;
  options.observer.applied = [](void* context, std::string_view rule, std::string_view) {
    static_cast<seen_by_observer*>(context)->applied.emplace_back(rule);
  };
  options.observer.phase = [](void* context, std::string_view name) {
    static_cast<seen_by_observer*>(context)->phases.emplace_back(name);
  };
  CHECK(applied<both>(g, options) == 2);
  CHECK(seen.applied == std::vector<std::string>{"two", "one"});
  REQUIRE_FALSE(seen.phases.empty());
  CHECK(seen.phases.front() == "shapes");
}

TEST_CASE("progress of a long run is told, and comes to its end") {
  struct counter {
    int calls = 0;
    std::size_t total = 0;
  } seen;
  sketch g;
  auto v = g.in("a", {4});
  for (int i = 0; i < 10'000; ++i) v = g.add("Sin", {v});
  g.end(v);
  fuse::rewrite_options options;
  options.observer.context = &seen;
  options.observer.progress = [](void* context, int, std::size_t done, std::size_t total) {
    auto& to = *static_cast<counter*>(context);
    ++to.calls;
    to.total = total;
    CHECK(done <= total);
  };
  CHECK(applied<both>(g, options) == 0);
  CHECK(seen.calls >= 2);
  CHECK(seen.total == 10'000);
}

TEST_CASE("a graph without shapes is rewritten on trust alone") {
  static constexpr auto narrower = fuse::rule<"narrower">(abs(tanh(matmul(x, var<"w">)))).replace(relu(x));
  sketch g;
  g.end(g.add(
      "Abs",
      {g.add("Tanh", {g.add("MatMul", {g.input("a", element_type::float32), g.input("b", element_type::float32)})})}));
  CHECK(refusal<narrower>(g) == "shape and element type");
  fuse::rewrite_options options;
  options.trust_shapes = true;
  CHECK(applied<narrower>(g, options) == 1);
}

TEST_CASE("trust covers what is not known, not what is known to be wrong") {
  static constexpr auto narrower = fuse::rule<"narrower">(abs(tanh(matmul(x, var<"w">)))).replace(relu(x));
  sketch g;
  g.end(g.add("Abs", {g.add("Tanh", {g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 5})})})}));
  fuse::rewrite_options options;
  options.trust_shapes = true;
  CHECK(refusal<narrower>(g, options) == "shape and element type");
}

}  // namespace rewrite_options
