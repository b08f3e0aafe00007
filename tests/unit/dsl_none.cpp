// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/check.hpp>

namespace dsl_none {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, y = var<"y">, scales = var<"scales">;
constexpr auto plain = fuse::rule<"plain">(op<"Resize">(x, var<"roi">, scales).as<"old">())
                           .where(is_constant<"scales">)
                           .replace(op<"Resize">(x, none, scales))
                           .at_equal_cost();
constexpr auto without =
    fuse::rule<"without">(op<"Resize">(tanh(x), none, scales)).replace(op<"Resize">(x, none, scales));
constexpr auto without_last = fuse::rule<"without-last">(op<"Gemm">(tanh(x), y, none)).replace(op<"MatMul">(x, y));
constexpr auto needed = fuse::rule<"needed">(tanh(tanh(x))).replace(sigmoid(none));
// More operands than a term has room for.
constexpr auto many = fuse::rule<"many">(tanh(tanh(tanh(tanh(op<"Max">(x, y))))))
                          .replace(op<"Max">(tanh(x), x, x, x, x, x, x, x, x, x, y, y, y, y, y, y, y, y, y, tanh(y)));

}  // namespace

TEST_CASE("an operand before another one is absent") {
  sketch g;
  g.end(g.add("Resize", {g.in("x", {4}), g.in("roi", {2}), g.constant({2.0f})}));
  CHECK(applied<plain>(g) == 1);
  auto const operands = g.operands(last(g));
  REQUIRE(operands.size() == 3);
  CHECK(operands[1] == fuse::graph::value{});
  CHECK(g.constant(operands[2]).number(0) == 2);
}

TEST_CASE("in a pattern, an operand that is absent is one that nobody gave") {
  sketch g;
  bool const absent = GENERATE(true, false);
  auto const roi = absent ? fuse::graph::value{} : g.in("roi", {2});
  g.end(g.add("Resize", {g.add("Tanh", {g.in("x", {4})}), roi, g.constant({2.0f})}));
  CHECK(applied<without>(g) == (absent ? 1u : 0u));
}

TEST_CASE("an operand that is absent may be one that was left out") {
  sketch g;
  auto const most = GENERATE(0, 1, 2);
  auto const v = g.add("Tanh", {g.in("x", {4, 3})}), w = g.in("w", {3, 2});
  if (most == 0) g.end(g.add("Gemm", {v, w}));
  if (most == 1) g.end(g.add("Gemm", {v, w, fuse::graph::value{}}));
  if (most == 2) g.end(g.add("Gemm", {v, w, g.in("c", {2})}));
  CHECK(applied<without_last>(g) == (most == 2 ? 0u : 1u));
}

TEST_CASE("what an operator needs is not absent") {
  sketch g;
  g.end(g.add("Tanh", {g.add("Tanh", {g.in("x", {4})})}));
  CHECK(applied<needed>(g) == 0);
}

TEST_CASE("an operator of a right side has more operands than a term has room for") {
  sketch g;
  auto const a = g.in("x", {4}), b = g.in("y", {4});
  auto v = g.add("Max", {a, b});
  for (int i = 0; i < 4; ++i) v = g.add("Tanh", {v});
  g.end(v);
  auto const report = fuse::rewrite<many>(g);
  INFO(to_text(report));
  CHECK(report.applied() == 1);
  CHECK(ops(g) == "Tanh Tanh Max");
  auto const operands = g.operands(last(g));
  REQUIRE(operands.size() == 20);
  for (std::size_t i = 1; i < 19; ++i) CHECK(operands[i] == (i < 10 ? a : b));
  CHECK(g.op(g.producer(operands[0])) == "Tanh");
  CHECK(g.op(g.producer(operands[19])) == "Tanh");
}

}  // namespace dsl_none
