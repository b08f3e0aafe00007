// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/match/operator_needs.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The forks of a program as lists of branches, each with what it needs at a register (operator_sets.hpp): a branch
/// that cannot match is not entered.
///
/// Most of a large rule set's branches ask for an operator that is not there. So each list also keeps, by operator,
/// which of its branches ask for it: the set of those worth a look is read off the few operators that are there, not
/// off the branches (with 200 rules, that halved the time of matching).
template <class Program>
class basic_branch_lists {
 public:
  struct branch {
    std::uint64_t deep, direct, below;  // see operator_sets
    std::uint64_t one_deep, one_below;  // one of each of these, unless there are none
    std::uint16_t to;
    std::uint16_t after;  // the first step that is more than a test of these sets
    std::uint8_t at;      // register

    /// Whether it fails on what stands at its register, seen at a glance.
    template <class Sets>
    [[nodiscard]] bool hopeless(Sets const& there) const {
      return ((deep & ~there.deep) | (direct & ~there.direct) | (below & ~there.below)) != 0;
    }
  };

  /// What every branch of a list needs of the one value that they look at first, and what at least one of them does.
  struct gate {
    std::uint64_t deep = everything, direct = everything, below = everything;
    std::uint64_t one_deep = 0, one_below = 0;

    [[nodiscard]] static gate open() { return {0, 0, 0, everything, everything}; }
    template <class Sets>
    [[nodiscard]] bool lets(Sets const& there) const {
      bool const all = ((deep & ~there.deep) | (direct & ~there.direct) | (below & ~there.below)) == 0;
      bool const one_deeper = (one_deep & (there.deep | no_operator)) != 0;
      return all & one_deeper & ((one_below & (there.below | no_operator)) != 0);  // one jump, not three
    }
    /// Lets through what either does.
    void widen(gate const& other) {
      deep &= other.deep;
      direct &= other.direct;
      below &= other.below;
      one_deep |= other.one_deep;
      one_below |= other.one_below;
    }
  };
  static constexpr std::uint64_t everything = ~std::uint64_t{0}, no_operator = std::uint64_t{1} << 63;

  /// The gate of the branches at `pc`, as far as they look at registers up to `last`.
  [[nodiscard]] gate gate_of(std::uint16_t pc, std::uint8_t last) const {
    gate made;
    any(pc, [&](branch const& b) {
      bool const tells = b.at <= last;
      made.deep &= tells ? b.deep : 0;
      made.direct &= tells ? b.direct : 0;
      made.below &= tells ? b.below : 0;
      made.one_deep |= tells && b.one_deep != 0 ? b.one_deep : everything;
      made.one_below |= tells && b.one_below != 0 ? b.one_below : everything;
      return false;
    });
    return made;
  }

  /// The step to go on with where there is one branch at `pc` and its gate has let it through; else none.
  [[nodiscard]] std::uint16_t only_branch(std::uint16_t pc) const {
    return lists_[pc].count == 1 ? branches_[lists_[pc].first].after : no_instruction;
  }

  explicit basic_branch_lists(Program const& rules) : rules_(rules) { list_branches(basic_operator_needs(rules)); }

  /// Calls `enter(branch)` for the branches at `pc` that may match, in order, until one returns true; whether one did.
  /// `there(r)` are the sets of operators at register r.
  template <class There, class Enter>
  bool any(std::uint16_t pc, There const& there, Enter const& enter) const {
    auto const& all = lists_[pc];
    for (std::uint32_t from = 0; from < all.count; from += block_size) {
      auto const* first = branches_.data() + all.first + from;
      for (auto left = worth_a_look(all, from, there); left != 0; left &= left - 1) {
        auto const& b = first[std::countr_zero(left)];
        if (!b.hopeless(there(b.at)) && enter(b)) return true;
      }
    }
    return false;
  }
  /// The same for all branches, whether they may match or not.
  template <class Enter>
  bool any(std::uint16_t pc, Enter const& enter) const {
    auto const& all = lists_[pc];
    for (std::uint32_t k = 0; k < all.count; ++k)
      if (enter(branches_[all.first + k])) return true;
    return false;
  }

 private:
  static constexpr std::uint32_t block_size = 64, few = 12;  // fewer branches than that are looked at one by one

  struct branch_list {
    std::uint32_t first = 0, count = 0, first_question = 0, questions = 0;
  };
  // Of the branches of one block that look at one register: where those are that ask for an operator, by that operator,
  // and those that ask for none.
  struct answers {
    std::uint64_t always = 0, asked = 0;
    std::uint64_t of[64] = {};

    void add(std::uint64_t mine, std::uint64_t operators) {  // one of them will do to find it
      if (operators == 0) {
        always |= mine;
      } else {
        asked |= std::bit_floor(operators);
        of[std::bit_width(operators) - 1] |= mine;
      }
    }
    [[nodiscard]] std::uint64_t found(std::uint64_t there) const {
      auto all = always;
      for (auto here = asked & there; here != 0; here &= here - 1) all |= of[std::countr_zero(here)];
      return all;
    }
  };
  struct question {
    answers direct, deep, below;
    std::uint32_t block;
    std::uint8_t at;
  };

  [[nodiscard]] static std::uint64_t first_bits(std::uint32_t count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  template <class There>
  [[nodiscard]] std::uint64_t worth_a_look(branch_list const& all, std::uint32_t from, There const& there) const {
    if (all.questions == 0) return first_bits(all.count - from);
    std::uint64_t found = 0;
    for (std::uint32_t q = 0; q < all.questions; ++q) {
      auto const& asked = questions_[all.first_question + q];
      if (asked.block != from) continue;
      auto const& sets = there(asked.at);
      auto of_question = asked.direct.found(sets.direct) | asked.deep.found(sets.deep);
      if (of_question != 0) of_question &= asked.below.found(sets.below);
      found |= of_question;
    }
    return found;
  }

  // What a branch needs at the register that it looks at first.
  [[nodiscard]] branch branch_to(std::uint16_t pc, basic_operator_needs<Program> const& all) const {
    auto const at = rules_.code[pc].a;
    auto const& needed = all.of(pc);
    branch made{needed.deep, needed.direct, needed.below, needed.one_deep, needed.one_below, pc, pc, at};
    while (rules_.code[made.after].code == step::within && rules_.code[made.after].a == at)
      made.after = rules_.code[made.after].next;
    return made;
  }

  // Forks as lists: the branches in order, each with what it needs. Those within a list have none of their own.
  void list_branches(basic_operator_needs<Program> const& needs) {
    std::vector<bool> entered(rules_.code.size(), false);
    for (auto const& e : rules_.entries) entered[e.first] = true;
    for (auto const& i : rules_.code)
      if (i.code != step::fork && i.next != no_instruction) entered[i.next] = true;
    lists_.resize(rules_.code.size());
    for (std::uint16_t pc = 0; pc < rules_.code.size(); ++pc) {
      auto& list = lists_[pc];
      list.first = static_cast<std::uint32_t>(branches_.size());
      if (rules_.code[pc].code != step::fork || entered[pc]) append_branches(pc, needs);
      list.count = static_cast<std::uint32_t>(branches_.size()) - list.first;
      if (list.count > few) ask(list);
    }
  }

  void append_branches(std::uint16_t pc, basic_operator_needs<Program> const& needs) {
    while (pc != no_instruction && rules_.code[pc].code == step::fork) {
      append_branches(rules_.code[pc].next, needs);
      pc = rules_.code[pc].other;
    }
    if (pc != no_instruction) branches_.push_back(branch_to(pc, needs));
  }

  void ask(branch_list& list) {
    list.first_question = static_cast<std::uint32_t>(questions_.size());
    for (std::uint32_t from = 0; from < list.count; from += block_size) {
      auto const* first = branches_.data() + list.first + from;
      auto const count = list.count - from < block_size ? list.count - from : block_size;
      std::uint64_t asked = 0;
      for (std::uint32_t k = 0; k < count; ++k)
        if ((asked >> k & 1u) == 0) asked |= ask_at(first[k].at, first, count, from);
    }
    list.questions = static_cast<std::uint32_t>(questions_.size()) - list.first_question;
  }

  // Returns which branches look at register `at`.
  std::uint64_t ask_at(std::uint8_t at, branch const* first, std::uint32_t count, std::uint32_t block) {
    question q{{}, {}, {}, block, at};
    std::uint64_t asked = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      auto const& b = first[k];
      if (b.at != at) continue;
      auto const mine = std::uint64_t{1} << k;
      asked |= mine;
      if (auto const operators = b.direct & operator_bits; operators != 0 || b.one_deep == 0)
        q.direct.add(mine, operators);
      else
        q.deep.add(mine, b.deep & operator_bits);
      q.below.add(mine, b.below & operator_bits);
    }
    questions_.push_back(q);
    return asked;
  }

  Program const& rules_;
  std::vector<branch> branches_;
  std::vector<branch_list> lists_;  // per instruction
  std::vector<question> questions_;
};
using branch_lists = basic_branch_lists<program>;

}  // namespace fuse::inline v0::detail
