// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_op {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto by_meaning = fuse::rule<"by-meaning">(tanh(op<"Div">(x, w))).replace(op<"Max">(x, w));
constexpr auto by_name = fuse::rule<"by-name">(tanh(exactly<"Div">(x, w))).replace(op<"Max">(x, w));
constexpr auto order = fuse::rule<"order">(tanh(exactly<"Add">(tanh(x), w))).replace(op<"Max">(x, w));
constexpr auto no_equation = fuse::rule<"no-equation">(relu(relu(op<"Einsum">(x, w)))).replace(op<"Einsum">(x, w));

}  // namespace

TEST_CASE("op takes every spelling of an operator's meaning, exactly takes one node") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  SECTION("the node itself") {
    g.end(g.add("Tanh", {g.add("Div", {a, b})}));
    auto h = g;
    CHECK(applied<by_meaning>(g) == 1);
    CHECK(applied<by_name>(h) == 1);
  }
  SECTION("another spelling") {
    g.end(g.add("Tanh", {g.add("Mul", {g.add("Reciprocal", {b}), a})}));
    auto h = g;
    CHECK(applied<by_meaning>(g) == 1);
    CHECK(applied<by_name>(h) == 0);
  }
  SECTION("operands exchanged keep their roles") {
    g.end(g.add("Tanh", {g.add("Div", {b, a})}));
    CHECK(applied<by_meaning>(g) == 1);
    CHECK(g.operands(last(g))[0] == b);
  }
  SECTION("another operator") {
    g.end(g.add("Tanh", {g.add("Sub", {a, b})}));
    auto h = g;
    CHECK(applied<by_meaning>(g) == 0);
    CHECK(applied<by_name>(h) == 0);
  }
}

TEST_CASE("exactly takes operands in their order, also of a commutative operator") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  SECTION("in order") {
    g.end(g.add("Tanh", {g.add("Add", {g.add("Tanh", {a}), b})}));
    CHECK(applied<order>(g) == 1);
  }
  SECTION("exchanged") {
    g.end(g.add("Tanh", {g.add("Add", {b, g.add("Tanh", {a})})}));
    CHECK(applied<order>(g) == 0);
  }
}

TEST_CASE("a commutative operator matches in either order") {
  static constexpr auto largest = fuse::rule<"largest">(op<"Max">(tanh(x), exp(w))).replace(op<"Min">(x, w));
  for (bool exchanged : {false, true}) {
    sketch g;
    auto const a = g.add("Tanh", {g.in("a")}), b = g.add("Exp", {g.in("b")});
    g.end(exchanged ? g.add("Max", {b, a}) : g.add("Max", {a, b}));
    CHECK(applied<largest>(g) == 1);
    CHECK(to_text(g).find("Min(a, b)") != std::string::npos);
  }
}

TEST_CASE("an operator that is not commutative matches in one order") {
  static constexpr auto power = fuse::rule<"power">(op<"PRelu">(tanh(x), exp(w))).replace(op<"Min">(x, w));
  sketch g;
  auto const a = g.add("Tanh", {g.in("a")}), b = g.add("Exp", {g.in("b")});
  SECTION("as written") {
    g.end(g.add("PRelu", {a, b}));
    CHECK(applied<power>(g) == 1);
  }
  SECTION("exchanged") {
    g.end(g.add("PRelu", {b, a}));
    CHECK(applied<power>(g) == 0);
  }
}

TEST_CASE("another number of operands is another operator") {
  static constexpr auto smallest = fuse::rule<"smallest">(tanh(op<"Min">(x, w))).replace(op<"Max">(x, w));
  sketch g;
  g.end(g.add("Tanh", {g.add("Min", {g.in("a"), g.in("b"), g.in("c")})}));
  CHECK(applied<smallest>(g) == 0);
}

TEST_CASE("a user's operator matches by its name and the dialect that knows it") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  auto const e = g.add("Einsum", {a, b}, {{"equation", "ij,ij->ij"}});
  g.annotate(e, element_type::float32, {4, 8});
  auto const y = g.add("Relu", {g.add("Relu", {e})});
  g.annotate(y, element_type::float32, {4, 8});
  g.end(y);
  CHECK(fuse::match_all<no_equation>(g).size() == 1);
  CHECK(refusal<no_equation>(g) == "right side");  // it has no equation
}

}  // namespace dsl_op
