// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_with_or_without {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto inside = fuse::rule<"inside">(abs(with_or_without<"Relu">(matmul(x, w)))).replace(matmul(x, w));
constexpr auto around = fuse::rule<"around">(with_or_without<"Relu">(abs(tanh(x)))).replace(relu(x));

}  // namespace

TEST_CASE("a wrapper may stand there or not") {
  sketch g;
  auto const a = g.in("a", {4, 8}), b = g.in("b", {8, 4});
  auto const product = g.add("MatMul", {a, b});
  SECTION("not") { g.end(g.add("Abs", {product})); }
  SECTION("there") { g.end(g.add("Abs", {g.add("Relu", {product})})); }
  CHECK(applied<inside>(g) == 1);
  CHECK(ops(g) == "MatMul");
}

TEST_CASE("another operator is no wrapper, and it stands there once") {
  sketch g;
  auto const product = g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 4})});
  SECTION("another") { g.end(g.add("Abs", {g.add("Tanh", {product})})); }
  SECTION("twice") { g.end(g.add("Abs", {g.add("Relu", {g.add("Relu", {product})})})); }
  CHECK(applied<inside>(g) == 0);
}

TEST_CASE("a wrapper around the root belongs to it where it is there") {
  sketch g;
  auto const a = g.in("a");
  SECTION("there") {
    g.end(g.add("Relu", {g.add("Abs", {g.add("Tanh", {a})})}));
    CHECK(applied<around>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("not") {
    g.end(g.add("Abs", {g.add("Tanh", {a})}));
    CHECK(applied<around>(g) == 1);
    CHECK(ops(g) == "Relu");
  }
  SECTION("another") {
    g.end(g.add("Erf", {g.add("Abs", {g.add("Tanh", {a})})}));
    CHECK(applied<around>(g) == 1);
    CHECK(ops(g) == "Relu Erf");
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_CASE("its former name means the same") {
  static constexpr auto former = fuse::rule<"former">(abs(maybe<"Relu">(matmul(x, w)))).replace(matmul(x, w));
  sketch g;
  auto const product = g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 4})});
  SECTION("not") { g.end(g.add("Abs", {product})); }
  SECTION("there") { g.end(g.add("Abs", {g.add("Relu", {product})})); }
  CHECK(applied<former>(g) == 1);
  CHECK(ops(g) == "MatMul");
}
#pragma GCC diagnostic pop

}  // namespace dsl_with_or_without
