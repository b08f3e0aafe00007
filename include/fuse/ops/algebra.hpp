// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/ops/operator.hpp>

namespace fuse::inline v0 {

/// With which weights an operator opens: its exponent in a product, its coefficient in a sum.
enum class opens_with : std::uint8_t {
  none,
  any,
  whole,      ///< (a b)^w is a^w b^w for negative a and b, too
  one_over,   ///< a whole one; and any other, where operand 0 is the number 1, which is then no part
  unit,       ///< 1 or -1: what is below a root may not be negative
  power,      ///< operand 1 is the number e: both are whole, or the weight is 1 or -1; for 1 / a, half of a whole one
  scaled,     ///< any, where it is a product of one value, once, and of numbers: these are no parts, but a coefficient
  alike,      ///< a whole one, where what is added is the same, but for coefficients: a number, and that
  squared,    ///< any: it is never negative, and the part is its own square
  logarithm,  ///< where operand 0 is a number times a logarithm and the power of what that is of is not whole
};

/// Whether it opens where it is of integers, which add and multiply as other numbers do, beyond their range, too.
enum class opens_integers : std::uint8_t {
  no,
  yes,
  quotient,  ///< where the pattern is one quotient, as integers divide otherwise
  power,     ///< a positive whole one
};

/// How an operator opens as a sum, or as a product of powers, of its operands.
struct opening {
  opcode op = opcode::opaque;
  op_group kind = op_group::none;
  opens_with when = opens_with::none;
  /// The weight of operand 0, that of each further one (0: no part), where it has 1 itself.
  double first = 1, further = 0;
  opens_integers integers = opens_integers::no;
  bool negates = false;  ///< it is minus the product, where its weight is odd
};

/// The algebra of fuse: patterns and graphs are opened by it alike.
// clang-format off
inline constexpr opening openings[] = {
    {opcode::add,        op_group::sum,     opens_with::any,        1,    1, opens_integers::yes},
    {opcode::add,        op_group::product, opens_with::alike,      1,    1, opens_integers::yes},
    {opcode::sum_of,     op_group::sum,     opens_with::any,        1,    1, opens_integers::yes},
    {opcode::sum_of,     op_group::product, opens_with::alike,      1,    1, opens_integers::yes},
    {opcode::sub,        op_group::sum,     opens_with::any,        1,   -1, opens_integers::yes},
    {opcode::sub,        op_group::product, opens_with::alike,      1,   -1, opens_integers::yes},
    {opcode::neg,        op_group::sum,     opens_with::any,       -1,    0, opens_integers::yes},
    {opcode::neg,        op_group::product, opens_with::whole,      1,    0, opens_integers::yes, true},
    {opcode::mul,        op_group::product, opens_with::whole,      1,    1, opens_integers::yes},
    {opcode::mul,        op_group::sum,     opens_with::scaled,     1,    1, opens_integers::yes},
    {opcode::div,        op_group::product, opens_with::one_over,   1,   -1, opens_integers::quotient},
    {opcode::div,        op_group::sum,     opens_with::scaled,     1,   -1},
    {opcode::reciprocal, op_group::product, opens_with::any,       -1},
    {opcode::square,     op_group::product, opens_with::whole,      2,    0, opens_integers::yes},
    {opcode::sqrt,       op_group::product, opens_with::unit,       0.5},
    {opcode::rsqrt,      op_group::product, opens_with::unit,      -0.5},
    {opcode::pow,        op_group::product, opens_with::power,      1,    0, opens_integers::power},
    {opcode::exp,        op_group::product, opens_with::logarithm},
    {opcode::l2_norm,    op_group::product, opens_with::squared,    0.5},
};
// clang-format on

namespace detail {

struct openings_by_operator {
  opening of[2][static_cast<std::size_t>(opcode::count_)];
};
inline constexpr openings_by_operator known_openings = [] {
  openings_by_operator made{};
  for (auto const& each : openings) made.of[each.kind == op_group::product][static_cast<std::size_t>(each.op)] = each;
  return made;
}();

}  // namespace detail

/// How `op` opens as a sum or a product; `opens_with::none` where it does not. Constant time.
[[nodiscard]] constexpr opening const& opening_of(opcode op, op_group kind) {
  return detail::known_openings.of[kind == op_group::product][static_cast<std::size_t>(op)];
}

/// How an operator adds up along axes: the elements to a power; it may divide that by how many they are; and take a
/// root of the sum.
struct summing {
  opcode op = opcode::opaque;
  int of = 0;        ///< the power of the elements; 0: it is none
  double power = 1;  ///< of the sum
  bool divided = false;
};

/// A mean is a sum, times one over its count; both may be spelled as the other, with numbers.
inline constexpr summing summings[] = {
    {opcode::sum, 1},
    {opcode::mean, 1, 1, true},
    {opcode::average_pool, 1, 1, true},  // over axes that its windows cover
    {opcode::sum_square, 2},
    {opcode::l2_norm, 2, 0.5},
};

/// What `op` adds up; `of` is 0 where it does not. Linear in the table.
[[nodiscard]] constexpr summing summing_of(opcode op) {
  for (auto const& each : summings)
    if (each.op == op) return each;
  return {};
}

/// Whether all of the table may be spellings of it, with numbers and powers.
[[nodiscard]] constexpr bool is_summing_of_others(opcode op) { return op == opcode::sum || op == opcode::mean; }

/// How many of its first operands `op`, of so many, adds up, multiplied by each other or not: as sums do, products of
/// matrices, and reductions but for those that choose an element. What follows is added once, or is a parameter.
[[nodiscard]] constexpr std::uint32_t operands_added_up(opcode op, std::uint32_t count) {
  auto const first = [&](std::uint32_t terms) { return terms < count ? terms : count; };
  switch (op) {
    case opcode::reduce_max:
    case opcode::reduce_min:
    case opcode::arg_max:
    case opcode::arg_min:
    case opcode::max_pool:
    case opcode::global_max_pool:
    case opcode::resize:
    case opcode::neg: return 0;
    case opcode::attention: return first(3);
    case opcode::einsum: return count;
    default: break;
  }
  switch (info(op).kind) {
    case op_kind::reduction: return first(1);
    case op_kind::anchor: return first(2);
    default: return info(op).group == op_group::sum ? count : 0;
  }
}

/// Whether a weight is a whole number (of less than 2^31, beyond which nothing has to be opened).
[[nodiscard]] constexpr bool is_whole_weight(double w) {
  return w > -0x1p31 && w < 0x1p31 && static_cast<double>(static_cast<std::int64_t>(w)) == w;
}

/// Whether what opens so does so with weight `w`; `exponent` is that of a power.
[[nodiscard]] constexpr bool allows(opens_with when, double w, double exponent = 1) {
  bool const unit = w == 1 || w == -1;
  switch (when) {
    case opens_with::none: return false;
    case opens_with::any:
    case opens_with::squared:
    case opens_with::scaled: return true;
    case opens_with::whole:
    case opens_with::alike:
    case opens_with::one_over: return is_whole_weight(w);
    case opens_with::unit: return unit;
    case opens_with::logarithm: return !is_whole_weight(w * exponent);
    case opens_with::power:
      if (exponent == -1) return unit || is_whole_weight(2 * w);
      return exponent != 0 && exponent - exponent == 0 && (unit || (is_whole_weight(w) && is_whole_weight(exponent)));
  }
  return false;
}

/// The same where it is of integers; `quotient`: the pattern is one.
[[nodiscard]] constexpr bool allows(opens_integers when, bool quotient, double exponent) {
  switch (when) {
    case opens_integers::no: return false;
    case opens_integers::yes: return true;
    case opens_integers::quotient: return quotient;
    case opens_integers::power: return exponent > 0 && is_whole_weight(exponent);
  }
  return false;
}

/// Whether a sum, a product or what adds up along axes may be spelled with `op`.
[[nodiscard]] constexpr bool is_spelling(opcode op) {
  return opening_of(op, op_group::sum).when != opens_with::none ||
         opening_of(op, op_group::product).when != opens_with::none || summing_of(op).of != 0;
}

}  // namespace fuse::inline v0
