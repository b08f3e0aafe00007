// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_condition {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto even = fuse::rule<"even">(relu(matmul(x, w)))
                          .where<"even head">(pred<"w">([](auto v) {
                            return v.rank() == 2 && v.shape()[1].known() && v.shape()[1].value() % 2 == 0;
                          }))
                          .replace(matmul(x, w));

}  // namespace

TEST_CASE("a predicate decides, and its name is in the report") {
  for (int width : {4, 5}) {
    sketch g;
    g.end(g.add("Relu", {g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, width})})}));
    if (width == 4)
      CHECK(applied<even>(g) == 1);
    else
      CHECK(refusal<even>(g) == "even head");
  }
}

TEST_CASE("a quiet condition on the root's name is asked before anything below it is looked for") {
  static int asked = 0;
  static constexpr auto last = pred<"y">([](auto v) { return v.is_output(); });
  static constexpr auto counting = pred<"x">([](auto) { return ++asked, true; });
  static constexpr auto quietly = fuse::rule<"quietly">((tanh(x) + w).as<"y">())
                                      .where<"counted">(counting)
                                      .where<"an output">(last.quiet())
                                      .replace(w);
  static constexpr auto aloud =
      fuse::rule<"aloud">((tanh(x) + w).as<"y">()).where<"counted">(counting).where<"an output">(last).replace(w);
  sketch g;
  auto const inner = g.add("Add", {g.add("Tanh", {g.in("a")}), g.in("b")});
  g.end(g.add("Exp", {inner}));
  auto quiet = g, loud = g;
  CHECK(applied<quietly>(quiet) == 0);
  CHECK(asked == 0);
  CHECK(refusal<aloud>(loud) == "an output");
  CHECK(asked != 0);
}

TEST_CASE("a predicate receives the captures that it names, in its order") {
  static constexpr auto ordered = fuse::rule<"ordered">(relu(matmul(x, w)))
                                      .where<"names">(pred<"w", "x">([](auto second, auto first) {
                                        return second.name() == "b" && first.name() == "a";
                                      }))
                                      .replace(matmul(x, w));
  sketch g;
  g.end(g.add("Relu", {g.add("MatMul", {g.in("a", {8, 8}), g.in("b", {8, 8})})}));
  CHECK(applied<ordered>(g) == 1);
}

TEST_CASE("a predicate sees the operator, its operands and parameters, constants, users") {
  static constexpr auto curious = fuse::rule<"curious">(relu(x))
                                      .where<"everything">(pred<"x">([](fuse::value_view v) {
                                        double axis = 0, number = 0;
                                        return v.has_producer() && v.op() == fuse::opcode::softmax &&
                                               v.op_name() == "Softmax" && v.parameter("axis", axis) && axis == 1 &&
                                               v.users() == 1 && !v.is_output() && !v.is_constant() &&
                                               !v.number(number) && v.operand(0).name() == "a" && !v.operand(1) &&
                                               v.type() == element_type::float32;
                                      }))
                                      .replace(op<"Softmax">(x));
  sketch g;
  g.end(g.add("Relu", {g.add("Softmax", {g.in("a")}, {{"axis", 1}})}));
  CHECK(fuse::rewrite<curious>(g).rules[0].matched == 1);
}

TEST_CASE("a predicate is asked for every member of a rest") {
  static constexpr auto all = fuse::rule<"all">(relu(op<"Max">(x, rest<"more">)))
                                  .where<"vectors">(pred<"more">([](auto v) { return v.rank() == 1; }))
                                  .replace(op<"Min">(x, rest<"more">));
  for (int rank : {1, 2}) {
    sketch g;
    g.end(g.add("Relu", {g.add("Max", {g.in("a"), g.in("b", {8}),
                                       g.in("c", rank == 1 ? graph::dims{8} : graph::dims{1, 8})})}));
    if (rank == 1)
      CHECK(applied<all>(g) == 1);
    else
      CHECK(refusal<all>(g) == "vectors");
  }
}

TEST_CASE("a predicate holds of what is absent") {
  static constexpr auto biased = fuse::rule<"biased">(relu(op<"Gemm">(x, w, optional(var<"b">))))
                                     .where<"never">(pred<"b">([](auto) { return false; }))
                                     .replace(op<"Gemm">(x, w, var<"b">));
  sketch g;
  auto const a = g.in("a", {4, 8}), b = g.in("b", {8, 4});
  SECTION("absent") {
    g.end(g.add("Relu", {g.add("Gemm", {a, b})}));
    CHECK(applied<biased>(g) == 1);
  }
  SECTION("there") {
    g.end(g.add("Relu", {g.add("Gemm", {a, b, g.in("c", {4})})}));
    CHECK(refusal<biased>(g) == "never");
  }
}

TEST_CASE("a predicate may know the user's own graph") {
  static constexpr auto own = fuse::rule<"own">(relu(tanh(x)))
                                  .where<"a graph of three nodes">(pred<"x">(
                                      [](auto v) { return static_cast<graph const*>(v.graph())->node_count() == 3; }))
                                  .replace(relu(x));
  sketch g;
  g.end(g.add("Abs", {g.add("Relu", {g.add("Tanh", {g.in("a")})})}));
  CHECK(applied<own>(g) == 1);
}

TEST_CASE("conditions are part of the search: when one fails, matching tries on") {
  // Both operands fit x at first; only one of them is a vector.
  static constexpr auto vector =
      fuse::rule<"vector">(relu(op<"Min">(x, w))).where(rank<"x">(1)).replace(op<"Max">(x, w));
  sketch g;
  auto const a = g.in("a"), b = g.in("b", {8});
  g.end(g.add("Relu", {g.add("Min", {a, b})}));
  CHECK(applied<vector>(g) == 1);
  CHECK(g.operands(last(g))[0] == b);
}

}  // namespace dsl_condition
