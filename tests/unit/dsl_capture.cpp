// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_capture {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto product = fuse::rule<"product">(relu(matmul(x, w))).replace(matmul(x, w));
constexpr auto own_product = fuse::rule<"own-product">(matmul(x, x)).replace(relu(x));

}  // namespace

TEST_CASE("a capture takes an input, a constant, a result of a node") {
  sketch g;
  auto const a = g.add("Tanh", {g.in("a", {8, 8})});
  g.end(g.add("Relu", {g.add("MatMul", {a, g.constant(fuse::make_tensor<float>({8, 1}, std::vector<float>(8, 1)))})}));
  CHECK(applied<product>(g) == 1);
  CHECK(ops(g) == "Tanh MatMul");
  CHECK(g.operands(last(g))[0] == a);
}

TEST_CASE("two names may capture one value") {
  sketch g;
  auto const a = g.in("a", {8, 8});
  g.end(g.add("Relu", {g.add("MatMul", {a, a})}));
  CHECK(applied<product>(g) == 1);
}

TEST_CASE("a name that occurs twice is one value") {
  sketch g;
  auto const a = g.in("a", {8, 8}), b = g.in("b", {8, 8});
  SECTION("the same") {
    g.end(g.add("MatMul", {a, a}));
    CHECK(applied<own_product>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("two values of one shape") {
    g.end(g.add("MatMul", {a, b}));
    CHECK(applied<own_product>(g) == 0);
  }
  SECTION("two computations of one thing") {
    g.end(g.add("MatMul", {g.add("Tanh", {a}), g.add("Tanh", {a})}));
    CHECK(applied<own_product>(g) == 1);
    CHECK(ops(g) == "Tanh Relu");
  }
  SECTION("the same operator on two values") {
    g.end(g.add("MatMul", {g.add("Tanh", {a}), g.add("Tanh", {b})}));
    CHECK(applied<own_product>(g) == 0);
  }
}

TEST_CASE("a capture takes nothing where an operand is absent") {
  static constexpr auto biased = fuse::rule<"biased">(relu(op<"Gemm">(x, w, var<"c">))).replace(op<"Gemm">(x, w));
  sketch g;
  auto const a = g.in("a", {4, 8}), b = g.in("b", {8, 4});
  SECTION("absent") {
    g.end(g.add("Relu", {g.add("Gemm", {a, b, graph::value{}})}));
    CHECK(applied<biased>(g) == 0);
  }
  SECTION("left out") {
    g.end(g.add("Relu", {g.add("Gemm", {a, b})}));
    CHECK(applied<biased>(g) == 0);
  }
  SECTION("there") {
    g.end(g.add("Relu", {g.add("Gemm", {a, b, g.in("c", {4})})}));
    CHECK(applied<biased>(g) == 1);
  }
}

}  // namespace dsl_capture
