// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/core/plain_vector.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Tells which rules are for another target: those of whose right side an operator exists in the dialect at this
/// operator set version, and neither it nor a function may be written for this target. Such a rule is not looked for.
class rule_targets {
 public:
  rule_targets(program const& rules, dialect const& names, int version, target to)
      : rules_(rules), names_(names), version_(version), to_(to), written_(static_cast<std::size_t>(opcode::count_)) {
    for (auto const& row : names.rows) {
      if (row.emit == target::none || row.since > version || row.emit_since > version) continue;
      auto& known = written_[static_cast<std::size_t>(row.op)];
      auto const limit = row.operands < 0 ? any_number : static_cast<std::size_t>(row.operands) + 1;
      if (limit >= known.below_for_anyone) known.below_for_anyone = limit, known.name = row.name;
      if (limit > known.below && includes(row.emit, to)) known.below = limit;
    }
  }

  /// The operator for which a rule is for another target, as the dialect names it there; empty for other rules. Linear
  /// in the rule's right side.
  [[nodiscard]] std::string_view missing(rule_info const& rule) const {
    auto const terms = rules_.replacements.subspan(rule.first_replacement, rule.replacement_size);
    if (terms.size() == 0) return {};
    return missing(rule, terms, static_cast<std::uint8_t>(terms.size() - 1));
  }

 private:
  using kind = replacement_term::kind;
  static constexpr auto any_number = static_cast<std::size_t>(-1);
  // How an operator is written: with fewer operands than `below` for the target, than the other for whomever, and then
  // by that name.
  struct written_operator {
    std::size_t below = 0, below_for_anyone = 0;
    std::string_view name{};
  };

  // Not what is folded or made a row, which is computed.
  [[nodiscard]] std::string_view missing(rule_info const& rule, span<replacement_term const> terms,
                                         std::uint8_t at) const {
    auto const& t = terms[at];
    if (t.what == kind::fold || t.what == kind::row) return {};
    std::string_view found{};
    if (t.what == kind::either) {  // one form that may be written will do
      for (auto i = t.children; i-- > 0;)
        if (found = missing(rule, terms, t.child[i]); found.empty()) return {};
      return found;
    }
    if (t.what == kind::named) found = missing(t.op);
    operand_terms const operands(terms, t);
    if (t.what == kind::again && t.number > 0) found = missing(static_cast<std::uint16_t>(t.number));
    if (t.what == kind::again && t.number < 0) found = missing(static_cast<opcode>(-t.number), operands.count);
    if (t.what == kind::neutral && !has_rest(rule, terms, operands))
      found = missing(static_cast<opcode>(t.op), operands.count);
    for (auto each : operands)
      if (found.empty()) found = missing(rule, terms, each);
    return found;
  }
  [[nodiscard]] std::string_view missing(std::uint16_t name) const {
    auto const* row = names_.row(name, version_);
    bool const included = row == nullptr || row->emit == target::none || includes(row->emit, to_);
    return included ? std::string_view{} : row->name;
  }
  [[nodiscard]] std::string_view missing(opcode op, std::size_t operands) const {
    auto const& known = written_[static_cast<std::size_t>(op)];
    bool const elsewhere = operands >= known.below && operands < known.below_for_anyone;
    bool const stands_in = names_.stands_in != nullptr && names_.stands_in(op, operands);
    return elsewhere && !stands_in ? known.name : std::string_view{};
  }
  // How many operands a rest stands for is not known.
  [[nodiscard]] static bool has_rest(rule_info const& rule, span<replacement_term const> terms,
                                     operand_terms const& operands) {
    for (auto each : operands)
      if (auto const& child = terms[each]; child.what == kind::slot && rule.slot_kinds[child.slot] == slot_kind::rest)
        return true;
    return false;
  }

  program const& rules_;
  dialect const& names_;
  int version_;
  target to_;
  plain_vector<written_operator> written_;  // by opcode
};

}  // namespace fuse::inline v0::detail
