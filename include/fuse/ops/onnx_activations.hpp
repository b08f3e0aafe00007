// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/onnx_function_writer.hpp>

/// What ONNX and onnxruntime say of activations beyond names, and the function that stands in for one where the
/// operator set has no such operator.
namespace fuse::inline v0::detail::onnx_activations {

/// What the function of an activation is called: the standard's operator, and a variant of it. Empty: there is none.
[[nodiscard]] constexpr std::string_view function_name(opcode op) {
  switch (op) {
    case opcode::gelu: return "Gelu";
    case opcode::fast_gelu: return "Gelu_tanh";
    case opcode::swish: return "Swish";
    case opcode::mish: return "Mish";
    case opcode::hard_swish: return "HardSwish";
    default: return {};
  }
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const known = !function_name(e.op).empty() || e.op == opcode::bias_gelu || e.op == opcode::softmax ||
                     e.op == opcode::log_softmax;
  if (!known || e.operands.empty()) return {};
  auto const type = e.operands[0].type;
  if (type == element_type::unknown) return "the element type of the activation's input is not known";
  if (!is_floating(type)) return "the activation's input is not of a floating element type";
  if (e.op == opcode::swish && !math::fits_float(e.number("alpha")))
    return "alpha does not fit the operator's float32 attribute";
  bool const of_softplus_or_clip = e.op == opcode::mish || e.op == opcode::hard_swish;
  if (of_softplus_or_clip && e.to == target::onnxruntime && type == element_type::float64)
    return "onnxruntime has no kernel of it for doubles";
  bool const with_bias = e.op == opcode::bias_gelu || e.op == opcode::fast_gelu;
  if (with_bias && e.has(1)) {
    if (e.operands[1].type != type) return "the bias has another element type than what it is added to";
    auto const x = e.operands[0].shape, bias = e.operands[1].shape;
    if (!e.operands[0].has_rank || !e.operands[1].has_rank || x.empty() || bias.size() != 1 || !(bias[0] == x.back()))
      return "the bias is not provably one row of what it is added to";
  }
  return {};
}

/// The standard's Gelu is by erf where nothing is said.
template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  if (e.op == opcode::fast_gelu && e.to != target::onnxruntime)
    attributes.push_back({"approximate", std::string("tanh")});
}

/// Composes the body of an activation.
template <class Body>
class body_writer : onnx_function_writer<Body> {
  using base = onnx_function_writer<Body>;

 public:
  body_writer(emission const& e, Body& into) : base(e, into) {}

  void write() {
    base::begin(function_name(e_.op));
    x_ = base::widened();
    result_ = type_ == computed_ ? "Y" : "YU";
    switch (e_.op) {
      case opcode::gelu: gelu(); break;
      case opcode::fast_gelu: gelu_by_tanh(); break;
      case opcode::swish:
        base::parameter("Alpha", "alpha");
        base::step("Mul", {x_, "Alpha"}, "Scaled");
        base::step("Sigmoid", {"Scaled"}, "Gate");
        base::step("Mul", {x_, "Gate"}, result_);
        break;
      case opcode::mish:
        base::step("Softplus", {x_}, "Plus");
        base::step("Tanh", {"Plus"}, "Gate");
        base::step("Mul", {x_, "Gate"}, result_);
        break;
      default:
        base::step("HardSigmoid", {x_}, "Gate", {{"alpha", 1. / 6}, {"beta", 0.5}});
        base::step("Mul", {x_, "Gate"}, result_);
        break;
    }
    if (type_ != computed_) base::cast(result_, "Y", type_);
  }

 private:
  // In these forms onnxruntime inlines them and fuses them back into one kernel.
  void gelu() {
    base::number("RootOfTwo", 1.4142135623730951);
    base::number("One", 1);
    base::number("Half", 0.5);
    base::step("Div", {x_, "RootOfTwo"}, "Scaled");
    base::step("Erf", {"Scaled"}, "Curve");
    base::step("Add", {"Curve", "One"}, "Gate");
    base::step("Mul", {x_, "Gate"}, "Twice");
    base::step("Mul", {"Twice", "Half"}, result_);
  }
  void gelu_by_tanh() {
    base::number("Three", 3);
    base::number("Factor", 0.044715);
    base::number("RootOfTwoByPi", 0.7978845608028654);
    base::number("One", 1);
    base::number("Half", 0.5);
    base::step("Pow", {x_, "Three"}, "Cube");
    base::step("Mul", {"Cube", "Factor"}, "Part");
    base::step("Add", {x_, "Part"}, "Sum");
    base::step("Mul", {"Sum", "RootOfTwoByPi"}, "Scaled");
    base::step("Tanh", {"Scaled"}, "Curve");
    base::step("Add", {"Curve", "One"}, "Gate");
    base::step("Mul", {x_, "Half"}, "Halved");
    base::step("Mul", {"Halved", "Gate"}, result_);
  }

  using base::computed_, base::e_, base::type_;
  std::string x_, result_;
};

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  if (function_name(e.op).empty() || e.operands.size() != 1) return false;
  into = {};
  body_writer<Body>(e, into).write();
  return true;
}

}  // namespace fuse::inline v0::detail::onnx_activations
