// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/filter/branch_lists.hpp>
#include <fuse/match/filter/entrances.hpp>
#include <fuse/match/filter/frame_needs.hpp>
#include <fuse/match/filter/operator_meanings.hpp>
#include <fuse/match/filter/operator_sets.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// The ways into a program, and on, with what each needs.
template <class Program>
struct basic_ways {
  basic_branch_lists<Program> const branches;
  basic_entrances<Program> const begins;

  basic_ways(Program const& rules, dialect const& names, search_for wanted)
      : branches(rules, wanted), begins(rules, branches, names) {}
};

/// What a filter knows of a program before it sees a graph. One serves all graphs of a dialect, at the same time.
template <class Program>
struct basic_filter_tables {
  Program const rules;
  basic_ways<Program> const to_matches, to_near_misses;
  basic_frame_needs<Program> const needs;
  operator_meanings const meanings;

  basic_filter_tables(Program const& of, dialect const& names);
  basic_filter_tables(basic_filter_tables const&) = delete;
  basic_filter_tables& operator=(basic_filter_tables const&) = delete;
};
using filter_tables = basic_filter_tables<program>;

template <class Program>
basic_filter_tables<Program>::basic_filter_tables(Program const& of, dialect const& names)
    : rules(of),
      to_matches(rules, names, search_for::matches),
      to_near_misses(rules, names, search_for::near_misses),
      needs(rules, to_matches.branches),
      meanings(rules) {}

#ifdef FUSE_REWRITE_SEPARATE
extern template struct basic_filter_tables<program>;
#endif

/// What is there for speed alone: it tells, from the operators that stand at values and below them, what cannot be what
/// is looked for. Where that is every failure, it lets everything pass: the same matches are found, in a longer time.
template <class Image>
class basic_filter {
 public:
  using entrance = detail::entrance;

  basic_filter(filter_tables const& of, Image const& image, facts const& known)
      : tables_(of), ways_(&of.to_matches), image_(image), sets_(of.meanings, image, known) {}
  basic_filter(basic_filter const&) = delete;
  basic_filter& operator=(basic_filter const&) = delete;

  [[nodiscard]] search_for looks_for() const { return wanted_; }
  void look_for(search_for what) {
    wanted_ = what;
    ways_ = what == search_for::near_misses ? &tables_.to_near_misses : &tables_.to_matches;
    sets_.tell(what != search_for::failures);
  }

  /// Takes in what has changed in the image: all of it, or the results of one node; or a new node, whose users are
  /// updated after it. Whatever is looked for: what opens sums and products asks the sets, too.
  void update() { sets_.update(); }
  void update(node_id n) { sets_.update(n); }
  void add(node_id made) { sets_.add(made); }

  /// The operators at and below values.
  [[nodiscard]] operator_sets const& sets() const { return sets_; }

  /// Whether a rule of `stage` may match at `n`; stage number `stages`: of any.
  [[nodiscard]] bool may_match(node_id n, int stage) const {
    auto const& of = entrances_at(n, stage);
    return of.gate.lets(sets_[image_.result(n)]) | of.named;  // no jump
  }
  /// Where rules of `stage` begin at `n`, and whether one does by the operator's name.
  [[nodiscard]] entrances::range const& entrances_at(node_id n, int stage) const {
    return entrances_of(static_cast<opcode>(image_.node(n).tag.op), stage);
  }
  [[nodiscard]] entrances::range const& entrances_of(opcode op, int stage) const {
    return ways_->begins.of(stage, static_cast<std::size_t>(op));
  }
  [[nodiscard]] bool has_name(node_id n) const { return ways_->begins.has_name(image_.node(n).tag.name); }

  /// Calls `enter(e)` for the entrances of `stage` that may lead to a match at `n`, until one returns true; whether one
  /// did. Of all stages, stage number `stages`: but for those by name.
  template <class Enter>
  bool any_entrance(node_id n, int stage, Enter const& enter) const {
    auto const there = sets_[image_.result(n)];  // copies: accepting adds nodes
    auto const name = has_name(n) ? image_.node(n).tag.name : 0;
    auto const& of = entrances_at(n, stage);
    for (auto i = of.first; i < of.last; ++i)
      if (auto const& e = ways_->begins[i]; e.gate.lets(there) && enter(e)) return true;
    for (auto const& e :
         name != 0 && stage != tables_.rules.stages ? tables_.rules.entries : span<program_entry const>())
      if (e.stage == stage && e.by_name && e.tag == name && enter(entrance::open(e))) return true;
    return false;
  }

  /// Calls `look(n)` for all nodes that may match, users before producers. Of many nodes at once, those are told apart
  /// from the others without a jump at each, which the processor cannot foresee: the benchmark's row of 200 rules.
  template <class Look>
  void for_each_hopeful(Look const& look) const {
    for (auto end = image_.node_count(); end != 0;) {
      auto const first = end > 64 ? end - 64 : 0;
      std::uint64_t hopeful = 0;
      for (auto n = end; n-- > first;) {
        expect_before(n);
        hopeful = hopeful << 1 | std::uint64_t{may_match(n, tables_.rules.stages)};
      }
      for (; hopeful != 0; hopeful ^= std::bit_floor(hopeful))
        look(first + static_cast<node_id>(std::bit_width(hopeful) - 1));
      end = first;
    }
  }
  /// Nodes are mostly looked at from the last to the first: fetches what is asked of the one next to come.
  [[gnu::always_inline]] void expect_before(node_id n) const {
    image_.expect_before(n);
    sets_.expect_before(image_.result(n));
  }

  /// Calls `go_on(pc)` for the branches at `pc` that may match where `there(at)` are the sets of operators at a place,
  /// a register or an opened frame, until one returns true; whether one did.
  template <class There, class GoOn>
  [[gnu::always_inline]] bool branches(std::uint16_t pc, There const& there, GoOn const& go_on) const {
    if (!tells()) return ways_->branches.any(pc, [&](auto const& b) { return go_on(b.to); });
    return ways_->branches.any(pc, there, [&](auto const& b) { return go_on(b.after); });
  }
  /// The same where matching begins; mostly there is one branch, which the entrance's gate has let through.
  template <class There, class GoOn>
  bool branches(entrance const& e, There const& there, GoOn const& go_on) const {
    return tells() && e.only != no_instruction ? go_on(e.only) : branches(e.first, there, go_on);
  }

  /// Whether a branch after the operator that an entrance begins with may match the operands of `n`: mostly none does,
  /// and that is seen without a search.
  [[nodiscard]] bool leads_on(node_id n, entrance const& e) const {
    if (!e.looks_ahead || !tells()) return true;
    auto const& i = tables_.rules.code[e.only];
    auto const sets = [&](std::size_t k) -> auto const& {
      if (k >= (i.count & 0x7fu)) return operator_sets::all;
      return sets_[k < image_.operand_count(n) ? image_.operand(n, static_cast<std::uint32_t>(k)) : absent];
    };
    auto const found = [](auto const&) { return true; };
    if (ways_->branches.any(
            i.next, [&](std::uint16_t at) -> auto const& { return sets(at - std::size_t{i.b}); }, found))
      return true;
    return (i.flags & instruction::commutes) != 0 &&
           ways_->branches.any(
               i.next, [&](std::uint16_t at) -> auto const& { return sets((at - std::size_t{i.b}) ^ 1u); }, found);
  }

  /// Whether what step `i`, a `within`, asks for may be there.
  [[nodiscard]] bool has_below(instruction const& i, operator_sets::sets const& there) const {
    if (wanted_ != search_for::matches) return true;
    return (static_cast<std::uint64_t>(i.number) & ~(i.c == 0 ? there.deep : there.direct)) == 0;
  }

  /// What a part of the sum or product that step `i` opens must have below it to be worth opening.
  [[nodiscard]] frame_needs::needs const& sought(instruction const& i) const {
    return wanted_ == search_for::matches ? tables_.needs.of(i) : frame_needs::all;
  }

 private:
  [[nodiscard]] bool tells() const { return wanted_ != search_for::failures; }

  filter_tables const& tables_;
  basic_ways<program> const* ways_;
  Image const& image_;
  operator_sets sets_;
  search_for wanted_ = search_for::matches;
};
using filter = basic_filter<graph_image>;

}  // namespace fuse::inline v0::detail
