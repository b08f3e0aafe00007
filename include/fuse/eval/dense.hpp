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

/// A tensor of numbers, row-major: what operators are computed in before results are rounded, once, to their element
/// type. Integers are exact; all else is double.
struct dense {
  std::vector<std::int64_t> shape{};
  std::vector<double> elements{};             ///< of whatever is no integer
  element_type type = element_type::float64;  ///< what the elements are, or will be
  std::vector<std::int64_t> integers{};       ///< the elements of an integer type; of uint64 their bits

  /// Whether the elements are `integers`.
  [[nodiscard]] bool whole() const { return is_integer(type); }
  [[nodiscard]] std::size_t size() const { return whole() ? integers.size() : elements.size(); }

  [[nodiscard]] static dense of(double number) { return {{}, {number}}; }
  [[nodiscard]] static dense of(tensor_view const& from) {
    if (!is_integer(from.type)) {
      auto made = in_doubles(from);
      made.type = from.type;
      return made;
    }
    dense made;
    made.type = from.type;
    made.shape.assign(from.shape.begin(), from.shape.end());
    made.integers.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) made.integers.push_back(from.integer(i));
    return made;
  }
  /// In doubles, whatever it holds.
  [[nodiscard]] static dense in_doubles(tensor_view const& from) {
    dense made;
    made.shape.assign(from.shape.begin(), from.shape.end());
    made.elements.resize(from.size());
    std::size_t at = 0;
    from.all_numbers([&](double number) {
      made.elements[at++] = number;
      return true;
    });
    return made;
  }
};

namespace detail {

[[nodiscard]] inline std::size_t count_of(span<std::int64_t const> shape) {
  std::size_t count = 1;
  for (auto extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

/// Calls `visit(i)` for each element of `shape`, in order: `i` is the number of the element of `from` that it repeats.
/// False, without a call, where `from` does not broadcast to `shape`.
template <class Visit>
[[nodiscard]] bool for_each_repeated(span<std::int64_t const> from, span<std::int64_t const> shape,
                                     Visit const& visit) {
  if (from.size() > shape.size()) return false;
  std::size_t const lead = shape.size() - from.size();
  std::vector<std::size_t> stride(shape.size(), 0);
  std::size_t step = 1;
  for (std::size_t axis = from.size(); axis-- > 0;) {
    if (from[axis] != 1) {
      if (from[axis] != shape[lead + axis]) return false;
      stride[lead + axis] = step;
    }
    step *= static_cast<std::size_t>(from[axis]);
  }
  std::vector<std::size_t> at(shape.size(), 0);
  std::size_t source = 0;
  for (auto count = count_of(shape); count > 0; --count) {
    visit(source);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++at[axis] < static_cast<std::size_t>(shape[axis])) break;
      source -= stride[axis] * at[axis];
      at[axis] = 0;
    }
  }
  return true;
}

}  // namespace detail

/// `from` repeated to `shape` by the broadcasting of ONNX and NumPy; false where it does not fit.
[[nodiscard]] inline bool broadcast_to(dense const& from, span<std::int64_t const> shape, dense& into) {
  dense made;
  made.type = from.type;
  made.shape.assign(shape.begin(), shape.end());
  bool const fits = detail::for_each_repeated(from.shape, shape, [&](std::size_t i) {
    if (made.whole())
      made.integers.push_back(from.integers[i]);
    else
      made.elements.push_back(from.elements[i]);
  });
  if (fits) into = static_cast<dense&&>(made);
  return fits;
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

/// `f` of the elements of two operands that broadcast; false where they do not.
template <class F>
[[nodiscard]] bool combine(dense const& a, dense const& b, dense& into, F const& f) {
  std::vector<std::int64_t> shape;
  dense left, right;
  if (!broadcast_shape(a.shape, b.shape, shape) || !broadcast_to(a, shape, left) || !broadcast_to(b, shape, right))
    return false;
  for (std::size_t i = 0; i < left.elements.size(); ++i) left.elements[i] = f(left.elements[i], right.elements[i]);
  into = static_cast<dense&&>(left);
  return true;
}

namespace detail {

/// What an operator without parameters makes of one number; null for others.
[[nodiscard]] inline auto function_of_one(opcode op) -> double (*)(double) {
  switch (op) {
    case opcode::neg: return [](double x) { return -x; };
    case opcode::reciprocal: return [](double x) { return 1 / x; };
    case opcode::sqrt: return [](double x) { return math::sqrt(x); };
    case opcode::rsqrt: return [](double x) { return 1 / math::sqrt(x); };
    case opcode::square: return [](double x) { return x * x; };
    case opcode::abs: return [](double x) { return math::abs(x); };
    case opcode::exp: return [](double x) { return math::exp(x); };
    case opcode::log: return [](double x) { return math::log(x); };
    case opcode::erf: return [](double x) { return math::erf(x); };
    case opcode::tanh: return [](double x) { return math::tanh(x); };
    case opcode::sigmoid: return [](double x) { return 1 / (1 + math::exp(-x)); };
    case opcode::relu: return [](double x) { return x < 0 ? 0 : x; };  // a NaN stays one
    case opcode::floor: return [](double x) { return math::floor(x); };
    case opcode::ceil: return [](double x) { return -math::floor(-x); };
    case opcode::round: return [](double x) { return math::nearbyint(x); };
    case opcode::sign: return [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; };
    case opcode::identity:
    case opcode::cast: return [](double x) { return x; };
    default: return nullptr;
  }
}
/// ... and of two.
[[nodiscard]] inline auto function_of_two(opcode op) -> double (*)(double, double) {
  switch (op) {
    case opcode::add: return [](double a, double b) { return a + b; };
    case opcode::sub: return [](double a, double b) { return a - b; };
    case opcode::mul: return [](double a, double b) { return a * b; };
    case opcode::div: return [](double a, double b) { return a / b; };
    case opcode::pow: return [](double a, double b) { return math::pow(a, b); };
    case opcode::minimum: return [](double a, double b) { return a < b || a != a ? a : b; };
    case opcode::maximum: return [](double a, double b) { return a > b || a != a ? a : b; };
    default: return nullptr;
  }
}

}  // namespace detail

/// Applies an elementwise operator of one or two operands; false for others. Complexity: the elements of the result.
[[nodiscard]] inline bool evaluate(opcode op, span<dense const> operands, dense& into) {
  if (operands.size() == 2) {
    auto const f = detail::function_of_two(op);
    return f != nullptr && combine(operands[0], operands[1], into, f);
  }
  auto const f = operands.size() == 1 ? detail::function_of_one(op) : nullptr;
  if (f == nullptr) return false;
  into = operands[0];
  for (auto& x : into.elements) x = f(x);
  return true;
}

}  // namespace fuse::inline v0
