// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

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
