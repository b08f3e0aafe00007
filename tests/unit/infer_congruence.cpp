// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/infer/congruence.hpp>

namespace infer_congruence {

using namespace rewriting;

namespace {

/// Whether two values of a graph are one computation.
bool same(graph const& made, graph::value a, graph::value b) {
  graph g = made;
  for (auto v : {a, b}) g.output(v);  // what nobody reads is no part of a graph
  static constexpr auto const& names = fuse::dialect_of<graph>;
  fuse::graph_binding<graph const> bound(g, fuse::names_in(names), names.newest);
  fuse::detail::facts known(bound.image, names);
  known.run();
  return fuse::detail::congruence(bound.image, known, names).same(bound.number(a), bound.number(b));
}

}  // namespace

TEST_CASE("the same operator on the same operands is one computation, however deep") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  auto const make = [&] { return g.add("Exp", {g.add("Sub", {g.add("Tanh", {a}), b})}); };
  auto const p = make(), q = make();
  CHECK(same(g, p, p));
  CHECK(same(g, p, q));
}

TEST_CASE("operands of what commutes may stand in either order") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c");
  for (auto const* op : {"Add", "Mul", "Max"}) {
    CHECK(same(g, g.add(op, {a, b}), g.add(op, {b, a})));
    CHECK_FALSE(same(g, g.add(op, {a, b}), g.add(op, {c, a})));
    CHECK_FALSE(same(g, g.add(op, {a, b}), g.add(op, {a, a})));
  }
  CHECK(same(g, g.add("Tanh", {g.add("Mul", {a, g.add("Add", {b, c})})}),
             g.add("Tanh", {g.add("Mul", {g.add("Add", {c, b}), a})})));
  for (auto const* op : {"Sub", "Div", "Pow"}) CHECK_FALSE(same(g, g.add(op, {a, b}), g.add(op, {b, a})));
}

TEST_CASE("another operator, another operand, another order is another computation") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  CHECK_FALSE(same(g, a, b));
  CHECK_FALSE(same(g, g.add("Exp", {a}), g.add("Tanh", {a})));
  CHECK_FALSE(same(g, g.add("Exp", {a}), g.add("Exp", {b})));
  CHECK_FALSE(same(g, g.add("Sub", {a, b}), g.add("Sub", {b, a})));
  CHECK_FALSE(same(g, g.add("Exp", {a}), a));
}

TEST_CASE("parameters count, written in whatever way") {
  sketch g;
  auto const a = g.in("a");
  auto const reduce = [&](std::int64_t axis, int keep) {
    return g.add("ReduceMean", {a}, {{"axes", {axis}}, {"keepdims", keep}});
  };
  CHECK(same(g, reduce(-1, 1), reduce(1, 1)));
  CHECK_FALSE(same(g, reduce(0, 1), reduce(1, 1)));
  CHECK_FALSE(same(g, reduce(1, 0), reduce(1, 1)));
  CHECK(same(g, g.add("ReduceMean", {a}, {{"axes", {1}}}), reduce(1, 1)));
  auto const softmax = [&](int axis) { return g.add("Softmax", {a}, {{"axis", axis}}); };
  CHECK(same(g, softmax(0), softmax(0)));
  CHECK_FALSE(same(g, softmax(0), softmax(1)));
  auto const cast = [&](int type) { return g.add("Cast", {a}, {{"to", type}}); };
  CHECK(same(g, cast(1), cast(1)));
  CHECK_FALSE(same(g, cast(1), cast(11)));
}

TEST_CASE("constants are one by their content") {
  sketch g;
  CHECK(same(g, g.constant({1.0f, 2.0f}), g.constant({1.0f, 2.0f})));
  CHECK_FALSE(same(g, g.constant({1.0f, 2.0f}), g.constant({1.0f, 3.0f})));
  CHECK_FALSE(same(g, g.constant({1.0f, 2.0f}), g.constant({1.0, 2.0})));
}

TEST_CASE("a constant that a caller may override is only itself") {
  sketch g;
  auto const one = fuse::make_tensor<float>({1}, std::vector<float>{1});
  CHECK_FALSE(same(g, g.input("a", one), g.input("b", one)));
}

TEST_CASE("an operator that nobody described may be anything") {
  sketch g;
  auto const a = g.in("a");
  CHECK_FALSE(same(g, g.add("RandomUniformLike", {a}), g.add("RandomUniformLike", {a})));
}

TEST_CASE("the results of a node are told apart") {
  sketch g;
  auto const a = g.in("a");
  auto const n = g.append("Split", {a}, {{"axis", 0}}, 2), m = g.append("Split", {a}, {{"axis", 0}}, 2);
  CHECK(same(g, g.result(n, 0), g.result(m, 0)));
  CHECK_FALSE(same(g, g.result(n, 0), g.result(n, 1)));
}

}  // namespace infer_congruence
