// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

[[nodiscard]] inline double rounded_to_even(double x) { return std::nearbyint(x); }
[[nodiscard]] inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
[[nodiscard]] inline double softplus(double x) { return std::log1p(std::exp(-std::fabs(x))) + (x > 0 ? x : 0); }
[[nodiscard]] inline double gelu_of(double x, bool by_tanh) {
  constexpr double root_of_2_by_pi = 0.79788456080286535588, root_of_half = 0.70710678118654752440;
  return by_tanh ? 0.5 * x * (1 + std::tanh(root_of_2_by_pi * (x + 0.044715 * x * x * x)))
                 : 0.5 * x * (1 + std::erf(x * root_of_half));
}

/// What an operator without parameters makes of one integer; null for others.
[[nodiscard]] inline auto function_of_integer(opcode op) -> std::int64_t (*)(std::int64_t) {
  using whole = std::int64_t;
  using bits = std::uint64_t;
  switch (op) {
    case opcode::neg: return [](whole x) { return static_cast<whole>(0 - static_cast<bits>(x)); };
    case opcode::abs: return [](whole x) { return x < 0 ? static_cast<whole>(0 - static_cast<bits>(x)) : x; };
    case opcode::sign: return [](whole x) { return static_cast<whole>(x > 0 ? 1 : x < 0 ? -1 : 0); };
    case opcode::relu: return [](whole x) { return x > 0 ? x : 0; };
    case opcode::square: return [](whole x) { return static_cast<whole>(static_cast<bits>(x) * static_cast<bits>(x)); };
    case opcode::bitwise_not: return [](whole x) { return ~x; };
    default: return nullptr;
  }
}

/// Between two bounds, each a scalar where it is given; a bound below the other wins where it is the upper one.
[[nodiscard]] inline evaluation evaluate_clip(call const& c, dense const& x) {
  auto const *low = c.operand(1), *high = c.operand(2);
  if (!x.whole()) {
    double const least = c.number("min", -HUGE_VAL), most = c.number("max", HUGE_VAL);
    return c.yield(mapped(x, [=](double v) {
      auto const raised = v < least || least != least ? least : v;
      return raised > most || most != most ? most : raised;
    }));
  }
  auto made = x;
  auto const before = [&](std::int64_t a, std::int64_t b) {
    return is_unsigned(x.type) ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
  };
  for (auto& v : made.integers) {
    if (low != nullptr && low->integers.size() == 1 && before(v, low->integers[0])) v = low->integers[0];
    if (high != nullptr && high->integers.size() == 1 && before(high->integers[0], v)) v = high->integers[0];
  }
  return c.yield(std::move(made));
}

/// An operator of one operand and numbers, element by element.
[[nodiscard]] inline evaluation evaluate_unary(call const& c) {
  auto const* x = c.operand(0);
  if (x == nullptr) return evaluation::misfit;
  if (c.op == opcode::clip) return evaluate_clip(c, *x);
  if (auto const f = function_of_integer(c.op); f != nullptr && x->whole()) {
    auto made = *x;
    if (c.op != opcode::sign || !is_unsigned(x->type))
      for (auto& v : made.integers) v = f(v);
    else
      for (auto& v : made.integers) v = v != 0;
    return c.yield(std::move(made));
  }
  auto const yield = [&](auto const& f) {
    auto made = mapped(in_doubles(*x), f);
    auto const type = info(c.op).type == type_function::boolean ? element_type::boolean : x->type;
    return c.yield(converted(std::move(made), type));
  };
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
    case opcode::softplus: return yield(&softplus);
    case opcode::softsign: return yield([](double v) { return v / (1 + std::fabs(v)); });
    case opcode::silu: return yield([](double v) { return v * logistic(v); });
    case opcode::mish: return yield([](double v) { return v * std::tanh(softplus(v)); });
    case opcode::swish: return yield([a = alpha(1)](double v) { return v * logistic(a * v); });
    case opcode::quick_gelu: return yield([a = alpha(1.702)](double v) { return v * logistic(a * v); });
    case opcode::gelu: {
      bool const by_tanh = c.text("approximate") == "tanh";
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
    case opcode::is_inf: {
      bool const below = c.flag("detect_negative", true), above = c.flag("detect_positive", true);
      return yield([=](double v) { return (below && v == -HUGE_VAL) || (above && v == HUGE_VAL) ? 1 : 0; });
    }
    case opcode::logical_not: return yield([](double v) { return v == 0 ? 1 : 0; });
    case opcode::identity: return c.yield(*x);
    default: break;
  }
  auto const plain = function_of_one(c.op);
  return plain != nullptr ? yield(plain) : evaluation::unknown;
}

/// The numbers of the activation that a fused layer ends with: in a list, or each with a name.
class activation_numbers final : public operator_parameters {
 public:
  explicit activation_numbers(operator_parameters const& of_layer) : layer_(of_layer) {}

  bool number(std::string_view name, double& into) const override {
    auto const held = layer_.attribute("activation_params");
    auto const* list = std::get_if<span<float const>>(&held);
    if (list == nullptr) return layer_.number("activation_" + std::string(name), into);
    std::size_t const at = name == "beta" || name == "max" ? 1 : 0;
    return at < list->size() ? into = static_cast<double>((*list)[at]), true : false;
  }
  bool integers(std::string_view, std::vector<std::int64_t>&) const override { return false; }
  [[nodiscard]] attribute_view attribute(std::string_view) const override { return {}; }
  [[nodiscard]] axis_use use_of_axis() const override { return layer_.use_of_axis(); }

 private:
  operator_parameters const& layer_;
};

/// What a layer made, after the activation that it ends with.
[[nodiscard]] inline evaluation activated(call const& c, evaluation made) {
  constexpr std::pair<std::string_view, opcode> known[] = {
      {"Relu", opcode::relu},
      {"Sigmoid", opcode::sigmoid},
      {"Tanh", opcode::tanh},
      {"LeakyRelu", opcode::leaky_relu},
      {"Clip", opcode::clip},
      {"HardSigmoid", opcode::hard_sigmoid},
      {"HardSwish", opcode::hard_swish},
      {"Elu", opcode::elu},
      {"Softplus", opcode::softplus},
      {"Softsign", opcode::softsign},
      {"ThresholdedRelu", opcode::thresholded_relu},
  };
  auto const name = c.text("activation", "none");
  if (made != evaluation::done || name == "none") return made;
  for (auto const& [word, op] : known)
    if (word == name) {
      auto const before = std::move(c.results[0]);
      dense const* const operands[] = {&before};
      activation_numbers const numbers(c.parameters);
      return evaluate_unary({op, operands, numbers, c.results});
    }
  return evaluation::unknown;
}

/// To the type of the result. There is nothing to saturate in the types that have numbers here.
[[nodiscard]] inline evaluation evaluate_cast(call const& c) {
  auto const *x = c.operand(0), *like = c.operand(1);
  if (x == nullptr) return evaluation::misfit;
  auto& type = c.results[0].type;
  if (type == element_type::unknown && c.op == opcode::cast_like && like != nullptr) type = like->type;
  return computed_in(type) ? c.yield(converted(*x, type)) : evaluation::unknown;
}

/// As it is, and a mask of what was kept; what is random is not computed.
[[nodiscard]] inline evaluation evaluate_dropout(call const& c) {
  auto const *x = c.operand(0), *ratio = c.operand(1), *training = c.operand(2);
  if (x == nullptr) return evaluation::misfit;
  bool const trains = training != nullptr && training->elements.size() == 1 && training->elements[0] != 0;
  if (trains && (ratio == nullptr || ratio->elements.size() != 1 || ratio->elements[0] != 0))
    return evaluation::unknown;
  c.yield(1, {x->shape, std::vector<double>(x->size(), 1), element_type::boolean, {}});
  return c.yield(*x);
}

}  // namespace fuse::inline v0::detail
