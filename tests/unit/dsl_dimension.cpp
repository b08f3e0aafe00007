// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_dimension {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto alpha = param<"alpha">;
constexpr auto s = scalar<"s">;
constexpr auto counted = fuse::rule<"counted">(tanh(tanh(x))).replace(op<"Max">(x, fold(1 / sqrt(dim<"x", -1>))));
constexpr auto plain = fuse::rule<"plain">(tanh(tanh(x))).replace(op<"Max">(x, dim<"x", 0>));
constexpr auto attribute =
    fuse::rule<"attribute">(tanh(tanh(x))).replace(op<"LeakyRelu">(x).attr<"alpha">(1 / dim<"x", 1>));
constexpr auto product = fuse::rule<"product">(op<"LeakyRelu">(x * s).attr<"alpha">(alpha))
                             .replace(op<"LeakyRelu">(x).attr<"alpha">(alpha * s + 1))
                             .at_equal_cost();
constexpr auto counts = fuse::rule<"counts">(tanh(tanh(x))).replace(op<"Softmax">(x).attr<"axis">(dim<"x", 0> / 2));

void twice(sketch& g, graph::dims const& shape) { g.end(g.add("Tanh", {g.add("Tanh", {g.in("x", shape)})})); }

}  // namespace

TEST_CASE("an extent stands where numbers do") {
  sketch g;
  twice(g, {4, 16});
  SECTION("in a fold") {
    CHECK(applied<counted>(g) == 1);
    CHECK(g.constant(g.operands(last(g))[1]).number(0) == 0.25);
  }
  SECTION("as a constant") {
    CHECK(applied<plain>(g) == 1);
    CHECK(g.constant(g.operands(last(g))[1]).number(0) == 4);
  }
  SECTION("in an attribute") {
    CHECK(applied<attribute>(g) == 1);
    CHECK(number(g, last(g), "alpha") == 0.0625);
  }
}

TEST_CASE("attributes are computed of what was captured") {
  sketch g;
  g.end(g.add("LeakyRelu", {g.add("Mul", {g.in("x"), g.scalar(3)})}, {{"alpha", 0.5}}));
  CHECK(applied<product>(g) == 1);
  CHECK(number(g, last(g), "alpha") == 2.5);
}

TEST_CASE("an attribute that counts is computed as an integer") {
  sketch g;
  SECTION("one that is") {
    twice(g, {2, 3, 4});
    CHECK(applied<counts>(g) == 1);
    CHECK(number(g, last(g), "axis") == 1);
  }
  SECTION("one that is not is refused") {
    twice(g, {3, 3, 4});
    CHECK(refusal<counts>(g) == "right side");
  }
}

TEST_CASE("an extent that is not known is refused") {
  sketch g;
  twice(g, {4, "n"});
  CHECK(refusal<counted>(g) == "right side");
}

TEST_CASE("an axis that the value does not have is refused") {
  sketch g;
  twice(g, {4});
  CHECK(refusal<attribute>(g) == "right side");
}

}  // namespace dsl_dimension
