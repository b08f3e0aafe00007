// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/match/machine.hpp>

namespace fuse::inline v0 {

/// Why a rule does not match at a node: how far it got, and what stood in the way.
struct explanation {
  std::uint16_t rule = 0;
  node_id node = absent;         ///< where matching began
  value_id at = absent;          ///< where it failed
  bool matched = false;          ///< it does match, conditions included
  int score = 0;                 ///< how telling what had matched is; 3 and more is a near miss
  bool other_reduction = false;  ///< there is a reduction at `at`, but not the one that the rule wants
  std::string condition;         ///< what failed, in a few words
  std::string expected, found;   ///< what the rule wants at `at`, what is there
};

namespace detail {

/// "Mul 'node name'", "a graph input 'x'", "the constant 'c'".
template <class Image>
[[nodiscard]] std::string describe(Image const& image, facts const& known, value_id v) {
  if (v == absent) return "no operand";
  auto const name = "'" + image.source->value_name(v) + "'";
  auto const n = image.producer(v);
  double number = 0;
  if (image.value(v).constant || known.number(v, number)) {
    if (known.number(v, number)) {
      std::string digits = std::to_string(number);
      return "the constant " + name + (number != 0 && digits == "0.000000" ? std::string() : " = " + digits);
    }
    return "the constant " + name + " of several elements";
  }
  if (n == absent)
    return (image.scope_of(image.value(v).region) == 0 ? "the graph input or overridable initializer "
                                                       : "the function's input ") +
           name;
  return std::string(image.source->op_name(n)) + " " + name;
}

[[nodiscard]] inline std::string digits(double number) {
  char text[32];
  return {text, std::to_chars(text, text + 32, number).ptr};
}

/// "gemm 'y', whose 'alpha' is 0.5"; with a list of attributes, "whose 'alpha' (its attribute 'factor':
/// number) is 0.5".
template <class Image>
[[nodiscard]] std::string describe_parameter(Image const& image, facts const& known, dialect const& names, value_id v,
                                             std::string_view parameter) {
  auto text = describe(image, known, v);
  auto const n = v == absent ? absent : image.producer(v);
  if (n == absent) return text;
  text += ", whose '" + std::string(parameter) + "'";
  auto const& attribute = parameter_place(image, names, n, parameter).source.attribute;
  auto const* row = names.row(image.node(n).tag.name, image.version);
  if (row != nullptr && row->attributes->has(attribute))
    text += (attribute == parameter ? " (" : " (its attribute '" + std::string(attribute) + "': ") +
            std::string(name_of(row->attributes->all[row->attributes->find(attribute)].kind)) + ")";
  double number = 0;
  switch (read_parameter(image, known, names, n, parameter, number)) {
    case parameter_state::known: return text + " is " + digits(number);
    case parameter_state::missing: return text + " is not said";
    case parameter_state::unknown: break;
  }
  return text + " is no constant number";
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
      return {"operator", with_article(name_of(static_cast<opcode>(i.op))) + " with " + std::to_string(i.count & 0x7f) +
                              " operands"};
    case step::exactly: return {"operator", "exactly " + std::string(names.rows[i.op - 1u].name)};
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
                  (i.b == no_slot ? digits(i.number) : "a number, the same as elsewhere in the rule")};
    case step::users: return {"users", "exactly " + std::to_string(i.op) + " users"};
    case step::user: return {"second root", "a user that is the rule's other root"};
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

/// One rule of a program, and the instructions on its way; what rules begin with alike lies on the way of each.
struct one_rule {
  std::uint16_t rule;
  std::vector<bool> way;

  one_rule(program const& rules, std::uint16_t number) : rule(number), way(rules.code.size(), false) {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t at = way.size(); at-- > 0;) {
        auto const& i = rules.code[at];
        bool const leads = i.code == step::accept
                               ? i.op == rule
                               : (i.next != no_instruction && way[i.next]) || (i.code == step::fork && way[i.other]);
        if (leads && !way[at]) way[at] = more = true;
      }
    }
  }
};

/// Keeps the most telling failure of one run, of all rules or on the way of one.
class deepest_failure final : public failure_listener {
 public:
  std::uint16_t at = no_instruction;
  value_id value = absent;
  int score = -1;
  one_rule const* only = nullptr;

  void failed(std::uint16_t instruction, value_id v, int how_telling) override {
    if (how_telling < score) return;
    if (how_telling == score && at != no_instruction) return;
    if (only != nullptr && !only->way[instruction]) return;
    at = instruction;
    value = v;
    score = how_telling;
  }
};

/// Sees all matches at a node without taking any.
class all_matches final : public machine::acceptor {
 public:
  plain_vector<std::uint16_t> rules;
  bool accept(std::uint16_t rule) override {
    rules.push_back(rule);
    return false;
  }
  void refuse(std::uint16_t, std::uint16_t) override {}
};

/// The rule that an instruction belongs to: the first that accepts after it.
[[nodiscard]] inline std::uint16_t rule_after(program const& rules, std::uint16_t at) {
  while (at != no_instruction) {
    auto const& i = rules.code[at];
    if (i.code == step::accept) return i.op;
    at = i.next;
  }
  return 0;
}

}  // namespace detail

/// Explains one node: whether the rules of a stage match there, and else the most telling failure, of `only` where that
/// is given. What fails is told by a search that looks at more than matching does, so that it can tell; whether
/// something matches, by the search that matching is. Costs two matches. A failure with a score below `least` is told
/// without words, which cost more than finding it.
template <class Image>
[[nodiscard]] explanation explain(machine& match, Image const& image, facts const& known, dialect const& names,
                                  node_id n, int stage, detail::one_rule const* only = nullptr, int least = 0) {
  explanation best;
  best.node = n;
  best.score = -1;
  auto const& rules = match.rules();
  if (match.has_entry(n, stage)) {
    detail::all_matches matches;
    match.run(n, stage, matches);
    if (only != nullptr) matches.rules.erase_if([&](auto rule) { return rule != only->rule; });
    if (!matches.rules.empty()) {
      best.matched = true;
      best.rule = matches.rules.front();
      best.score = 1 << 20;
      return best;
    }
    detail::deepest_failure failure;
    failure.only = only;
    match.listener = &failure;
    bool const filtered = match.filters();
    match.filter(false);
    match.run(n, stage, matches);
    match.filter(filtered);
    match.listener = nullptr;
    if (failure.at == no_instruction) return best;
    auto const& i = rules.code[failure.at];
    best.rule = only != nullptr ? only->rule : detail::rule_after(rules, failure.at);
    best.at = failure.value;
    best.score = failure.score;
    if (best.score < least) return best;
    auto const there = best.at == absent ? absent : image.producer(best.at);
    best.other_reduction =
        i.code == step::reduction && there != absent && info(op_of(image, there)).shape == shape_function::reduce;
    bool const framed = i.code == step::member || i.code == step::close || i.code == step::literal ||
                        i.code == step::rest || i.code == step::scalar_member;
    auto wanted = detail::requirement_of(rules, i, rules.rules[best.rule], names,
                                         framed ? match.found().opened(i.a).kind : op_group::none);
    best.condition = std::move(wanted.condition);
    best.expected = std::move(wanted.expected);
    best.found = i.code == step::parameter
                     ? detail::describe_parameter(image, known, names, failure.value, rules.parameter_names[i.op])
                     : detail::describe(image, known, failure.value);
    if (framed && match.found().opened(i.a).bounded)
      best.found += ", of more than " + std::to_string(detail::opened_group::capacity) +
                    " parts with the operators between them: the rest stayed closed";
  }
  return best;
}

/// The same over all stages.
template <class Image>
[[nodiscard]] explanation explain(machine& match, Image const& image, facts const& known, dialect const& names,
                                  node_id n, detail::one_rule const* only = nullptr) {
  explanation best;
  best.node = n;
  best.score = -1;
  for (int stage = 0; stage < match.rules().stages; ++stage)
    if (auto found = explain(match, image, known, names, n, stage, only); found.score > best.score)
      best = std::move(found);
  return best;
}

/// "expected a square among the factors, found Mul 'x3'".
[[nodiscard]] inline std::string to_text(explanation const& e) {
  if (e.matched) return "matches";
  if (e.expected.empty()) return "no rule begins at an operator like this one";
  return "expected " + e.expected + ", found " + e.found;
}

}  // namespace fuse::inline v0
