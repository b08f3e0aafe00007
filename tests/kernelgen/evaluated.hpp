// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <catch.hpp>

#include <fuse/dsl/expression.hpp>
#include <fuse/eval/reference.hpp>
#include <fuse/ops/onnx.hpp>
#include <fuse/program/operator_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace evaluated {

using fuse::dense;

/// Reductions are over the last axis, which stays; other parameters are as an expression says.
class parameters_of_term : public fuse::operator_parameters {
 public:
  std::map<std::string, double, std::less<>> numbers;

  bool number(std::string_view name, double& into) const override {
    auto const found = numbers.find(name);
    if (found != numbers.end()) into = found->second;
    return found != numbers.end();
  }
  bool integers(std::string_view name, std::vector<std::int64_t>& into) const override {
    if (name == "axes") into = {-1};
    return name == "axes";
  }
  [[nodiscard]] fuse::attribute_view attribute(std::string_view) const override { return {}; }
  [[nodiscard]] fuse::axis_use use_of_axis() const override { return fuse::axis_use::one; }
};

/// The expression in double precision, by the evaluator, an operator at a time: of alternatives the first. What is
/// absent is not in `captures`.
class expression_evaluator {
 public:
  expression_evaluator(fuse::expression const& e, std::map<std::string, dense, std::less<>> captures)
      : e_(e), captures_(std::move(captures)) {}

  /// Of the root, or of that root of several.
  std::vector<double> root(std::size_t which = 0) {
    auto const& last = e_[e_.root()];
    auto const* made = value(last.kind == fuse::term_kind::roots ? last.child[which] : e_.root());
    REQUIRE(made != nullptr);
    return made->elements;
  }

 private:
  dense const* value(std::size_t at) {
    auto const known = values_.find(at);
    if (known != values_.end()) return &known->second;
    auto const& t = e_[at];
    using kind = fuse::term_kind;
    switch (t.kind) {
      case kind::number: return &(values_[at] = dense::of(t.number));
      case kind::capture:
      case kind::scalar:
      case kind::rest: {
        auto const found = captures_.find(std::string_view(t.name));
        return found == captures_.end() ? nullptr : &found->second;
      }
      case kind::neutral: return operated(at, t, t.op);
      case kind::named: return operated(at, t, fuse::detail::facts_of(fuse::onnx, t.name).op);
      default: return value(t.child[0]);
    }
  }

  dense const* operated(std::size_t at, fuse::term const& t, fuse::opcode op) {
    std::vector<dense const*> operands;
    for (int i = 0; i < t.operands(); ++i)
      if (auto const* operand = value(t.child[i]); operand != nullptr) operands.push_back(operand);
    bool const is_group = fuse::info(op).group != fuse::op_group::none;
    if (is_group && t.operands() == 2 && operands.size() == 1) return operands[0];
    if (operands.empty()) return nullptr;
    parameters_of_term parameters;
    for (int i = t.operands(); i < t.children; ++i) {
      auto const& attribute = e_[t.child[i]];
      parameters.numbers[std::string(std::string_view(attribute.name))] =
          attribute.children == 0 ? attribute.number : value(attribute.child[0])->elements[0];
    }
    std::vector<dense> results(1);
    results[0].type = fuse::element_type::float64;
    INFO(fuse::name_of(op));
    REQUIRE(fuse::evaluate(op, fuse::span<dense const* const>(operands.data(), operands.size()), parameters, results) ==
            fuse::evaluation::done);
    return &(values_[at] = results[0]);
  }

  fuse::expression const& e_;
  std::map<std::string, dense, std::less<>> captures_;
  std::map<std::size_t, dense> values_;
};

}  // namespace evaluated
