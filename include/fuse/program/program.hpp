// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/core/span.hpp>
#include <fuse/program/lowered_rule.hpp>

namespace fuse::inline v0 {

/// What the machine and the rewriter know of a rule, besides its instructions.
struct rule_info {
  static_text name, summary;
  int stage;
  double benefit;
  bool equal_cost, silent, reduces;
  std::uint8_t slot_count, root_count, replacement_size;
  std::uint8_t root_registers[4];
  static_text slot_names[lowered_rule::name_capacity];
  slot_kind slot_kinds[lowered_rule::name_capacity];
  std::uint32_t first_replacement;
};

/// A condition with the slots that it looks at.
struct bound_condition {
  condition what;
  std::uint8_t slots[condition::capacity];
  std::uint16_t rule;
};

/// Where matching starts at a node of a certain operator.
struct program_entry {
  std::uint16_t stage, tag, first;
  bool by_name;
  std::uint8_t strip;
};

/// A program as the interpreter reads it: the rules of a set, lowered and merged. A view of a `program_table`.
struct program {
  span<instruction const> code;
  span<program_entry const> entries;  ///< sorted by stage, by_name, tag
  span<rule_info const> rules;
  span<bound_condition const> conditions;
  span<static_text const> parameter_names;
  span<through_set const> sets;
  span<replacement_term const> replacements;
  int stages;
};

template <std::size_t Code, std::size_t Entries, std::size_t Rules, std::size_t Conditions, std::size_t Replacements>
struct program_table {
  static constexpr std::size_t name_capacity = 64, set_capacity = 32;
  instruction code[Code + Code / 2 + 1];
  std::size_t size;
  program_entry entries[Entries + 1];
  std::size_t entry_count;
  rule_info rules[Rules + 1];
  bound_condition conditions[Conditions + 1];
  std::size_t condition_count;
  static_text parameter_names[name_capacity];
  std::size_t parameter_name_count;
  through_set sets[set_capacity];
  std::size_t set_count;
  replacement_term replacements[Replacements + 1];
  std::size_t replacement_count;
  int stages;
  bool overflow;

  // NOLINTNEXTLINE: a table is a program
  constexpr operator program() const {
    return {{code, size},
            {entries, entry_count},
            {rules, Rules},
            {conditions, condition_count},
            {parameter_names, parameter_name_count},
            {sets, set_count},
            {replacements, replacement_count},
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
    // By falling benefit, then by the order of the set: the order in which forks are tried.
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t at = i;
      for (; at > 0 && rules[order_[at - 1]]->benefit < rules[i]->benefit; --at) order_[at] = order_[at - 1];
      order_[at] = static_cast<std::uint16_t>(i);
    }
    for (std::size_t i = 0; i < count; ++i) add_rule(*rules[order_[i]], order_[i]);
    sort_entries();
  }

 private:
  // A root that several rules share: the same operators, stripped alike.
  struct chain {
    std::uint16_t stage, first;
    std::uint16_t entry, entries;  // in out.entries
  };
  static constexpr std::size_t rule_capacity = 1024;
  std::uint16_t order_[rule_capacity]{};
  std::uint16_t name_map_[lowered_rule::name_capacity]{};
  std::uint8_t set_map_[lowered_rule::set_capacity + 1]{};
  std::size_t first_condition_ = 0;
  chain chains_[rule_capacity]{};
  std::size_t chain_count_ = 0;

  constexpr void add_info(lowered_rule const& from, std::size_t at) {
    auto& to = out.rules[at];
    to.name = from.name;
    to.summary = from.summary;
    to.stage = from.stage;
    to.benefit = from.benefit;
    to.equal_cost = from.equal_cost;
    to.silent = from.silent;
    to.reduces = from.reduces;
    to.slot_count = from.slot_count;
    to.root_count = from.root_count;
    for (int i = 0; i < 4; ++i) to.root_registers[i] = from.root_registers[i];
    for (std::size_t i = 0; i < from.slot_count; ++i) {
      to.slot_names[i] = from.slot_names[i];
      to.slot_kinds[i] = from.slot_kinds[i];
    }
    to.first_replacement = static_cast<std::uint32_t>(out.replacement_count);
    to.replacement_size = from.replacement_size;
    for (std::size_t i = 0; i < from.replacement_size; ++i)
      out.replacements[out.replacement_count++] = from.replacement[i];
    if (from.stage + 1 > out.stages) out.stages = from.stage + 1;
  }

  constexpr void add_rule(lowered_rule const& rule, std::size_t number) {
    for (std::size_t i = 0; i < rule.parameter_name_count; ++i) name_map_[i] = parameter_name(rule.parameter_names[i]);
    for (std::size_t i = 0; i < rule.set_count; ++i) set_map_[i + 1] = set(rule.sets[i]);
    first_condition_ = out.condition_count;
    for (std::size_t i = 0; i < rule.condition_count; ++i) {
      auto& added = out.conditions[out.condition_count++];
      added.what = rule.conditions[i];
      added.rule = static_cast<std::uint16_t>(number);
      for (std::size_t k = 0; k < condition::capacity; ++k) added.slots[k] = rule.condition_slots[i][k];
    }
    for (std::size_t at = 0; at < rule.entry_count;) {
      std::size_t last = at;
      while (last < rule.entry_count && rule.entries[last].first == rule.entries[at].first) ++last;
      std::size_t const end = last < rule.entry_count ? rule.entries[last].first : rule.size;
      insert(chain_of(rule, at, last), rule, rule.entries[at].first, end, number);
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

  constexpr chain& chain_of(lowered_rule const& rule, std::size_t from, std::size_t to) {
    for (std::size_t i = 0; i < chain_count_; ++i) {
      auto& c = chains_[i];
      if (c.stage != rule.stage || c.entries != to - from) continue;
      bool equal = true;
      for (std::size_t k = 0; equal && k < c.entries; ++k) {
        auto const& x = out.entries[c.entry + k];
        auto const& y = rule.entries[from + k];
        equal = x.tag == y.tag && x.by_name == y.by_name && x.strip == set_map_[y.strip];
      }
      if (equal) return c;
    }
    if (chain_count_ == rule_capacity) out.overflow = true;
    auto& c = chains_[chain_count_ == rule_capacity ? 0 : chain_count_++];
    c = {static_cast<std::uint16_t>(rule.stage), no_instruction, static_cast<std::uint16_t>(out.entry_count),
         static_cast<std::uint16_t>(to - from)};
    for (std::size_t k = from; k < to; ++k)
      out.entries[out.entry_count++] = {c.stage, rule.entries[k].tag, no_instruction, rule.entries[k].by_name,
                                        set_map_[rule.entries[k].strip]};
    return c;
  }

  /// An instruction of a rule with the program's indices. (A copy: constant evaluation is slow at what it refers to.)
  [[nodiscard]] constexpr instruction moved(lowered_rule const& rule, std::size_t at, std::size_t number) const {
    auto made = rule.code[at];
    if (made.through != 0) made.through = set_map_[made.through];
    if (made.code == step::parameter) made.op = name_map_[made.op];
    if (made.code == step::condition) made.op = static_cast<std::uint16_t>(made.op + first_condition_);
    if (made.code == step::accept) made.op = static_cast<std::uint16_t>(number);
    return made;
  }

  constexpr std::uint16_t append(instruction const& made) {
    out.code[out.size] = made;
    return static_cast<std::uint16_t>(out.size++);
  }

  constexpr void insert(chain& root, lowered_rule const& rule, std::size_t at, std::size_t end, std::size_t number) {
    std::uint16_t* where = &root.first;
    while (*where != no_instruction) {
      auto const wanted = moved(rule, at, number);
      bool const alone = wanted.code == step::fork || wanted.code == step::condition || wanted.code == step::accept;
      // Along the branches of the trie at this place.
      bool shared = false;
      while (true) {
        auto const place = *where;
        auto const here = out.code[place];
        bool const branch = here.code == step::fork && here.flags == trie_branch;
        if (!alone && same(branch ? out.code[here.next] : here, wanted)) {
          where = &out.code[branch ? here.next : place].next;
          shared = true;
          break;
        }
        if (!branch) break;
        where = &out.code[place].other;
        if (here.other == no_instruction) break;
      }
      if (shared) {
        ++at;
        continue;
      }
      if (*where == no_instruction) break;
      instruction fork{};
      fork.code = step::fork;
      fork.flags = trie_branch;
      fork.next = *where;
      fork.other = no_instruction;
      auto const place = append(fork);
      *where = place;
      where = &out.code[place].other;
      break;
    }
    *where = static_cast<std::uint16_t>(out.size);
    for (std::size_t i = at; i < end; ++i) {
      auto made = moved(rule, i, number);
      auto const after = out.size + 1;
      made.next = made.code == step::accept ? no_instruction : static_cast<std::uint16_t>(after + made.next);
      made.other = made.code == step::fork ? static_cast<std::uint16_t>(after + made.other) : no_instruction;
      append(made);
    }
    for (std::size_t k = 0; k < root.entries; ++k) out.entries[root.entry + k].first = root.first;
  }
  static constexpr std::uint8_t trie_branch = 128;

  constexpr void sort_entries() {
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
