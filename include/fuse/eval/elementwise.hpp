// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

template <class F>
[[nodiscard]] dense mapped(dense const& from, F const& f) {
  dense made = from;
  for (auto& x : made.elements) x = f(x);
  return made;
}

[[nodiscard]] inline double rounded_to_even(double x) { return std::nearbyint(x); }
[[nodiscard]] inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
[[nodiscard]] inline double softplus(double x) { return std::log1p(std::exp(-std::fabs(x))) + (x > 0 ? x : 0); }
[[nodiscard]] inline double gelu_of(double x, bool by_tanh) {
  constexpr double root_of_2_by_pi = 0.79788456080286535588, root_of_half = 0.70710678118654752440;
  return by_tanh ? 0.5 * x * (1 + std::tanh(root_of_2_by_pi * (x + 0.044715 * x * x * x)))
                 : 0.5 * x * (1 + std::erf(x * root_of_half));
}

/// An operator of one operand and numbers, element by element.
[[nodiscard]] inline evaluation evaluate_unary(call const& c) {
  auto const* x = c.operand(0);
  if (x == nullptr) return evaluation::misfit;
  auto const yield = [&](auto const& f) { return c.yield(mapped(*x, f)); };
  auto const alpha = [&](double otherwise) { return c.number("alpha", otherwise); };
  switch (c.op) {
    case opcode::sin: return yield([](double v) { return std::sin(v); });
    case opcode::cos: return yield([](double v) { return std::cos(v); });
    case opcode::tan: return yield([](double v) { return std::tan(v); });
    case opcode::asin: return yield([](double v) { return std::asin(v); });
    case opcode::acos: return yield([](double v) { return std::acos(v); });
    case opcode::atan: return yield([](double v) { return std::atan(v); });
    case opcode::sinh: return yield([](double v) { return std::sinh(v); });
    case opcode::cosh: return yield([](double v) { return std::cosh(v); });
    case opcode::asinh: return yield([](double v) { return std::asinh(v); });
    case opcode::acosh: return yield([](double v) { return std::acosh(v); });
    case opcode::atanh: return yield([](double v) { return std::atanh(v); });
    case opcode::floor: return yield([](double v) { return std::floor(v); });
    case opcode::ceil: return yield([](double v) { return std::ceil(v); });
    case opcode::round: return yield(&rounded_to_even);
    case opcode::sign: return yield([](double v) { return v > 0 ? 1 : v < 0 ? -1 : v; });
    case opcode::softplus: return yield(&softplus);
    case opcode::softsign: return yield([](double v) { return v / (1 + std::fabs(v)); });
    case opcode::silu: return yield([](double v) { return v * logistic(v); });
    case opcode::mish: return yield([](double v) { return v * std::tanh(softplus(v)); });
    case opcode::swish: return yield([a = alpha(1)](double v) { return v * logistic(a * v); });
    case opcode::quick_gelu: return yield([a = alpha(1.702)](double v) { return v * logistic(a * v); });
    case opcode::gelu: {
      std::string_view how;
      bool const by_tanh = c.parameters.text("approximate", how) && how == "tanh";
      return yield([by_tanh](double v) { return gelu_of(v, by_tanh); });
    }
    case opcode::leaky_relu: return yield([a = alpha(0.01)](double v) { return v < 0 ? a * v : v; });
    case opcode::elu: return yield([a = alpha(1)](double v) { return v < 0 ? a * std::expm1(v) : v; });
    case opcode::celu: return yield([a = alpha(1)](double v) { return v < 0 ? a * std::expm1(v / a) : v; });
    case opcode::selu:
      return yield([a = alpha(1.67326319217681884765625), g = c.number("gamma", 1.05070102214813232421875)](double v) {
        return g * (v < 0 ? a * std::expm1(v) : v);
      });
    case opcode::thresholded_relu: return yield([a = alpha(1)](double v) { return v > a ? v : 0; });
    case opcode::hard_sigmoid:
      return yield(
          [a = alpha(0.2), b = c.number("beta", 0.5)](double v) { return std::fmax(0, std::fmin(1, a * v + b)); });
    case opcode::hard_swish: return yield([](double v) { return v * std::fmax(0, std::fmin(1, v / 6 + 0.5)); });
    case opcode::shrink:
      return yield([bias = c.number("bias", 0), lambd = c.number("lambd", 0.5)](double v) {
        return v < -lambd ? v + bias : v > lambd ? v - bias : 0;
      });
    case opcode::is_nan: return yield([](double v) { return v != v ? 1 : 0; });
    case opcode::logical_not: return yield([](double v) { return v == 0 ? 1 : 0; });
    case opcode::identity:
    case opcode::dropout: return yield([](double v) { return v; });
    case opcode::cast:
    case opcode::cast_like: {
      auto const to = c.results[0].type;
      if (to == element_type::boolean) return yield([](double v) { return v != 0 ? 1 : 0; });
      if (is_integer(to)) return yield([](double v) { return std::trunc(v); });
      return is_floating(to) ? yield([](double v) { return v; }) : evaluation::unknown;
    }
    case opcode::clip: {
      double const least = c.number("min", -HUGE_VAL), most = c.number("max", HUGE_VAL);
      return yield([=](double v) { return v < least ? least : v > most ? most : v; });
    }
    default: break;
  }
  auto const plain = function_of_one(c.op);
  return plain != nullptr ? yield(plain) : evaluation::unknown;
}

/// An operator of two operands, or of any number of them, that broadcast.
[[nodiscard]] inline evaluation evaluate_broadcasting(call const& c) {
  double (*f)(double, double) = function_of_two(c.op);
  switch (c.op) {
    case opcode::sum_of:
    case opcode::mean_of: f = function_of_two(opcode::add); break;
    case opcode::div:
      if (c.operand(0) != nullptr && is_integer(c.operand(0)->type))
        f = [](double a, double b) { return std::trunc(a / b); };
      break;
    case opcode::mod:
      if (c.number("fmod", 0) != 0)
        f = [](double a, double b) { return std::fmod(a, b); };
      else
        f = [](double a, double b) { return a - b * std::floor(a / b); };
      break;
    case opcode::prelu: f = [](double a, double b) { return a < 0 ? a * b : a; }; break;
    case opcode::fast_gelu: f = [](double a, double b) { return gelu_of(a + b, true); }; break;
    case opcode::bias_gelu: f = [](double a, double b) { return gelu_of(a + b, false); }; break;
    case opcode::equal: f = [](double a, double b) { return a == b ? 1. : 0.; }; break;
    case opcode::less: f = [](double a, double b) { return a < b ? 1. : 0.; }; break;
    case opcode::less_or_equal: f = [](double a, double b) { return a <= b ? 1. : 0.; }; break;
    case opcode::greater: f = [](double a, double b) { return a > b ? 1. : 0.; }; break;
    case opcode::greater_or_equal: f = [](double a, double b) { return a >= b ? 1. : 0.; }; break;
    case opcode::logical_and: f = [](double a, double b) { return a != 0 && b != 0 ? 1. : 0.; }; break;
    case opcode::logical_or: f = [](double a, double b) { return a != 0 || b != 0 ? 1. : 0.; }; break;
    case opcode::logical_xor: f = [](double a, double b) { return (a != 0) != (b != 0) ? 1. : 0.; }; break;
    default: break;
  }
  if (f == nullptr) return evaluation::unknown;
  if (c.operand(0) == nullptr) return evaluation::misfit;
  dense made = *c.operand(0);
  if (c.op == opcode::fast_gelu && c.operand(1) == nullptr)
    made = mapped(made, [](double v) { return gelu_of(v, true); });
  for (std::size_t i = 1; i < c.operands.size(); ++i) {
    auto const* next = c.operand(i);
    if (next == nullptr) continue;
    if (!combine(made, *next, made, f)) return evaluation::misfit;
  }
  if (c.op == opcode::mean_of)
    for (auto& x : made.elements) x /= static_cast<double>(c.operands.size());
  return c.yield(std::move(made));
}

[[nodiscard]] inline evaluation evaluate_where(call const& c) {
  auto const *condition = c.operand(0), *a = c.operand(1), *b = c.operand(2);
  if (condition == nullptr || a == nullptr || b == nullptr) return evaluation::misfit;
  std::vector<std::int64_t> shape, of_both;
  dense chosen, left, right;
  if (!fuse::broadcast_shape(a->shape, b->shape, of_both) || !fuse::broadcast_shape(condition->shape, of_both, shape) ||
      !broadcast_to(*condition, shape, chosen) || !broadcast_to(*a, shape, left) || !broadcast_to(*b, shape, right))
    return evaluation::misfit;
  for (std::size_t i = 0; i < chosen.elements.size(); ++i)
    chosen.elements[i] = chosen.elements[i] != 0 ? left.elements[i] : right.elements[i];
  return c.yield(std::move(chosen));
}

}  // namespace fuse::inline v0::detail
