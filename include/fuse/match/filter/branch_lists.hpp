// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/match/filter/operator_needs.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The forks of a program as lists of branches, each with what it needs at a register (operator_sets.hpp): a branch
/// that cannot match is not entered.
///
/// Most of a large rule set's branches need an operator that is not there. So a long list also keeps, by bit of the
/// sets, which of its branches need it: those that may match are what none of the missing bits is needed by. With 200
/// rules, that halved the time of matching against a look at each branch. All bits that are needed are gone through,
/// not only those that are there or missing: how many these are is different each time, and the wrong guesses of the
/// processor at the end of such loops were another tenth of the time.
template <class Program>
class basic_branch_lists {
 public:
  struct branch {
    std::uint64_t deep, direct, below;  // see operator_sets
    std::uint64_t one_deep, one_below;  // one of each of these, unless there are none
    std::uint16_t to;
    std::uint16_t after;  // the first step that is more than a test of these sets
    std::uint16_t at;     // where they are needed: see operator_needs::wanted

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
  [[nodiscard]] gate gate_of(std::uint16_t pc, std::uint16_t last) const {
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

  explicit basic_branch_lists(Program const& rules, search_for wanted = search_for::matches) : rules_(rules) {
    list_branches(basic_operator_needs(rules, wanted));
  }

  /// Calls `enter(branch)` for the branches at `pc` that may match, in order, until one returns true; whether one did.
  /// `there(at)` are the sets of operators where a branch needs them. (Inlined even where g++ would not: the
  /// benchmark's row of blocks.)
  template <class There, class Enter>
  [[gnu::always_inline]] bool any(std::uint16_t pc, There const& there, Enter const& enter) const {
    auto const& all = lists_[pc];
    for (std::uint32_t from = 0; from < all.count; from += block_size)
      for (auto left = worth_a_look(all, from, there); left != 0; left &= left - 1) {
        auto const& b = branches_[all.first + from + static_cast<std::uint32_t>(std::countr_zero(left))];
        if ((all.questions != 0 || !b.hopeless(there(b.at))) && enter(b)) return true;
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
  // Branches of one block, a bit each, that need a bit of a set.
  struct needed_bit {
    std::uint64_t branches, bit;
  };
  // The branches of one block that look at one place, and what they need there: parts of needed_.
  struct question {
    std::uint64_t branches;
    std::uint32_t block, direct, deep, below, end;
    std::uint16_t at;
  };

  [[nodiscard]] static std::uint64_t first_bits(std::uint32_t count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  // The branches of a block that may match; of a short list, all.
  template <class There>
  [[nodiscard]] std::uint64_t worth_a_look(branch_list const& all, std::uint32_t from, There const& there) const {
    if (all.questions == 0) return first_bits(all.count - from);
    std::uint64_t found = 0;
    for (std::uint32_t k = 0; k < all.questions; ++k) {
      auto const& q = questions_[all.first_question + k];
      if (q.block != from) continue;
      auto const& sets = there(q.at);
      found |= q.branches & ~(lacking(q.direct, q.deep, sets.direct) | lacking(q.deep, q.below, sets.deep) |
                              lacking(q.below, q.end, sets.below));
    }
    return found;
  }
  // Those that need a bit which is not there.
  [[nodiscard]] std::uint64_t lacking(std::uint32_t first, std::uint32_t last, std::uint64_t there) const {
    std::uint64_t found = 0;
    for (auto k = first; k < last; ++k)
      found |= needed_[k].branches & (std::uint64_t{(there & needed_[k].bit) != 0} - 1);
    return found;
  }

  // What a branch needs where it looks first.
  [[nodiscard]] branch branch_to(std::uint16_t pc, basic_operator_needs<Program> const& all) const {
    auto const& [at, needed] = all.of(pc);
    branch made{needed.deep, needed.direct, needed.below, needed.one_deep, needed.one_below, pc, pc, at};
    while (rules_.code[made.after].code == step::within && rules_.code[made.after].a == at)
      made.after = rules_.code[made.after].next;
    return made;
  }

  // Forks as lists: the branches in order, each with what it needs; and so where rules begin, and behind the steps that
  // ask what may follow. Others have none: the fewer there are, the nearer they stand, the row of 200 rules.
  void list_branches(basic_operator_needs<Program> const& needs) {
    std::vector<bool> listed(rules_.code.size(), false);
    for (auto const& e : rules_.entries) listed[e.first] = true;
    for (auto const& i : rules_.code) {
      bool const asks = i.code == step::member || i.code == step::operation;
      if (i.code != step::fork && i.next != no_instruction && (asks || rules_.code[i.next].code == step::fork))
        listed[i.next] = true;
    }
    lists_.resize(rules_.code.size());
    for (std::uint16_t pc = 0; pc < rules_.code.size(); ++pc) {
      auto& list = lists_[pc];
      list.first = static_cast<std::uint32_t>(branches_.size());
      if (listed[pc]) append_branches(pc, needs);
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

  // Returns which branches look at place `at`.
  std::uint64_t ask_at(std::uint16_t at, branch const* first, std::uint32_t count, std::uint32_t block) {
    question q{0, block, 0, 0, 0, 0, at};
    for (std::uint32_t k = 0; k < count; ++k)
      if (first[k].at == at) q.branches |= std::uint64_t{1} << k;
    auto const list = [&](auto const& needs) {
      auto const begin = static_cast<std::uint32_t>(needed_.size());
      std::uint64_t bits = 0;
      for (std::uint32_t k = 0; k < count; ++k) bits |= first[k].at == at ? needs(first[k]) : 0;
      for (; bits != 0; bits &= bits - 1) {
        needed_bit by{0, bits & (~bits + 1)};
        for (std::uint32_t k = 0; k < count; ++k)
          if (first[k].at == at) by.branches |= std::uint64_t{(needs(first[k]) & by.bit) != 0} << k;
        needed_.push_back(by);
      }
      return begin;
    };
    q.direct = list([](branch const& b) { return b.direct; });
    q.deep = list([](branch const& b) { return b.deep & ~b.direct; });
    q.below = list([](branch const& b) { return b.below; });
    q.end = static_cast<std::uint32_t>(needed_.size());
    questions_.push_back(q);
    return q.branches;
  }

  Program const& rules_;
  plain_vector<branch> branches_;
  plain_vector<branch_list> lists_;  // per instruction
  plain_vector<question> questions_;
  plain_vector<needed_bit> needed_;
};
using branch_lists = basic_branch_lists<program>;

}  // namespace fuse::inline v0::detail
