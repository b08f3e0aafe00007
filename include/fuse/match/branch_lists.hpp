// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The forks of a program as lists of branches, each with what it needs at a register (operator_sets.hpp): a branch
/// that cannot match is not entered.
template <class Program>
class basic_branch_lists {
 public:
  struct branch {
    std::uint64_t deep, direct;  // see operator_sets
    std::uint16_t to;
    std::uint8_t at;  // register
  };
  struct range {
    branch const* first;
    branch const* last;
    [[nodiscard]] branch const* begin() const { return first; }
    [[nodiscard]] branch const* end() const { return last; }
  };

  explicit basic_branch_lists(Program const& rules) : rules_(rules) { list_branches(); }

  [[nodiscard]] range from(std::uint16_t pc) const {
    auto const list = lists_[pc];
    return {branches_.data() + list.first, branches_.data() + list.first + list.count};
  }

 private:
  struct branch_list {
    std::uint32_t first = 0, count = 0;
  };

  // What a branch needs at a register: nothing, or operators that it tests for first.
  [[nodiscard]] branch branch_to(std::uint16_t pc) const {
    branch made{0, 0, pc, rules_.code[pc].a};
    for (auto at = pc;; at = rules_.code[at].next) {
      auto const& i = rules_.code[at];
      bool const tells = i.code == step::within || i.code == step::operation || i.code == step::reduction;
      if (!tells || i.a != made.at) return made;
      auto const needed =
          i.code == step::within ? static_cast<std::uint64_t>(i.number) : operator_bit(static_cast<opcode>(i.op));
      (i.code == step::within && i.c == 0 ? made.deep : made.direct) |= needed;
      if (i.code != step::within) return made;
    }
  }

  // Forks as lists: the branches in order, each with what it needs. Those within a list have none of their own.
  void list_branches() {
    std::vector<bool> entered(rules_.code.size(), false);
    for (auto const& e : rules_.entries) entered[e.first] = true;
    for (auto const& i : rules_.code)
      if (i.code != step::fork && i.next != no_instruction) entered[i.next] = true;
    lists_.resize(rules_.code.size());
    for (std::uint16_t pc = 0; pc < rules_.code.size(); ++pc) {
      lists_[pc].first = static_cast<std::uint32_t>(branches_.size());
      if (rules_.code[pc].code != step::fork || entered[pc]) append_branches(pc);
      lists_[pc].count = static_cast<std::uint32_t>(branches_.size()) - lists_[pc].first;
    }
  }

  void append_branches(std::uint16_t pc) {
    while (pc != no_instruction && rules_.code[pc].code == step::fork) {
      append_branches(rules_.code[pc].next);
      pc = rules_.code[pc].other;
    }
    if (pc != no_instruction) branches_.push_back(branch_to(pc));
  }

  Program const& rules_;
  std::vector<branch> branches_;
  std::vector<branch_list> lists_;  // per instruction
};
using branch_lists = basic_branch_lists<program>;

}  // namespace fuse::inline v0::detail
