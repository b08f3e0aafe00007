// SPDX-License-Identifier: BSL-1.0
#include <fuse/ops/names.hpp>

#include "inferred.hpp"
#include "rewriting.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// What a node means follows from its name, the operator set version, and for some from what it says besides.

namespace ops_names {

using namespace rewriting;
using namespace fuse::dsl;
using fuse::opcode;

namespace {

using said = std::vector<graph::named>;
graph::named flag(char const* name, std::int64_t number) { return {name, number}; }

struct read {
  opcode op;
  std::string shape;
  element_type type;
};
// One node on matrices, at an operator set version.
read node(int version, std::string_view op, said const& attributes = {}, std::size_t operands = 2,
          std::uint32_t results = 1, element_type type = element_type::float32) {
  sketch g(version);
  std::vector<graph::value> read_values;
  for (std::size_t i = 0; i < operands; ++i) read_values.push_back(g.in("x" + std::to_string(i), {3, 3}, type));
  auto const v = g.result(g.append(op, read_values, attributes, results));
  g.end(v);
  inferred const made(g);
  return {op_of(made.bound.image, made.bound.image.producer(made.id(v))), made.shape(v), made.type(v)};
}
opcode meaning(int version, std::string_view op, said const& attributes = {}, std::size_t operands = 2,
               std::uint32_t results = 1) {
  return node(version, op, attributes, operands, results).op;
}

}  // namespace

TEST_CASE("what an operator repeats along an axis is no broadcasting") {
  for (auto const name : {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Less", "Greater"}) {
    CAPTURE(name);
    bool const logical =
        std::string_view(name) == "And" || std::string_view(name) == "Or" || std::string_view(name) == "Xor";
    auto const type = logical ? element_type::boolean : element_type::float32;
    auto const numpy = node(6, name, {flag("broadcast", 1)}, 2, 1, type);
    auto const along = node(6, name, {flag("broadcast", 1), flag("axis", 0)}, 2, 1, type);
    CHECK(numpy.op != opcode::opaque);
    CHECK(along.op == opcode::opaque);
    CHECK(along.shape == "[3,3]");
    CHECK(along.type == numpy.type);
    CHECK(meaning(7, name) == numpy.op);
  }
}

TEST_CASE("who trains is told by an attribute in older operator sets, and by further results") {
  CHECK(meaning(6, "Dropout", {flag("is_test", 1)}, 1) == opcode::dropout);
  CHECK(meaning(6, "Dropout", {flag("is_test", 0)}, 1) == opcode::opaque);
  CHECK(meaning(6, "Dropout", {}, 1) == opcode::opaque);
  CHECK(node(6, "Dropout", {}, 1).shape == "[3,3]");
  CHECK(meaning(7, "Dropout", {}, 1) == opcode::dropout);
  auto const norm = [](int version, said const& attributes, std::uint32_t results = 1) {
    return meaning(version, "BatchNormalization", attributes, 5, results);
  };
  CHECK(norm(6, {flag("is_test", 1)}) == opcode::batch_norm);
  CHECK(norm(6, {flag("is_test", 1), flag("spatial", 1)}) == opcode::batch_norm);
  CHECK(norm(6, {flag("is_test", 1), flag("spatial", 0)}) == opcode::opaque);
  CHECK(norm(6, {}) == opcode::opaque);
  CHECK(norm(8, {}) == opcode::batch_norm);
  CHECK(norm(8, {flag("spatial", 0)}) == opcode::opaque);
  CHECK(norm(8, {}, 5) == opcode::opaque);
  CHECK(norm(9, {}) == opcode::batch_norm);
  CHECK(norm(9, {}, 5) == opcode::opaque);
  CHECK(norm(15, {}, 3) == opcode::batch_norm);
}

TEST_CASE("an operator whose operands had another meaning once is unknown there") {
  CHECK(meaning(6, "PRelu") == opcode::opaque);
  CHECK(meaning(7, "PRelu") == opcode::prelu);
  CHECK(meaning(5, "Tile", {}, 3) == opcode::opaque);
  CHECK(meaning(6, "Tile") == opcode::tile);
  CHECK(meaning(1, "Split") == opcode::opaque);
  CHECK(meaning(2, "Split") == opcode::split);
}

namespace {

constexpr auto x = var<"x">, y = var<"y">, z = var<"z">;
inline constexpr auto without = fuse::rule<"without">(op<"Tanh">(x + y)).replace(op<"Sigmoid">(x));
inline constexpr auto drop = fuse::rule<"drop">(op<"Tanh">(op<"Dropout">(x))).replace(op<"Tanh">(x));
inline constexpr auto dropped = fuse::rule<"dropped">(op<"Tanh">(x)).replace(op<"Dropout">(x)).at_equal_cost();
inline constexpr auto along = fuse::rule<"along">(op<"Tanh">(x + y))
                                  .replace(op<"Add">(x, y).attr<"broadcast">(1).attr<"axis">(0))
                                  .at_equal_cost();
inline constexpr auto repeats =
    fuse::rule<"repeats">(op<"Tanh">(x * y)).replace(op<"Add">(x, y).attr<"broadcast">(1)).at_equal_cost();
inline constexpr auto larger = fuse::rule<"larger">(op<"Tanh">(x * y)).replace(op<"Max">(x, y)).at_equal_cost();

}  // namespace

TEST_CASE("rules see what is repeated along an axis as an operator that they do not know") {
  for (bool const by_axis : {true, false}) {
    sketch g(6);
    said attributes{flag("broadcast", 1)};
    if (by_axis) attributes.push_back(flag("axis", 0));
    g.end(g.add("Tanh", {g.add("Add", {g.in("x", {3, 3}), g.in("y", {3})}, attributes)}));
    CHECK(applied<without>(g) == (by_axis ? 0 : 1));
  }
}

TEST_CASE("a Dropout is nothing where an older operator set says that nobody trains") {
  for (bool const test : {true, false}) {
    sketch g(6);
    g.end(g.add("Tanh", {g.add("Dropout", {g.in("x")}, {flag("is_test", test ? 1 : 0)})}));
    CHECK(applied<drop>(g) == (test ? 1 : 0));
  }
}

TEST_CASE("what is written says what its meaning needs") {
  sketch g(6);
  g.end(g.add("Tanh", {g.in("x")}));
  REQUIRE(applied<dropped>(g) == 1);
  CHECK(number(g, last(g), "is_test") == 1);
}

TEST_CASE("what would mean something else is not written") {
  sketch g(6);
  g.end(g.add("Tanh", {g.add("Add", {g.in("x"), g.in("z")})}));
  CHECK(refusal<along>(g) == "right side");
}

TEST_CASE("an older operator repeats its second operand along the first axes, where it is asked to") {
  auto const product = [](graph::dims const& a, graph::dims const& b) {
    auto g = std::make_unique<sketch>(6);
    g->end(g->add("Tanh", {g->add("Mul", {g->in("x", a), g->in("y", b)}, {flag("broadcast", 1)})}));
    return g;
  };
  CHECK(applied<repeats>(*product({4, 8}, {8})) == 1);
  CHECK(applied<repeats>(*product({4, 8}, {1})) == 1);
  CHECK(applied<repeats>(*product({4, 8}, {1, 8})) == 0);
  CHECK(applied<larger>(*product({4, 8}, {4, 8})) == 1);
  CHECK(applied<larger>(*product({4, 8}, {8})) == 0);
}

}  // namespace ops_names
