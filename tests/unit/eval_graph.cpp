// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include <fuse/eval/graph.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace eval_graph {

namespace {

using fuse::dense;
using fuse::element_type;
using fuse::graph;

/// A graph and what is computed of its outputs; inputs are given by their places.
struct computed {
  fuse::dialect const& names = fuse::dialect_of<graph>;
  fuse::graph_binding<graph const> bound;
  fuse::detail::facts known;
  fuse::detail::graph_evaluation<fuse::graph_image, fuse::detail::facts> values;

  computed(graph const& g, std::vector<std::pair<graph::value, dense>> const& inputs, bool rounds = false)
      : bound(g, fuse::names_in(names), names.newest),
        known(bound.image, names),
        values(bound.image, known, names, rounds) {
    known.run();
    for (auto const& [v, contents] : inputs) values.give(bound.number(v), contents);
    values.run();
  }
  dense const* of(graph::value v) { return values.value(bound.number(v)); }
};

dense number(double x, element_type type = element_type::float32) { return {{}, {x}, type, {}}; }

}  // namespace

TEST_CASE("an If computes the body that its condition chooses, of values around it") {
  graph g;
  auto const x = g.input("x", element_type::float32, {}), condition = g.input("c", element_type::boolean, {});
  auto const outer = g.add("Abs", {x});
  auto const branch = g.append("If", {condition});
  g.append_to(g.add_body(branch, "then_branch"));
  g.output(g.add("Neg", {outer}), "z");
  g.append_to(g.add_body(branch, "else_branch"));
  g.output(g.add("Exp", {outer}), "z");
  g.append_to(graph::main_body);
  auto const y = g.add("Add", {g.result(branch), outer});
  g.output(y, "y");
  for (bool taken : {true, false}) {
    computed all(g, {{x, number(-2)}, {condition, number(taken, element_type::boolean)}});
    REQUIRE(all.of(y) != nullptr);
    CHECK(all.of(y)->elements[0] == Approx(taken ? 0 : 2 + 7.3890561));
  }
}

TEST_CASE("results are rounded to their types where that is asked for") {
  graph g;
  auto const x = g.input("x", element_type::float16, {});
  auto const sum = g.add("Add", {x, x}), y = g.add("Div", {sum, g.add("Add", {sum, x})});
  g.output(y, "y");
  std::vector<std::pair<graph::value, dense>> const inputs{{x, number(1, element_type::float16)}};
  CHECK(computed(g, inputs).of(y)->elements[0] == 2. / 3);
  CHECK(computed(g, inputs, true).of(y)->elements[0] == 0.66650390625);
}

TEST_CASE("what cannot be computed says why, and what depends on it is not") {
  graph g;
  auto const x = g.input("x", element_type::float32, {2});
  auto const odd = g.add("Oddity", {x}), below = g.add("Neg", {odd}), beside = g.add("Neg", {x});
  g.output(below, "below");
  g.output(beside, "beside");
  computed all(g, {{x, {{2}, {1, 2}, element_type::float32, {}}}});
  CHECK(all.of(below) == nullptr);
  CHECK(all.values.reason.find("Oddity") == 0);
  REQUIRE(all.of(beside) != nullptr);
  CHECK(all.of(beside)->elements == std::vector<double>{-1, -2});
}

}  // namespace eval_graph
