// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rewriting.hpp"

/// For tests of what patterns and graphs have in common: each pattern is found in the graph of each that means the
/// same.
namespace rewriting {

using fuse::opcode;

/// A pattern as a graph: each operator as it stands, where ONNX has it.
struct spelled : sketch {
  std::map<std::string, fuse::graph::value> inputs;

  explicit spelled(fuse::expression const& pattern) { end(at(pattern, pattern.root())); }

  fuse::graph::value at(fuse::expression const& e, std::uint8_t i) {
    auto const& t = e[i];
    if (t.kind == fuse::term_kind::capture) {
      auto const name = std::string(std::string_view(t.name));
      if (inputs.count(name) == 0) inputs[name] = in(name);
      return inputs[name];
    }
    if (t.kind == fuse::term_kind::number) return scalar(static_cast<float>(t.number));
    std::vector<fuse::graph::value> operands;
    for (int k = 0; k < t.operands(); ++k) operands.push_back(at(e, t.child[k]));
    if (t.op == opcode::square) return add("Mul", {operands[0], operands[0]});
    if (t.op == opcode::rsqrt) return add("Reciprocal", {add("Sqrt", {operands[0]})});
    static std::map<opcode, char const*> const names{
        {opcode::add, "Add"},   {opcode::sub, "Sub"}, {opcode::mul, "Mul"},
        {opcode::div, "Div"},   {opcode::neg, "Neg"}, {opcode::pow, "Pow"},
        {opcode::sqrt, "Sqrt"}, {opcode::abs, "Abs"}, {opcode::reciprocal, "Reciprocal"},
        {opcode::tanh, "Tanh"}, {opcode::exp, "Exp"}, {opcode::log, "Log"}};
    return add(names.at(t.op), operands);
  }
};

template <auto const& Rule>
void expect_found(fuse::graph const& g) {
  INFO(std::string_view(Rule.name));
  CHECK(fuse::match_all<Rule>(g).size() == 1);
}

/// Each pattern is found in the graph of each, once.
template <auto const&... Rules>
void expect_all_alike() {
  auto const found_in = [](fuse::graph const& g) {
    INFO(to_text(g));
    (expect_found<Rules>(g), ...);
  };
  (found_in(spelled(Rules.pattern)), ...);
}

}  // namespace rewriting
