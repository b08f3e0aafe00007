// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0 {

/// A tensor of doubles, row-major: what constants are computed in before they are rounded, once, to their element type.
struct dense {
  std::vector<std::int64_t> shape{};
  std::vector<double> elements{};
  element_type type = element_type::float64;  ///< what the elements are, or will be

  [[nodiscard]] static dense of(double number) { return {{}, {number}}; }
  [[nodiscard]] static dense of(tensor_view const& from) {
    dense made;
    made.type = from.type;
    made.shape.assign(from.shape.begin(), from.shape.end());
    made.elements.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) made.elements.push_back(from.number(i));
    return made;
  }
};

namespace detail {

[[nodiscard]] inline std::size_t count_of(span<std::int64_t const> shape) {
  std::size_t count = 1;
  for (auto extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

}  // namespace detail

/// `from` repeated to `shape` by the broadcasting of ONNX and NumPy; false where it does not fit.
[[nodiscard]] inline bool broadcast_to(dense const& from, span<std::int64_t const> shape, dense& into) {
  if (from.shape.size() > shape.size()) return false;
  std::size_t const lead = shape.size() - from.shape.size();
  std::vector<std::size_t> stride(shape.size(), 0);
  std::size_t step = 1;
  for (std::size_t axis = from.shape.size(); axis-- > 0;) {
    if (from.shape[axis] != 1) {
      if (from.shape[axis] != shape[lead + axis]) return false;
      stride[lead + axis] = step;
    }
    step *= static_cast<std::size_t>(from.shape[axis]);
  }
  into.type = from.type;
  into.shape.assign(shape.begin(), shape.end());
  auto const count = detail::count_of(shape);
  into.elements.resize(count);
  std::vector<std::size_t> at(shape.size(), 0);
  std::size_t source = 0;
  for (std::size_t i = 0; i < count; ++i) {
    into.elements[i] = from.elements[source];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++at[axis] < static_cast<std::size_t>(shape[axis])) break;
      source -= stride[axis] * at[axis];
      at[axis] = 0;
    }
  }
  return true;
}

/// The common shape of two operands; false where they do not broadcast.
[[nodiscard]] inline bool broadcast_shape(span<std::int64_t const> a, span<std::int64_t const> b,
                                          std::vector<std::int64_t>& into) {
  into.assign(a.size() > b.size() ? a.size() : b.size(), 1);
  for (std::size_t i = 0; i < into.size(); ++i) {
    auto const x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    into[into.size() - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

/// Applies an elementwise operator of one or two operands; false for others. Complexity: the elements of the result.
[[nodiscard]] inline bool evaluate(opcode op, span<dense const> operands, dense& into) {
  if (operands.size() == 1) {
    double (*f)(double) = nullptr;
    switch (op) {
      case opcode::neg: f = [](double x) { return -x; }; break;
      case opcode::reciprocal: f = [](double x) { return 1 / x; }; break;
      case opcode::sqrt: f = [](double x) { return detail::math::sqrt(x); }; break;
      case opcode::rsqrt: f = [](double x) { return 1 / detail::math::sqrt(x); }; break;
      case opcode::square: f = [](double x) { return x * x; }; break;
      case opcode::abs: f = [](double x) { return detail::math::abs(x); }; break;
      case opcode::exp: f = [](double x) { return detail::math::exp(x); }; break;
      case opcode::log: f = [](double x) { return detail::math::log(x); }; break;
      case opcode::erf: f = [](double x) { return detail::math::erf(x); }; break;
      case opcode::tanh: f = [](double x) { return detail::math::tanh(x); }; break;
      case opcode::sigmoid: f = [](double x) { return 1 / (1 + detail::math::exp(-x)); }; break;
      case opcode::relu: f = [](double x) { return x < 0 ? 0 : x; }; break;  // a NaN stays one
      case opcode::identity:
      case opcode::cast: f = [](double x) { return x; }; break;
      default: return false;
    }
    into = operands[0];
    for (auto& x : into.elements) x = f(x);
    return true;
  }
  if (operands.size() != 2) return false;
  double (*f)(double, double) = nullptr;
  switch (op) {
    case opcode::add: f = [](double a, double b) { return a + b; }; break;
    case opcode::sub: f = [](double a, double b) { return a - b; }; break;
    case opcode::mul: f = [](double a, double b) { return a * b; }; break;
    case opcode::div: f = [](double a, double b) { return a / b; }; break;
    case opcode::pow: f = [](double a, double b) { return detail::math::pow(a, b); }; break;
    case opcode::minimum: f = [](double a, double b) { return a < b || a != a ? a : b; }; break;
    case opcode::maximum: f = [](double a, double b) { return a > b || a != a ? a : b; }; break;
    default: return false;
  }
  std::vector<std::int64_t> shape;
  if (!broadcast_shape(operands[0].shape, operands[1].shape, shape)) return false;
  dense right;
  if (!broadcast_to(operands[0], shape, into) || !broadcast_to(operands[1], shape, right)) return false;
  for (std::size_t i = 0; i < into.elements.size(); ++i) into.elements[i] = f(into.elements[i], right.elements[i]);
  return true;
}

}  // namespace fuse::inline v0
