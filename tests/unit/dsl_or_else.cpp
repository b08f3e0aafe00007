// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/check.hpp>

namespace dsl_or_else {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">, c = var<"c">;
constexpr auto s = scalar<"s">;
// A product and sum with numbers behind it, in which the sum may be absent.
constexpr auto folded = fuse::rule<"folded">(tanh(op<"Gemm">(x, w, optional(c)) * s))
                            .replace(tanh(op<"Gemm">(x, fold(w* s), fold(or_else(c, 0) * s))));
constexpr auto operand =
    fuse::rule<"operand">(tanh(tanh(op<"Gemm">(x, w, optional(c))))).replace(op<"Gemm">(x, w, or_else(c, 0.5)));

void product(sketch& g, bool with_sum) {
  auto const a = g.in("x", {4, 2}), b = g.constant(fuse::make_tensor<float>({2, 2}, std::vector<float>{1, 2, 3, 4}));
  auto const y = with_sum ? g.add("Gemm", {a, b, g.constant({5.0f, 6.0f})}) : g.add("Gemm", {a, b});
  g.end(g.add("Tanh", {g.add("Mul", {y, g.scalar(2)})}));
}

}  // namespace

TEST_CASE("what is absent is computed as what stands for it") {
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  for (bool with_sum : {true, false}) {
    sketch g;
    product(g, with_sum);
    CHECK(applied<folded>(g, options) == 1);
    CHECK(ops(g) == "Gemm Tanh");
    auto const gemm = g.producer(g.operands(last(g))[0]);
    auto const sum = g.constant(g.operands(gemm)[2]);
    CHECK(sum.number(0) == (with_sum ? 10 : 0));
    CHECK(sum.size() == (with_sum ? 2 : 1));
  }
}

TEST_CASE("it stands for an operand") {
  sketch g;
  g.end(g.add("Tanh", {g.add("Tanh", {g.add("Gemm", {g.in("x", {4, 2}), g.in("w", {2, 2})})})}));
  CHECK(applied<operand>(g) == 1);
  CHECK(g.constant(g.operands(last(g))[2]).number(0) == 0.5);
}

}  // namespace dsl_or_else
