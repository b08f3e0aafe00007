// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The forks of a program as lists of branches, each with what it needs at a register (operator_sets.hpp): a branch
/// that cannot match is not entered.
///
/// Most of a large rule set's branches ask for one operator that is not there. So each list also keeps, by operator,
/// which of its branches ask for it: the set of those worth a look is read off the few operators that are there, not
/// off the branches (with 200 rules, that halved the time of matching).
template <class Program>
class basic_branch_lists {
 public:
  struct branch {
    std::uint64_t deep, direct;  // see operator_sets
    std::uint16_t to;
    std::uint8_t at;  // register

    /// Whether it fails on what stands at its register, seen at a glance.
    template <class Sets>
    [[nodiscard]] bool hopeless(Sets const& there) const {
      return ((deep & ~there.deep) | (direct & ~there.direct)) != 0;
    }
  };

  /// What every branch of a list needs of the one value that they look at first, and what at least one of them does.
  struct gate {
    std::uint64_t all_deep = 0, all_direct = 0, some_deep = 0, some_direct = 0;

    template <class Sets>
    [[nodiscard]] bool lets(Sets const& there) const {
      return ((all_deep & ~there.deep) | (all_direct & ~there.direct)) == 0 &&
             ((some_deep & there.deep) | (some_direct & there.direct)) != 0;
    }
  };
  static constexpr std::uint64_t everything = ~std::uint64_t{0};

  /// The gate of the branches at `pc`, as far as they look at registers up to `last`.
  [[nodiscard]] gate gate_of(std::uint16_t pc, std::uint8_t last) const {
    gate made{everything, everything, 0, 0};
    any(pc, [&](branch const& b) {
      bool const tells = b.at <= last && (b.deep | b.direct) != 0;
      made.all_deep &= tells ? b.deep : 0;
      made.all_direct &= tells ? b.direct : 0;
      made.some_deep |= tells ? b.deep : everything;
      made.some_direct |= tells ? b.direct : everything;
      return false;
    });
    return made;
  }

  explicit basic_branch_lists(Program const& rules) : rules_(rules) { list_branches(); }

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
  // Of the branches of one block that look at one register: those without needs, and where those of each operator are.
  struct question {
    std::uint64_t always, direct, deep;
    std::uint32_t first_answer, block;
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
      found |= asked.always;
      auto const& sets = there(asked.at);
      auto const* answers = answers_.data() + asked.first_answer;
      for (auto here = asked.direct & sets.direct; here != 0; here &= here - 1)
        found |= answers[std::popcount(asked.direct & ((here & (~here + 1)) - 1))];
      answers += std::popcount(asked.direct);
      for (auto here = asked.deep & sets.deep; here != 0; here &= here - 1)
        found |= answers[std::popcount(asked.deep & ((here & (~here + 1)) - 1))];
    }
    return found;
  }

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
      auto& list = lists_[pc];
      list.first = static_cast<std::uint32_t>(branches_.size());
      if (rules_.code[pc].code != step::fork || entered[pc]) append_branches(pc);
      list.count = static_cast<std::uint32_t>(branches_.size()) - list.first;
      if (list.count > few) ask(list);
    }
  }

  void append_branches(std::uint16_t pc) {
    while (pc != no_instruction && rules_.code[pc].code == step::fork) {
      append_branches(rules_.code[pc].next);
      pc = rules_.code[pc].other;
    }
    if (pc != no_instruction) branches_.push_back(branch_to(pc));
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
    question q{0, 0, 0, static_cast<std::uint32_t>(answers_.size()), block, at};
    std::uint64_t direct[64] = {}, deep[64] = {}, asked = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      auto const& b = first[k];
      if (b.at != at) continue;
      auto const mine = std::uint64_t{1} << k;
      asked |= mine;
      if (b.direct != 0)  // one of its needs will do to find it: the highest, since sums and products are everywhere
        direct[std::bit_width(b.direct) - 1] |= mine;
      else if (b.deep != 0)
        deep[std::bit_width(b.deep) - 1] |= mine;
      else
        q.always |= mine;
    }
    for (int bit = 0; bit < 64; ++bit)
      if (direct[bit] != 0) {
        q.direct |= std::uint64_t{1} << bit;
        answers_.push_back(direct[bit]);
      }
    for (int bit = 0; bit < 64; ++bit)
      if (deep[bit] != 0) {
        q.deep |= std::uint64_t{1} << bit;
        answers_.push_back(deep[bit]);
      }
    questions_.push_back(q);
    return asked;
  }

  Program const& rules_;
  std::vector<branch> branches_;
  std::vector<branch_list> lists_;  // per instruction
  std::vector<question> questions_;
  std::vector<std::uint64_t> answers_;
};
using branch_lists = basic_branch_lists<program>;

}  // namespace fuse::inline v0::detail
