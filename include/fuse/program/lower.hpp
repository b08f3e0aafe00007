// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/dsl/rule.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/lowered_rule.hpp>

namespace fuse::inline v0::detail {

/// Turns one rule into instructions. Everything happens during constant evaluation; a rule that is wrong leaves its error.
///
/// Products and sums are lowered as multisets: their parts become `member` instructions of one frame, the most telling first
/// (roots and reductions before captures), so that matching fails early and rules share prefixes.
class lowering {
 public:
  lowered_rule out{};

  constexpr lowering(rewrite_rule const& rule, dialect const& names) : rule_(rule), names_(names) {
    out.name = rule.name;
    out.summary = rule.summary_text;
    out.stage = rule.stage_number;
    out.benefit = rule.benefit_value;
    out.equal_cost = rule.equal_cost;
    out.silent = rule.silent;
    if (rule.pattern.too_large || rule.replacement.too_large || rule.too_many)
      fail(rule_error::too_large, rule.name);
    else if (rule.replacement.size == 0)
      fail(rule_error::no_replacement, rule.name);
    for (std::size_t i = 0; i < rule.transparent_count; ++i) add_transparent(everywhere_, rule.transparent[i]);
    resolve();
    if (failed()) return;
    if (everywhere_.count != 0) everywhere_id_ = set_id(everywhere_);
    lower_roots(pattern_.root());
    if (!failed()) lower_replacement();
  }

 private:
  // Which instruction's `next` (or `other`) the next emitted instruction is.
  struct link {
    std::uint16_t at;
    bool other;
  };
  struct links {
    link all[24];
    std::uint8_t count;
  };
  struct part {
    std::uint8_t term;
    double weight;
  };
  struct parts {
    part all[24];
    std::uint8_t count;
    double number;   // the constants among them
    float tolerance;  // the widest of theirs
    bool has_number, overflow;
  };

  rewrite_rule const& rule_;
  dialect const& names_;
  expression pattern_{};
  links pending_{};
  std::uint8_t next_register_ = 1, next_frame_ = 0;
  std::uint8_t register_of_[expression::capacity]{};
  std::uint64_t needs_[expression::capacity]{};
  bool needs_known_[expression::capacity]{};
  std::uint32_t bound_ = 0;
  bool rest_seen_[lowered_rule::name_capacity]{};
  bool again_ = false;
  through_set everywhere_{};
  std::uint8_t everywhere_id_ = 0;

  [[nodiscard]] constexpr bool failed() const { return out.error != rule_error::none; }
  constexpr void fail(rule_error error, std::string_view culprit, std::size_t wanted = 0) {
    if (failed()) return;
    out.error = error;
    out.culprit = culprit;
    out.wanted = wanted;
  }

  // Names to operators. A `named` term of an operator with a meaning becomes the neutral one.
  constexpr void resolve() {
    pattern_ = rule_.pattern;
    for (std::uint16_t i = 0; i < pattern_.size; ++i) {
      auto& t = pattern_.terms[i];
      if (t.kind == term_kind::named || t.kind == term_kind::exact) {
        auto const code = names_.code(t.name);
        if (code == 0) return fail(rule_error::unknown_operator, t.name);
        auto const op = names_.rows[code - 1u].op;
        t.index = code;
        if (t.kind == term_kind::named && op != opcode::opaque) {
          t.kind = term_kind::neutral;
          t.op = op;
          t.index = 0;
        }
      }
      if (t.kind == term_kind::neutral) check_operands(t, operand_count(t, pattern_));
    }
  }

  constexpr void check_operands(term const& t, std::size_t operands) {
    auto const& known = info(t.op);
    if (static_cast<int>(operands) < known.least) fail(rule_error::wrong_operand_count, t.name.empty() ? known.name : t.name, static_cast<std::size_t>(known.least));
    if (known.most >= 0 && static_cast<int>(operands) > known.most)
      fail(rule_error::wrong_operand_count, t.name.empty() ? known.name : t.name, static_cast<std::size_t>(known.most));
  }

  [[nodiscard]] static constexpr std::uint8_t operand_count(term const& t, expression const& in) {
    std::uint8_t count = 0;
    for (int i = 0; i < t.children; ++i) count = static_cast<std::uint8_t>(count + (in[t.child[i]].kind == term_kind::attribute ? 0 : 1));
    return count;
  }

  /// An operator to look through: by its name in the dialect, or by its neutral name, which holds in every dialect.
  constexpr void add_transparent(through_set& set, std::string_view name) {
    if (set.count == through_set::capacity) return fail(rule_error::too_large, rule_.name);
    auto const code = names_.code(name);
    auto const op = code == 0 ? op_named(name) : names_.rows[code - 1u].op;
    if (code == 0 && op == opcode::opaque) return fail(rule_error::unknown_operator, name);
    set.by_name[set.count] = op == opcode::opaque;
    set.ops[set.count++] = op == opcode::opaque ? code : static_cast<std::uint16_t>(op);
  }
  constexpr std::uint8_t set_id(through_set const& set) {
    for (std::uint8_t i = 0; i < out.set_count; ++i)
      if (out.sets[i] == set) return static_cast<std::uint8_t>(i + 1);
    if (out.set_count == lowered_rule::set_capacity) {
      fail(rule_error::too_large, rule_.name);
      return 0;
    }
    out.sets[out.set_count++] = set;
    return out.set_count;
  }

  constexpr std::uint8_t slot(std::string_view name, slot_kind kind) {
    for (std::uint8_t i = 0; i < out.slot_count; ++i)
      if (out.slot_names[i] == name) {
        if (out.slot_kinds[i] != kind) fail(rule_error::two_uses_of_a_name, name);
        return i;
      }
    if (out.slot_count == lowered_rule::name_capacity) {
      fail(rule_error::too_large, rule_.name);
      return 0;
    }
    out.slot_names[out.slot_count] = name;
    out.slot_kinds[out.slot_count] = kind;
    return out.slot_count++;
  }
  constexpr void bind(std::uint8_t at) { bound_ |= 1u << at; }

  // Emission

  constexpr std::uint16_t emit(instruction made) {
    if (out.size == lowered_rule::instruction_capacity) {
      fail(rule_error::too_large, rule_.name);
      return 0;
    }
    auto const at = out.size++;
    made.next = made.other = no_instruction;
    out.code[at] = made;
    resolve_links(at);
    pending_.count = 0;
    pend(link{at, false});
    return at;
  }
  constexpr void resolve_links(std::uint16_t at) {
    for (std::uint8_t i = 0; i < pending_.count; ++i)
      (pending_.all[i].other ? out.code[pending_.all[i].at].other : out.code[pending_.all[i].at].next) = at;
  }
  constexpr void pend(link made) {
    if (pending_.count == 24)
      fail(rule_error::too_large, rule_.name);
    else
      pending_.all[pending_.count++] = made;
  }
  constexpr void pend(links const& more) {
    for (std::uint8_t i = 0; i < more.count; ++i) pend(more.all[i]);
  }

  constexpr std::uint8_t new_register() {
    if (next_register_ == 255) fail(rule_error::too_large, rule_.name);
    return next_register_++;
  }

  static constexpr instruction make(step code, int a = 0, int b = 0, int c = 0) {
    instruction made{};
    made.code = code;
    made.a = static_cast<std::uint8_t>(a);
    made.b = static_cast<std::uint8_t>(b);
    made.c = static_cast<std::uint8_t>(c);
    return made;
  }

  /// Lowers forms one after the other, each from the same state, and goes on where any of them ends.
  template <class Form>
  constexpr void lower_forks(int count, bool may_skip, Form&& form) {
    links joined{};
    std::uint32_t common = ~0u;
    auto const before = bound_;
    std::uint8_t registers[expression::capacity]{};  // what a branch finds is not known after it
    for (std::size_t i = 0; i < pattern_.size; ++i) registers[i] = register_of_[i];
    auto const first_register = next_register_, first_frame = next_frame_;  // branches use the same ones
    auto last_register = next_register_, last_frame = next_frame_;
    for (int i = 0; i < count; ++i) {
      bool const last = i + 1 == count && !may_skip;
      std::uint16_t fork = no_instruction;
      if (!last) fork = emit(make(step::fork));
      bound_ = before;
      next_register_ = first_register;
      next_frame_ = first_frame;
      form(i);
      if (failed()) return;
      if (next_register_ > last_register) last_register = next_register_;
      if (next_frame_ > last_frame) last_frame = next_frame_;
      for (std::size_t k = 0; k < pattern_.size; ++k) register_of_[k] = registers[k];
      common &= bound_;
      for (std::uint8_t k = 0; k < pending_.count; ++k)
        if (joined.count < 24) joined.all[joined.count++] = pending_.all[k];
        else fail(rule_error::too_large, rule_.name);
      pending_.count = 0;
      if (!last) pend(link{fork, true});
    }
    if (may_skip) {
      common &= before;
      pend(joined);
    } else {
      pending_ = joined;
    }
    bound_ = common;
    next_register_ = last_register;
    next_frame_ = last_frame;
  }

  // Roots

  constexpr void lower_roots(std::uint8_t root) {
    auto const& t = pattern_[root];
    if (t.kind == term_kind::alternatives) {
      for (int i = 0; i < t.children; ++i) lower_roots(t.child[i]);
      return;
    }
    pending_.count = 0;
    next_register_ = 1;
    next_frame_ = 0;
    bound_ = 0;
    for (auto& seen : rest_seen_) seen = false;
    for (auto& at : register_of_) at = 0;
    auto const first = out.size;
    std::uint8_t main = root;
    if (t.kind == term_kind::roots) main = t.child[0];
    if (pattern_[main].kind == term_kind::alternatives) return fail(rule_error::unreachable_root, rule_.name);
    auto const r = new_register();
    out.root_registers[0] = r;
    out.root_count = 1;
    add_entries(main, first);
    value(main, r);
    if (t.kind == term_kind::roots)
      for (int i = 1; i < t.children; ++i) further_root(t.child[i]);
    for (std::size_t i = 0; i < rule_.condition_count; ++i) add_condition(rule_.conditions[i]);
    auto accepted = make(step::accept);
    emit(accepted);
    pending_.count = 0;
    mark_optional();
  }

  constexpr void add_entry(std::uint16_t first, std::uint16_t tag, bool by_name, std::uint8_t strip) {
    for (std::uint16_t i = 0; i < out.entry_count; ++i)
      if (out.entries[i].first == first && out.entries[i].tag == tag && out.entries[i].by_name == by_name) return;
    if (out.entry_count == lowered_rule::entry_capacity) return fail(rule_error::too_large, rule_.name);
    out.entries[out.entry_count++] = {first, tag, by_name, strip};
  }
  constexpr void add_entries(std::uint8_t root, std::uint16_t first) {
    auto const& t = pattern_[root];
    switch (t.kind) {
      case term_kind::neutral:
        if (info(t.op).group != op_group::none) {
          for (auto const& known : operator_table)
            if (known.group == group_of(t.op) || ((group_of(t.op) == op_group::product || may_be_one_product(root)) &&
                                                  (known.group == op_group::product || known.op == opcode::neg)))
              add_entry(first, static_cast<std::uint16_t>(known.op), false, 0);
        } else {
          add_entry(first, static_cast<std::uint16_t>(t.op), false, 0);
          if (is_reduction(t.op))
            for (auto op : {opcode::unsqueeze, opcode::reshape}) add_entry(first, static_cast<std::uint16_t>(op), false, 0);
        }
        break;
      case term_kind::named:
      case term_kind::exact: add_entry(first, t.index, true, 0); break;
      case term_kind::wrapped: {
        auto const code = names_.code(t.name);
        if (code == 0) return fail(rule_error::unknown_operator, t.name);
        auto const op = names_.rows[code - 1u].op;
        add_entry(first, op == opcode::opaque ? code : static_cast<std::uint16_t>(op), op == opcode::opaque, 0);
        add_entries(t.child[0], first);
        break;
      }
      case term_kind::through: {
        through_set set{};
        auto inside = collect_set(root, set);
        add_transparent_entries(set, first);
        add_entries(inside, first);
        break;
      }
      case term_kind::users:
      case term_kind::result: add_entries(t.child[0], first); break;
      default: return fail(rule_error::unreachable_root, rule_.name);
    }
    add_transparent_entries(everywhere_, first);
  }
  /// A sum of a product and whatever is left: nothing may be left, and then its root is the product's.
  [[nodiscard]] constexpr bool may_be_one_product(std::uint8_t root) const {
    auto const& t = pattern_[root];
    if (t.op != opcode::add || pattern_[t.child[1]].kind != term_kind::rest) return false;
    auto const& one = pattern_[t.child[0]];
    if (one.kind != term_kind::alternatives) return one.kind == term_kind::neutral && group_of(one.op) == op_group::product;
    for (int i = 0; i < one.children; ++i)
      if (pattern_[one.child[i]].kind == term_kind::neutral && group_of(pattern_[one.child[i]].op) == op_group::product) return true;
    return false;
  }
  constexpr void add_transparent_entries(through_set const& set, std::uint16_t first) {
    for (std::size_t i = 0; i < set.count; ++i) add_entry(first, set.ops[i], set.by_name[i], everywhere_id_ != 0 ? everywhere_id_ : set_id(set));
  }

  /// A root that is found from what is bound: the users of a bound term, step by step up to the root, which is then matched whole.
  constexpr void further_root(std::uint8_t root) {
    std::uint8_t path[16]{};
    int length = 0;
    if (!path_to_bound(root, path, length)) return fail(rule_error::unreachable_root, rule_.name);
    auto at = register_of_[path[length - 1]];
    if (at == 0) {
      at = new_register();
      emit(make(step::recall, at, slot(pattern_[path[length - 1]].name, slot_kind::value)));
    }
    for (int i = length - 2; i >= 0; --i) {
      auto const r = new_register();
      auto made = make(step::user, at, r);
      emit(made);
      at = r;
    }
    if (out.root_count < 4) out.root_registers[out.root_count++] = at;
    value(root, at);
  }
  // Path from `at` down to a term that has a register, root first.
  constexpr bool path_to_bound(std::uint8_t at, std::uint8_t (&path)[16], int& length) {
    if (length == 16) return false;
    path[length++] = at;
    auto const& t = pattern_[at];
    if (register_of_[at] != 0 || (t.kind == term_kind::capture && is_bound(t.name))) return length > 1;
    for (int i = 0; i < t.children; ++i)
      if (pattern_[t.child[i]].kind != term_kind::attribute && path_to_bound(t.child[i], path, length)) return true;
    --length;
    return false;
  }

  [[nodiscard]] constexpr bool is_bound(std::string_view name) const {
    for (std::uint8_t i = 0; i < out.slot_count; ++i)
      if (out.slot_names[i] == name) return (bound_ >> i & 1u) != 0;
    return false;
  }

  constexpr void add_condition(condition const& added) {
    std::uint8_t at = 0;
    for (; at < out.condition_count; ++at) {
      bool equal = out.conditions[at].name == added.name && out.conditions[at].count == added.count;
      for (std::size_t i = 0; equal && i < added.count; ++i) equal = out.conditions[at].captures[i] == added.captures[i];
      if (equal) break;
    }
    if (at == out.condition_count) {
      if (at == lowered_rule::condition_capacity) return fail(rule_error::too_large, rule_.name);
      out.conditions[at] = added;
      for (std::size_t i = 0; i < added.count; ++i) {
        std::uint8_t found = no_slot;
        for (std::uint8_t s = 0; s < out.slot_count; ++s)
          if (out.slot_names[s] == added.captures[i]) found = s;
        // "axes" is there for conditions whether a reduction captured it or not.
        if (found == no_slot && added.captures[i] != "axes" && !names(pattern_, added.captures[i])) return fail(rule_error::unbound_condition, added.captures[i]);
        out.condition_slots[at][i] = found;
      }
      ++out.condition_count;
    } else {
      for (std::size_t i = 0; i < added.count; ++i)
        for (std::uint8_t s = 0; s < out.slot_count; ++s)
          if (out.slot_names[s] == added.captures[i]) out.condition_slots[at][i] = s;
    }
    auto made = make(step::condition);
    made.op = at;
    emit(made);
  }
  [[nodiscard]] static constexpr bool names(expression const& in, std::string_view name) {
    for (std::uint16_t i = 0; i < in.size; ++i)
      if (in[i].name == name) return true;
    return false;
  }

  constexpr void mark_optional() {
    for (std::uint8_t i = 0; i < out.slot_count; ++i)
      if ((bound_ >> i & 1u) == 0) out.slot_optional[i] = true;
  }

  // Values

  /// More than six operators, each counted as often as it would be matched.
  [[nodiscard]] constexpr bool large(std::uint8_t at) const { return tree_size(at, 6) > 6; }
  [[nodiscard]] constexpr int tree_size(std::uint8_t at, int limit) const {
    auto const& t = pattern_[at];
    int size = t.kind == term_kind::neutral || t.kind == term_kind::named || t.kind == term_kind::exact ? 1 : 0;
    for (int i = 0; i < t.children && size <= limit; ++i) size += tree_size(t.child[i], limit);
    return size;
  }

  [[nodiscard]] static constexpr op_group group_of(opcode op) { return op == opcode::neg ? op_group::sum : info(op).group; }
  [[nodiscard]] static constexpr bool is_reduction(opcode op) { return info(op).shape == shape_rule::reduce; }

  /// Follows a chain of `through` terms, collecting its names; returns the term inside.
  constexpr std::uint8_t collect_set(std::uint8_t at, through_set& set) {
    while (pattern_[at].kind == term_kind::through) {
      add_transparent(set, pattern_[at].name);
      at = pattern_[at].child[0];
    }
    return at;
  }

  constexpr void value(std::uint8_t at, std::uint8_t r, sign_use sign = sign_use::strict, std::uint8_t around = 0) {
    if (failed()) return;
    auto const& t = pattern_[at];
    if (register_of_[at] != 0 && t.kind == term_kind::neutral && !again_ && large(at)) {
      // A large part that occurs again is mostly the same computation; only else is it matched anew.
      auto const first_found = register_of_[at];
      return lower_forks(2, false, [&](int i) {
        if (i == 0) {
          emit(make(step::same, r, first_found));
          return;
        }
        again_ = true;
        value(at, r, sign, around);
        again_ = false;
      });
    }
    register_of_[at] = r;
    switch (t.kind) {
      case term_kind::capture: {
        auto made = make(step::capture, r, slot(t.name, slot_kind::value));
        made.through = everywhere_id_;
        emit(made);
        return bind(made.b);
      }
      case term_kind::scalar: {
        auto made = make(step::scalar, r, slot(t.name, slot_kind::number));
        emit(made);
        return bind(made.b);
      }
      case term_kind::number: {
        auto made = make(step::number, r);
        made.number = t.number;
        made.tolerance = static_cast<float>(t.tolerance);
        emit(made);
        return;
      }
      case term_kind::alternatives:
        return lower_forks(t.children, false, [&](int i) { value(t.child[i], r, sign, around); });
      case term_kind::optional: {
        links skipped{};
        auto const before = bound_;
        auto const fork = emit(make(step::fork));
        value(t.child[0], r);
        skipped = pending_;
        pending_.count = 0;
        pend(link{fork, true});
        emit(make(step::missing, r));
        pend(skipped);
        bound_ = before;
        return;
      }
      case term_kind::wrapped: {
        auto const code = names_.code(t.name);
        if (code == 0) return fail(rule_error::unknown_operator, t.name);
        auto const inner = new_register();
        auto const op = names_.rows[code - 1u].op;
        return lower_forks(2, false, [&](int i) {
          if (i == 0) {
            auto made = make(op == opcode::opaque ? step::exactly : step::operation, r, inner);
            made.op = op == opcode::opaque ? code : static_cast<std::uint16_t>(op);
            made.count = 1;
            made.through = everywhere_id_;
            emit(made);
          } else {
            emit(make(step::strip, r, inner));  // of nothing: a copy
          }
          if (i == 1) register_of_[t.child[0]] = inner;
          value(t.child[0], inner);
        });
      }
      case term_kind::through: {
        through_set set{};
        auto const inside = collect_set(at, set);
        auto const inner = new_register();
        auto made = make(step::strip, r, inner);
        made.through = set_id(set);
        emit(made);
        return value(inside, inner, sign, around);
      }
      case term_kind::users: {
        auto made = make(step::users, r);
        made.op = t.index;
        made.through = everywhere_id_;
        emit(made);
        return value(t.child[0], r, sign, around);
      }
      case term_kind::result: return operation(t.child[0], r, static_cast<std::uint8_t>(t.index));
      case term_kind::neutral:
        if (group_of(t.op) != op_group::none) return group(at, r, sign, around);
        if (is_reduction(t.op)) return reduction(at, r);
        return operation(at, r, 0);
      case term_kind::named:
      case term_kind::exact: return operation(at, r, 0);
      case term_kind::rest:  // alone where a value is wanted: that one value
      default: return fail(rule_error::rest_twice, t.name);
    }
  }

  constexpr void operation(std::uint8_t at, std::uint8_t r, std::uint8_t result) {
    auto const& t = pattern_[at];
    bool const by_name = t.kind != term_kind::neutral;
    auto const operands = operand_count(t, pattern_);
    auto made = make(by_name ? step::exactly : step::operation, r, next_register_, result);
    made.op = by_name ? t.index : static_cast<std::uint16_t>(t.op);
    made.count = operands;
    made.through = by_name ? std::uint8_t{0} : everywhere_id_;
    bool const has_rest = operands > 0 && pattern_[t.child[operands - 1]].kind == term_kind::rest;
    if (has_rest) made.count = static_cast<std::uint8_t>((operands - 1) | 0x80);
    if (!by_name && operands == 2 && info(t.op).commutative) made.flags |= instruction::commutes;
    std::uint8_t registers[8]{};
    int const plain = has_rest ? operands - 1 : operands;
    for (int i = 0; i < plain; ++i) registers[i] = new_register();
    emit(made);
    attributes(at, r);
    // Operators before captures: what is more telling is tested first.
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < plain; ++i)
        if ((priority(t.child[i]) >= 5) == (pass == 1)) value(t.child[i], registers[i]);
    if (has_rest) {
      auto more = make(step::operands, r, use_rest(t.child[operands - 1]));
      more.count = static_cast<std::uint8_t>(operands - 1);
      emit(more);
    }
  }

  constexpr std::uint8_t use_rest(std::uint8_t at) {
    auto const s = slot(pattern_[at].name, slot_kind::rest);
    if (rest_seen_[s]) fail(rule_error::rest_twice, pattern_[at].name);
    rest_seen_[s] = true;
    bind(s);
    return s;
  }

  constexpr void attributes(std::uint8_t at, std::uint8_t r, std::string_view except = {}) {
    auto const& t = pattern_[at];
    for (int i = 0; i < t.children; ++i) {
      auto const& a = pattern_[t.child[i]];
      if (a.kind != term_kind::attribute || a.name == except) continue;
      auto made = make(step::parameter, r, no_slot);
      made.through = everywhere_id_;
      made.op = parameter_name(a.name);
      if (a.children == 0) {
        made.number = a.number;
        made.tolerance = 1e-6f;
      } else {
        auto const& holder = pattern_[a.child[0]];
        if (holder.kind == term_kind::number) {
          made.number = holder.number;
          made.tolerance = static_cast<float>(holder.tolerance);
        } else {
          made.b = slot(holder.name, holder.kind == term_kind::scalar ? slot_kind::number : slot_kind::parameter);
          bind(made.b);
        }
      }
      emit(made);
    }
  }
  constexpr std::uint16_t parameter_name(std::string_view name) {
    for (std::uint16_t i = 0; i < out.parameter_name_count; ++i)
      if (out.parameter_names[i] == name) return i;
    if (out.parameter_name_count == lowered_rule::name_capacity) {
      fail(rule_error::too_large, rule_.name);
      return 0;
    }
    out.parameter_names[out.parameter_name_count] = name;
    return out.parameter_name_count++;
  }

  constexpr void reduction(std::uint8_t at, std::uint8_t r) {
    auto const& t = pattern_[at];
    std::string_view axes = "axes";
    for (int i = 0; i < t.children; ++i) {
      auto const& a = pattern_[t.child[i]];
      if (a.kind == term_kind::attribute && a.name == "axes" && a.children == 1) axes = pattern_[a.child[0]].name;
    }
    auto const inner = new_register();
    auto made = make(step::reduction, r, inner, slot(axes, slot_kind::parameter));
    made.op = static_cast<std::uint16_t>(t.op);
    made.through = everywhere_id_;
    emit(made);
    bind(made.c);
    attributes(at, r, "axes");
    value(t.child[0], inner);
  }

  // Products and sums

  constexpr void group(std::uint8_t at, std::uint8_t r, sign_use sign, std::uint8_t around) {
    auto const kind = group_of(pattern_[at].op);
    parts found{};
    if (kind == op_group::product) found.number = 1;
    collect(at, 1, kind, found);
    if (found.overflow) return fail(rule_error::too_large, rule_.name);
    auto const frame = next_frame_++;
    if (frame == 31) return fail(rule_error::too_large, rule_.name);
    for (int direct = 1; direct >= 0; --direct)
      if (auto const needed = direct != 0 ? needs_directly(found, kind) : needs(found); needed != 0) {
        auto test = make(step::within, r, 0, direct);
        test.number = static_cast<double>(needed);
        emit(test);
      }
    auto opened = make(step::group, r, frame, static_cast<int>(sign));
    opened.op = static_cast<std::uint16_t>(kind);
    opened.count = around;
    opened.through = everywhere_id_;
    emit(opened);
    members(found, kind, frame);
    finish_group(found, kind, frame);
  }

  /// Operators without which no sum or product of these parts can match, reached through sums and products alone.
  constexpr std::uint64_t needs(parts const& of) {
    std::uint64_t all = 0;
    for (std::uint8_t i = 0; i < of.count; ++i) {
      all |= needs(of.all[i].term);
      if (static_cast<int>(of.all[i].weight) != of.all[i].weight) all |= root_bit;
    }
    return all;
  }
  /// The same, without those in sums and products among the parts. One part with exponent 1 needs no product around it.
  constexpr std::uint64_t needs_directly(parts const& of, op_group kind) const {
    std::uint64_t all = 0;
    int required = of.has_number && of.number != (kind == op_group::product ? 1 : 0) ? 1 : 0;
    for (std::uint8_t i = 0; i < of.count; ++i) {
      auto const& t = pattern_[of.all[i].term];
      auto const weight = of.all[i].weight;
      if (t.kind == term_kind::rest || t.kind == term_kind::optional) continue;
      required += weight == 1 || weight == -1 ? 1 : 2;
      if (t.kind == term_kind::neutral && group_of(t.op) == op_group::none) all |= operator_bit(t.op);
      if (static_cast<int>(weight) != weight) all |= root_bit;
    }
    return required < 2 ? all : all | (kind == op_group::sum ? sum_bit : product_bit);
  }
  constexpr std::uint64_t needs(std::uint8_t at) {
    if (needs_known_[at]) return needs_[at];
    auto const& t = pattern_[at];
    std::uint64_t found = 0;
    if (t.kind == term_kind::users || t.kind == term_kind::through) {
      found = needs(t.child[0]);
    } else if (t.kind == term_kind::alternatives) {
      found = ~std::uint64_t{0};
      for (int i = 0; i < t.children; ++i) found &= needs(t.child[i]);
    } else if (t.kind == term_kind::neutral && group_of(t.op) == op_group::none) {
      found = operator_bit(t.op);
    } else if (t.kind == term_kind::neutral) {
      parts inside{};
      inside.number = group_of(t.op) == op_group::product ? 1 : 0;
      collect(at, 1, group_of(t.op), inside);
      found = inside.overflow ? 0 : needs(inside);
    }
    needs_known_[at] = true;
    return needs_[at] = found;
  }

  constexpr void finish_group(parts const& found, op_group kind, std::uint8_t frame) {
    if (found.has_number && found.number != (kind == op_group::product ? 1 : 0)) {
      auto made = make(step::literal, frame);
      made.number = found.number;
      made.tolerance = found.tolerance;
      emit(made);
    }
    for (std::uint8_t i = 0; i < found.count; ++i)
      if (pattern_[found.all[i].term].kind == term_kind::rest) emit(make(step::rest, frame, use_rest(found.all[i].term)));
    emit(make(step::close, frame));
  }

  constexpr void members(parts const& found, op_group kind, std::uint8_t frame) {
    for (int wanted = 0; wanted <= 6; ++wanted)
      for (std::uint8_t i = 0; i < found.count; ++i)
        if (part_priority(found.all[i]) == wanted) member(found.all[i], kind, frame);
  }

  [[nodiscard]] constexpr int part_priority(part const& p) const {
    auto const base = priority(p.term);
    return base >= 4 && base <= 7 ? base : p.weight != 1 && p.weight != -1 ? 0 : base;
  }
  /// 0 to 3: operators, the more telling the less; 4 scalars, 5 captures, 6 what may be absent, 7 the rest.
  [[nodiscard]] constexpr int priority(std::uint8_t at) const {
    auto const& t = pattern_[at];
    switch (t.kind) {
      case term_kind::scalar:
      case term_kind::number: return 4;
      case term_kind::capture: return 5;
      case term_kind::optional: return 6;
      case term_kind::rest: return 7;
      case term_kind::users:
      case term_kind::through: return priority(t.child[0]);
      case term_kind::neutral: return is_reduction(t.op) ? 1 : 2;
      default: return 3;
    }
  }

  constexpr void member(part const& p, op_group kind, std::uint8_t frame) {
    if (failed()) return;
    auto const& t = pattern_[p.term];
    if (t.kind == term_kind::alternatives) {
      return lower_forks(t.children, false, [&](int i) { spliced(t.child[i], p.weight, kind, frame); });
    }
    if (t.kind == term_kind::optional) {
      return lower_forks(1, true, [&](int) { spliced(t.child[0], p.weight, kind, frame); });
    }
    if (t.kind == term_kind::scalar) {
      auto made = make(step::scalar_member, frame, slot(t.name, slot_kind::number));
      made.number = p.weight;
      emit(made);
      return bind(made.b);
    }
    bool const capture = t.kind == term_kind::capture;
    bool const product_in_sum = kind == op_group::sum && t.kind == term_kind::neutral && group_of(t.op) == op_group::product;
    bool const sum_in_product = kind == op_group::product && t.kind == term_kind::neutral && group_of(t.op) == op_group::sum;
    auto once = [&](double weight) {
      auto const r = new_register();
      auto made = make(step::member, frame, r);
      made.number = weight;
      if (capture) made.flags |= instruction::captures;
      if (product_in_sum) made.flags |= instruction::any_sign;
      emit(made);
      auto const whole = static_cast<int>(weight) == weight;
      auto const sign = !sum_in_product || !whole ? sign_use::strict : static_cast<int>(weight) % 2 == 0 ? sign_use::free : sign_use::linked;
      value(p.term, r, sign, frame);
    };
    if (kind == op_group::product && p.weight == 2 && !capture)
      // A square is one part squared (or one computation twice), or two computations that match alike.
      return lower_forks(2, false, [&](int i) {
        if (i == 0) return once(2);
        once(1);
        once(1);
      });
    once(p.weight);
  }

  /// An alternative or optional part: when it is of the frame's own group, its parts are the frame's.
  constexpr void spliced(std::uint8_t at, double weight, op_group kind, std::uint8_t frame) {
    parts found{};
    if (kind == op_group::product) found.number = 1;
    collect(at, weight, kind, found);
    if (found.overflow) return fail(rule_error::too_large, rule_.name);
    members(found, kind, frame);
    if (found.has_number && found.number != (kind == op_group::product ? 1 : 0)) {
      auto made = make(step::literal, frame);
      made.number = found.number;
      made.tolerance = found.tolerance;
      emit(made);
    }
  }

  /// The parts of a product or sum, with their exponents or signs.
  constexpr void collect(std::uint8_t at, double weight, op_group kind, parts& into) {
    auto const& t = pattern_[at];
    bool const whole = static_cast<int>(weight) == weight;
    if (t.kind == term_kind::neutral && kind == op_group::sum) {
      switch (t.op) {
        case opcode::add:
        case opcode::sum_of:
          for (int i = 0; i < operand_count(t, pattern_); ++i) collect(t.child[i], weight, kind, into);
          return;
        case opcode::sub:
          collect(t.child[0], weight, kind, into);
          return collect(t.child[1], -weight, kind, into);
        case opcode::neg: return collect(t.child[0], -weight, kind, into);
        default: break;
      }
    }
    if (t.kind == term_kind::neutral && kind == op_group::product && whole) {
      bool const unit = weight == 1 || weight == -1;
      switch (t.op) {
        case opcode::mul:
          collect(t.child[0], weight, kind, into);
          return collect(t.child[1], weight, kind, into);
        case opcode::div:
          collect(t.child[0], weight, kind, into);
          return collect(t.child[1], -weight, kind, into);
        case opcode::reciprocal: return collect(t.child[0], -weight, kind, into);
        case opcode::square: return collect(t.child[0], 2 * weight, kind, into);
        case opcode::sqrt:
          if (unit) return collect(t.child[0], weight / 2, kind, into);
          break;
        case opcode::rsqrt:
          if (unit) return collect(t.child[0], -weight / 2, kind, into);
          break;
        case opcode::pow:
          if (unit && pattern_[t.child[1]].kind == term_kind::number) return collect(t.child[0], weight * pattern_[t.child[1]].number, kind, into);
          break;
        default: break;
      }
    }
    if (t.kind == term_kind::number && (kind == op_group::sum || weight == 1 || weight == -1)) {
      into.has_number = true;
      if (static_cast<float>(t.tolerance) > into.tolerance) into.tolerance = static_cast<float>(t.tolerance);
      if (kind == op_group::sum)
        into.number += weight * t.number;
      else
        into.number = weight == 1 ? into.number * t.number : into.number / t.number;
      return;
    }
    for (std::uint8_t i = 0; i < into.count; ++i)
      if (into.all[i].term == at && t.kind != term_kind::rest) {
        into.all[i].weight += weight;
        return;
      }
    if (into.count == 24) {
      into.overflow = true;
      return;
    }
    into.all[into.count++] = {at, weight};
  }

  // Replacements

  constexpr void lower_replacement() {
    auto const& made = rule_.replacement;
    if (made.size > lowered_rule::replacement_capacity) return fail(rule_error::too_large, rule_.name);
    std::size_t const roots = made[made.root()].kind == term_kind::roots ? made[made.root()].children : 1u;
    if (roots != out.root_count) return fail(rule_error::roots_and_replacements_differ, rule_.name);
    for (std::uint16_t i = 0; i < made.size; ++i) {
      auto const& t = made[i];
      auto& r = out.replacement[i];
      for (int c = 0; c < t.children; ++c) {
        auto const& child = made[t.child[c]];
        if (child.kind != term_kind::attribute) {
          r.child[r.children++] = t.child[c];
          continue;
        }
        if (r.parameter_count == 4) return fail(rule_error::too_large, rule_.name);
        auto& given = r.parameters[r.parameter_count++];
        given.name = child.name;
        given.number = child.number;
        given.integer = child.index == 1;
        given.slot = no_slot;
        if (child.children == 1) {
          auto const& holder = made[child.child[0]];
          if (holder.kind == term_kind::number)
            given.number = holder.number;
          else
            given.slot = known(holder.name);
        }
      }
      using kind = replacement_term::kind;
      switch (t.kind) {
        case term_kind::capture:
        case term_kind::scalar:
        case term_kind::rest:
        case term_kind::parameter:
          r.what = kind::slot;
          r.slot = known(t.name);
          break;
        case term_kind::number:
          r.what = kind::number;
          r.number = t.number;
          break;
        case term_kind::named:
        case term_kind::exact: {
          auto const code = names_.code(t.name);
          if (code == 0) return fail(rule_error::unknown_operator, t.name);
          auto const op = names_.rows[code - 1u].op;
          bool const neutral = t.kind == term_kind::named && op != opcode::opaque;
          r.what = neutral ? kind::neutral : kind::named;
          r.op = neutral ? static_cast<std::uint16_t>(op) : code;
          if (neutral) {
            term checked = t;
            checked.op = op;
            check_operands(checked, operand_count(t, made));
          }
          break;
        }
        case term_kind::neutral:
          r.what = kind::neutral;
          r.op = static_cast<std::uint16_t>(t.op);
          check_operands(t, operand_count(t, made));
          break;
        case term_kind::fold: r.what = kind::fold; break;
        case term_kind::row:
          r.what = kind::row;
          r.number = t.number;
          break;
        case term_kind::result:
          r.what = kind::result;
          r.index = t.index;
          break;
        case term_kind::roots: r.what = kind::roots; break;
        case term_kind::attribute: break;
        default: return fail(rule_error::no_replacement, rule_.name);
      }
    }
    out.replacement_size = static_cast<std::uint8_t>(made.size);
  }

  constexpr std::uint8_t known(std::string_view name) {
    for (std::uint8_t i = 0; i < out.slot_count; ++i)
      if (out.slot_names[i] == name) return i;
    fail(rule_error::unbound_name, name);
    return 0;
  }
};

[[nodiscard]] constexpr lowered_rule lower(rewrite_rule const& rule, dialect const& names) { return lowering(rule, names).out; }

}  // namespace fuse::inline v0::detail
