// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Of which operators' results each rule of a program counts the users. Linear in the program for each step that
/// counts.
class counted_users {
 public:
  explicit counted_users(program const& rules) : code_(rules.code), by_rule_(rules.rules.size(), opcode_set{}) {
    for (auto const& i : code_)
      if (i.code == step::users) list(i.next);
  }

  [[nodiscard]] opcode_set const& operator[](std::size_t rule) const { return by_rule_[rule]; }

 private:
  // What follows that step tells the operator; of a sum or product, it may be any.
  void list(std::uint16_t pc) {
    auto const& i = code_[pc];
    if (i.code == step::fork) {
      list(i.next);
      list(i.other);
      return;
    }
    opcode_set counted{};
    if (i.code == step::operation)
      counted.add(static_cast<opcode>(i.op));
    else
      for (std::size_t op = 0; op < static_cast<std::size_t>(opcode::count_); ++op)
        counted.add(static_cast<opcode>(op));
    std::vector<bool> seen(code_.size(), false);
    add(counted, pc, seen);
  }

  // To the rules that accept after `pc`.
  void add(opcode_set const& counted, std::uint16_t pc, std::vector<bool>& seen) {
    for (; pc != no_instruction && !seen[pc]; pc = code_[pc].next) {
      seen[pc] = true;
      if (code_[pc].code == step::accept) by_rule_[code_[pc].op].add(counted);
      if (code_[pc].code == step::fork) add(counted, code_[pc].other, seen);
    }
  }

  span<instruction const> code_;
  plain_vector<opcode_set> by_rule_;
};

}  // namespace fuse::inline v0::detail
