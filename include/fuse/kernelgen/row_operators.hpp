// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/step_writer.hpp>
#include <fuse/ops/operator.hpp>

#include <string_view>

namespace fuse::inline v0::detail {

/// An operator's operands, and the numbers among its parameters. A step that is not there is `absent`.
struct row_operator {
  static constexpr int absent = -1;

  opcode op = opcode::opaque;
  int operands[8]{};
  int count = 0;
  static_text names[8]{};
  int numbers[8]{};
  int number_count = 0;

  [[nodiscard]] constexpr step_id operator[](int i) const { return static_cast<step_id>(operands[i]); }
  [[nodiscard]] constexpr bool has(int i) const { return i < count && operands[i] != absent; }
};

/// What operators' parameters are called that are numbers here.
inline constexpr std::string_view row_parameters[] = {"alpha", "beta", "epsilon", "approximate", "min", "max"};

/// Writes what an operator is in terms of the steps. Formulas are ONNX's; what is a function of its own there is one
/// here.
class row_operator_writer {
 public:
  constexpr row_operator_writer(step_writer& steps, row_operator const& is) : steps_(steps), is_(is) {}

  /// The result's step; `row_operator::absent` where there is no kernel for the operator.
  constexpr int write() {
    if (is_.count == 0 || !is_.has(0)) return row_operator::absent;
    step_id const a = is_[0];
    switch (is_.op) {
      case opcode::identity:
      case opcode::cast: return a;
      case opcode::neg: return steps_.unary(row_op::neg, a);
      case opcode::reciprocal: return steps_.reciprocal(a);
      case opcode::sqrt: return sqrt(a);
      case opcode::rsqrt: return steps_.reciprocal(sqrt(a));
      case opcode::square: return steps_.square(a);
      case opcode::abs: return steps_.unary(row_op::abs, a);
      case opcode::sign: return steps_.unary(row_op::sign, a);
      case opcode::floor: return steps_.unary(row_op::floor, a);
      case opcode::ceil: return steps_.unary(row_op::ceil, a);
      case opcode::round: return steps_.unary(row_op::round, a);
      case opcode::exp: return exp(a);
      case opcode::log: return log(a);
      case opcode::erf: return steps_.unary(row_op::erf, a);
      case opcode::tanh: return tanh(a);
      case opcode::sigmoid: return sigmoid(a);
      case opcode::sin: return steps_.unary(row_op::sin, a);
      case opcode::cos: return steps_.unary(row_op::cos, a);
      case opcode::relu: return steps_.unary(row_op::relu, a);
      default: break;
    }
    if (int const made = write_activation(a); made != row_operator::absent) return made;
    if (int const made = write_reduction(a); made != row_operator::absent) return made;
    if (int const made = write_condition(a); made != row_operator::absent) return made;
    return is_.has(1) ? write_of_several(a) : row_operator::absent;
  }

 private:
  constexpr step_id sqrt(step_id a) { return steps_.unary(row_op::sqrt, a); }
  constexpr step_id exp(step_id a) { return steps_.unary(row_op::exp, a); }
  constexpr step_id log(step_id a) { return steps_.unary(row_op::log, a); }
  constexpr step_id tanh(step_id a) { return steps_.unary(row_op::tanh, a); }
  constexpr step_id sigmoid(step_id a) { return steps_.unary(row_op::sigmoid, a); }
  constexpr step_id one() { return steps_.number(1); }

  constexpr step_id parameter(std::string_view name, double otherwise) {
    for (int i = 0; i < is_.number_count; ++i)
      if (is_.names[i] == name) return static_cast<step_id>(is_.numbers[i]);
    return steps_.number(otherwise);
  }

  // log(1 + exp(a)), which does not overflow: the larger of a and 0 stands before the logarithm.
  constexpr step_id softplus(step_id a) {
    step_id const minus_size = steps_.unary(row_op::neg, steps_.unary(row_op::abs, a));
    return steps_.add(log(steps_.add(one(), exp(minus_size))), steps_.unary(row_op::relu, a));
  }
  constexpr step_id gelu(step_id a) {
    step_id const curve = steps_.unary(row_op::erf, steps_.mul(a, steps_.number(0.70710678118654752440)));
    return half_of(a, curve);
  }
  constexpr step_id gelu_by_tanh(step_id a) {
    step_id const bent = steps_.mul(a, steps_.add(one(), steps_.mul(steps_.number(0.044715), steps_.square(a))));
    return half_of(a, tanh(steps_.mul(steps_.number(0.79788456080286535588), bent)));
  }
  constexpr step_id half_of(step_id a, step_id curve) {
    return steps_.mul(steps_.mul(steps_.number(0.5), a), steps_.add(one(), curve));
  }
  constexpr step_id between(step_id a, step_id least, step_id most) {
    return steps_.minimum(steps_.maximum(a, least), most);
  }
  constexpr step_id hard_sigmoid(step_id a, step_id alpha, step_id beta) {
    return between(steps_.add(steps_.mul(alpha, a), beta), steps_.number(0), one());
  }

  constexpr int write_activation(step_id a) {
    switch (is_.op) {
      case opcode::gelu: return steps_.of(parameter("approximate", 0)).number == 1 ? gelu_by_tanh(a) : gelu(a);
      case opcode::fast_gelu: return gelu_by_tanh(is_.has(1) ? steps_.add(a, is_[1]) : a);
      case opcode::bias_gelu: return gelu(is_.has(1) ? steps_.add(a, is_[1]) : a);
      case opcode::silu: return steps_.mul(a, sigmoid(a));
      case opcode::swish: return steps_.mul(a, sigmoid(steps_.mul(a, parameter("alpha", 1))));
      case opcode::quick_gelu: return steps_.mul(a, sigmoid(steps_.mul(a, parameter("alpha", 1.702))));
      case opcode::softplus: return softplus(a);
      case opcode::mish: return steps_.mul(a, tanh(softplus(a)));
      case opcode::softsign: return steps_.div(a, steps_.add(one(), steps_.unary(row_op::abs, a)));
      case opcode::hard_sigmoid: return hard_sigmoid(a, parameter("alpha", 0.2), parameter("beta", 0.5));
      case opcode::hard_swish: return steps_.mul(a, hard_sigmoid(a, steps_.number(1. / 6), steps_.number(0.5)));
      case opcode::leaky_relu:
        return steps_.ternary(row_op::where_positive, a, a, steps_.mul(parameter("alpha", 0.01), a));
      case opcode::thresholded_relu:
        return steps_.ternary(row_op::where_positive, steps_.sub(a, parameter("alpha", 1)), a, steps_.number(0));
      case opcode::clip: {
        step_id made = a;
        if (has_parameter("min")) made = steps_.maximum(made, parameter("min", 0));
        if (has_parameter("max")) made = steps_.minimum(made, parameter("max", 0));
        if (is_.has(1)) made = steps_.maximum(made, is_[1]);
        if (is_.has(2)) made = steps_.minimum(made, is_[2]);
        return made;
      }
      default: return row_operator::absent;
    }
  }
  [[nodiscard]] constexpr bool has_parameter(std::string_view name) const {
    for (int i = 0; i < is_.number_count; ++i)
      if (is_.names[i] == name) return true;
    return false;
  }

  constexpr step_id inverse_root(step_id mean_square) {
    return steps_.reciprocal(sqrt(steps_.add(mean_square, parameter("epsilon", 1e-5))));
  }
  constexpr step_id weighted(step_id made, int scale) {
    if (is_.has(scale)) made = steps_.mul(made, is_[scale]);
    return is_.has(scale + 1) ? steps_.add(made, is_[scale + 1]) : made;
  }
  constexpr step_id layer_norm(step_id a) {
    step_id const centred = steps_.sub(a, steps_.mean(a));
    return steps_.mul(centred, inverse_root(steps_.mean(steps_.square(centred))));
  }
  constexpr step_id rms_norm(step_id a) { return steps_.mul(a, inverse_root(steps_.mean(steps_.square(a)))); }

  constexpr int write_reduction(step_id a) {
    switch (is_.op) {
      case opcode::sum: return steps_.sum(a);
      case opcode::mean: return steps_.mean(a);
      case opcode::reduce_max: return steps_.largest(a);
      case opcode::reduce_min: return steps_.smallest(a);
      case opcode::sum_square: return steps_.sum(steps_.square(a));
      case opcode::l1_norm: return steps_.sum(steps_.unary(row_op::abs, a));
      case opcode::l2_norm: return sqrt(steps_.sum(steps_.square(a)));
      case opcode::log_sum: return log(steps_.sum(a));
      case opcode::log_sum_exp: {
        step_id const most = steps_.largest(a);
        return steps_.add(log(steps_.sum(exp(steps_.sub(a, most)))), most);
      }
      case opcode::softmax: {
        step_id const power = exp(steps_.sub(a, steps_.largest(a)));
        return steps_.div(power, steps_.sum(power));
      }
      case opcode::log_softmax: {
        step_id const shifted = steps_.sub(a, steps_.largest(a));
        return steps_.sub(shifted, log(steps_.sum(exp(shifted))));
      }
      case opcode::layer_norm: return weighted(layer_norm(a), 1);
      case opcode::rms_norm: return is_.count <= 2 ? weighted(rms_norm(a), 1) : row_operator::absent;
      default: return row_operator::absent;
    }
  }

  // What holds is 1, what does not 0.
  constexpr step_id is_no(step_id a) { return steps_.binary(row_op::equal, a, steps_.number(0)); }
  constexpr int write_condition(step_id a) {
    switch (is_.op) {
      case opcode::logical_not: return is_no(a);
      case opcode::is_nan: return is_no(steps_.binary(row_op::equal, a, a));
      default: break;
    }
    if (!is_.has(1)) return row_operator::absent;
    step_id const b = is_[1];
    switch (is_.op) {
      case opcode::greater: return steps_.binary(row_op::greater, a, b);
      case opcode::less: return steps_.binary(row_op::greater, b, a);
      case opcode::greater_or_equal: return steps_.binary(row_op::greater_or_equal, a, b);
      case opcode::less_or_equal: return steps_.binary(row_op::greater_or_equal, b, a);
      case opcode::equal: return steps_.binary(row_op::equal, a, b);
      case opcode::logical_and: return steps_.binary(row_op::minimum, a, b);
      case opcode::logical_or: return steps_.binary(row_op::maximum, a, b);
      case opcode::logical_xor: return is_no(steps_.binary(row_op::equal, a, b));
      case opcode::where:
        return is_.has(2) ? steps_.ternary(row_op::where_positive, a, b, is_[2]) : row_operator::absent;
      default: return row_operator::absent;
    }
  }

  constexpr int write_of_several(step_id a) {
    step_id made = a;
    switch (is_.op) {
      case opcode::sub: return steps_.sub(a, is_[1]);
      case opcode::div: return steps_.div(a, is_[1]);
      case opcode::prelu: return steps_.ternary(row_op::where_positive, a, a, steps_.mul(is_[1], a));
      case opcode::swiglu: return steps_.mul(steps_.mul(a, sigmoid(steps_.mul(a, parameter("alpha", 1)))), is_[1]);
      case opcode::add:
      case opcode::sum_of:
        for (int i = 1; i < is_.count; ++i) made = steps_.add(made, is_[i]);
        return made;
      case opcode::mul:
        for (int i = 1; i < is_.count; ++i) made = steps_.mul(made, is_[i]);
        return made;
      case opcode::minimum:
        for (int i = 1; i < is_.count; ++i) made = steps_.minimum(made, is_[i]);
        return made;
      case opcode::maximum:
        for (int i = 1; i < is_.count; ++i) made = steps_.maximum(made, is_[i]);
        return made;
      default: return row_operator::absent;
    }
  }

  step_writer& steps_;
  row_operator const& is_;
};

}  // namespace fuse::inline v0::detail
