// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/dsl/condition.hpp>
#include <fuse/ops/attribute_list.hpp>
#include <fuse/program/instruction.hpp>
#include <fuse/program/rearrangement.hpp>

namespace fuse::inline v0 {

/// Why a rule does not compile.
enum class rule_error : std::uint8_t {
  none,
  too_large,
  unknown_operator,
  wrong_operand_count,
  unbound_name,
  rest_not_last,
  no_replacement,
  either_in_a_replacement,
  roots_and_replacements_differ,
  unreachable_root,
  unbound_condition,
  two_uses_of_a_name,
  unknown_attribute,
  attribute_of_another_kind,
  row_of_several_axes,
  root_on_the_right,
  attribute_of_no_operator,
  tolerance_of_no_number,
  too_many_users,
  parameter_as_operand,
  not_in_all_branches,
  parameter_as_value,
  cancels,
  misplaced,
  result_as_root,
  again_of_no_operator,
  result_of_no_operator,
  list_of_no_numbers,
  or_else_of_no_capture,
  optional_of_no_fold,
  exact_of_no_fold,
  wrong_notation,
};

/// What a slot of a rule is.
enum class slot_kind : std::uint8_t { value, number, rest, parameter, dimension };

/// What the machine and the rewriter know of a rule, besides its instructions.
struct rule_info {
  static constexpr std::size_t name_capacity = 24;

  static_text name, summary;
  int stage;
  double benefit;
  std::uint16_t rank;  ///< in the program: how many rules are tried before it, by falling benefit, then as in the set
  bool equal_cost, silent, reduces;
  opcode_set telling;  ///< the operators of its pattern that are no sums, products, or changes of layout
  std::uint8_t slot_count, root_count, replacement_size;
  std::uint8_t root_registers[4];
  static_text slot_names[name_capacity];
  slot_kind slot_kinds[name_capacity];
  std::uint32_t first_replacement;  ///< in the program
};

/// A condition with the slots that it looks at.
struct bound_condition {
  condition what;
  std::uint8_t slots[condition::capacity];
  std::uint16_t rule;  ///< in the program
};

/// A rule's own part of a program: what lowering makes of it, before rules are merged. One type for all rules.
struct lowered_rule : rule_info {
  static constexpr std::size_t instruction_capacity = 768, entry_capacity = 40, set_capacity = 6,
                               replacement_capacity = 64, condition_capacity = 16, rearrangement_capacity = 12;

  struct entry {
    std::uint16_t first;  ///< instruction
    std::uint16_t tag;    ///< opcode or name code of the root's node
    bool by_name;
    std::uint8_t strip;  ///< set that the root is stripped of first, 0: the root itself
  };

  rule_error error;
  static_text culprit;
  std::size_t wanted;                ///< for a wrong number of operands
  static_text owner;                 ///< the operator, where an attribute is wrong
  attribute_list const* attributes;  ///< those that it has

  detail::instruction code[instruction_capacity];  ///< `next` and `other` are how many instructions are passed over
  std::uint16_t size;
  entry entries[entry_capacity];
  std::uint16_t entry_count;
  static_text parameter_names[name_capacity];
  std::uint16_t parameter_name_count;
  detail::through_set sets[set_capacity];
  std::uint8_t set_count;
  detail::rearrangement rearrangements[rearrangement_capacity];
  std::uint8_t rearrangement_count;
  bound_condition conditions[condition_capacity];
  std::uint8_t condition_count;
  detail::replacement_term replacement[replacement_capacity];
};

}  // namespace fuse::inline v0
