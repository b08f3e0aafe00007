// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_fold {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, a = var<"a">, b = var<"b">;
constexpr auto s = scalar<"s">;
constexpr auto joined =
    fuse::rule<"joined">(op<"Max">(op<"Max">(x, a), b)).where(is_constant<"a">).replace(op<"Max">(x, fold(sqrt(a* b))));
constexpr auto scaled = fuse::rule<"scaled">(op<"PRelu">(abs(x), s)).replace(op<"Max">(x, fold(s / 3)));

}  // namespace

TEST_CASE("a fold is computed and becomes a constant") {
  sketch g;
  auto const c = g.constant({1.0f, 4.0f, 9.0f}), d = g.constant({4.0f, 4.0f, 16.0f});
  g.end(g.add("Max", {g.add("Max", {g.in("x", {2, 3}), c}), d}));
  CHECK(applied<joined>(g) == 1);
  CHECK(ops(g) == "Max");
  auto const folded = g.constant(g.operands(last(g))[1]);
  REQUIRE(folded.size() == 3);
  CHECK(folded.type == element_type::float32);
  CHECK(folded.number(0) == 2);
  CHECK(folded.number(1) == 4);
  CHECK(folded.number(2) == 12);
}

TEST_CASE("constants broadcast to each other") {
  sketch g;
  auto const c = g.constant(fuse::make_tensor<float>({2, 3}, std::vector<float>{1, 4, 9, 1, 4, 9})),
             d = g.constant(fuse::make_tensor<float>({2, 1}, std::vector<float>{1, 4}));
  g.end(g.add("Max", {g.add("Max", {g.in("x", {2, 3}), c}), d}));
  CHECK(applied<joined>(g) == 1);
  auto const folded = g.constant(g.operands(last(g))[1]);
  REQUIRE(folded.size() == 6);
  CHECK(folded.number(5) == 6);
}

TEST_CASE("a fold is computed in double precision and rounded once") {
  sketch g;
  g.end(g.add("PRelu", {g.add("Abs", {g.in("x")}), g.scalar(1.0f)}));
  CHECK(applied<scaled>(g) == 1);
  CHECK(g.constant(g.operands(last(g))[1]).number(0) == static_cast<double>(static_cast<float>(1.0 / 3.0)));
}

TEST_CASE("what is no constant is not folded, and the graph stays as it is") {
  sketch g;
  auto const x_ = g.in("x", {2, 3});
  SECTION("an input") {
    g.end(g.add("Max", {g.add("Max", {x_, g.constant({1.0f, 4.0f, 9.0f})}), g.in("d", {3})}));
    CHECK(refusal<joined>(g).find("right side") != std::string::npos);
  }
  SECTION("a constant that a caller may override") {
    g.end(g.add("Max", {g.add("Max", {x_, g.constant({1.0f, 4.0f, 9.0f})}),
                        g.input("d", fuse::make_tensor<float>({3}, std::vector<float>{1, 2, 3}))}));
    CHECK(refusal<joined>(g).find("right side") != std::string::npos);
  }
}

TEST_CASE("constants that do not broadcast are refused") {
  sketch g;
  static constexpr auto unlike =
      fuse::rule<"unlike">(op<"Max">(abs(op<"Gather">(x, a)), b)).replace(op<"Max">(x, fold(a * b)));
  g.end(g.add("Max",
              {g.add("Abs", {g.add("Gather", {g.in("x", {8}), g.constant({0, 1})})}), g.constant({1.0f, 2.0f, 3.0f})}));
  CHECK(refusal<unlike>(g) == "right side");
}

}  // namespace dsl_fold
