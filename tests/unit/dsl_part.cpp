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

constexpr auto exchanged =
    fuse::rule<"exchanged">(tanh(reversed_parts<"d", 2>(x))).replace(op<"LeakyRelu">(x).attr<"alpha">(dim<"d">));
constexpr auto neighbours_exchanged =
    fuse::rule<"neighbours-exchanged">(tanh(reversed_parts<"d", 2, 2>(x))).replace(relu(x));
constexpr auto three_reversed = fuse::rule<"three-reversed">(tanh(reversed_parts<"d", 3>(x))).replace(relu(x));
constexpr auto exchanges =
    fuse::rule<"exchanges">(tanh(sigmoid(tanh(sigmoid(tanh(x)))))).replace(reversed_parts<"d", 2, 2>(x));

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

TEST_CASE("parts in reverse order match however they are exchanged") {
  sketch g;
  auto const v = g.in("x", {"n", 3, 8});
  auto const by_two = [&](int a, int b) { return g.add("Reshape", {v, g.constant({0, 0, a, b})}); };
  auto const whole = [&](graph::value of) { return g.add("Tanh", {g.add("Reshape", {of, g.constant({0, 0, 8})})}); };
  auto const backwards = [&](graph::value of, int axis) {
    return g.add("Slice", {of, g.constant({-1}), g.constant({-100}), g.constant({axis}), g.constant({-1})});
  };
  auto const indices = [&](std::vector<std::int64_t> const& all) {
    auto const places = g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(all.size())}, all));
    return g.add("Tanh", {g.add("Gather", {v, places}, {{"axis", 2}})});
  };
  SECTION("halves") {
    SECTION("joined") { g.end(g.add("Tanh", {join(g, cut(g, v, 4, 8), cut(g, v, 0, 4))})); }
    SECTION("by indices") { g.end(indices({4, 5, 6, 7, 0, 1, 2, 3})); }
    SECTION("by indices from the end") { g.end(indices({-4, -3, 6, 7, 0, 1, -6, 3})); }
    SECTION("by an axis of two, backwards") { g.end(whole(backwards(by_two(2, 4), 2))); }
    SECTION("by an axis of two, and indices") {
      g.end(whole(g.add("Gather", {by_two(2, 4), g.constant({1, 0})}, {{"axis", 2}})));
    }
    CHECK(applied<exchanged>(g) == 1);
    CHECK(ops(g) == "LeakyRelu");
    CHECK(number(g, last(g), "alpha") == 8);
  }
  SECTION("neighbours") {
    SECTION("by indices") { g.end(indices({1, 0, 3, 2, 5, 4, 7, 6})); }
    SECTION("by an axis of two, backwards") { g.end(whole(backwards(by_two(4, 2), 3))); }
    CHECK(applied<neighbours_exchanged>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("others do not match") {
    SECTION("in their order") { g.end(indices({0, 1, 2, 3, 4, 5, 6, 7})); }
    SECTION("one after the other, backwards") { g.end(indices({7, 6, 5, 4, 3, 2, 1, 0})); }
    SECTION("rotated") { g.end(indices({2, 3, 4, 5, 6, 7, 0, 1})); }
    SECTION("but one") { g.end(indices({4, 5, 6, 7, 0, 1, 2, 2})); }
    SECTION("an axis of four backwards") { g.end(whole(backwards(by_two(4, 2), 2))); }
    CHECK(applied<exchanged>(g) + applied<neighbours_exchanged>(g) == 0);
  }
}

TEST_CASE("three parts in reverse order are no two, nor an extent that has no three") {
  sketch g;
  auto const v = g.in("x", {"n", 6});
  auto const joined = [&](graph::value a, graph::value b, graph::value c) {
    std::int64_t const axis = -1;
    return g.add("Tanh", {g.add("Concat", {a, b, c}, {{"axis", axis}})});
  };
  SECTION("three") {
    g.end(joined(cut(g, v, 4, 6), cut(g, v, 2, 4), cut(g, v, 0, 2)));
    CHECK(applied<three_reversed>(g) == 1);
  }
  SECTION("three of other lengths") {
    g.end(joined(cut(g, v, 3, 6), cut(g, v, 2, 3), cut(g, v, 0, 2)));
    CHECK(applied<three_reversed>(g) == 0);
  }
  SECTION("two") {
    g.end(g.add("Tanh", {join(g, cut(g, v, 3, 6), cut(g, v, 0, 3))}));
    CHECK(applied<three_reversed>(g) == 0);
  }
}

TEST_CASE("parts in reverse order on the right side are a slice backwards") {
  sketch g;
  auto const v = g.in("x", {"n", 8});
  auto made = v;
  for (auto const* op : {"Tanh", "Sigmoid", "Tanh", "Sigmoid", "Tanh"}) made = g.add(op, {made});
  g.end(made);
  CHECK(applied<exchanges>(g) == 1);
  CHECK(ops(g) == "Reshape Slice Reshape");
}

}  // namespace dsl_part
