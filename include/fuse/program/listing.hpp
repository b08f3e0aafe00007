// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fuse/ops/dialect.hpp>
#include <fuse/program/program.hpp>
#include <fuse/program/wants.hpp>
#include <fuse/program/ways.hpp>

namespace fuse::inline v0 {

namespace detail {

[[nodiscard]] inline std::string shortest(double number) {
  auto text = std::to_string(number);
  while (text.find('.') != text.npos && (text.back() == '0' || text.back() == '.')) {
    bool const point = text.back() == '.';
    text.pop_back();
    if (point) break;
  }
  return text;
}

[[nodiscard]] inline std::string registers(std::uint8_t first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "r" : ", r") + std::to_string(first + i);
  return text;
}

/// One instruction in words; `names` gives operator names their text.
[[nodiscard]] inline std::string to_text(program const& rules, dialect const& names, instruction const& i) {
  auto const r = [](int at) { return "r" + std::to_string(at); };
  auto const f = [](int at) { return "f" + std::to_string(at); };
  auto const s = [](int at) { return "s" + std::to_string(at); };
  auto const line = std::string(name_of(i.code)) + " ";
  switch (i.code) {
    case step::fork: return "fork to " + std::to_string(i.next) + ", else " + std::to_string(i.other);
    case step::operation:
      return registers(i.b, i.count & 0x7f) + " = operands of " + std::string(name_of(static_cast<opcode>(i.op))) +
             " " + r(i.a) + (i.c == 0 ? "" : ", result " + std::to_string(i.c)) +
             ((i.flags & instruction::commutes) != 0 ? ", either order" : "");
    case step::exactly:
      return registers(i.b, i.count & 0x7f) + " = operands of exactly " + std::string(names.rows[i.op - 1u].name) +
             " " + r(i.a);
    case step::within: return line + r(i.a) + ": the operators that the rule cannot do without";
    case step::reduction:
      return r(i.b) + " = operand of " + std::string(name_of(static_cast<opcode>(i.op))) + " " + r(i.a) +
             " over the axes " + s(i.c);
    case step::group:
      return f(i.b) + " = open " + (static_cast<op_group>(i.op) == op_group::sum ? "the sum " : "the product ") +
             r(i.a) +
             (static_cast<sign_use>(i.c) == sign_use::free     ? ", either sign"
              : static_cast<sign_use>(i.c) == sign_use::linked ? ", a minus goes to " + f(i.count)
                                                               : "");
    case step::member:
      return r(i.b) + " = a part of " + f(i.a) + " with weight " + shortest(i.number) +
             ((i.flags & instruction::scales) != 0     ? ", coefficient along"
              : (i.flags & instruction::any_sign) != 0 ? ", sign along"
                                                       : "");
    case step::scalar_member:
      return s(i.b) + " = a constant part of " + f(i.a) + ((i.flags & instruction::optional) != 0 ? ", or none" : "");
    case step::literal: return line + f(i.a) + " holds " + shortest(i.number);
    case step::rest:
      return s(i.b) + " = what is left of " + f(i.a) + (i.number == 1 ? "" : ", with weight " + shortest(i.number));
    case step::close: return line + f(i.a);
    case step::operands: return s(i.b) + " = operands of " + r(i.a) + " from " + std::to_string(i.count) + " on";
    case step::capture: return line + r(i.a) + " as " + s(i.b);
    case step::scalar: return line + r(i.a) + " as " + s(i.b);
    case step::number: return line + r(i.a) + " is " + shortest(i.number);
    case step::missing: return line + r(i.a);
    case step::parameter:
      return line + std::string(rules.parameter_names[i.op]) + " of " + r(i.a) +
             (i.b == no_slot ? " is " + shortest(i.number) : " as " + s(i.b));
    case step::element:
      return line + std::string(rules.parameter_names[i.op]) + "[" + std::to_string(i.c) + "] of " +
             std::to_string(i.count) + " of " + r(i.a) + " is " + shortest(i.number);
    case step::over: return line + (i.b == no_slot ? "axes" : s(i.b)) + " of " + r(i.a) + " are " + text_of_axes(i);
    case step::users: return line + r(i.a) + " are " + std::to_string(i.op);
    case step::user:
      return r(i.b) +
             ((i.flags & instruction::climbs) != 0 ? " = a sum, product or reduction above " : " = a user of ") +
             r(i.a) + ((i.flags & instruction::optional) != 0 ? ", or that" : "");
    case step::same: return line + r(i.a) + " and " + r(i.b);
    case step::agrees: return line + r(i.a) + " with " + s(i.b) + " in its parameters";
    case step::recall: return r(i.a) + " = " + s(i.b);
    case step::strip: return r(i.b) + " = " + r(i.a) + " below what is looked through";
    case step::rearranged:
      return r(i.b) + " = what " + r(i.a) + " is made of by " + text_of(rules.rearrangements[i.op]);
    case step::condition: return line + "'" + std::string(rules.conditions[i.op].what.name) + "'";
    case step::accept: return line + std::string(rules.rules[i.op].name);
  }
  return line;
}

}  // namespace detail

/// The program of rule `only`, or of all rules (-1): a line for each way in, then an instruction a line, each with
/// where it goes on.
[[nodiscard]] inline std::string to_text(program const& rules, dialect const& names, int only = -1) {
  std::string text;
  // Instructions stand before those that they lead to, but for branches that rules share.
  detail::chosen_rules const shown(
      rules, [&](std::size_t rule) { return only < 0 || rule == static_cast<std::size_t>(only); });
  for (auto const& e : rules.entries) {
    if (!shown.pass(e.first)) continue;
    text += "stage " + std::to_string(e.stage) + ", at " +
            std::string(e.by_name ? names.rows[e.tag - 1u].name : name_of(static_cast<opcode>(e.tag))) +
            (e.strip == 0 ? "" : ", below it") + ": " + std::to_string(e.first) + "\n";
  }
  for (std::size_t at = 0; at < rules.code.size(); ++at) {
    if (!shown.pass(static_cast<std::uint16_t>(at))) continue;
    auto const& i = rules.code[at];
    auto const number = std::to_string(at);
    text +=
        std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number + "  " + detail::to_text(rules, names, i);
    if (i.code != detail::step::fork && i.next != detail::no_instruction && i.next != at + 1)
      text += "  -> " + std::to_string(i.next);
    text += '\n';
  }
  return text;
}

}  // namespace fuse::inline v0
