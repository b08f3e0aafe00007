// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstdint>

namespace dsl_part {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto swapped = fuse::rule<"swapped">(op<"Concat">(part<"d", 1, 2>(x), part<"d", 0, 2>(x)).attr<"axis">(-1))
                             .replace(op<"LeakyRelu">(x).attr<"alpha">(dim<"d">));
constexpr auto apart = fuse::rule<"apart">(tanh(part<"d", 0, 2, 2>(x) + part<"d", 1, 2, 2>(x)))
                           .replace(op<"Max">(part<"d", 0, 2, 2>(x), part<"d", 1, 2, 2>(x)))
                           .at_equal_cost();
constexpr auto middle =
    fuse::rule<"middle">(tanh(part<"d", 1, 3>(x))).replace(relu(part<"d", 1, 3>(x))).at_equal_cost();

graph::value cut(sketch& g, graph::value v, std::int64_t from, std::int64_t to, std::int64_t step = 1) {
  std::int64_t const axis = -1;
  return g.add("Slice", {v, g.constant({from}), g.constant({to}), g.constant({axis}), g.constant({step})});
}
graph::value sum(sketch& g, graph::value a, graph::value b) { return g.add("Tanh", {g.add("Add", {a, b})}); }
graph::value join(sketch& g, graph::value a, graph::value b, int axis = -1) {
  return g.add("Concat", {a, b}, {{"axis", axis}});
}

}  // namespace

TEST_CASE("halves match however they are cut") {
  sketch g;
  auto const v = g.in("x", {"n", 3, 8});
  SECTION("by slices") { g.end(join(g, cut(g, v, 4, 8), cut(g, v, 0, 4))); }
  SECTION("from the end, beyond the end") { g.end(join(g, cut(g, v, -4, 1000), cut(g, v, -8, -4))); }
  SECTION("by a split") {
    auto const halves = g.append("Split", {v, g.constant({4, 4})}, {{"axis", 2}}, 2);
    g.end(join(g, g.result(halves, 1), g.result(halves, 0), 2));
  }
  SECTION("by an axis of two") {
    auto const two = g.add("Reshape", {v, g.constant({0, 0, 2, 4})});
    auto const half = [&](std::int64_t i) { return g.add("Gather", {two, g.scalar(i)}, {{"axis", 2}}); };
    g.end(join(g, half(1), half(0)));
  }
  SECTION("by indices") {
    g.end(join(g, g.add("Gather", {v, g.constant({4, 5, 6, 7})}, {{"axis", 2}}), cut(g, v, 0, 4)));
  }
  CHECK(applied<swapped>(g) == 1);
  CHECK(ops(g) == "LeakyRelu");
  CHECK(number(g, last(g), "alpha") == 8);
}

TEST_CASE("other parts do not match") {
  sketch g;
  auto const v = g.in("x", {"n", 3, 8}), w = g.in("w", {"n", 3, 8});
  SECTION("in another order") { g.end(join(g, cut(g, v, 0, 4), cut(g, v, 4, 8))); }
  SECTION("cut elsewhere") { g.end(join(g, cut(g, v, 5, 8), cut(g, v, 0, 5))); }
  SECTION("of two values") { g.end(join(g, cut(g, v, 4, 8), cut(g, w, 0, 4))); }
  SECTION("of another axis") { g.end(join(g, cut(g, v, 4, 8), cut(g, v, 0, 4), 1)); }
  SECTION("by steps") { g.end(join(g, cut(g, v, 1, 8, 2), cut(g, v, 0, 8, 2))); }
  CHECK(applied<swapped>(g) == 0);
}

TEST_CASE("parts whose elements are apart") {
  sketch g;
  auto const v = g.in("x", {"n", 8});
  SECTION("by slices") {
    g.end(sum(g, cut(g, v, 1, 8, 2), cut(g, v, 0, 7, 2)));
    CHECK(applied<apart>(g) == 1);
    CHECK(ops(g) == "Slice Slice Max");
  }
  SECTION("by pairs") {
    auto const pairs = g.add("Reshape", {v, g.constant({0, 4, 2})});
    auto const each = [&](std::int64_t i) { return g.add("Gather", {pairs, g.scalar(i)}, {{"axis", -1}}); };
    g.end(sum(g, each(0), each(1)));
    CHECK(applied<apart>(g) == 1);
  }
  SECTION("halves are others") {
    g.end(sum(g, cut(g, v, 0, 4), cut(g, v, 4, 8)));
    CHECK(applied<apart>(g) == 0);
  }
}

TEST_CASE("without the filter the same parts are found") {
  for (bool const filter : {true, false}) {
    sketch g;
    auto const v = g.in("x", {"n", 8});
    g.end(sum(g, cut(g, v, 1, 8, 2), cut(g, v, 0, 7, 2)));
    fuse::rewrite_options options;
    options.filter = filter;
    CHECK(applied<apart>(g, options) == 1);
  }
}

TEST_CASE("a part on the right side is a slice") {
  sketch g;
  auto const thirds = g.append("Split", {g.in("x", {"n", 9}), g.constant({3, 3, 3})}, {{"axis", 1}}, 3);
  g.end(g.add("Tanh", {g.result(thirds, 1)}));
  CHECK(applied<middle>(g) == 1);
  CHECK(ops(g) == "Slice Relu");
}

}  // namespace dsl_part
