// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/core/span.hpp>
#include <fuse/program/lowered_rule.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0 {

/// Where matching starts at a node of a certain operator.
struct program_entry {
  std::uint16_t stage, tag, first;
  bool by_name;
  std::uint8_t strip;
};

/// A program as the interpreter reads it: the rules of a set, lowered and merged. A view of a `program_table`.
struct program {
  span<detail::instruction const> code;
  span<program_entry const> entries;  ///< sorted by stage, by_name, tag
  span<rule_info const> rules;
  span<bound_condition const> conditions;
  span<static_text const> parameter_names;
  span<detail::through_set const> sets;
  span<detail::replacement_term const> replacements;
  span<detail::rearrangement const> rearrangements;
  int stages;

  /// Whether a rule has a capture of this name.
  [[nodiscard]] constexpr bool binds(std::string_view name) const {
    for (auto const& r : rules)
      for (std::size_t i = 0; i < r.slot_count; ++i)
        if (r.slot_names[i] == name) return true;
    return false;
  }
};

/// How much the rules of a set have together, before what they share is merged.
struct program_sizes {
  std::size_t rules, code, entries, conditions, parameter_names, sets, replacements, rearrangements;
};

/// What holds a program. What rules share is often all of their names, sets and rearrangements: a program of many rules
/// has room for fewer than their sum.
template <program_sizes Sizes>
struct program_table {
  static constexpr std::size_t name_capacity = Sizes.parameter_names < 64 ? Sizes.parameter_names : 64,
                               set_capacity = Sizes.sets < 32 ? Sizes.sets : 32,
                               rearrangement_capacity = Sizes.rearrangements < 256 ? Sizes.rearrangements : 256;
  detail::instruction code[Sizes.code + Sizes.code / 2 + 1];
  std::size_t size;
  program_entry entries[Sizes.entries + 1];
  std::size_t entry_count;
  rule_info rules[Sizes.rules + 1];
  bound_condition conditions[Sizes.conditions + 1];
  std::size_t condition_count;
  static_text parameter_names[name_capacity + 1];
  std::size_t parameter_name_count;
  detail::through_set sets[set_capacity + 1];
  std::size_t set_count;
  detail::replacement_term replacements[Sizes.replacements + 1];
  std::size_t replacement_count;
  detail::rearrangement rearrangements[rearrangement_capacity + 1];
  std::size_t rearrangement_count;
  int stages;
  bool overflow;

  // NOLINTNEXTLINE: a table is a program
  constexpr operator program() const {
    return {{code, size},
            {entries, entry_count},
            {rules, Sizes.rules},
            {conditions, condition_count},
            {parameter_names, parameter_name_count},
            {sets, set_count},
            {replacements, replacement_count},
            {rearrangements, rearrangement_count},
            stages};
  }
};

namespace detail {

/// Merges lowered rules into one program: rules that begin alike share their first instructions (a discrimination trie;
/// its branches are `fork` instructions).
template <class Table>
class merging {
 public:
  Table out{};

  constexpr merging(lowered_rule const* const* rules, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_info(*rules[i], i);
    // The order in which rules are tried. Those that share nothing are found in it, too (see `rule_order`).
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t at = i;
      for (; at > 0 && rules[order_[at - 1]]->benefit < rules[i]->benefit; --at) order_[at] = order_[at - 1];
      order_[at] = static_cast<std::uint16_t>(i);
    }
    for (std::size_t i = 0; i < count; ++i) {
      out.rules[order_[i]].rank = static_cast<std::uint16_t>(i);
      add_rule(*rules[order_[i]], order_[i]);
    }
    sort_entries();
  }

 private:
  // A root that several rules share: the same operators, stripped alike.
  struct chain {
    std::uint16_t stage, first;
    std::uint16_t entry, entries;  // in out.entries
    std::uint16_t tag;             // of the first entry
  };
  static constexpr std::size_t rule_capacity = 1024;
  std::uint16_t order_[rule_capacity]{};
  std::uint16_t name_map_[lowered_rule::name_capacity]{};
  std::uint8_t set_map_[lowered_rule::set_capacity + 1]{};
  std::uint16_t rearrangement_map_[lowered_rule::rearrangement_capacity]{};
  std::size_t first_condition_ = 0;
  bool renumbered_ = false;  // the rule has names of parameters or sets
  chain chains_[rule_capacity]{};
  std::size_t chain_count_ = 0;

  constexpr void add_info(lowered_rule const& from, std::size_t at) {
    out.rules[at] = from;
    auto added = out.replacement_count;
    out.rules[at].first_replacement = static_cast<std::uint32_t>(added);
    for (int i = 0; i < from.replacement_size; ++i) {
      auto& made = out.replacements[added++] = from.replacement[i];
      if (made.what == replacement_term::kind::rearranged) made.index = rearranged(from.rearrangements[made.index]);
    }
    out.replacement_count = added;
    if (from.stage + 1 > out.stages) out.stages = from.stage + 1;
  }

  constexpr void add_rule(lowered_rule const& rule, std::uint16_t number) {
    for (std::size_t i = 0; i < rule.parameter_name_count; ++i) name_map_[i] = parameter_name(rule.parameter_names[i]);
    for (std::size_t i = 0; i < rule.set_count; ++i) set_map_[i + 1] = set(rule.sets[i]);
    for (std::size_t i = 0; i < rule.rearrangement_count; ++i)
      rearrangement_map_[i] = rearranged(rule.rearrangements[i]);
    renumbered_ = rule.parameter_name_count != 0 || rule.set_count != 0 || rule.rearrangement_count != 0;
    first_condition_ = out.condition_count;
    for (std::size_t i = 0; i < rule.condition_count; ++i) {
      auto added = rule.conditions[i];
      added.rule = number;
      out.conditions[out.condition_count++] = added;
    }
    std::size_t const entries = rule.entry_count;
    for (std::size_t at = 0; at < entries;) {
      auto const first = rule.entries[at].first;
      auto last = at + 1;
      while (last < entries && rule.entries[last].first == first) ++last;
      insert(chain_of(rule, at, last), rule, first, last < entries ? rule.entries[last].first : rule.size, number);
      at = last;
    }
  }

  constexpr std::uint16_t parameter_name(static_text name) {
    for (std::size_t i = 0; i < out.parameter_name_count; ++i)
      if (out.parameter_names[i] == name) return static_cast<std::uint16_t>(i);
    if (out.parameter_name_count == Table::name_capacity) {
      out.overflow = true;
      return 0;
    }
    out.parameter_names[out.parameter_name_count] = name;
    return static_cast<std::uint16_t>(out.parameter_name_count++);
  }
  constexpr std::uint8_t set(through_set const& wanted) {
    for (std::size_t i = 0; i < out.set_count; ++i)
      if (out.sets[i] == wanted) return static_cast<std::uint8_t>(i + 1);
    if (out.set_count == Table::set_capacity) {
      out.overflow = true;
      return 0;
    }
    out.sets[out.set_count++] = wanted;
    return static_cast<std::uint8_t>(out.set_count);
  }

  constexpr std::uint16_t rearranged(rearrangement const& wanted) {
    for (std::size_t i = 0; i < out.rearrangement_count; ++i)
      if (out.rearrangements[i] == wanted) return static_cast<std::uint16_t>(i);
    if (out.rearrangement_count == Table::rearrangement_capacity) {
      out.overflow = true;
      return 0;
    }
    out.rearrangements[out.rearrangement_count] = wanted;
    return static_cast<std::uint16_t>(out.rearrangement_count++);
  }

  constexpr chain& chain_of(lowered_rule const& rule, std::size_t from, std::size_t to) {
    auto const tag = rule.entries[from].tag;
    for (std::size_t i = 0; i < chain_count_; ++i) {
      auto const c = chains_[i];
      if (c.tag != tag || c.stage != rule.stage || c.entries != to - from) continue;
      bool equal = true;
      for (std::size_t k = 0; equal && k < c.entries; ++k) {
        auto const x = out.entries[c.entry + k];
        auto const y = rule.entries[from + k];
        equal = x.tag == y.tag && x.by_name == y.by_name && x.strip == set_map_[y.strip];
      }
      if (equal) return chains_[i];
    }
    if (chain_count_ == rule_capacity) out.overflow = true;
    auto& c = chains_[chain_count_ == rule_capacity ? 0 : chain_count_++];
    c = {static_cast<std::uint16_t>(rule.stage), no_instruction, static_cast<std::uint16_t>(out.entry_count),
         static_cast<std::uint16_t>(to - from), tag};
    for (std::size_t k = from; k < to; ++k)
      out.entries[out.entry_count++] = {c.stage, rule.entries[k].tag, no_instruction, rule.entries[k].by_name,
                                        set_map_[rule.entries[k].strip]};
    return c;
  }

  /// Gives an instruction of a rule the program's numbers of names and sets.
  constexpr void renumber(instruction& made) const {
    if (made.through != 0) made.through = set_map_[made.through];
    if (made.code == step::parameter || made.code == step::element) made.op = name_map_[made.op];
    if (made.code == step::rearranged) made.op = rearrangement_map_[made.op];
  }

  /// Instructions [at, end) of a rule: follows those of the chain that are the same, and adds the others as a branch.
  constexpr void insert(chain& root, lowered_rule const& rule, std::size_t at, std::size_t end, std::uint16_t number) {
    auto* where = &root.first;
    bool shared = true;
    while (shared && *where != no_instruction) {
      auto wanted = rule.code[at];
      if (renumbered_) renumber(wanted);
      bool const alone = wanted.code == step::fork || wanted.code == step::condition || wanted.code == step::accept;
      // Along the branches of the trie at this place.
      for (shared = false;;) {
        auto const place = *where;
        bool const branch = out.code[place].flags == trie_branch;
        if (!alone) {
          auto const one = branch ? out.code[place].next : place;
          auto const there = out.code[one];
          if (there.code == wanted.code && there.op == wanted.op && same(there, wanted)) {
            where = &out.code[one].next;
            shared = true;
            ++at;
            break;
          }
        }
        if (!branch) break;
        where = &out.code[place].other;
      }
    }
    auto to = out.size;
    if (!shared) {
      out.code[to] = {.code = step::fork, .next = *where, .flags = trie_branch};
      *where = static_cast<std::uint16_t>(to);
      where = &out.code[to++].other;
    }
    *where = static_cast<std::uint16_t>(to);
    // (Copies and locals: constant evaluation is slow at what it refers to.)
    bool const renumbered = renumbered_;
    while (at < end) {
      auto made = rule.code[at++];
      if (renumbered) renumber(made);
      auto const place = to++;
      made.next = static_cast<std::uint16_t>(to + made.next);
      if (made.code == step::fork) {
        made.other = static_cast<std::uint16_t>(to + made.other);
      } else if (made.code >= step::condition) {  // the last two steps
        if (made.code == step::condition) {
          made.op = static_cast<std::uint16_t>(first_condition_ + made.op);
        } else {
          made.op = number;
          made.next = no_instruction;
        }
      }
      out.code[place] = made;
    }
    out.size = to;
  }
  static constexpr std::uint8_t trie_branch = 128;

  constexpr void sort_entries() {
    for (std::size_t i = 0; i < chain_count_; ++i)
      for (std::size_t k = 0; k < chains_[i].entries; ++k) out.entries[chains_[i].entry + k].first = chains_[i].first;
    auto const before = [](program_entry const& x, program_entry const& y) {
      if (x.stage != y.stage) return x.stage < y.stage;
      if (x.by_name != y.by_name) return y.by_name;
      return x.tag < y.tag;
    };
    for (std::size_t i = 1; i < out.entry_count; ++i) {  // stable, and nearly sorted where rules share roots
      auto const moving = out.entries[i];
      std::size_t at = i;
      for (; at > 0 && before(moving, out.entries[at - 1]); --at) out.entries[at] = out.entries[at - 1];
      out.entries[at] = moving;
    }
  }
};

}  // namespace detail
}  // namespace fuse::inline v0

#pragma GCC diagnostic pop
