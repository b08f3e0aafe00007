// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_constant {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">;
constexpr auto half = fuse::rule<"half">(op<"Max">(tanh(x), constant(0.7071067811865476))).replace(relu(x));
constexpr auto loose =
    fuse::rule<"loose">(op<"Max">(tanh(x), constant(0.7071067811865476).within(1e-3))).replace(relu(x));
constexpr auto zero = fuse::rule<"zero">(op<"Max">(tanh(x), 0)).replace(relu(x));
constexpr auto factor = fuse::rule<"factor">(tanh(x) * 0.5).replace(relu(x));
constexpr auto addend = fuse::rule<"addend">(tanh(x) + 1).replace(relu(x));
constexpr auto less = fuse::rule<"less">(tanh(x) - 1).replace(relu(x));

template <auto const& Rule, class T>
std::size_t with(char const* op, T number) {
  sketch g;
  g.end(g.add(op, {g.add("Tanh", {g.in("a")}), g.scalar(number)}));
  return applied<Rule>(g);
}

}  // namespace

TEST_CASE("a constant of 16 bits is the number that its type makes it, and one that the type holds is only itself") {
  for (auto const type : {element_type::float16, element_type::bfloat16}) {
    bool const is_half = type == element_type::float16;
    auto const found = [&](double number, bool times) {
      sketch g;
      auto const c = g.constant(fuse::make_tensor(type, {}, std::vector<double>{number}));
      g.end(g.add(times ? "Mul" : "Max", {g.add("Tanh", {g.in("a", {4, 8}, type)}), c}));
      return times ? applied<factor>(g) : applied<half>(g);
    };
    double const step = is_half ? 0x1p-11 : 0x1p-8;
    CHECK(found(0.70703125, false) == 1);
    CHECK(found(0.70703125 + step, false) == 0);
    CHECK(found(0.70703125 - step, false) == 0);
    CHECK(found(0.5, true) == 1);
    CHECK(found(0.5 + step, true) == 0);
    CHECK(found(0.5 - step / 2, true) == 0);
  }
}

TEST_CASE("a number is a constant within a relative tolerance") {
  CHECK(with<half>("Max", 0.70710678f) == 1);
  CHECK(with<half>("Max", 0.7071f) == 0);
  CHECK(with<loose>("Max", 0.7071f) == 1);
  CHECK(with<loose>("Max", 0.70f) == 0);
}

TEST_CASE("0 equals only 0") {
  CHECK(with<zero>("Max", 0.0f) == 1);
  CHECK(with<zero>("Max", -0.0f) == 1);
  CHECK(with<zero>("Max", 1e-30f) == 0);
}

TEST_CASE("a constant with many elements is a number when all of them are") {
  sketch g;
  auto const a = g.add("Tanh", {g.in("a", {4, 2})});
  SECTION("all") {
    g.end(g.add("Max", {a, g.constant({0.0f, 0.0f})}));
    CHECK(applied<zero>(g) == 1);
  }
  SECTION("not all") {
    g.end(g.add("Max", {a, g.constant({0.0f, 1.0f})}));
    CHECK(applied<zero>(g) == 0);
  }
}

TEST_CASE("a caller's constant is no number") {
  sketch g;
  g.end(g.add("Max", {g.add("Tanh", {g.in("a")}), g.input("c", fuse::make_tensor<float>({}, std::vector<float>{0}))}));
  CHECK(applied<zero>(g) == 0);
}

TEST_CASE("a number in a product is what its constants make up") {
  CHECK(with<factor>("Mul", 0.5f) == 1);
  CHECK(with<factor>("Mul", 0.25f) == 0);
  CHECK(with<factor>("Div", 2.0f) == 1);
  sketch g;
  g.end(g.add("Mul", {g.scalar(0.25f), g.add("Mul", {g.add("Tanh", {g.in("a")}), g.scalar(2.0f)})}));
  CHECK(applied<factor>(g) == 1);
}

TEST_CASE("a number in a sum is what its constants make up") {
  CHECK(with<addend>("Add", 1.0f) == 1);
  CHECK(with<addend>("Sub", -1.0f) == 1);
  CHECK(with<addend>("Sub", 1.0f) == 0);
  CHECK(with<less>("Sub", 1.0f) == 1);
  CHECK(with<less>("Add", -1.0f) == 1);
  CHECK(with<less>("Add", 1.0f) == 0);
  sketch g;
  g.end(g.add("Add", {g.scalar(0.75f), g.add("Add", {g.add("Tanh", {g.in("a")}), g.scalar(0.25f)})}));
  CHECK(applied<addend>(g) == 1);
}

TEST_CASE("without the constant there is no match") {
  sketch g;
  g.end(g.add("Mul", {g.add("Tanh", {g.in("a")}), g.in("b", {})}));
  CHECK(applied<factor>(g) == 0);
  CHECK(applied<addend>(g) == 0);
}

}  // namespace dsl_constant
