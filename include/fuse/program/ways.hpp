// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Some rules of a program, and the instructions on their ways; what rules begin with alike lies on the way of each.
/// What is asked of an instruction is found out when it is asked for the first time, by following it to what accepts:
/// most programs are much longer than what failures ask for.
class chosen_rules {
 public:
  /// Those for whose numbers `choose` is true.
  template <class Choose>
  chosen_rules(program const& rules, Choose const& choose) : code_(rules.code), after_(rules.code.size()) {
    for (std::size_t rule = 0; rule < rules.rules.size(); ++rule) chosen_.push_back(choose(rule));
  }

  [[nodiscard]] bool has(std::uint16_t rule) const { return chosen_[rule]; }
  /// Whether an instruction is on the way of one of them.
  [[nodiscard]] bool pass(std::uint16_t at) const { return find_after(at) != none; }
  /// Whose way it is on: of several, the first that accepts after it.
  [[nodiscard]] std::uint16_t rule_after(std::uint16_t at) const {
    return static_cast<std::uint16_t>(find_after(at) - first_rule);
  }

 private:
  static constexpr std::uint16_t unknown = 0, none = 1, first_rule = 2;

  [[nodiscard]] std::uint16_t find_after(std::uint16_t at) const {
    auto& found = after_[at];
    if (found != unknown) return found;
    auto const& i = code_[at];
    if (i.code == step::accept) return found = chosen_[i.op] ? static_cast<std::uint16_t>(first_rule + i.op) : none;
    found = i.next == no_instruction ? none : find_after(i.next);
    if (found == none && i.code == step::fork) found = find_after(i.other);
    return found;
  }

  span<instruction const> code_;
  std::vector<bool> chosen_;                  // by rule
  mutable std::vector<std::uint16_t> after_;  // by instruction
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

}  // namespace fuse::inline v0::detail
