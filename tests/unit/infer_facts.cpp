// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "inferred.hpp"

namespace infer_facts {

using fuse::element_type;
using fuse::graph;

TEST_CASE("a reduction with kept dimensions agrees with its operand though nobody knows the batch") {
  graph g;
  auto x = g.input("x", element_type::float32, {-1, "seq", 8});
  auto kept = g.add("ReduceMean", {x}, {{"axes", {-1}}, {"keepdims", 1}});
  auto dropped = g.add("ReduceMean", {x}, {{"axes", {2}}, {"keepdims", 0}});
  auto centred = g.add("Sub", {x, kept});
  g.output(centred);
  g.output(dropped);
  inferred const known(g);
  CHECK(known.shape(kept) == "[?,seq,1]");
  CHECK(known.shape(dropped) == "[?,seq]");
  CHECK(known.same_shape(centred, x));
  CHECK_FALSE(known.same_shape(kept, x));
  CHECK(known.type(centred) == element_type::float32);
}

TEST_CASE("two unknown dimensions are not taken for equal") {
  graph g;
  auto x = g.input("x", element_type::float32, {-1, 8}), y = g.input("y", element_type::float32, {-1, 8});
  auto sum = g.add("Add", {x, y});
  g.output(sum);
  inferred const known(g);
  CHECK_FALSE(known.same_shape(x, y));
  CHECK_FALSE(known.same_shape(sum, x));
  CHECK(known.known.rank(known.id(sum)) == 2);
  CHECK(known.known.shape(known.id(sum))[1] == fuse::extent(8));
}

TEST_CASE("an operator without a rule yields unknown, and declarations fill in") {
  graph g;
  auto x = g.input("x", element_type::float32, {2, 8});
  auto odd = g.add("Unheard", {x});
  auto told = g.add("Unheard", {x});
  g.annotate(told, element_type::float16, {"n", 4});
  auto use = g.add("Relu", {told});
  g.output(odd);
  g.output(use);
  inferred const known(g);
  CHECK(known.shape(odd) == "unknown");
  CHECK(known.type(odd) == element_type::unknown);
  CHECK(known.shape(use) == "[n,4]");
  CHECK(known.type(use) == element_type::float16);
}

TEST_CASE("a stale declaration of a computed value is not believed") {
  graph g;
  auto x = g.input("x", element_type::float32, {"batch", 8});
  auto y = g.add("Relu", {x});
  g.annotate(y, element_type::float16, {3, 9});
  auto z = g.add("NonZero", {x});
  g.annotate(z, element_type::int64, {7, 11});  // its length is nobody's to compute
  g.output(y);
  g.output(z);
  inferred const known(g);
  CHECK(known.shape(y) == "[batch,8]");
  CHECK(known.type(y) == element_type::float32);
  CHECK(known.shape(z) == "[2,11]");
}

TEST_CASE("a constant that the caller may override has a shape and no contents") {
  graph g;
  auto x = g.input("x", element_type::float32, {4, 6});
  auto axes = g.input("axes", fuse::make_tensor(element_type::int64, {1}, std::vector<double>{1}));
  auto fixed = g.constant({1});
  auto open = g.add("ReduceSum", {x, axes}), closed = g.add("ReduceSum", {x, fixed});
  g.output(open);
  g.output(closed);
  inferred const known(g);
  CHECK(known.shape(axes) == "[1]");
  CHECK(known.contents(axes) == "unknown");
  CHECK(known.shape(closed) == "[4,1]");
  CHECK(known.shape(open) == "[?,?]");
}

TEST_CASE("a captured value is known in a body, what a body is given is not") {
  graph g;
  auto x = g.input("x", element_type::float32, {"n", 4});
  auto flag = g.input("flag", element_type::boolean, {});
  auto branch = g.append("If", {flag});
  auto const body = g.add_body(branch, "then_branch");
  g.append_to(body);
  auto inside = g.add("Relu", {x});
  g.output(inside);
  auto carried = g.input("carried", element_type::float32);
  auto from_carried = g.add("Relu", {carried});
  g.output(from_carried);
  g.append_to(graph::main_body);
  g.output(g.result(branch));
  inferred const known(g);
  CHECK(known.same_shape(inside, x));
  CHECK(known.shape(from_carried) == "unknown");
  CHECK(known.type(from_carried) == element_type::float32);
}

TEST_CASE("a result of an If is what both branches agree on") {
  auto const known = [](graph::dims const& other, element_type type) {
    graph g;
    auto x = g.input("x", element_type::float32, {"n", 4}), y = g.input("y", type, other);
    auto branch = g.append("If", {g.input("flag", element_type::boolean, {})});
    for (auto v : {x, y}) {
      g.append_to(g.add_body(branch, "branch"));
      g.output(g.add("Relu", {v}));
    }
    g.append_to(graph::main_body);
    g.output(g.result(branch));
    inferred const all(g);
    return all.shape(g.result(branch)) + " " + std::string(name_of(all.type(g.result(branch))));
  };
  CHECK(known({"n", 4}, element_type::float32) == "[n,4] float32");
  CHECK(known({"m", 4}, element_type::float32) == "[?,4] float32");
  CHECK(known({"n", 4}, element_type::float16) == "[n,4] unknown");
  CHECK(known({"n"}, element_type::float32) == "unknown float32");
}

TEST_CASE("a node that is added later is known after its update") {
  graph g;
  auto x = g.input("x", element_type::float32, {"n", 4});
  auto y = g.add("Relu", {x});
  g.output(y);
  inferred known(g);
  auto& image = known.bound.image;
  double const two[] = {2};
  auto const scale = fuse::make_tensor(element_type::float32, {4}, std::vector<double>(4, two[0]));
  REQUIRE(known.bound.add_constant(0, scale, "scale"));
  auto const c = image.add_value();
  image.set_constant(c, true);
  fuse::value_id const operands[] = {known.id(y), c};
  element_type const types[] = {element_type::float32};
  REQUIRE(known.bound.insert(0, "Mul", operands, {}, types, "y"));
  auto const tag = fuse::names_in(fuse::dialect_of<graph>);
  auto const added = image.add_node(tag.find(tag.context, "Mul", image.version).tag, 1, 0);
  image.attach_operands(added, operands);
  known.known.update(added);
  CHECK(known.known.same_shape(image.result(added), known.id(x)));
  CHECK(known.known.type(image.result(added)) == element_type::float32);
  CHECK(known.known.rank(c) == 1);
}

TEST_CASE("unsorted nodes are studied in order") {
  graph g;
  auto x = g.input("x", element_type::float32, {2, 3});
  auto first = g.add("Relu", {x});
  auto second = g.add("Relu", {first});
  g.set_operand(g.producer(first), 0, g.add("Transpose", {x}));
  g.output(second);
  inferred const known(g);
  CHECK(known.shape(second) == "[3,2]");
}

TEST_CASE("where a dialect promotes, a result has a type where the operands agree") {
  fuse::dialect promotes = fuse::dialect_of<fuse::graph>;
  promotes.promotes = true;
  graph g;
  auto const half = g.input("half", element_type::float16, {2, 3}),
             single = g.input("single", element_type::float32, {3}), whole = g.input("whole", element_type::int64, {3}),
             untyped = g.input("untyped", element_type::unknown, {3}),
             number = g.constant(fuse::make_tensor(element_type::float64, {}, std::vector{2.5})),
             unranked = g.input("unranked", element_type::float32);
  auto const type_of = [&](graph::value a, graph::value b) {
    auto const v = g.add("Mul", {a, b});
    g.output(v);
    CHECK(inferred(g).type(v) == g.type(a));  // elsewhere they agree, or the graph is not valid
    return inferred(g, promotes).type(v);
  };
  CHECK(type_of(half, half) == element_type::float16);
  CHECK(type_of(half, single) == element_type::unknown);
  CHECK(type_of(half, untyped) == element_type::unknown);
  CHECK(type_of(half, number) == element_type::float16);
  CHECK(type_of(whole, number) == element_type::unknown);
  CHECK(type_of(number, half) == element_type::unknown);
  CHECK(type_of(unranked, number) == element_type::unknown);
  auto const norm = g.add("SimplifiedLayerNormalization", {half, single});
  g.output(norm);
  CHECK(inferred(g).type(norm) == element_type::float32);
  CHECK(inferred(g, promotes).type(norm) == element_type::float16);
}

}  // namespace infer_facts
