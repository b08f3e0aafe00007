// SPDX-License-Identifier: BSL-1.0
#include "spelled.hpp"

#include <fuse/ops/algebra.hpp>

namespace ops_algebra {

using namespace rewriting;
using namespace fuse::dsl;
using fuse::allows;
using fuse::op_group;
using fuse::opcode;
using fuse::opens_with;

namespace {

inline constexpr auto x = var<"x">, y = var<"y">;

inline constexpr auto cube = fuse::rule<"cube">(abs(x * x * x)).replace(op<"Relu">(x));
inline constexpr auto cube_of_power = fuse::rule<"cube_of_power">(abs(pow(x, 3.0))).replace(op<"Relu">(x));
inline constexpr auto cube_in_parts = fuse::rule<"cube_in_parts">(abs(x * pow(x, 2.0))).replace(op<"Relu">(x));
inline constexpr auto cube_of_square = fuse::rule<"cube_of_square">(abs(square(x) * x)).replace(op<"Relu">(x));
inline constexpr auto cube_divided = fuse::rule<"cube_divided">(abs(x / pow(x, -2.0))).replace(op<"Relu">(x));

inline constexpr auto fourth = fuse::rule<"fourth">(abs(x * x * x * x)).replace(op<"Relu">(x));
inline constexpr auto fourth_of_squares =
    fuse::rule<"fourth_of_squares">(abs(square(square(x)))).replace(op<"Relu">(x));
inline constexpr auto fourth_of_power = fuse::rule<"fourth_of_power">(abs(square(pow(x, 2.0)))).replace(op<"Relu">(x));
inline constexpr auto fourth_of_powers =
    fuse::rule<"fourth_of_powers">(abs(pow(pow(x, 2.0), 2.0))).replace(op<"Relu">(x));
inline constexpr auto fourth_of_inverse =
    fuse::rule<"fourth_of_inverse">(abs(square(reciprocal(pow(x, -2.0))))).replace(op<"Relu">(x));

inline constexpr auto quotient = fuse::rule<"quotient">(abs(y / (x * x))).replace(op<"Relu">(x));
inline constexpr auto quotient_twice = fuse::rule<"quotient_twice">(abs(y / x / x)).replace(op<"Relu">(x));
inline constexpr auto quotient_of_square = fuse::rule<"quotient_of_square">(abs(y / square(x))).replace(op<"Relu">(x));
inline constexpr auto quotient_of_power = fuse::rule<"quotient_of_power">(abs(y * pow(x, -2.0))).replace(op<"Relu">(x));
inline constexpr auto quotient_of_inverse =
    fuse::rule<"quotient_of_inverse">(abs(y * square(reciprocal(x)))).replace(op<"Relu">(x));
inline constexpr auto quotient_of_one = fuse::rule<"quotient_of_one">(abs(square(1.0 / x) * y)).replace(op<"Relu">(x));

inline constexpr auto root = fuse::rule<"root">(abs(y / sqrt(x))).replace(op<"Relu">(x));
inline constexpr auto root_of_inverse =
    fuse::rule<"root_of_inverse">(abs(y * sqrt(reciprocal(x)))).replace(op<"Relu">(x));
inline constexpr auto root_of_one = fuse::rule<"root_of_one">(abs(y * sqrt(1.0 / x))).replace(op<"Relu">(x));
inline constexpr auto root_inverse = fuse::rule<"root_inverse">(abs(rsqrt(x) * y)).replace(op<"Relu">(x));
inline constexpr auto root_of_power = fuse::rule<"root_of_power">(abs(y * sqrt(pow(x, -1.0)))).replace(op<"Relu">(x));
inline constexpr auto root_power = fuse::rule<"root_power">(abs(pow(x, -0.5) * y)).replace(op<"Relu">(x));
inline constexpr auto root_of_root = fuse::rule<"root_of_root">(abs(y / rsqrt(reciprocal(x)))).replace(op<"Relu">(x));

inline constexpr auto difference = fuse::rule<"difference">(abs(y - x)).replace(op<"Relu">(x));
inline constexpr auto difference_of_sum = fuse::rule<"difference_of_sum">(abs(-x + y)).replace(op<"Relu">(x));
inline constexpr auto difference_negated = fuse::rule<"difference_negated">(abs(-(x - y))).replace(op<"Relu">(x));

inline constexpr auto twice = fuse::rule<"twice">(abs(x + x + y)).replace(op<"Relu">(x));
inline constexpr auto twice_apart = fuse::rule<"twice_apart">(abs(x + y + x)).replace(op<"Relu">(x));
inline constexpr auto twice_subtracted = fuse::rule<"twice_subtracted">(abs(y - (-x - x))).replace(op<"Relu">(x));

inline constexpr auto four_ninths = fuse::rule<"four_ninths">(abs(4.0 * x * x / 9.0 * y)).replace(op<"Relu">(x));
inline constexpr auto squares_of_numbers =
    fuse::rule<"squares_of_numbers">(abs(square(2.0 * x) / 9.0 * y)).replace(op<"Relu">(x));

inline constexpr auto root_of_logarithm =
    fuse::rule<"root_of_logarithm">(abs(y * exp(-0.5 * log(x)))).replace(op<"Relu">(x));
inline constexpr auto fourth_root = fuse::rule<"fourth_root">(abs(y * pow(x, 0.25))).replace(op<"Relu">(x));
inline constexpr auto fourth_root_of_logarithm =
    fuse::rule<"fourth_root_of_logarithm">(abs(y * exp(log(x) * 0.25))).replace(op<"Relu">(x));
inline constexpr auto fourth_root_of_root =
    fuse::rule<"fourth_root_of_root">(abs(y * sqrt(exp(0.5 * log(x))))).replace(op<"Relu">(x));
inline constexpr auto by_square = fuse::rule<"by_square">(abs(y * square(x))).replace(op<"Relu">(x));
inline constexpr auto exponential = fuse::rule<"exponential">(abs(y * exp(x))).replace(op<"Relu">(x));

}  // namespace

TEST_CASE("however a power is spelled, it is one") {
  expect_all_alike<cube, cube_of_power, cube_in_parts, cube_of_square, cube_divided>();
  expect_all_alike<fourth, fourth_of_squares, fourth_of_power, fourth_of_powers, fourth_of_inverse>();
}

TEST_CASE("however a quotient is spelled, it is one") {
  expect_all_alike<quotient, quotient_twice, quotient_of_square, quotient_of_power, quotient_of_inverse,
                   quotient_of_one>();
  expect_all_alike<root, root_of_inverse, root_of_one, root_inverse, root_of_power, root_power, root_of_root,
                   root_of_logarithm>();
  expect_all_alike<fourth_root, fourth_root_of_logarithm, fourth_root_of_root>();
}

TEST_CASE("the exponential of a multiple of a logarithm is a power that is not whole, and itself") {
  auto const fires = [](auto const& rule, auto const& make) {
    sketch g;
    auto const a = g.in("a"), b = g.in("b");
    g.end(g.add("Abs", {g.add("Mul", {b, g.add("Exp", {make(g, g.add("Log", {a}))})})}));
    return rule(g);
  };
  auto const times = [](float number) {
    return [number](sketch& g, graph::value v) { return g.add("Mul", {v, g.scalar(number)}); };
  };
  auto const is_root = [](sketch& g) { return applied<root_inverse>(g); };
  auto const is_square = [](sketch& g) { return applied<by_square>(g); };
  auto const is_exponential = [](sketch& g) { return applied<exponential>(g); };
  CHECK(fires(is_root, times(-0.5f)) == 1);
  CHECK(fires(is_root, [](sketch& g, graph::value v) { return g.add("Div", {v, g.scalar(-2.0f)}); }) == 1);
  CHECK(fires(is_root, [](sketch& g, graph::value v) {
          return g.add("Neg", {g.add("Mul", {g.scalar(0.5f), v})});
        }) == 1);
  CHECK(fires(is_root, times(0.5f)) == 0);
  CHECK(fires(is_square, times(2.0f)) == 0);  // it has no value below 0, a square has
  CHECK(fires(is_exponential, times(-0.5f)) == 1);
  CHECK(fires(is_exponential, times(2.0f)) == 1);
}

TEST_CASE("however a difference is spelled, it is one") {
  expect_all_alike<difference, difference_of_sum, difference_negated>();
  expect_all_alike<twice, twice_apart, twice_subtracted>();
}

TEST_CASE("numbers below whole powers are numbers of the product") {
  expect_all_alike<four_ninths, squares_of_numbers>();
}

TEST_CASE("what a weight allows to open") {
  STATIC_REQUIRE(allows(opens_with::any, 0.5));
  STATIC_REQUIRE(allows(opens_with::whole, -3));
  STATIC_REQUIRE_FALSE(allows(opens_with::whole, 0.5));
  STATIC_REQUIRE_FALSE(allows(opens_with::unit, 2));
  STATIC_REQUIRE(allows(opens_with::power, 2, 3));
  STATIC_REQUIRE(allows(opens_with::power, 1, 0.25));
  STATIC_REQUIRE(allows(opens_with::power, 0.5, -1));
  STATIC_REQUIRE_FALSE(allows(opens_with::power, 0.5, 2));  // the root of a square is no first power
  STATIC_REQUIRE_FALSE(allows(opens_with::power, 2, 0.5));  // nor is the square of a root, below 0
  STATIC_REQUIRE_FALSE(allows(opens_with::power, 1, 0));
  STATIC_REQUIRE_FALSE(allows(opens_with::none, 1));
  STATIC_REQUIRE_FALSE(fuse::is_whole_weight(0x1p40));
}

TEST_CASE("an operator of a group opens as that, and no other opens") {
  for (auto const& each : fuse::openings) {
    CHECK(fuse::opening_of(each.op, each.kind).when == each.when);
    bool const reads_two = each.when == opens_with::logarithm || each.when == opens_with::squared;
    CHECK((fuse::info(each.op).group == op_group::none) == reads_two);
  }
  for (auto const& known : fuse::operator_table) {
    auto const own = fuse::opening_of(known.op, known.group).when;
    CHECK((known.group == op_group::none) == (own == opens_with::none));
  }
}

TEST_CASE("whole exponents are compared exactly, others as float rounds them") {
  static constexpr auto tenth = fuse::rule<"tenth">(abs(pow(x, 0.1) * y)).replace(op<"Relu">(x));
  static constexpr auto squared = fuse::rule<"squared">(abs(pow(x, 2.0) * y)).replace(op<"Relu">(x));
  auto const with = [](float exponent) {
    sketch g;
    g.end(g.add("Abs", {g.add("Mul", {g.add("Pow", {g.in("a"), g.scalar(exponent)}), g.in("b")})}));
    return g;
  };
  CHECK(fuse::match_all<tenth>(with(0.1f)).size() == 1);
  CHECK(fuse::match_all<tenth>(with(0.10001f)).empty());
  CHECK(fuse::match_all<tenth>(with(-0.1f)).empty());
  CHECK(fuse::match_all<squared>(with(2.0f)).size() == 1);
  CHECK(fuse::match_all<squared>(with(2.0000002f)).empty());
}

TEST_CASE("a power of anything but a number is an operator of two operands") {
  static constexpr auto s = scalar<"s">;
  static constexpr auto captured = fuse::rule<"captured">(tanh(pow(x, s) * y)).replace(op<"Max">(x, y));
  static constexpr auto computed = fuse::rule<"computed">(tanh(pow(x, y))).replace(op<"Max">(x, y));
  static constexpr auto root_of_exp = fuse::rule<"root_of_exp">(pow(exp(x), s) * y).replace(op<"Max">(x, y));
  static constexpr auto third =
      fuse::rule<"third">(tanh(pow(x, constant(0.333).within(1e-2)) + y)).replace(op<"Max">(x, y));
  static constexpr auto one = fuse::rule<"one">(tanh(pow(x, 0.0) * y)).replace(op<"Max">(x, y));
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  auto const times = [&](graph::value v) { return g.add("Mul", {v, b}); };
  auto const power = [&](graph::value v, float exponent) { return g.add("Pow", {v, g.scalar(exponent)}); };
  auto const end = [&](graph::value v) { g.end(g.add("Tanh", {v})); };
  SECTION("a captured number") {
    float const exponent = GENERATE(0.3f, 2.0f, 0.5f, -1.0f);
    end(times(power(a, exponent)));
    auto const found = fuse::match_all<captured>(g);
    REQUIRE(found.size() == 1);
    CHECK(found[0].template get<"x">() == a);
    CHECK(found[0].template get<"y">() == b);
  }
  SECTION("not another spelling") {
    end(times(g.add("Mul", {a, a})));
    CHECK(fuse::match_all<captured>(g).empty());
  }
  SECTION("what it is of") {
    g.end(times(power(g.add("Exp", {a}), 3.0f)));
    CHECK(fuse::match_all<root_of_exp>(g).size() == 1);
  }
  SECTION("a value") {
    end(g.add("Pow", {a, b}));
    auto const found = fuse::match_all<computed>(g);
    REQUIRE(found.size() == 1);
    CHECK(found[0].template get<"x">() == a);
  }
  SECTION("a number within a tolerance") {
    end(g.add("Add", {power(a, 1 / 3.0f), b}));
    CHECK(fuse::match_all<third>(g).size() == 1);
  }
  SECTION("a number beyond it") {
    end(g.add("Add", {power(a, 0.35f), b}));
    CHECK(fuse::match_all<third>(g).empty());
  }
  SECTION("nothing") {
    end(times(power(a, 0.0f)));
    CHECK(fuse::match_all<one>(g).size() == 1);
  }
}

TEST_CASE("what adds up its operands is known of each operator") {
  using fuse::operands_added_up;
  for (auto const op : {opcode::add, opcode::sub}) CHECK(operands_added_up(op, 2) == 2);
  CHECK(operands_added_up(opcode::sum_of, 5) == 5);
  for (auto const op : {opcode::matmul, opcode::gemm, opcode::conv}) CHECK(operands_added_up(op, 3) == 2);
  CHECK(operands_added_up(opcode::einsum, 3) == 3);
  CHECK(operands_added_up(opcode::attention, 4) == 3);
  for (auto const op : {opcode::sum, opcode::mean}) CHECK(operands_added_up(op, 2) == 1);
  CHECK(operands_added_up(opcode::average_pool, 1) == 1);
  CHECK(operands_added_up(opcode::matmul, 1) == 1);
  for (auto const op : {opcode::mul, opcode::neg, opcode::maximum, opcode::reduce_max, opcode::max_pool, opcode::tanh,
                        opcode::where, opcode::concat})
    CHECK(operands_added_up(op, 2) == 0);
}

}  // namespace ops_algebra
