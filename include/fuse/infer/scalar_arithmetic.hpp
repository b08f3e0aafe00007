// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include <fuse/core/math.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/eval/rounding.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor_view.hpp>
#include <fuse/infer/dimension.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// How far, relative to `number`, a constant of a floating type of 16 bits may be that stands for it, also as a
/// divisor: as far as the type rounds. 0 where the type holds the number itself; wider types round less than a number
/// in a formula is written.
[[nodiscard]] inline double rounding_in(element_type type, double number) {
  if (size_of(type) != 2 || !is_floating(type) || rounded(number, type) == number) return 0;
  return type == element_type::float16 ? 0x1.01p-11 : 0x1.01p-8;
}

/// Whether a number is one of an integer type (or a truth value); a symbol is taken for one: it counts elements.
[[nodiscard]] inline bool fits(extent e, element_type type) {
  if (!e.known()) return true;
  auto const between = [&](std::int64_t least, std::int64_t most) { return e.value() >= least && e.value() <= most; };
  switch (type) {
    case element_type::boolean: return between(0, 1);
    case element_type::uint8: return between(0, 0xff);
    case element_type::int8: return between(-0x80, 0x7f);
    case element_type::uint16: return between(0, 0xffff);
    case element_type::int16: return between(-0x8000, 0x7fff);
    case element_type::uint32: return between(0, 0xffffffff);
    case element_type::int32: return between(-0x7fffffff - 1, 0x7fffffff);
    case element_type::uint64: return e.value() >= 0;
    default: return true;
  }
}

/// `op` on one or two floating numbers; false for operators that are not followed: those whose last bit runtimes
/// disagree on.
[[nodiscard]] inline bool compute(opcode op, double a, double b, double& out) {
  switch (op) {
    case opcode::exp:
    case opcode::log:
    case opcode::erf:
    case opcode::tanh:
    case opcode::sigmoid: return false;
    default: break;
  }
  if (auto const of_two = function_of_two(op == opcode::sum_of ? opcode::add : op); of_two != nullptr)
    return out = of_two(a, b), true;
  auto const of_one = function_of_one(op);
  if (of_one != nullptr) out = of_one(a);
  return of_one != nullptr;
}

/// A comparison of two floating numbers.
[[nodiscard]] inline bool compare(opcode op, double a, double b, bool& out) {
  switch (op) {
    case opcode::equal: out = a == b; return true;
    case opcode::less: out = a < b; return true;
    case opcode::less_or_equal: out = a <= b; return true;
    case opcode::greater: out = a > b; return true;
    case opcode::greater_or_equal: out = a >= b; return true;
    default: return false;
  }
}

/// A truth value that nobody knows.
[[nodiscard]] inline extent unknown_truth(extent_algebra& symbols) { return symbols.fresh(0); }

/// A comparison of two integers, decided where it holds for every value of the symbols.
[[nodiscard]] inline extent compare(extent_algebra& symbols, opcode op, extent a, extent b) {
  switch (op) {
    case opcode::equal: return a == b ? extent(1) : symbols.different(a, b) ? extent(0) : unknown_truth(symbols);
    case opcode::greater_or_equal:
      if (symbols.nonnegative(symbols.subtract(a, b))) return 1;
      return symbols.least(symbols.subtract(b, a)) > 0 ? extent(0) : unknown_truth(symbols);
    case opcode::greater: {
      auto const opposite = compare(symbols, opcode::greater_or_equal, b, a);
      return opposite.known() ? extent(1 - opposite.value()) : unknown_truth(symbols);
    }
    case opcode::less_or_equal: return compare(symbols, opcode::greater_or_equal, b, a);
    case opcode::less: return compare(symbols, opcode::greater, b, a);
    default: return unknown_truth(symbols);
  }
}

/// `op` on one or two integers; false for operators that are not followed.
[[nodiscard]] inline bool compute(extent_algebra& symbols, opcode op, extent a, extent b, extent& out) {
  switch (op) {
    case opcode::add:
    case opcode::sum_of: out = symbols.add(a, b); return true;
    case opcode::sub: out = symbols.subtract(a, b); return true;
    case opcode::mul: out = symbols.multiply(a, b); return true;
    case opcode::div: out = symbols.divide(a, b); return true;
    case opcode::minimum: out = symbols.minimum(a, b); return true;
    case opcode::maximum: out = symbols.maximum(a, b); return true;
    case opcode::neg: out = symbols.subtract(0, a); return true;
    case opcode::abs: out = symbols.maximum(a, symbols.subtract(0, a)); return true;
    case opcode::square: out = symbols.multiply(a, a); return true;
    case opcode::mod:  // the sign of the divisor
      out = b.known() && b.value() > 0 ? symbols.subtract(a, symbols.multiply(b, symbols.floor_divide(a, b)))
                                       : symbols.fresh(no_bound);
      return true;
    case opcode::floor:
    case opcode::ceil:
    case opcode::round:
    case opcode::identity: out = a; return true;
    case opcode::pow:
      if (!b.known() || b.value() < 0 || b.value() > 64) return false;
      out = 1;
      for (std::int64_t i = 0; i < b.value(); ++i) out = symbols.multiply(out, a);
      return true;
    case opcode::logical_not: out = a.known() ? extent(a.value() == 0) : unknown_truth(symbols); return true;
    case opcode::logical_and:
      out = a == extent(0) || b == extent(0) ? extent(0)
            : a == extent(1)                 ? b
            : b == extent(1)                 ? a
                                             : unknown_truth(symbols);
      return true;
    case opcode::logical_or:
      out = a == extent(1) || b == extent(1) ? extent(1)
            : a == extent(0)                 ? b
            : b == extent(0)                 ? a
                                             : unknown_truth(symbols);
      return true;
    case opcode::logical_xor:
      out = a.known() && b.known() ? extent(a.value() != b.value()) : unknown_truth(symbols);
      return true;
    case opcode::equal:
    case opcode::less:
    case opcode::less_or_equal:
    case opcode::greater:
    case opcode::greater_or_equal: out = compare(symbols, op, a, b); return true;
    default: return false;
  }
}

}  // namespace fuse::inline v0::detail
