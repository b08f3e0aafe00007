// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_optional {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">, b = var<"b">;
constexpr auto bias = fuse::rule<"bias">(relu(op<"Gemm">(x, w, optional(b)))).replace(op<"Gemm">(x, w, b));
constexpr auto addend = fuse::rule<"addend">(relu(matmul(x, w) + optional(b))).replace(op<"Gemm">(x, w, b));
constexpr auto factor = fuse::rule<"factor">(relu(tanh(x) * optional(exp(w)))).replace(op<"Max">(x, w));

constexpr auto number =
    fuse::rule<"number">(sqrt(exp(x) + optional(scalar<"n">))).replace(op<"LeakyRelu">(x).attr<"alpha">(scalar<"n">));
constexpr auto times =
    fuse::rule<"times">(sqrt(exp(x) * optional(scalar<"n">))).replace(op<"LeakyRelu">(x).attr<"alpha">(scalar<"n">));

constexpr auto negated = fuse::rule<"negated">(tanh(op<"Gemm">(var<"x">, var<"w">, optional(var<"b">))))
                             .replace(op<"Gemm">(var<"x">, var<"w">, optional(fold(-var<"b">))));
constexpr auto negated_sum = fuse::rule<"negated-sum">(relu(matmul(var<"x">, var<"w">) + rest<"b">))
                                 .replace(matmul(var<"x">, var<"w">) + optional(fold(-rest<"b">)));

}  // namespace

TEST_CASE("an optional operand is there or not, and so in the replacement") {
  sketch g;
  auto const a = g.in("a", {4, 8}), c = g.in("c", {8, 4}), d = g.in("d", {4});
  SECTION("there") {
    g.end(g.add("Relu", {g.add("Gemm", {a, c, d})}));
    CHECK(applied<bias>(g) == 1);
    CHECK(g.operands(last(g)).size() == 3);
  }
  SECTION("left out") {
    g.end(g.add("Relu", {g.add("Gemm", {a, c})}));
    CHECK(applied<bias>(g) == 1);
    CHECK(g.operands(last(g)).size() == 2);
  }
  SECTION("an empty place") {
    g.end(g.add("Relu", {g.add("Gemm", {a, c, graph::value{}})}));
    CHECK(applied<bias>(g) == 1);
    CHECK(g.operands(last(g)).size() == 2);
  }
}

TEST_CASE("an optional addend") {
  sketch g;
  auto const a = g.in("a", {4, 8}), c = g.in("c", {8, 4}), d = g.in("d", {4});
  SECTION("there, on either side") {
    g.end(g.add("Relu", {g.add("Add", {d, g.add("MatMul", {a, c})})}));
    CHECK(applied<addend>(g) == 1);
    CHECK(to_text(g).find("Gemm(a, c, d)") != std::string::npos);
  }
  SECTION("absent: no sum at all") {
    g.end(g.add("Relu", {g.add("MatMul", {a, c})}));
    CHECK(applied<addend>(g) == 1);
    CHECK(to_text(g).find("Gemm(a, c)") != std::string::npos);
  }
  SECTION("two of them") {
    g.end(g.add("Relu", {g.add("Sum", {d, g.add("MatMul", {a, c}), g.in("e", {4, 4})})}));
    CHECK(applied<addend>(g) <= 1);  // one name holds one value: the two addends as one, where a node adds them
  }
}

TEST_CASE("an optional number that is absent is the one that changes nothing") {
  sketch g;
  auto const a = g.in("a");
  auto const e = g.add("Exp", {a});
  SECTION("there") {
    g.end(g.add("Sqrt", {g.add("Add", {e, g.constant({0.5f})})}));
    CHECK(applied<number>(g) == 1);
    CHECK(to_text(g).find("alpha=0.5") != std::string::npos);
  }
  SECTION("no addend is 0") {
    g.end(g.add("Sqrt", {e}));
    CHECK(applied<number>(g) == 1);
    CHECK(to_text(g).find("alpha=0") != std::string::npos);
    CHECK(to_text(g).find("alpha=0.5") == std::string::npos);
  }
  SECTION("no factor is 1") {
    g.end(g.add("Sqrt", {e}));
    CHECK(applied<times>(g) == 1);
    CHECK(to_text(g).find("alpha=1") != std::string::npos);
  }
  SECTION("another addend is no number, and the report says what was wanted") {
    auto const root = g.add("Sqrt", {g.add("Add", {e, g.in("b")})});
    g.end(root);
    CHECK(applied<number>(g) == 0);
    fuse::matcher<number, graph> search(g);
    CHECK(to_text(search.why(g.producer(root))).find("'n', a constant with one element") != std::string::npos);
  }
}

TEST_CASE("what is optional matches wholly or not at all") {
  sketch g;
  auto const a = g.in("a"), c = g.in("c");
  g.end(g.add("Relu", {g.add("Mul", {g.add("Tanh", {a}), g.add("Abs", {c})})}));
  CHECK(applied<factor>(g) == 0);
}

TEST_CASE("on the right side a fold of what is absent is none") {
  sketch g;
  auto const a = g.in("a", {4, 4}),
             weights = g.constant(fuse::make_tensor<float>({4, 4}, std::vector<float>(16, 0.5f)));
  auto const row = g.constant({1.f, 2.f, 3.f, 4.f});
  SECTION("an operand") {
    SECTION("there") {
      g.end(g.add("Tanh", {g.add("Gemm", {a, weights, row})}));
      CHECK(applied<negated>(g) == 1);
      CHECK(to_text(g).find("{-1, -2, -3, -4}") != std::string::npos);
    }
    SECTION("absent") {
      g.end(g.add("Tanh", {g.add("Gemm", {a, weights})}));
      CHECK(applied<negated>(g) == 1);
      CHECK(g.operands(g.producer(g.outputs()[0])).size() == 2);
    }
  }
  SECTION("an addend") {
    SECTION("there") {
      g.end(g.add("Relu", {g.add("Add", {g.add("MatMul", {a, weights}), row})}));
      CHECK(applied<negated_sum>(g) == 1);
      CHECK(ops(g) == "MatMul Add");
    }
    SECTION("absent") {
      g.end(g.add("Relu", {g.add("MatMul", {a, weights})}));
      CHECK(applied<negated_sum>(g) == 1);
      CHECK(ops(g) == "MatMul");
    }
    SECTION("no constant: that is no reason to leave it out") {
      g.end(g.add("Relu", {g.add("Add", {g.add("MatMul", {a, weights}), g.in("c", {4})})}));
      CHECK(applied<negated_sum>(g) == 0);
    }
  }
}

}  // namespace dsl_optional
