// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <fuse/infer/parameters.hpp>

#include "inferred.hpp"

namespace infer_parameters {

using fuse::element_type;
using fuse::graph;

namespace {

struct reduction {
  bool known = false, keepdims = false;
  std::vector<int> axes;
};

reduction axes_of(graph& g, graph::value v) {
  g.output(v);
  inferred const all(g);
  reduction found;
  auto const& names = fuse::dialect_of<graph>;
  found.known = fuse::detail::reduction_axes(all.bound.image, all.known, names, all.bound.image.producer(all.id(v)),
                                             found.axes, found.keepdims);
  return found;
}

}  // namespace

TEST_CASE("axes are an attribute before operator set 18, an operand from then on") {
  graph old(17), recent(18);
  auto x = old.input("x", element_type::float32, {2, 3, 4}), y = recent.input("x", element_type::float32, {2, 3, 4});
  auto before = axes_of(old, old.add("ReduceMean", {x}, {{"axes", {-1, 0}}, {"keepdims", 0}}));
  CHECK(before.known);
  CHECK(before.axes == std::vector{0, 2});
  CHECK_FALSE(before.keepdims);
  auto after = axes_of(recent, recent.add("ReduceMean", {y, recent.constant({1})}));
  CHECK(after.known);
  CHECK(after.axes == std::vector{1});
  CHECK(after.keepdims);
}

TEST_CASE("absent axes are all axes, or none where the node says so") {
  graph g(18);
  auto x = g.input("x", element_type::float32, {"b", 3, 4});
  auto all = axes_of(g, g.add("ReduceMean", {x}));
  CHECK(all.known);
  CHECK(all.axes == std::vector{0, 1, 2});
  auto none = axes_of(g, g.add("ReduceMean", {x}, {{"noop_with_empty_axes", 1}}));
  CHECK(none.known);
  CHECK(none.axes.empty());
  auto empty = fuse::make_tensor(element_type::int64, {0}, std::vector<double>{});
  auto listed = axes_of(g, g.add("ReduceMean", {x, g.constant(empty)}, {{"noop_with_empty_axes", 1}}));
  CHECK(listed.known);
  CHECK(listed.axes.empty());
}

TEST_CASE("axes that nobody knows are not guessed") {
  graph g(18);
  auto x = g.input("x", element_type::float32, {2, 3, 4});
  CHECK_FALSE(axes_of(g, g.add("ReduceMean", {x, g.input("axes", element_type::int64, {1})})).known);
  CHECK_FALSE(axes_of(g, g.add("ReduceMean", {x, g.constant({3})})).known);
  CHECK_FALSE(axes_of(g, g.add("ReduceMean", {x, g.constant({-4})})).known);
  CHECK_FALSE(axes_of(g, g.add("ReduceMean", {x, g.constant({1, -2})})).known);
  CHECK_FALSE(axes_of(g, g.add("ReduceMean", {g.input("y", element_type::float32), g.constant({-1})})).known);
  CHECK(axes_of(g, g.add("ReduceMean", {x, g.constant({2, -2})})).axes == std::vector{1, 2});
}

TEST_CASE("a global average pool is a mean over the axes from 2 on") {
  graph g;
  auto pool = [&](std::initializer_list<graph::dim> dims) {
    return axes_of(g, g.add("GlobalAveragePool", {g.input("x", element_type::float32, graph::dims(dims))}));
  };
  CHECK(pool({"b", 3, 8}).axes == std::vector{2});
  CHECK(pool({"b", 3, 8}).keepdims);
  CHECK(pool({"b", 3, 8, 9}).axes == std::vector{2, 3});
  CHECK_FALSE(pool({"b", 3}).known);
  CHECK_FALSE(axes_of(g, g.add("GlobalAveragePool", {g.input("z", element_type::float32)})).known);
}

TEST_CASE("a number comes from the node, then from the operator") {
  graph g;
  auto x = g.input("x", element_type::float32, {2, 8});
  auto scale = g.constant({1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f});
  auto told = g.add("LayerNormalization", {x, scale}, {{"epsilon", 0.5}}),
       untold = g.add("LayerNormalization", {x, scale});
  g.output(told);
  g.output(untold);
  inferred const all(g);
  auto const& image = all.bound.image;
  auto const read = [&](graph::value v, char const* name, double& out) {
    return fuse::detail::read_number(image, all.known, fuse::dialect_of<graph>, image.producer(all.id(v)), name, out);
  };
  double number = 0;
  REQUIRE(read(told, "epsilon", number));
  CHECK(number == 0.5);
  REQUIRE(read(untold, "epsilon", number));
  CHECK(number == 1e-5);
  REQUIRE(read(untold, "axis", number));
  CHECK(number == -1);
  CHECK_FALSE(read(untold, "no such parameter", number));
}

TEST_CASE("a parameter of another kind is no number") {
  graph g;
  auto x = g.input("x", element_type::float32, {2, 8});
  auto y = g.add("LayerNormalization", {x, g.constant({1.f})}, {{"axis", "last"}, {"epsilon", {1, 2}}});
  g.output(y);
  inferred const all(g);
  double number = 0;
  auto const n = all.bound.image.producer(all.id(y));
  CHECK_FALSE(fuse::detail::read_number(all.bound.image, all.known, fuse::dialect_of<graph>, n, "axis", number));
  CHECK_FALSE(fuse::detail::read_number(all.bound.image, all.known, fuse::dialect_of<graph>, n, "epsilon", number));
}

}  // namespace infer_parameters
