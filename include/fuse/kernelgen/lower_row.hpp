// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>
#include <fuse/kernelgen/row_operators.hpp>
#include <fuse/kernelgen/row_program.hpp>
#include <fuse/kernelgen/step_writer.hpp>
#include <fuse/ops/onnx.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/operator_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuse::inline v0::detail {

/// Which of a term's children a kernel computes: of alternatives the first, of what is looked through what is inside.
[[nodiscard]] constexpr int computed_children(term const& t) {
  switch (t.kind) {
    case term_kind::alternatives:
    case term_kind::optional:
    case term_kind::wrapped:
    case term_kind::through:
    case term_kind::users:
    case term_kind::known_as:
    case term_kind::fold:
    case term_kind::row: return 1;
    case term_kind::roots:
    case term_kind::attribute:
    case term_kind::list:
    case term_kind::neutral:
    case term_kind::named:
    case term_kind::exact: return t.children;
    default: return 0;
  }
}

/// The captures that a kernel of the expression reads. Linear.
[[nodiscard]] constexpr row_inputs inputs_of(expression const& e) {
  row_inputs made;
  bool computed[expression::capacity]{}, required[expression::capacity]{};
  if (e.size == 0) return made;
  computed[e.root()] = required[e.root()] = true;
  for (int i = e.root(); i >= 0; --i) {
    term const& t = e[static_cast<std::size_t>(i)];
    for (int c = 0; computed[i] && c < computed_children(t); ++c) {
      computed[t.child[c]] = true;
      if (required[i] && t.kind != term_kind::optional) required[t.child[c]] = true;
    }
  }
  for (std::size_t i = 0; i < e.size; ++i) {
    term const& t = e[i];
    bool const reads = t.kind == term_kind::capture || t.kind == term_kind::scalar || t.kind == term_kind::rest;
    if (!computed[i] || !reads) continue;
    bool const optional = !required[i] || t.kind == term_kind::rest;
    std::size_t const at = made.find(t.name);
    if (at < made.count) {
      made.optional[at] = made.optional[at] && optional;
    } else if (made.count == row_inputs::most) {
      made.too_many = true;
    } else {
      made.names[made.count] = t.name;
      made.is_scalar[made.count] = t.kind == term_kind::scalar;
      made.optional[made.count++] = optional;
    }
  }
  return made;
}

/// Makes a row program of an expression, whose inputs are of these kinds.
class row_lowering {
 public:
  constexpr row_lowering(expression const& e, row_inputs const& inputs, input_kinds const& kinds)
      : e_(e), inputs_(inputs), kinds_(kinds) {}

  constexpr row_program lower() {
    for (int& place : places_) place = unseen;
    program_.inputs = kinds_;
    if (e_.size == 0) fail(row_error::no_term, static_text::of("nothing"));
    if (e_.too_large || inputs_.too_many) fail(row_error::too_large, {});
    if (failed()) return program_;
    term const& root = e_[e_.root()];
    bool const several = root.kind == term_kind::roots;
    program_.number_of_results = several ? root.children : 1u;
    for (std::size_t i = 0; i < program_.number_of_results; ++i) {
      int const made = place_of(several ? root.child[i] : e_.root());
      if (failed()) return program_;
      if (made == row_operator::absent) fail(row_error::no_term, static_text::of("a result that is absent"));
      if (!failed() && !program_.steps[made].is_row) fail(row_error::no_row, {});
      if (failed()) return program_;
      program_.results[i] = static_cast<step_id>(made);
      steps_.use(program_.results[i]);
    }
    return program_;
  }

 private:
  static constexpr int unseen = -2;

  [[nodiscard]] constexpr bool failed() const { return program_.error != row_error::none; }
  constexpr int fail(row_error error, static_text culprit) {
    if (!failed()) {
      program_.error = error;
      program_.culprit = culprit;
    }
    return row_operator::absent;
  }

  constexpr int place_of(std::uint8_t at) {
    if (places_[at] == unseen) places_[at] = write(e_[at]);
    return places_[at];
  }

  constexpr int write(term const& t) {
    switch (t.kind) {
      case term_kind::number: return steps_.number(t.number);
      case term_kind::capture:
      case term_kind::scalar:
      case term_kind::rest: return write_input(t.name);
      case term_kind::dimension: return write_dimension(t);
      case term_kind::neutral: return write_operator(t, t.op, static_text::of(name_of(t.op)));
      case term_kind::named:
      case term_kind::exact: {
        auto const meant = facts_of(onnx, t.name);
        if (meant.code == 0) return fail(row_error::unknown_operator, t.name);
        return write_operator(t, meant.op, t.name);
      }
      default: break;
    }
    if (t.kind != term_kind::roots && computed_children(t) == 1 && t.kind != term_kind::attribute)
      return place_of(t.child[0]);
    return fail(row_error::no_term, static_text::of(word_of(t.kind)));
  }

  [[nodiscard]] static constexpr std::string_view word_of(term_kind kind) {
    switch (kind) {
      case term_kind::parameter: return "param";
      case term_kind::result: return "result";
      case term_kind::again: return "again";
      case term_kind::along: return "along";
      case term_kind::list: return "list";
      case term_kind::or_else: return "or_else";
      case term_kind::roots: return "roots";
      default: return "a term of no value";
    }
  }

  constexpr int write_input(static_text name) {
    std::size_t const at = inputs_.find(name);
    auto const kind = kinds_.of[at];
    if (kind != input_kind::absent) return steps_.input(at, kind != input_kind::number);
    return inputs_.optional[at] ? row_operator::absent : fail(row_error::missing, name);
  }

  constexpr int write_dimension(term const& t) {
    return t.number == -1 ? steps_.columns() : fail(row_error::no_term, static_text::of("dim"));
  }

  constexpr int write_operator(term const& t, opcode op, static_text name) {
    if (op == opcode::pow && t.operands() == 2) return write_power(t, name);
    row_operator is;
    is.op = op;
    for (int i = 0; i < t.operands(); ++i) is.operands[is.count++] = place_of(t.child[i]);
    for (int i = t.operands(); i < t.children; ++i)
      if (!read_parameter(is, e_[t.child[i]])) return fail(row_error::parameter, name);
    if (failed()) return row_operator::absent;
    if (auto const group = info(op).group; group != op_group::none && is.count == 2) {
      // What is absent is the neutral element.
      bool const first = is.has(0), second = is.has(1), commutes = info(op).commutative;
      if (!first && !second) return row_operator::absent;
      if (!second) return is.operands[0];
      if (!first && commutes) return is.operands[1];
    }
    while (is.count > 0 && !is.has(is.count - 1)) --is.count;
    if (is.count == 0 && t.operands() > 0) return row_operator::absent;
    for (int i = 0; i < is.count; ++i)
      if (!is.has(i)) return fail(row_error::operands, name);
    int const made = row_operator_writer(steps_, is).write();
    return made == row_operator::absent ? fail(row_error::no_operator, name) : made;
  }

  // A parameter that is a number is noted; one that says what the operator does to axes must say what a kernel does.
  constexpr bool read_parameter(row_operator& is, term const& t) {
    std::string_view const name = t.name;
    bool const of_axes = name == "axis" || name == "axes";
    if (t.children == 0) {
      if (of_axes) return t.number == -1;
      if (name == "keepdims") return t.number == 1;
    } else {
      term const& value = e_[t.child[0]];
      if (value.kind == term_kind::parameter) return of_axes || name == "keepdims";
      if (value.kind == term_kind::list) return of_axes && value.children == 1 && e_[value.child[0]].number == -1;
      if (of_axes || name == "keepdims") return false;
    }
    if (is.number_count == 8) return false;
    int const made = t.children == 0 ? steps_.number(t.number) : place_of(t.child[0]);
    if (made == row_operator::absent) return true;
    is.names[is.number_count] = t.name;
    is.numbers[is.number_count++] = made;
    return true;
  }

  constexpr int write_power(term const& t, static_text name) {
    term const& exponent = e_[t.child[1]];
    int const base = place_of(t.child[0]);
    if (exponent.kind != term_kind::number) return fail(row_error::power, name);
    if (base == row_operator::absent) return base;
    int const made = steps_.power(static_cast<step_id>(base), exponent.number);
    return made == row_operator::absent ? fail(row_error::power, name) : made;
  }

  expression const& e_;
  row_inputs const& inputs_;
  input_kinds const& kinds_;
  row_program program_{};
  step_writer steps_{program_};
  int places_[expression::capacity]{};
};

}  // namespace fuse::inline v0::detail
