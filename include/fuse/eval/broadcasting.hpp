// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/eval/elementwise.hpp>

namespace fuse::inline v0::detail {

template <class T>
[[nodiscard]] T power(T base, T exponent) {
  if (exponent < T{0}) return base == T{1} ? T{1} : T{0};
  std::uint64_t made = 1;
  for (auto b = static_cast<std::uint64_t>(base), left = static_cast<std::uint64_t>(exponent); left != 0;
       left >>= 1, b *= b)
    if ((left & 1) != 0) made *= b;
  return static_cast<T>(made);
}

/// What an operator makes of two integers of one type, of 64 bits; null for others. Sums and products wrap around.
template <class T>
[[nodiscard]] auto function_of_two_integers(opcode op) -> T (*)(T, T) {
  using bits = std::uint64_t;
  switch (op) {
    case opcode::add:
    case opcode::sum_of: return [](T a, T b) { return static_cast<T>(static_cast<bits>(a) + static_cast<bits>(b)); };
    case opcode::sub: return [](T a, T b) { return static_cast<T>(static_cast<bits>(a) - static_cast<bits>(b)); };
    case opcode::mul: return [](T a, T b) { return static_cast<T>(static_cast<bits>(a) * static_cast<bits>(b)); };
    case opcode::div:  // towards 0
      return [](T a, T b) {
        if (b == T{0}) return T{0};
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<bits>(a));
        return static_cast<T>(a / b);
      };
    case opcode::mod:  // the sign of the divisor
      return [](T a, T b) {
        if (b == T{0} || (std::is_signed_v<T> && b == static_cast<T>(-1))) return T{0};
        auto const rest = static_cast<T>(a % b);
        return rest != T{0} && (rest < T{0}) != (b < T{0}) ? static_cast<T>(rest + b) : rest;
      };
    case opcode::pow: return &power<T>;
    case opcode::minimum: return [](T a, T b) { return a < b ? a : b; };
    case opcode::maximum: return [](T a, T b) { return a > b ? a : b; };
    case opcode::equal: return [](T a, T b) { return static_cast<T>(a == b); };
    case opcode::less: return [](T a, T b) { return static_cast<T>(a < b); };
    case opcode::less_or_equal: return [](T a, T b) { return static_cast<T>(a <= b); };
    case opcode::greater: return [](T a, T b) { return static_cast<T>(a > b); };
    case opcode::greater_or_equal: return [](T a, T b) { return static_cast<T>(a >= b); };
    case opcode::bitwise_and: return [](T a, T b) { return static_cast<T>(a & b); };
    case opcode::bitwise_or: return [](T a, T b) { return static_cast<T>(a | b); };
    case opcode::bitwise_xor: return [](T a, T b) { return static_cast<T>(a ^ b); };
    default: return nullptr;
  }
}
/// Bits moved to higher or lower places; of a negative number the sign follows. All are moved out by more than there
/// are, or by less than none.
template <class T>
[[nodiscard]] T shifted_up(T a, T by) {
  return static_cast<std::uint64_t>(by) > 63 ? T{0} : static_cast<T>(static_cast<std::uint64_t>(a) << by);
}
template <class T>
[[nodiscard]] T shifted_down(T a, T by) {
  return static_cast<std::uint64_t>(by) <= 63 ? static_cast<T>(a >> by)
         : std::is_signed_v<T>                ? static_cast<T>(a >> 63)
                                              : T{0};
}
/// The remainder with the sign of what is divided.
template <class T>
[[nodiscard]] T remainder(T a, T b) {
  return b == T{0} || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? T{0} : static_cast<T>(a % b);
}

/// What an operator makes of two numbers that are no integers.
[[nodiscard]] inline auto function_of_two_numbers(opcode op, bool sign_of_first) -> double (*)(double, double) {
  switch (op) {
    case opcode::sum_of:
    case opcode::mean_of: return function_of_two(opcode::add);
    case opcode::mod:
      if (sign_of_first) return [](double a, double b) { return std::fmod(a, b); };
      return [](double a, double b) {  // the sign of the divisor
        auto const rest = std::fmod(a, b);
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest == 0 ? std::copysign(rest, b) : rest;
      };
    case opcode::prelu: return [](double a, double b) { return a < 0 ? a * b : a; };
    case opcode::fast_gelu: return [](double a, double b) { return gelu_of(a + b, true); };
    case opcode::bias_gelu: return [](double a, double b) { return gelu_of(a + b, false); };
    case opcode::equal: return [](double a, double b) { return a == b ? 1. : 0.; };
    case opcode::less: return [](double a, double b) { return a < b ? 1. : 0.; };
    case opcode::less_or_equal: return [](double a, double b) { return a <= b ? 1. : 0.; };
    case opcode::greater: return [](double a, double b) { return a > b ? 1. : 0.; };
    case opcode::greater_or_equal: return [](double a, double b) { return a >= b ? 1. : 0.; };
    case opcode::logical_and: return [](double a, double b) { return a != 0 && b != 0 ? 1. : 0.; };
    case opcode::logical_or: return [](double a, double b) { return a != 0 || b != 0 ? 1. : 0.; };
    case opcode::logical_xor: return [](double a, double b) { return (a != 0) != (b != 0) ? 1. : 0.; };
    default: return function_of_two(op);
  }
}

/// `f` of two operands of integers, computed in T and wrapped to the type of the first.
template <class T>
[[nodiscard]] bool combine_integers(dense const& a, dense const& b, dense& into, T (*f)(T, T)) {
  std::vector<std::int64_t> shape;
  dense left, right;
  if (!fuse::broadcast_shape(a.shape, b.shape, shape) || !broadcast_to(a, shape, left) ||
      !broadcast_to(b, shape, right))
    return false;
  for (std::size_t i = 0; i < left.integers.size(); ++i)
    left.integers[i] = wrapped(
        static_cast<std::int64_t>(f(static_cast<T>(left.integers[i]), static_cast<T>(right.integers[i]))), a.type);
  into = std::move(left);
  return true;
}

[[nodiscard]] inline evaluation evaluate_bit_shift(call const& c, dense const& x) {
  auto const* by = c.operand(1);
  bool const up = c.text("direction") == "LEFT";
  dense made;
  if (by == nullptr || !x.whole() || !by->whole()) return evaluation::misfit;
  bool const fits = is_unsigned(x.type)
                        ? combine_integers(x, *by, made, up ? &shifted_up<std::uint64_t> : &shifted_down<std::uint64_t>)
                        : combine_integers(x, *by, made, up ? &shifted_up<std::int64_t> : &shifted_down<std::int64_t>);
  return fits ? c.yield(std::move(made)) : evaluation::misfit;
}

/// An operator of two operands, or of any number of them, that broadcast.
[[nodiscard]] inline evaluation evaluate_broadcasting(call const& c) {
  auto const* first = c.operand(0);
  if (first == nullptr) return evaluation::misfit;
  if (c.op == opcode::bit_shift) return evaluate_bit_shift(c, *first);
  bool const sign_of_first = c.op == opcode::mod && c.flag("fmod"),
             makes_truth = info(c.op).type == type_function::boolean;
  auto const type_made = makes_truth ? element_type::boolean : first->type;
  bool whole = first->whole();
  for (auto const* operand : c.operands) whole = whole && (operand == nullptr || operand->whole());
  auto const in_integers = sign_of_first ? &remainder<std::int64_t> : function_of_two_integers<std::int64_t>(c.op);
  auto const in_unsigned = sign_of_first ? &remainder<std::uint64_t> : function_of_two_integers<std::uint64_t>(c.op);
  auto const in_numbers = function_of_two_numbers(c.op, sign_of_first);
  whole = whole && in_integers != nullptr;
  if (!whole && in_numbers == nullptr) return evaluation::unknown;
  auto made = whole ? *first : in_doubles(*first);
  if (c.op == opcode::fast_gelu && c.operand(1) == nullptr)
    made = mapped(std::move(made), [](double v) { return gelu_of(v, true); });
  for (std::size_t i = 1; i < c.operands.size(); ++i) {
    auto const* next = c.operand(i);
    if (next == nullptr) continue;
    bool const fits = !whole                                ? combine(made, in_doubles(*next), made, in_numbers)
                      : first->type == element_type::uint64 ? combine_integers(made, *next, made, in_unsigned)
                                                            : combine_integers(made, *next, made, in_integers);
    if (!fits) return evaluation::misfit;
  }
  if (c.op == opcode::mean_of)
    for (auto& x : made.elements) x /= static_cast<double>(c.operands.size());
  return c.yield(converted(std::move(made), type_made));
}

/// a sigmoid(alpha a) b, of operands of one shape.
[[nodiscard]] inline evaluation evaluate_swiglu(call const& c) {
  auto const *a = c.operand(0), *b = c.operand(1);
  if (a == nullptr || b == nullptr || a->shape != b->shape) return evaluation::misfit;
  auto made = *a;
  double const alpha = c.number("alpha", 1);
  for (std::size_t i = 0; i < made.elements.size(); ++i) {
    auto& v = made.elements[i];
    v = v * logistic(alpha * v) * b->elements[i];
  }
  return c.yield(std::move(made));
}

[[nodiscard]] inline evaluation evaluate_where(call const& c) {
  auto const *condition = c.operand(0), *a = c.operand(1), *b = c.operand(2);
  if (condition == nullptr || a == nullptr || b == nullptr || a->whole() != b->whole()) return evaluation::misfit;
  std::vector<std::int64_t> shape, of_both;
  dense chosen, left, right;
  if (!fuse::broadcast_shape(a->shape, b->shape, of_both) || !fuse::broadcast_shape(condition->shape, of_both, shape) ||
      !broadcast_to(in_doubles(*condition), shape, chosen) || !broadcast_to(*a, shape, left) ||
      !broadcast_to(*b, shape, right))
    return evaluation::misfit;
  for (std::size_t i = 0; i < chosen.elements.size(); ++i) {
    if (chosen.elements[i] != 0) continue;
    if (left.whole())
      left.integers[i] = right.integers[i];
    else
      left.elements[i] = right.elements[i];
  }
  return c.yield(std::move(left));
}

}  // namespace fuse::inline v0::detail
