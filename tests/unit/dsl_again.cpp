// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_again {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto inner =
    fuse::rule<"inner">(abs(op<"Conv">(x, w).as<"layer">())).replace(again<"layer">(x, w)).at_equal_cost();
constexpr auto itself =
    fuse::rule<"itself">(op<"LeakyRelu">(abs(x)).as<"root">()).replace(again<"root">(x)).at_equal_cost();
constexpr auto looked_through = fuse::rule<"looked-through">(abs(tanh(x).as<"curve">()))
                                    .through<"Identity">()
                                    .replace(again<"curve">(x))
                                    .at_equal_cost();
constexpr auto sliced =
    fuse::rule<"sliced">(op<"Slice">(abs(x)).as<"part">()).replace(abs(again<"part">(x))).at_equal_cost();
constexpr auto scanned = fuse::rule<"scanned">(abs(op<"If">(x).as<"choice">())).replace(again<"choice">(x));

}  // namespace

TEST_CASE("an operator stands again with all of its attributes") {
  sketch g;
  auto const y = g.add(
      "Conv", {g.in("x", {1, 2, 8}), g.in("w", {3, 2, 3})},
      {{"pads", std::vector<std::int64_t>{1, 1}}, {"dilations", std::vector<std::int64_t>{1}}, {"auto_pad", "NOTSET"}});
  g.end(g.add("Abs", {y}));
  CHECK(applied<inner>(g) == 1);
  CHECK(ops(g) == "Conv");
  CHECK(std::get<std::vector<std::int64_t>>(g.attribute(last(g), "pads")->content) == std::vector<std::int64_t>{1, 1});
  CHECK(std::get<std::string>(g.attribute(last(g), "auto_pad")->content) == "NOTSET");
  CHECK(g.attribute(last(g), "strides") == nullptr);
}

TEST_CASE("the root stands again on other operands") {
  sketch g;
  g.end(g.add("LeakyRelu", {g.add("Abs", {g.in("x")})}, {{"alpha", 0.25}}));
  CHECK(applied<itself>(g) == 1);
  CHECK(ops(g) == "LeakyRelu");
  CHECK(number(g, last(g), "alpha") == 0.25);
}

TEST_CASE("operands that are parameters stay") {
  sketch g;
  auto const of = g.add("Abs", {g.in("x", {4, 8})});
  g.end(g.add("Slice",
              {of, g.constant({std::int64_t{1}}), g.constant({std::int64_t{3}}), g.constant({std::int64_t{1}})}));
  CHECK(applied<sliced>(g) == 1);
  CHECK(ops(g) == "Slice Abs");
}

TEST_CASE("an operator stands again with all of its results") {
  static constexpr auto best =
      fuse::rule<"best">(result<0>(op<"TopK">(abs(x))).as<"top">() + w).replace(result<0>(again<"top">(x)) + w);
  static constexpr auto half =
      fuse::rule<"half">(result<0>(op<"Split">(abs(x))).as<"half">() + w).replace(result<0>(again<"half">(x)) + w);
  static constexpr auto third =
      fuse::rule<"third">(result<0>(op<"Split">(abs(x))).as<"half">() + w).replace(result<2>(again<"half">(x)) + w);
  auto const graph_of = [](char const* op, fuse::graph::dims const& extents) {
    sketch g(13);
    auto const list = extents.size() == 1 ? g.constant({3}) : g.constant({4, 4});
    auto const n = g.append(op, {g.add("Abs", {g.in("x")}), list}, {{"axis", -1}}, 2);
    g.end(g.add("Add", {g.result(n), g.in("w", {1, 1})}));
    return g;
  };
  auto const results_of = [](sketch const& g, char const* op) {
    for (auto const n : g.nodes())
      if (g.op(n) == op) return g.results(n).size();
    return std::size_t{0};
  };
  auto g = graph_of("TopK", {3});
  CHECK(applied<best>(g) == 1);
  CHECK(results_of(g, "TopK") == 2);
  auto h = graph_of("Split", {4, 4});
  CHECK(applied<half>(h) == 1);
  CHECK(results_of(h, "Split") == 2);
  auto k = graph_of("Split", {4, 4});
  CHECK(applied<third>(k) == 0);
}

TEST_CASE("what is looked through above an operator is not it") {
  sketch g;
  g.end(g.add("Abs", {g.add("Identity", {g.add("Tanh", {g.in("x")})})}));
  auto const left = applied<looked_through>(g);
  CHECK((left == 0 || ops(g) == "Tanh"));
}

TEST_CASE("an operator of which not all is known does not stand again") {
  sketch g;
  g.end(g.add("Abs", {g.add("If", {g.in("c", {}, element_type::boolean)})}));
  CHECK(applied<scanned>(g) == 0);
}

}  // namespace dsl_again
