// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/row_program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace fuse::inline v0::detail {

/// What an interpreter of a row program reads for a step of rows. Its first operand may become what the step says on
/// the way, from row `a` by two steps of numbers: `shift` adds or subtracts one, then `factor` multiplies by one, and
/// may add or subtract another.
struct read_operands {
  static constexpr std::uint8_t none = row_program::capacity;

  std::uint8_t a = none, b = none, c = none, shift = none, factor = none;

  [[nodiscard]] constexpr std::uint8_t operator[](int i) const { return i == 0 ? a : i == 1 ? b : c; }
  [[nodiscard]] constexpr bool on_the_way() const { return shift != none || factor != none; }
};

/// The row that a step shifts, or multiplies, by numbers alone; `none` for any other step, and where what float leaves
/// of a number counts, too.
[[nodiscard]] constexpr std::uint8_t shifted_row(row_program const& program, std::size_t at) {
  auto const& s = program[at];
  if (!s.is_row || added_rest_of(program, s).is_there) return read_operands::none;
  bool const is_difference = s.op == row_op::sub || s.op == row_op::sub_nearest;
  if (s.op != row_op::add && !is_difference) return read_operands::none;
  if (!program[s.b].is_row) return s.a;
  return !is_difference && !program[s.a].is_row ? s.b : read_operands::none;
}
[[nodiscard]] constexpr std::uint8_t multiplied_row(row_program const& program, std::size_t at) {
  auto const& s = program[at];
  if (!s.is_row || added_rest_of(program, s).is_there) return read_operands::none;
  bool const adds = s.op == row_op::mul_add || s.op == row_op::mul_sub || s.op == row_op::neg_mul_add;
  if (s.op != row_op::mul && !(adds && !program[s.c].is_row)) return read_operands::none;
  if (program[s.a].is_row && program[s.b].is_row) return read_operands::none;
  return program[s.a].is_row ? s.a : program[s.b].is_row ? s.b : read_operands::none;
}

/// Whether an interpreter has the operation with a first operand that becomes on the way what it is; and whether its
/// first two operands may change places.
[[nodiscard]] constexpr bool reads_on_the_way(row_op op) {
  return op == row_op::sub || op == row_op::relu || op == row_op::add || op == row_op::mul || op == row_op::mul_add ||
         op == row_op::mul_sub || op == row_op::neg_mul_add;
}
[[nodiscard]] constexpr bool commutes(row_op op) {
  return reads_on_the_way(op) && op != row_op::sub && op != row_op::relu;
}

/// The operands of a step, where `readers` counts how often each step is read: what has one reader is made on the way.
[[nodiscard]] constexpr read_operands operands_of(row_program const& program, std::span<std::uint16_t const> readers,
                                                  std::size_t at) {
  auto const& s = program[at];
  read_operands made{s.a, s.b, s.c};
  if (!s.is_row || !reads_on_the_way(s.op) || added_rest_of(program, s).is_there) return made;
  auto const shifts = [&](std::size_t operand) {
    return readers[operand] == 1 ? shifted_row(program, operand) : read_operands::none;
  };
  auto const multiplies = [&](std::size_t operand) {
    return readers[operand] == 1 ? multiplied_row(program, operand) : read_operands::none;
  };
  auto const is_made = [&](std::size_t operand) {
    return shifts(operand) != read_operands::none || multiplies(operand) != read_operands::none;
  };
  if (commutes(s.op) && !is_made(s.a) && is_made(s.b)) std::swap(made.a, made.b);
  if (auto const row = multiplies(made.a); row != read_operands::none) made.factor = std::exchange(made.a, row);
  if (auto const row = shifts(made.a); row != read_operands::none) made.shift = std::exchange(made.a, row);
  return made;
}

}  // namespace fuse::inline v0::detail
