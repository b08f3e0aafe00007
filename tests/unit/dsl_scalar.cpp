// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_scalar {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto s = scalar<"s">;
constexpr auto leaky = fuse::rule<"leaky">(relu(x) * s).replace(op<"LeakyRelu">(x).attr<"alpha">(s));
constexpr auto twice = fuse::rule<"twice">(op<"Max">(op<"Min">(x, s), s)).replace(relu(x));

double alpha(graph::value (*make)(sketch&)) {
  sketch g;
  g.end(g.add("Mul", {make(g), g.add("Relu", {g.in("a")})}));
  REQUIRE(applied<leaky>(g) == 1);
  return number(g, last(g), "alpha");
}

}  // namespace

TEST_CASE("a scalar is a constant of one element, whatever its rank") {
  CHECK(alpha([](sketch& g) { return g.scalar(0.25f); }) == 0.25);
  CHECK(alpha([](sketch& g) { return g.constant({0.25f}); }) == 0.25);
  CHECK(alpha([](sketch& g) {
          return g.constant(fuse::make_tensor<float>({1, 1}, std::vector<float>{0.25f}));
        }) == 0.25);
  CHECK(alpha([](sketch& g) {
          return g.add("Constant", {}, {{"value", fuse::make_tensor<float>({}, std::vector<float>{0.25f})}});
        }) == 0.25);
}

TEST_CASE("in a product, equal elements are as good as one") {
  CHECK(alpha([](sketch& g) { return g.constant(fuse::make_tensor<float>({8}, std::vector<float>(8, 0.25f))); }) ==
        0.25);
  CHECK(alpha([](sketch& g) {
          return g.constant(fuse::make_tensor<float>({4, 8}, std::vector<float>(32, 0.25f)));
        }) == 0.25);
  CHECK(alpha([](sketch& g) {
          auto const quarter = fuse::make_tensor<float>({1}, std::vector<float>{0.25f});
          return g.add("ConstantOfShape", {g.constant({4, 8})}, {{"value", quarter}});
        }) == 0.25);
  CHECK(alpha([](sketch& g) { return g.add("Expand", {g.scalar(0.25f), g.constant({4, 8})}); }) == 0.25);
}

TEST_CASE("a scalar follows from constants") {
  CHECK(alpha([](sketch& g) { return g.add("Sqrt", {g.scalar(0.25f)}); }) == 0.5);
  CHECK(alpha([](sketch& g) { return g.add("Cast", {g.scalar(0.1)}, {{"to", 1}}); }) == static_cast<double>(0.1f));
}

TEST_CASE("a scalar is carried as it stands, not rounded") {
  sketch g;
  g.end(g.add("Mul", {g.add("Relu", {g.in("a", {4}, element_type::float64)}), g.scalar(0.1)}));
  CHECK(applied<leaky>(g) == 1);
  CHECK(number(g, last(g), "alpha") == 0.1);
}

TEST_CASE("what is no constant of one element is no scalar") {
  sketch g;
  auto const a = g.add("Relu", {g.in("a", {4, 2})});
  SECTION("an input") { g.end(g.add("Mul", {a, g.in("b", {})})); }
  SECTION("a constant that a caller may override") {
    g.end(g.add("Mul", {a, g.input("b", fuse::make_tensor<float>({}, std::vector<float>{0.25f}))}));
  }
  SECTION("two elements") { g.end(g.add("Mul", {a, g.constant({0.25f, 0.5f})})); }
  SECTION("equal elements that enlarge the result") {
    g.end(g.add("Mul", {a, g.constant(fuse::make_tensor<float>({3, 1, 1}, std::vector<float>(3, 0.25f)))}));
  }
  SECTION("no element") { g.end(g.add("Mul", {a, g.constant(fuse::make_tensor<float>({0}, std::vector<float>{}))})); }
  CHECK(applied<leaky>(g) == 0);
}

TEST_CASE("a scalar's name that occurs twice is one number") {
  sketch g;
  auto const a = g.in("a");
  SECTION("in two constants") {
    g.end(g.add("Max", {g.scalar(0.5f), g.add("Min", {a, g.constant({0.5f})})}));
    CHECK(applied<twice>(g) == 1);
  }
  SECTION("two numbers") {
    g.end(g.add("Max", {g.scalar(0.5f), g.add("Min", {a, g.scalar(0.25f)})}));
    CHECK(applied<twice>(g) == 0);
  }
}

}  // namespace dsl_scalar
