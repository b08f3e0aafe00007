// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fuse/core/plain_vector.hpp>
#include <fuse/match/filter/filter.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The order in which the rules that match at one node are tried: by falling benefit, then as in the set. A search
/// finds them in another order where rules share what they begin with: a rule that was added to a branch comes before
/// those that were added after that branch, and the first part of a sum may be one of a lower rule. Made once for a
/// program, linear in it in practice.
class rule_order {
 public:
  explicit rule_order(filter_tables const& of)
      : rules_(of.rules),
        early_(rules_.rules.size(), false),
        first_(rules_.code.size(), unknown),
        later_(rules_.code.size(), unknown) {
    for (int stage = 0; stage < rules_.stages; ++stage) {
      std::uint16_t by_name = none;
      for (auto at = rules_.entries.size(); at-- > 0;)
        if (auto const& e = rules_.entries[at]; e.stage == stage && e.by_name) find_early(e.first, by_name);
      for (std::size_t op = 0; op < static_cast<std::size_t>(opcode::count_); ++op) {
        auto const& begins = of.to_matches.begins.of(stage, op);
        std::uint16_t later = begins.named ? by_name : none;
        for (auto at = begins.last; at-- > begins.first;) find_early(of.to_matches.begins[at].first, later);
      }
    }
  }

  [[nodiscard]] bool before(std::uint16_t a, std::uint16_t b) const {
    return rules_.rules[a].rank < rules_.rules[b].rank;
  }
  /// Whether a search may find this rule before one that is to be tried first.
  [[nodiscard]] bool may_be_early(std::uint16_t rule) const { return early_[rule]; }

 private:
  static constexpr std::uint16_t none = 0xfffe, unknown = 0xffff;  // no ranks: after all of them

  // Goes an entrance's ways; `later`: the first in order of what is looked for after them, which these are added to.
  void find_early(std::uint16_t pc, std::uint16_t& later) {
    spread(pc, later);
    later = first_of(first_after(pc), later);
  }

  // The first rule in order, by rank, that accepts after an instruction.
  std::uint16_t first_after(std::uint16_t pc) {
    if (pc == no_instruction) return none;
    if (first_[pc] != unknown) return first_[pc];
    auto const& i = rules_.code[pc];
    if (i.code == step::accept) return first_[pc] = rules_.rules[i.op].rank;
    auto const next = first_after(i.next);
    return first_[pc] = i.code == step::fork ? first_of(next, first_after(i.other)) : next;
  }

  // What has several outcomes is tried again with the others, after all that one of them leads to.
  void spread(std::uint16_t pc, std::uint16_t later) {
    for (; pc != no_instruction && later < later_[pc]; pc = rules_.code[pc].next) {
      later_[pc] = later;
      auto const& i = rules_.code[pc];
      if (i.code == step::accept && later < rules_.rules[i.op].rank) early_[i.op] = true;
      if (i.code == step::fork) {
        spread(i.other, later);
        later = first_of(later, first_after(i.other));
      } else if (i.has_outcomes()) {
        later = first_of(later, first_after(i.next));
      }
    }
  }

  [[nodiscard]] static std::uint16_t first_of(std::uint16_t a, std::uint16_t b) { return a < b ? a : b; }

  program const& rules_;
  plain_vector<bool> early_;           // by rule
  plain_vector<std::uint16_t> first_;  // by instruction
  plain_vector<std::uint16_t> later_;  // by instruction: the first in order of what is looked for after it
};

/// The rules that match at one node, one after the other. One that is found before another that may be tried first
/// waits until all are found, and is searched for again.
class rule_turns {
 public:
  explicit rule_turns(rule_order const& of) : order_(of) {}

  /// Calls `search()`, which asks `waits` of every rule that it finds, until it returns true; whether it did.
  template <class Search>
  bool take(Search const& search) {
    waiting_.clear();
    only_ = any;
    if (search()) return true;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      only_ = waiting_[i];
      if (search()) return true;
    }
    return false;
  }
  /// Whether a rule that was found has its turn only later.
  [[nodiscard]] bool waits(std::uint16_t rule) {
    if (only_ != any) return rule != only_;
    bool const behind = !waiting_.empty() && order_.before(waiting_[0], rule);
    if (!behind && !order_.may_be_early(rule)) return false;
    std::size_t at = 0;
    while (at < waiting_.size() && order_.before(waiting_[at], rule)) ++at;
    if (at < waiting_.size() && waiting_[at] == rule) return true;
    waiting_.push_back(rule);
    for (auto k = waiting_.size() - 1; k > at; --k) std::swap(waiting_[k], waiting_[k - 1]);
    return true;
  }

 private:
  static constexpr std::uint16_t any = 0xffff;

  rule_order const& order_;
  plain_vector<std::uint16_t> waiting_;  // in order
  std::uint16_t only_ = any;             // the one whose turn it is
};

}  // namespace fuse::inline v0::detail
