// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/static_text.hpp>

#include <cstddef>
#include <cstdint>

namespace fuse::inline v0::detail {

/// What a step of a row program computes of the steps that it names.
enum class row_op : std::uint8_t {
  // Without operands.
  input,    ///< input number `index` of the call
  number,   ///< `number`, rounded to float
  columns,  ///< how many columns a row has
  // Element by element.
  add,
  sub,
  mul,
  div,
  mul_add,      ///< a * b + c, rounded once
  mul_sub,      ///< a * b - c
  neg_mul_add,  ///< c - a * b
  sub_nearest,  ///< a less the float next to the number b
  neg,
  reciprocal,
  sqrt,
  abs,
  sign,
  floor,
  ceil,
  round,  ///< to the nearest, ties to even
  relu,
  minimum,
  maximum,
  where_positive,  ///< b where a > 0, else c
  greater,         ///< 1 where a > b, else 0
  greater_or_equal,
  equal,
  repeat,  ///< the number a in all columns
  exp,
  log,
  erf,
  tanh,
  sigmoid,
  sin,
  cos,
  // Of numbers alone.
  rest_product,  ///< what the float next to a is more than a, times b
  // Over the row.
  sum,
  sum_of_products,  ///< of a * b
  mean,
  spread,  ///< the sum of the squares of a - b, where b is the mean of a
  largest,
};

[[nodiscard]] constexpr bool is_reduction(row_op op) { return op >= row_op::sum; }
/// Whether it is some polynomial.
[[nodiscard]] constexpr bool is_function(row_op op) { return op >= row_op::exp && op <= row_op::cos; }

/// One step. A reduction of depth n reads steps that need reductions of depths below n; so does whatever has depth n
/// - 1.
struct row_step {
  row_op op = row_op::number;
  std::uint8_t operands = 0;
  std::uint8_t a = 0, b = 0, c = 0;
  std::uint8_t index = 0;  ///< of an input
  std::uint8_t depth = 0;  ///< how many passes over the row come before this is known
  bool is_row = false;     ///< an element for each column; else one number
  bool has_rest = false;   ///< a number that float does not hold: it comes from a sum
  bool is_used = false;    ///< a result depends on it
  double number = 0;

  [[nodiscard]] constexpr std::uint8_t operand(int i) const { return i == 0 ? a : i == 1 ? b : c; }

  [[nodiscard]] friend constexpr bool operator==(row_step const& s, row_step const& t) {
    return s.op == t.op && s.a == t.a && s.b == t.b && s.c == t.c && s.index == t.index && s.number == t.number;
  }
};

/// What an argument is for each input of a kernel.
enum class input_kind : std::uint8_t { absent, number, row_of_all, row_of_each };

/// The inputs of an expression: its captures in the order of its terms, each name once.
struct row_inputs {
  static constexpr std::size_t most = 16;

  static_text names[most]{};
  bool optional[most]{};   ///< may be absent
  bool is_scalar[most]{};  ///< a number: scalar<...>
  std::size_t count = 0;
  bool too_many = false;

  [[nodiscard]] constexpr std::size_t find(static_text name) const {
    std::size_t at = 0;
    while (at < count && !(names[at] == name)) ++at;
    return at;
  }
};

struct input_kinds {
  input_kind of[row_inputs::most]{};
};

/// Why an expression is no row kernel.
enum class row_error : std::uint8_t {
  none,
  too_large,
  no_operator,       ///< an operator whose result is no row of the operands' columns
  unknown_operator,  ///< a name that the dialect does not know
  operands,          ///< as many operands as it has no kernel for
  parameter,         ///< an attribute that is not what the kernel computes
  power,             ///< an exponent that is no number of the formula
  no_term,           ///< a term of a rule that has no value
  missing,           ///< an argument that the formula cannot do without
  no_row             ///< a result that is one number for each row
};

/// An expression as a straight line of steps, each after those that it reads, each different.
struct row_program {
  static constexpr std::size_t capacity = 160, most_results = 4;

  row_step steps[capacity]{};
  std::size_t size = 0;
  std::uint8_t results[most_results]{};
  std::size_t number_of_results = 0;
  input_kinds inputs{};
  int depth = 0;  ///< passes over the row before the one that writes
  row_error error = row_error::none;
  static_text culprit{};

  [[nodiscard]] constexpr row_step const& operator[](std::size_t at) const { return steps[at]; }
};

/// Whether the spread of a step is computed, which tells its mean, too.
[[nodiscard]] constexpr bool has_spread(row_program const& program, std::size_t of) {
  for (std::size_t i = 0; i < program.size; ++i)
    if (program[i].is_used && program[i].op == row_op::spread && program[i].a == of) return true;
  return false;
}

/// A number that a step of rows adds to something, or subtracts: what float leaves of it is added, too, or subtracted.
struct added_rest {
  std::uint8_t step = 0;
  bool is_there = false, subtracted = false;
};
[[nodiscard]] constexpr bool may_add_rest(row_op op) {
  return op == row_op::add || op == row_op::sub || op == row_op::mul_add || op == row_op::neg_mul_add ||
         op == row_op::mul_sub;
}
[[nodiscard]] constexpr added_rest added_rest_of(row_program const& program, row_step const& s) {
  auto const rest = [&](std::uint8_t at, bool subtracted) { return added_rest{at, program[at].has_rest, subtracted}; };
  switch (s.op) {
    case row_op::add: return program[s.a].has_rest ? rest(s.a, false) : rest(s.b, false);
    case row_op::sub: return program[s.a].has_rest ? rest(s.a, false) : rest(s.b, true);
    case row_op::mul_add:
    case row_op::neg_mul_add: return rest(s.c, false);
    case row_op::mul_sub: return rest(s.c, true);
    default: return {};
  }
}

}  // namespace fuse::inline v0::detail
