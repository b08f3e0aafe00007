// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/dsl/rule.hpp>
#include <fuse/ops/algebra.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/lowered_rule.hpp>
#include <fuse/program/operator_facts.hpp>

namespace fuse::inline v0::detail {

/// Turns one rule into instructions and a resolved right side. Everything happens during constant evaluation; a rule
/// that is wrong leaves its error, the first one, and nothing after it counts.
///
/// One class, its members defined in a header for each task: as a chain of bases, which constant evaluation follows at
/// each access, it took g++ a tenth longer.
class lowering {
 public:
  constexpr lowering(lowered_rule& into, rewrite_rule const& rule, dialect const& names);

 private:
  // A chain of instructions whose `next` (or `other`) is the next that is emitted, though that does not follow them: 1
  // + twice the place of the first, and 1 more for its `other`; 0 ends the chain. That field holds the rest of the
  // chain.
  using links = std::uint16_t;
  struct part {
    std::uint8_t term, priority;
    double weight;
  };
  struct parts {
    part all[24];
    std::uint8_t count;
    double number;    // the constants among them
    float tolerance;  // the widest of theirs
    bool has_number, overflow;
  };
  struct term_registers {
    std::uint8_t of[expression::capacity];
  };
  // Terms, each below the one before.
  struct way {
    static constexpr int capacity = 16;
    std::uint8_t terms[capacity];
    int length;
    [[nodiscard]] friend constexpr bool operator==(way const& a, way const& b) {
      bool same = a.length == b.length;
      for (int i = 0; same && i < a.length; ++i) same = a.terms[i] == b.terms[i];
      return same;
    }
  };
  static constexpr int max_ways = 16;
  static constexpr std::uint8_t rest_priority = 7;

  // (Before the functions: g++ walks through all that is declared before a member that is written.)
  lowered_rule& out;  // (of someone else: constant evaluation pays for each struct around what is written)
  rewrite_rule const& rule_;
  dialect const& names_;
  expression pattern_{};
  // Of each term, found once, since a call costs constant evaluation more than a read.
  op_group group_[expression::capacity]{};  // of a rest: what it is left of
  bool reduction_[expression::capacity]{};
  std::uint8_t priority_[expression::capacity]{};     // 0 to 3: operators, the more telling the less; see resolve
  std::uint64_t needs_[expression::capacity]{};       // operators that are below in any case, reached through sums and
                                                      // products alone
  std::uint8_t slot_[expression::capacity]{};         // 1 + that of a capture
  std::uint8_t node_slot_[expression::capacity]{};    // 1 + that of the node where an operator was found first
  std::uint8_t times_[expression::capacity]{};        // that a term may occur in a match: 0, 1, or 2 for more
  bool has_number_[expression::capacity]{};           // of a product: it has a number
  std::uint8_t multiple_of_[expression::capacity]{};  // which term it is, and how many times: a sum of like terms, or
  double multiple_[expression::capacity]{};           // one beside a number; itself, once, where it is neither
  std::uint16_t size_ = 0;                            // of the code
  links pending_ = 0;
  std::uint16_t unreached_ = 0;  // where the instruction before does not lead
  bool failed_ = false;
  std::uint8_t next_register_ = 1, next_frame_ = 0;
  term_registers register_of_{};  // of a term that is found, else 0
  std::uint32_t bound_ = 0;       // slots, a bit each
  std::uint32_t partly_ = 0;      // ... of names that one branch of an either binds, and another one does not
  std::uint32_t root_names_ = 0;  // ... of names that roots have
  bool several_roots_ = false;
  bool again_ = false;                          // a large part is matched a second time
  bool free_ = true;                            // see instruction::free
  std::uint8_t first_beside_ = 0, beside_ = 0;  // registers of operands that broadcast, where a shape matters
  double scale_ = 0;                            // the next product is added, so many times; 0: it is not
  through_set everywhere_{};
  std::uint8_t everywhere_id_ = 0;

  constexpr void fail(rule_error error, static_text culprit, std::size_t wanted = 0) {
    if (failed_) return;
    failed_ = true;
    out.error = error;
    out.culprit = culprit;
    out.wanted = wanted;
  }

  // lower_writing.hpp: hands out sets, registers, frames and slots, and links what is emitted
  constexpr void add_transparent(through_set& set, static_text name);
  constexpr std::uint8_t set_id(through_set const& set);
  constexpr std::uint8_t slot(static_text name, slot_kind kind);
  constexpr std::uint8_t bound_slot(static_text name, slot_kind kind);
  constexpr std::uint8_t bound_slot_of(std::uint8_t at, slot_kind kind);
  constexpr std::uint8_t bound_rest(std::uint8_t at, op_group of);
  constexpr std::uint8_t nameless_slot(std::uint8_t& known, slot_kind kind);
  constexpr std::uint8_t node_slot(std::uint8_t at);
  constexpr void emit(instruction const& made);
  constexpr std::uint16_t& led_by(links chain);
  constexpr void resolve_links();
  constexpr void pend(std::size_t at, bool other);
  [[nodiscard]] constexpr links chained(links chain, links then);
  [[nodiscard]] constexpr links detach();
  constexpr std::uint8_t new_register();
  constexpr std::uint8_t new_registers(int count);
  template <class Form>
  constexpr void lower_forks(int count, bool may_skip, Form&& form);
  constexpr std::uint16_t parameter_name(static_text name);
  constexpr std::uint16_t rearranged(term const& t, bool in_pattern);
  constexpr std::uint8_t dimension_slot(static_text name);
  constexpr std::uint8_t known(static_text name);

  // lower_attributes.hpp: attributes against those that the dialect lists
  constexpr void fail_at(operator_row const& row, rule_error error, std::string_view attribute);
  constexpr void check_sources();
  constexpr void check_attributes(expression const& in, term const& t, std::uint16_t code, bool has_defaults);
  [[nodiscard]] static constexpr bool holds(attribute_kind kind, expression const& in, term const& given);

  // lower_parts.hpp: the parts of products and sums, what they need below them, and which to look for first
  [[nodiscard]] constexpr bool large(std::uint8_t at) const;
  [[nodiscard]] constexpr int tree_size(std::uint8_t at, int limit) const;
  [[nodiscard]] constexpr std::uint64_t needs_of(term const& t, opcode op, op_group group);
  [[nodiscard]] constexpr std::uint64_t needs_directly(parts const& of, op_group kind, bool added) const;
  constexpr parts parts_of(std::uint8_t at, double weight, op_group kind);
  constexpr void collect(std::uint8_t at, double weight, op_group kind, parts& into);
  [[nodiscard]] constexpr double ratio(std::uint8_t a, std::uint8_t b);
  static constexpr void widen(parts& of, double tolerance);
  constexpr void add_number(double number, double weight, parts& into, double tolerance = usual_tolerance);
  [[nodiscard]] static constexpr bool is_small(double weight) {
    return is_whole_weight(weight) && weight >= -8 && weight <= 8;
  }
  constexpr void add_part(std::uint8_t at, double weight, op_group kind, parts& into);

  // lower_multiples.hpp: which terms are multiples of others
  constexpr void resolve_multiple(std::uint8_t at, term const& t);
  constexpr void resolve_multiple_sum(std::uint8_t at, term const& t);
  [[nodiscard]] constexpr bool is_factor(std::uint8_t at) const;
  [[nodiscard]] constexpr bool is_term(std::uint8_t at) const;

  // lower_names.hpp: names become operators, and facts of all terms are found
  constexpr void resolve();
  constexpr void count_times();
  [[nodiscard]] constexpr bool lacks_what_it_needs(term const& t) const;
  constexpr void resolve_operator(std::uint8_t at, term const& t);
  constexpr void spell_out(std::uint8_t at, summing const& as);
  [[nodiscard]] constexpr bool stands_again(std::uint8_t at) const;
  [[nodiscard]] constexpr bool opens_logarithm(term const& t, opcode op) const;
  [[nodiscard]] constexpr bool opens_power(term const& t) const;
  constexpr void fail_at_operands(term const& t, operator_facts const& known);
  constexpr void fail_at_misuse(term const& t);

  // lower_pattern.hpp: the terms of a pattern
  constexpr std::uint8_t collect_set(std::uint8_t at, through_set& set);
  constexpr void capture(std::uint8_t at, std::uint8_t r);
  constexpr void named(std::uint8_t at, std::uint8_t r);
  constexpr void value(std::uint8_t at, std::uint8_t r, sign_use sign = sign_use::strict, std::uint8_t around = 0,
                       bool alone = false);
  constexpr void operation(std::uint8_t at, std::uint8_t r, std::uint8_t result);
  constexpr void attributes(term const& t, std::uint8_t r, std::uint8_t through, static_text except = {});
  constexpr void list_of_numbers(term const& list, instruction made);
  constexpr void reduction(term const& t, std::uint8_t r, bool alone);
  constexpr void axes_required(term const& by, instruction made);
  constexpr void group(std::uint8_t at, std::uint8_t r, sign_use sign, std::uint8_t around);
  [[nodiscard]] constexpr bool is_operand(std::uint8_t at) const;
  [[nodiscard]] constexpr bool divides_products(term const& t) const;
  constexpr void whole_group(parts const& found, op_group kind, std::uint8_t frame, bool branch);
  constexpr void branches(parts const& found, int at, op_group kind, std::uint8_t frame);
  [[nodiscard]] constexpr bool may_add_number(std::uint8_t at, op_group kind) const;
  constexpr void finish_group(parts const& found, op_group kind, std::uint8_t frame, bool branch);
  constexpr void member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame);
  [[nodiscard]] constexpr bool is_one_node(std::uint8_t at, op_group kind) const;
  constexpr void one_member(std::uint8_t at, double weight, op_group kind, std::uint8_t frame);
  constexpr void spliced(std::uint8_t at, double weight, op_group kind, std::uint8_t frame);

  // lower.hpp: roots, conditions and the right side
  constexpr void lower_roots(std::uint8_t root);
  constexpr void add_entry(std::uint16_t first, std::uint16_t tag, bool by_name, std::uint8_t strip);
  constexpr void add_entries(std::uint8_t root, std::uint16_t first);
  constexpr void add_entries_of_group(std::uint8_t root, std::uint16_t first);
  [[nodiscard]] constexpr bool is_operator(std::uint8_t at) const;
  [[nodiscard]] constexpr bool is_other_result(std::uint8_t at) const;
  constexpr void ask_ahead(std::uint32_t& asked);
  [[nodiscard]] constexpr bool uses_a_name(std::uint8_t root);
  constexpr void name_root(std::uint8_t at);
  constexpr void add_transparent_entries(through_set const& set, std::uint16_t first);
  constexpr void further_root(std::uint8_t root);
  constexpr void climb(way const& along, std::uint8_t to);
  [[nodiscard]] static constexpr bool is_node(term const& t);
  [[nodiscard]] static constexpr bool is_name(term const& t);
  // Whether a term is spelled by several operators in general.
  [[nodiscard]] constexpr bool is_spelled(std::uint8_t at) const {
    return pattern_[at].kind == term_kind::neutral && (group_[at] != op_group::none || reduction_[at]);
  }
  constexpr bool way_to_bound(std::uint8_t at, bool last, int& branches, way& into);
  [[nodiscard]] constexpr bool is_bound(static_text name) const;
  constexpr void add_condition(condition const& added);
  [[nodiscard]] static constexpr bool names(expression const& in, static_text name);
  [[nodiscard]] static constexpr bool captures(term const& t) {
    return t.kind == term_kind::capture || t.kind == term_kind::scalar || t.kind == term_kind::rest ||
           t.kind == term_kind::parameter;
  }
  constexpr void require_operands(expression const& in, term const& t, int required);
  constexpr std::uint8_t axes_of_row(expression const& in, term const& t);
  constexpr bool lower_again(term const& t, replacement_term& into);
  constexpr void lower_replacement();
};

}  // namespace fuse::inline v0::detail
