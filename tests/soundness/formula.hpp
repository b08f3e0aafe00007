// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fuse/dsl/dsl.hpp>

#include "../corpus/array.hpp"
#include "../corpus/evaluate.hpp"

namespace soundness {

using corpus::array;
using fuse::expression;
using fuse::opcode;
using fuse::term_kind;

/// What the names of a pattern stand for.
struct meanings {
  std::map<std::string, array> values{};
  std::map<std::string, double> numbers{};
  std::map<std::string, std::vector<std::int64_t>> axes{};
};

/// The pattern of a rule as the formula that it is, in double precision: what the engine is checked with, and nothing
/// of the engine.
class formula {
 public:
  formula(expression const& pattern, meanings const& with) : pattern_(pattern), with_(with) {}

  [[nodiscard]] array value() const { return at(pattern_.root()); }

 private:
  static array number(double x) { return {{}, {x}, false}; }

  // Whether what an optional part names is there.
  [[nodiscard]] bool present(std::uint8_t i) const {
    auto const& t = pattern_[i];
    std::string const name{t.name};
    if (t.kind == term_kind::capture || t.kind == term_kind::rest) return with_.values.count(name) != 0;
    if (t.kind == term_kind::scalar) return with_.numbers.count(name) != 0;
    for (int c = 0; c < t.operands(); ++c)
      if (!present(t.child[c])) return false;
    return true;
  }

  [[nodiscard]] std::vector<std::int64_t> axes_of(fuse::term const& t) const {
    std::string name = "axes";
    for (int c = t.operands(); c < t.children; ++c)
      if (auto const& a = pattern_[t.child[c]]; std::string(a.name) == "axes")
        name = std::string(pattern_[a.child[0]].name);
    return with_.axes.at(name);
  }

  [[nodiscard]] array at(std::uint8_t i) const {
    auto const& t = pattern_[i];
    std::string const name{t.name};
    auto const operand = [&](int c) { return at(t.child[c]); };
    auto const unary = [&](auto f) { return map(operand(0), f); };
    // An absent operand leaves the other one.
    auto const binary = [&](auto f, double neutral) {
      auto const part = [&](int c) {
        auto const& child = pattern_[t.child[c]];
        bool const absent =
            (child.kind == term_kind::optional || child.kind == term_kind::rest) && !present(t.child[c]);
        return absent ? number(neutral) : operand(c);
      };
      auto const a = part(0), b = part(1);
      return combine(a, b, f);
    };
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::rest: return with_.values.at(name);
      case term_kind::scalar: return number(with_.numbers.at(name));
      case term_kind::number: return number(t.number);
      case term_kind::alternatives:
        for (int c = 0; c < t.children; ++c)
          if (present(t.child[c])) return operand(c);
        break;
      case term_kind::optional:
      case term_kind::through:
      case term_kind::users:
      case term_kind::known_as: return operand(0);
      case term_kind::neutral: break;
      default: corpus::fail("no formula of this term");
    }
    switch (t.op) {
      case opcode::add: return binary([](double a, double b) { return a + b; }, 0);
      case opcode::sub: return binary([](double a, double b) { return a - b; }, 0);
      case opcode::mul: return binary([](double a, double b) { return a * b; }, 1);
      case opcode::div: {
        auto const a = operand(0), b = operand(1);
        if (a.integers && b.integers) return combine(a, b, [](double p, double q) { return std::trunc(p / q); });
        return combine(a, b, [](double p, double q) { return p / q; });
      }
      case opcode::pow: return binary([](double a, double b) { return std::pow(a, b); }, 1);
      case opcode::maximum: return binary([](double a, double b) { return a < b ? b : a; }, 0);
      case opcode::minimum: return binary([](double a, double b) { return b < a ? b : a; }, 0);
      case opcode::neg: return unary([](double a) { return -a; });
      case opcode::reciprocal: return unary([](double a) { return 1 / a; });
      case opcode::sqrt: return unary([](double a) { return std::sqrt(a); });
      case opcode::rsqrt: return unary([](double a) { return 1 / std::sqrt(a); });
      case opcode::square: return unary([](double a) { return a * a; });
      case opcode::abs: return unary([](double a) { return std::fabs(a); });
      case opcode::exp: return unary([](double a) { return std::exp(a); });
      case opcode::log: return unary([](double a) { return std::log(a); });
      case opcode::tanh: return unary([](double a) { return std::tanh(a); });
      case opcode::sigmoid: return unary([](double a) { return 1 / (1 + std::exp(-a)); });
      case opcode::erf: return unary([](double a) { return std::erf(a); });
      case opcode::relu: return unary([](double a) { return a < 0 ? 0 : a; });
      case opcode::sum: return sum(operand(0), axes_of(t), true);
      case opcode::mean: return mean(operand(0), axes_of(t), true);
      default: corpus::fail("no formula of this operator");
    }
  }

  expression const& pattern_;
  meanings const& with_;
};

}  // namespace soundness
