// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fuse/infer/describe.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/program.hpp>

/// What instructions want, in words, for explanations.
namespace fuse::inline v0::detail {

/// The axes that a step asks for, as rules name them.
[[nodiscard]] inline std::string text_of_axes(instruction const& i) {
  std::string text;
  auto const add = [&](int axis) { text += (text.empty() ? "" : ", ") + std::to_string(axis); };
  for (int bit = 0; bit < 16; ++bit)
    if ((i.op >> bit & 1) != 0) add(bit);
  for (int bit = 52; bit-- > 0;)
    if ((static_cast<std::uint64_t>(i.number) >> bit & 1u) != 0) add(-1 - bit);
  return text;
}

/// What an instruction wants, and the name of that requirement.
struct requirement {
  std::string condition, expected;
};

[[nodiscard]] inline std::string with_article(std::string_view noun) {
  bool const vowel = !noun.empty() && std::string_view("aeiouAEIOU").find(noun[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

[[nodiscard]] inline std::string power(double exponent) {
  if (exponent == 2) return "a square";
  if (exponent == -0.5) return "a reciprocal square root";
  if (exponent == 0.5) return "a square root";
  if (exponent == 1) return "a factor";
  if (exponent == -1) return "a divisor";
  return "a factor with exponent " + std::to_string(exponent);
}

/// The names of the operators that rules ask for in a set of bits.
[[nodiscard]] inline std::string operators_in(std::uint64_t set, program const& rules) {
  std::string names;
  auto const add = [&](std::string_view name) { names += (names.empty() ? "" : " and ") + with_article(name); };
  if ((set & root_bit) != 0) add("root");
  auto const tested = [&](opcode op) {  // several operators share a bit
    for (auto const& i : rules.code)
      if ((i.code == step::operation || i.code == step::reduction) && i.op == static_cast<std::uint16_t>(op))
        return true;
    return false;
  };
  for (auto const& known : operator_table)
    if ((set & operator_bit(known.op)) != 0 && tested(known.op)) {
      add(known.name);
      set &= ~operator_bit(known.op);
    }
  return names;
}

[[nodiscard]] inline requirement requirement_of(program const& rules, instruction const& i, rule_info const& rule,
                                                dialect const& names, op_group kind) {
  auto const slot = [&](std::uint8_t at) {
    return at < rule.slot_count ? std::string(rule.slot_names[at]) : std::string();
  };
  switch (i.code) {
    case step::operation:
      return {"another operator", with_article(name_of(static_cast<opcode>(i.op))) + " with " +
                                      std::to_string(i.count & 0x7f) + " operands"};
    case step::exactly: return {"another operator", "exactly " + std::string(names.rows[i.op - 1u].name)};
    case step::reduction:
      return {std::string(name_of(static_cast<opcode>(i.op))) + " over known axes",
              with_article(name_of(static_cast<opcode>(i.op))) +
                  " that keeps its axes, over constant axes that agree with those of the rule's other reductions"};
    case step::within:
      return {"operators", operators_in(static_cast<std::uint64_t>(i.number), rules) + " somewhere below"};
    case step::member:
      return kind == op_group::product
                 ? requirement{"factors", power(i.number) + " among the factors"}
                 : requirement{"addends",
                               std::string(i.number > 0 ? "an addend" : "a subtracted term") + " that matches"};
    case step::scalar_member:
    case step::scalar:
      return {slot(i.b) + " is a constant with one element",
              "'" + slot(i.b) + "', a constant with one element that no caller may override"};
    case step::literal:
    case step::number: return {"constant", "the constant " + std::to_string(i.number)};
    case step::rest: {
      std::string const left = kind == op_group::product ? "factors" : "addends";
      return {left, left + " that can be '" + slot(i.b) + "'"};
    }
    case step::operands: return {"operands", "operands that can be '" + slot(i.b) + "'"};
    case step::close:
      return {"nothing left over",
              kind == op_group::product ? "no further factor and no minus sign" : "no further addend"};
    case step::capture: return {"the same value", "'" + slot(i.b) + "', the same value as elsewhere in the rule"};
    case step::same: return {"the same value", "the same computation as elsewhere in the rule"};
    case step::agrees:
      return {"the same parameters", "the same operator with the same parameters as elsewhere in the rule"};
    case step::recall: break;
    case step::missing: return {"absent operand", "no operand"};
    case step::parameter:
      return {std::string(rules.parameter_names[i.op]),
              "'" + std::string(rules.parameter_names[i.op]) + "' to be " +
                  (i.b == no_slot ? digits(i.number) : "known, and the same as elsewhere in the rule")};
    case step::element:
      return {std::string(rules.parameter_names[i.op]),
              "'" + std::string(rules.parameter_names[i.op]) + "' to be a list of " + std::to_string(i.count) +
                  " numbers, of which number " + std::to_string(i.c + 1) + " is " + digits(i.number)};
    case step::over: return {"axes", "no other axes than " + text_of_axes(i)};
    case step::users: return {"users", "exactly " + std::to_string(i.op) + " users"};
    case step::user: return {"second root", "a user that is the rule's other root"};
    case step::rearranged:
      return {"layout", "the elements of another value rearranged as " + text_of(rules.rearrangements[i.op])};
    case step::condition: {
      auto const& c = rules.conditions[i.op].what;
      std::string captures;
      for (std::size_t k = 0; k < c.count; ++k) captures += (k == 0 ? "" : ", ") + std::string(c.captures[k]);
      return {std::string(c.name), "that '" + std::string(c.name) + "' holds of (" + captures + ")"};
    }
    case step::fork:
    case step::group:
    case step::strip:
    case step::accept: break;
  }
  return {std::string(name_of(i.code)), std::string(name_of(i.code))};
}

}  // namespace fuse::inline v0::detail
