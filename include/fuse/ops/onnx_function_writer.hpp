// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// Composes the body of an ONNX function that stands in for an operator, step by step. It computes in double where the
/// first operand is of doubles, else in float.
template <class Body>
class onnx_function_writer {
 protected:
  onnx_function_writer(emission const& e, Body& into)
      : e_(e),
        body_(into),
        type_(e.operands[0].type),
        computed_(type_ == element_type::float64 ? element_type::float64 : element_type::float32) {}

  /// Begins the body: `name` is that of the operator, behind which the variant comes.
  void begin(std::string_view name) {
    body_.name = "fuse::" + std::string(name) + "_" + std::string(name_of(type_));
    body_.inputs = {"X"};
    body_.outputs = {"Y"};
  }
  void step(std::string op, std::vector<std::string> operands, std::string result,
            std::vector<attribute> attributes = {}, std::vector<std::pair<std::string, std::string>> references = {}) {
    body_.steps.push_back(
        {std::move(op), std::move(operands), {std::move(result)}, std::move(attributes), std::move(references)});
  }
  std::string cast(std::string const& from, std::string to, element_type type) {
    step("Cast", {from}, to, {{"to", static_cast<std::int64_t>(type)}});
    return to;
  }
  /// X in the type that is computed in.
  std::string widened() { return type_ != computed_ ? cast("X", "XU", computed_) : std::string("X"); }

  /// A constant of the body.
  void number(std::string const& name, double value) {
    if (plain())
      step("Constant", {}, name, {{"value_float", value}});
    else
      step("Constant", {}, name, {{"value", make_tensor(computed_, {}, span<double const>(&value, 1))}});
  }
  /// Integers, one after the other.
  void list(std::string const& name, std::vector<std::int64_t> const& numbers) {
    auto const count = static_cast<std::int64_t>(numbers.size());
    step("Constant", {}, name, {{"value", make_tensor<std::int64_t>({count}, {numbers.data(), numbers.size()})}});
  }
  /// A parameter of the operator: the caller's attribute where it can reach a Constant, else a constant of the body,
  /// which then is a function of its own.
  void parameter(std::string const& name, std::string const& attribute) {
    body_.attributes.push_back(attribute);
    if (plain()) return step("Constant", {}, name, {}, {{"value_float", attribute}});
    auto const rounded = static_cast<float>(e_.number(attribute));
    char digits[32];
    auto const end = std::to_chars(digits, digits + 32, rounded, std::chars_format::scientific).ptr;
    body_.name += "_" + attribute;
    body_.name.append(digits, end);
    number(name, static_cast<double>(rounded));
  }

  emission const& e_;
  Body& body_;
  element_type type_, computed_;

 private:
  // A Constant holds a plain float from operator set 12 on, and only then may it be the caller's attribute. Doubles
  // stand as tensors: onnxruntime's fusion does not look through a Cast of an epsilon, and drops it.
  [[nodiscard]] bool plain() const { return e_.version >= 12 && computed_ == element_type::float32; }
};

}  // namespace fuse::inline v0::detail
