// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Some rules of a program, and the instructions on their ways; what rules begin with alike lies on the way of each.
class chosen_rules {
 public:
  /// Those for whose numbers `choose` is true.
  template <class Choose>
  chosen_rules(program const& rules, Choose const& choose) : first_(rules.code.size(), none) {
    for (std::size_t rule = 0; rule < rules.rules.size(); ++rule) chosen_.push_back(choose(rule));
    for (bool more = true; more;) {
      more = false;
      for (std::size_t at = first_.size(); at-- > 0;) {
        if (first_[at] != none) continue;
        auto const& i = rules.code[at];
        if (i.code == step::accept) {
          if (chosen_[i.op]) first_[at] = i.op;
        } else {
          if (i.next != no_instruction) first_[at] = first_[i.next];
          if (first_[at] == none && i.code == step::fork) first_[at] = first_[i.other];
        }
        more = more || first_[at] != none;
      }
    }
  }

  [[nodiscard]] bool has(std::uint16_t rule) const { return chosen_[rule]; }
  /// Whether an instruction is on the way of one of them.
  [[nodiscard]] bool pass(std::uint16_t at) const { return first_[at] != none; }
  /// Whose way it is on: of several, the first that accepts after it.
  [[nodiscard]] std::uint16_t rule_after(std::uint16_t at) const { return first_[at]; }

 private:
  static constexpr std::uint16_t none = 0xffff;
  std::vector<bool> chosen_;          // by rule
  std::vector<std::uint16_t> first_;  // by instruction
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
