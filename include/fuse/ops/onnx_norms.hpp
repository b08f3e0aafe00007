// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/dialect.hpp>

/// What ONNX and onnxruntime say of norms beyond names: which are valid, and the function that stands in for one where
/// the operator set has no such operator (domain "fuse", called by name, the same in every model).
namespace fuse::inline v0::detail::onnx_norms {

[[nodiscard]] constexpr bool is_norm(opcode op) { return op == opcode::layer_norm || op == opcode::rms_norm; }

/// Whether `to` has the operator itself at this version.
[[nodiscard]] constexpr bool has_operator(emission const& e) {
  return e.to == target::onnxruntime || e.version >= (e.op == opcode::layer_norm ? 17 : 23);
}

/// onnxruntime's fusions take what comes behind for the scale, and fail, where the scale or bias has no axis, or what
/// is normed is one row or has rows of one element.
[[nodiscard]] inline bool degenerate(emission const& e) {
  for (std::size_t i = 1; i < e.operands.size(); ++i)
    if (e.operands[i].has_rank && e.operands[i].shape.empty()) return true;
  auto const x = e.operands[0].shape;
  return x.size() == 1 || (!x.empty() && x.back() == extent(1));
}

/// Whether the axes can be told: where they count from the first one, the rank is needed.
[[nodiscard]] inline bool counts_axes(emission const& e) {
  auto const& x = e.operands[0];
  return e.negative_axes || (x.has_rank && static_cast<double>(x.shape.size()) >= -e.number("axis"));
}

[[nodiscard]] inline std::string_view refuse(emission const& e) {
  if (!is_norm(e.op) || e.operands.empty()) return {};
  auto const type = e.operands[0].type;
  if (type == element_type::unknown) return "the element type of the norm's input is not known";
  if (!is_floating(type)) return "the norm's input is not of a floating element type";
  for (std::size_t i = 1; i < e.operands.size(); ++i)
    if (e.has(i) && e.operands[i].type != type) return "scale or bias has another element type than the norm's input";
  if (!e.has(1)) return "the operator needs a scale";
  auto const epsilon = e.number("epsilon");
  auto const rounded = static_cast<float>(epsilon);
  if (!(epsilon >= 0) || !math::is_finite(rounded) || (rounded == 0) != (epsilon == 0))
    return "the epsilon does not fit the operator's float32 attribute";
  if (e.results > 1 && e.op == opcode::rms_norm) return "the operator has no statistics among its results";
  if (e.results > 1 && type == element_type::float64)
    return "statistics of a double norm are no results of the operator";
  if (e.to == target::onnxruntime && type == element_type::bfloat16) return "onnxruntime has no bfloat16 kernel for it";
  if (!has_operator(e) && type == element_type::bfloat16 && e.version < 13)
    return "this operator set version has no bfloat16";
  if (!has_operator(e) && !counts_axes(e))
    return "axes count from the first one at this operator set version, and the rank is not known";
  return {};
}

/// Statistics and the computation itself in double, where the input is double.
template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  if (is_norm(e.op) && !e.operands.empty() && e.operands[0].type == element_type::float64)
    attributes.push_back({"stash_type", std::int64_t{11}});
}

/// Composes the body of a norm step by step.
template <class Body>
class body_writer {
 public:
  body_writer(emission const& e, Body& into)
      : e_(e),
        body_(into),
        type_(e.operands[0].type),
        axis_(static_cast<std::int64_t>(e.number("axis"))),
        degenerate_(degenerate(e)) {
    computed_ = type_ == element_type::float64 ? element_type::float64 : element_type::float32;
  }

  void write() {
    bool const centred = e_.op == opcode::layer_norm;
    bool const bias = e_.has(2);
    body_.name = std::string("fuse::") + (centred ? "LayerNormalization_" : "RMSNormalization_") +
                 std::string(name_of(type_)) + "_axes" + std::to_string(-axis_);
    if (degenerate_) body_.name += "_reciprocal";
    body_.inputs = {"X", "Scale"};
    if (bias) {
      body_.inputs.push_back("Bias");
      body_.name += "_bias";
    }
    body_.outputs = {"Y"};
    body_.attributes = {"axis", "epsilon"};
    if (e_.results > 1) {
      body_.name += e_.results > 2 ? "_statistics" : "_mean";
      body_.outputs.push_back("Mean");
      if (e_.results > 2) body_.outputs.push_back("InvStdDev");
    }
    std::int64_t first = 0;
    if (!e_.negative_axes) {
      first = static_cast<std::int64_t>(e_.operands[0].shape.size());
      body_.name += "_rank" + std::to_string(first);
    }
    for (std::int64_t i = axis_; i < 0; ++i) axes_.push_back(first + i);

    std::string x = "X";
    if (type_ != computed_) x = cast("X", "XU", computed_);
    epsilon();
    if (e_.results == 1) number("Two", 2);
    if (e_.version >= 18) step("Constant", {}, "Axes", {{"value_ints", axes_}});
    std::string d = x;
    if (centred) {
      mean(x, "Mean");
      step("Sub", {x, "Mean"}, "D");
      d = "D";
    }
    // Beside a mean that others use onnxruntime's fusion would erase one Sub too many; a plain product keeps it away.
    if (e_.results > 1)
      step("Mul", {d, d}, "Square");
    else
      step("Pow", {d, "Two"}, "Square");
    mean("Square", "Variance");
    step("Add", {"Variance", "Epsilon"}, "Shifted");
    step("Sqrt", {"Shifted"}, "Deviation");
    if (e_.results > 2) step("Reciprocal", {"Deviation"}, "InvStdDev");
    // onnxruntime inlines Div and fuses it into one kernel. Of Add(Epsilon, Variance), and of doubles, it would lose
    // the epsilon, and in degenerate cases it makes a graph that does not load: a product with the reciprocal it leaves
    // as it is.
    if (computed_ == element_type::float64 || degenerate_) {
      if (e_.results < 3) step("Reciprocal", {"Deviation"}, "InvStdDev");
      step("Mul", {d, "InvStdDev"}, "Normalised");
    } else {
      step("Div", {d, "Deviation"}, "Normalised");
    }
    std::string n = "Normalised";
    if (type_ != computed_) n = cast(n, "NormalisedT", type_);
    step("Mul", {n, "Scale"}, bias ? "Scaled" : "Y");
    if (bias) step("Add", {"Scaled", "Bias"}, "Y");
  }

 private:
  void step(std::string op, std::vector<std::string> operands, std::string result,
            std::vector<attribute> attributes = {}, std::vector<std::pair<std::string, std::string>> references = {}) {
    body_.steps.push_back(
        {std::move(op), std::move(operands), {std::move(result)}, std::move(attributes), std::move(references)});
  }
  std::string cast(std::string const& from, std::string to, element_type type) {
    step("Cast", {from}, to, {{"to", static_cast<std::int64_t>(type)}});
    return to;
  }
  void mean(std::string const& of, std::string const& to) {
    if (e_.version >= 18)
      step("ReduceMean", {of, "Axes"}, to, {{"keepdims", std::int64_t{1}}});
    else
      step("ReduceMean", {of}, to, {{"axes", axes_}, {"keepdims", std::int64_t{1}}});
  }
  // A Constant holds a plain float from operator set 12 on, and only then may it be the caller's attribute. Doubles
  // stand as tensors: onnxruntime's fusion does not look through a Cast of an epsilon, and drops it.
  [[nodiscard]] bool plain() const { return e_.version >= 12 && computed_ == element_type::float32; }
  void number(std::string const& name, double value) {
    if (plain())
      step("Constant", {}, name, {{"value_float", value}});
    else
      step("Constant", {}, name, {{"value", make_tensor(computed_, {}, span<double const>(&value, 1))}});
  }
  void epsilon() {
    if (plain()) return step("Constant", {}, "Epsilon", {}, {{"value_float", "epsilon"}});
    auto const rounded = static_cast<float>(e_.number("epsilon"));
    char digits[32];
    auto const end = std::to_chars(digits, digits + 32, rounded, std::chars_format::scientific).ptr;
    body_.name += "_epsilon";
    body_.name.append(digits, end);
    number("Epsilon", static_cast<double>(rounded));
  }

  emission const& e_;
  Body& body_;
  element_type type_, computed_;
  std::int64_t axis_;
  bool degenerate_;
  std::vector<std::int64_t> axes_;
};

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  if (!is_norm(e.op) || e.operands.size() < 2 || !(e.number("axis") < 0) || !counts_axes(e)) return false;
  into = {};
  body_writer<Body>(e, into).write();
  return true;
}

struct emission_rules {
  template <class Dialect>
  static constexpr void add_to(Dialect& into) {
    into.refuse = &refuse;
    into.function = &function<function_body>;
    into.complete = &complete<attribute>;
  }
};

}  // namespace fuse::inline v0::detail::onnx_norms
