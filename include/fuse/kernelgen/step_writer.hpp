// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/row_program.hpp>

#include <cstddef>
#include <cstdint>

namespace fuse::inline v0::detail {

/// The number of a step.
using step_id = std::uint8_t;

/// Writes the steps of a row program: equal ones once, a product that is added to something as one operation with the
/// sum, a quotient by what surely has a reciprocal as a product with that.
class step_writer {
 public:
  explicit constexpr step_writer(row_program& program) : program_(program) {}

  constexpr step_id input(std::size_t index, bool is_row) {
    return write({.op = row_op::input, .index = static_cast<std::uint8_t>(index), .is_row = is_row});
  }
  constexpr step_id number(double value) { return write({.op = row_op::number, .number = value}); }
  constexpr step_id columns() { return write({.op = row_op::columns}); }

  /// A row of it, where it is a number.
  constexpr step_id row(step_id a) {
    return of(a).is_row ? a : write({.op = row_op::repeat, .operands = 1, .a = a, .is_row = true});
  }

  constexpr step_id unary(row_op op, step_id a) { return write({.op = op, .operands = 1, .a = a}); }
  constexpr step_id binary(row_op op, step_id a, step_id b) { return write({.op = op, .operands = 2, .a = a, .b = b}); }
  constexpr step_id ternary(row_op op, step_id a, step_id b, step_id c) {
    return write({.op = op, .operands = 3, .a = a, .b = b, .c = c});
  }

  constexpr step_id add(step_id a, step_id b) {
    if (of(a).op == row_op::neg) return sub(b, of(a).a);
    if (of(b).op == row_op::neg) return sub(a, of(b).a);
    if (is_row_product(a)) return ternary(row_op::mul_add, of(a).a, of(a).b, b);
    if (is_row_product(b)) return ternary(row_op::mul_add, of(b).a, of(b).b, a);
    return binary(row_op::add, a, b);
  }
  constexpr step_id sub(step_id a, step_id b) {
    if (of(b).op == row_op::neg) return add(a, of(b).a);
    if (is_row_product(b)) return ternary(row_op::neg_mul_add, of(b).a, of(b).b, a);
    if (is_row_product(a)) return ternary(row_op::mul_sub, of(a).a, of(a).b, b);
    return binary(row_op::sub, a, b);
  }
  constexpr step_id mul(step_id a, step_id b) {
    if (of(a).op == row_op::number && of(a).number == 1) return b;
    if (of(b).op == row_op::number && of(b).number == 1) return a;
    if (is_difference(a) && !of(b).is_row) return scaled_difference(a, b);
    if (is_difference(b) && !of(a).is_row) return scaled_difference(b, a);
    return binary(row_op::mul, a, b);
  }
  constexpr step_id div(step_id a, step_id b) {
    if (of(a).op == row_op::number && of(a).number == 1) return reciprocal(b);
    if (of(b).op == row_op::reciprocal) return mul(a, of(b).a);
    return of(a).is_row && has_reciprocal(b) ? mul(a, reciprocal(b)) : binary(row_op::div, a, b);
  }
  constexpr step_id reciprocal(step_id a) {
    return of(a).op == row_op::reciprocal ? of(a).a : unary(row_op::reciprocal, a);
  }
  /// A power by a whole number up to 16 or by one half, of either sign; -1 by any other exponent.
  constexpr int power(step_id a, double exponent) {
    double const size = exponent < 0 ? -exponent : exponent;
    if (size == 0.5) return signed_power(unary(row_op::sqrt, a), exponent);
    constexpr int most = 16;
    int const whole = size <= most ? static_cast<int>(size) : -1;
    return whole == size ? signed_power(whole_power(a, whole), exponent) : -1;
  }
  constexpr step_id square(step_id a) { return mul(a, a); }
  constexpr step_id maximum(step_id a, step_id b) {
    if (of(b).op == row_op::number && of(b).number == 0) return unary(row_op::relu, a);
    if (of(a).op == row_op::number && of(a).number == 0) return unary(row_op::relu, b);
    return binary(row_op::maximum, a, b);
  }
  constexpr step_id minimum(step_id a, step_id b) { return binary(row_op::minimum, a, b); }

  constexpr step_id sum(step_id a) {
    if (!is_row_product(a)) return unary(row_op::sum, a);
    step_id const factor = of(a).a;
    if (factor == of(a).b && of(factor).op == row_op::sub) {
      step_id const x = of(factor).a, y = of(factor).b;
      if (is_mean_of(y, x)) return binary(row_op::spread, x, y);
      if (is_mean_of(x, y)) return binary(row_op::spread, y, x);
    }
    return binary(row_op::sum_of_products, factor, of(a).b);
  }
  constexpr step_id mean(step_id a) {
    return is_row_product(a) ? binary(row_op::div, sum(a), columns()) : unary(row_op::mean, a);
  }
  constexpr step_id largest(step_id a) { return unary(row_op::largest, a); }
  constexpr step_id smallest(step_id a) { return unary(row_op::neg, largest(unary(row_op::neg, a))); }

  /// Marks what this step depends on.
  constexpr void use(step_id at) {
    row_step& s = program_.steps[at];
    if (s.is_used) return;
    s.is_used = true;
    for (int i = 0; i < s.operands; ++i) use(s.operand(i));
  }

  [[nodiscard]] constexpr row_step const& of(step_id at) const { return program_.steps[at]; }

 private:
  constexpr step_id whole_power(step_id a, int exponent) {
    if (exponent == 0) return number(1);
    if (exponent == 1) return a;
    step_id const even = square(whole_power(a, exponent / 2));
    return exponent % 2 == 0 ? even : mul(even, a);
  }
  constexpr step_id signed_power(step_id power, double exponent) { return exponent < 0 ? reciprocal(power) : power; }

  [[nodiscard]] constexpr bool is_row_product(step_id at) const { return of(at).op == row_op::mul && of(at).is_row; }

  // A row less a number that float does not hold, times a number: what float leaves of the one is added as a product.
  [[nodiscard]] constexpr bool is_difference(step_id at) const {
    return of(at).op == row_op::sub && of(of(at).a).is_row && of(of(at).b).has_rest;
  }
  constexpr step_id scaled_difference(step_id difference, step_id factor) {
    step_id const a = of(difference).a, b = of(difference).b;
    return ternary(row_op::mul_add, binary(row_op::sub_nearest, a, b), factor, binary(row_op::rest_product, b, factor));
  }

  [[nodiscard]] constexpr bool is_mean_of(step_id at, step_id a) const {
    return of(at).op == row_op::mean && of(at).a == a;
  }

  // Whether 1 / it is a normal float, 0 or infinite where it itself is no normal float but 0 or infinite.
  [[nodiscard]] constexpr bool has_reciprocal(step_id at) const {
    row_step const& s = of(at);
    if (s.is_row) return false;
    if (s.op == row_op::number) {
      double const size = s.number < 0 ? -s.number : s.number;
      return size > 0x1p-126 && size < 0x1p126;
    }
    return s.op == row_op::sqrt && of(s.a).has_rest;
  }

  constexpr step_id write(row_step made) {
    for (int i = 0; i < made.operands; ++i) {
      row_step const& s = of(made.operand(i));
      made.is_row = made.is_row || s.is_row;
      made.has_rest = made.has_rest || s.has_rest;
      if (s.depth > made.depth) made.depth = s.depth;
    }
    if (is_reduction(made.op)) {
      made.is_row = false;
      made.has_rest = made.op != row_op::largest;
      if (made.op == row_op::spread) made.depth = of(made.a).depth;
      ++made.depth;
      if (made.depth > program_.depth) program_.depth = made.depth;
    }
    if (made.is_row || made.op == row_op::rest_product) made.has_rest = false;
    std::size_t at = 0;
    while (at < program_.size && !(program_.steps[at] == made)) ++at;
    if (at == row_program::capacity) {
      program_.error = row_error::too_large;
      return 0;
    }
    if (at == program_.size) program_.steps[program_.size++] = made;
    return static_cast<step_id>(at);
  }

  row_program& program_;
};

}  // namespace fuse::inline v0::detail
