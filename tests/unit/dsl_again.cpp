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
