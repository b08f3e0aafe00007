// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/match/filter/branch_lists.hpp>
#include <fuse/ops/algebra.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// Where matching begins at a node: an entry of the program, if the operators below the node allow it.
template <class Program>
struct basic_entrance {
  typename basic_branch_lists<Program>::gate gate;
  std::uint16_t stage, first, only;  ///< where there is one branch, the step that its gate leads to
  std::uint8_t strip;
  bool looks_ahead;  ///< that step is the operator at the root

  /// One without a gate.
  [[nodiscard]] static basic_entrance open(program_entry const& e) {
    return {basic_branch_lists<Program>::gate::open(), e.stage, e.first, no_instruction, e.strip, false};
  }
};

/// The entrances of a program, by the operator of the node and the stage, and the names of operators that rules begin
/// with.
template <class Program>
class basic_entrances {
 public:
  /// Those of one operator and stage, which stand together.
  struct range {
    typename basic_branch_lists<Program>::gate gate{};  ///< lets through what one of theirs does
    std::uint16_t first = 0, last = 0;
    bool named = false;  ///< nodes of this operator may have a name that rules begin with
  };

  basic_entrances(Program const& rules, basic_branch_lists<Program> const& branches, dialect const& names)
      : ranges_((static_cast<std::size_t>(rules.stages) + 1) * operators) {
    for (std::size_t op = 0; op < operators; ++op)
      for (auto const& e : rules.entries)
        if (begins(e, op)) add(op, e, rules, branches);
    for (auto const& e : rules.entries)
      if (e.by_name) add_name(e.tag, names, rules.stages);
  }

  /// Of one stage, or of all: stage number `stages`.
  [[nodiscard]] range const& of(int stage, std::size_t op) const {
    return ranges_[static_cast<std::size_t>(stage) * operators + op];
  }
  [[nodiscard]] basic_entrance<Program> const& operator[](std::uint16_t at) const { return entrances_[at]; }
  /// Whether a rule begins with the operator of this name code.
  [[nodiscard]] bool has_name(std::uint16_t name) const { return name < names_.size() && names_[name]; }

 private:
  static constexpr std::size_t operators = static_cast<std::size_t>(opcode::count_);

  // A sum or a mean may also be another of these, and whole powers of that, times a number.
  [[nodiscard]] static bool begins(program_entry const& e, std::size_t op) {
    auto const root = static_cast<opcode>(op);
    auto const& how = opening_of(root, op_group::product);
    bool const product =
        how.when == opens_with::whole || how.when == opens_with::one_over || how.when == opens_with::power;
    bool const reads =
        is_summing_of_others(static_cast<opcode>(e.tag)) && (summing_of(root).of != 0 || (product && !how.negates));
    return !e.by_name && (e.tag == op || reads);
  }

  void add(std::size_t op, program_entry const& e, Program const& rules, basic_branch_lists<Program> const& branches) {
    entrances_.push_back(e.strip != 0 ? basic_entrance<Program>::open(e) : gated(e, rules, branches));
    for (auto stage : {std::size_t{e.stage}, static_cast<std::size_t>(rules.stages)}) {
      auto& of = ranges_[stage * operators + op];
      of.gate.widen(entrances_.back().gate);
      if (of.last == 0) of.first = static_cast<std::uint16_t>(entrances_.size() - 1);
      of.last = static_cast<std::uint16_t>(entrances_.size());
    }
  }

  [[nodiscard]] static basic_entrance<Program> gated(program_entry const& e, Program const& rules,
                                                     basic_branch_lists<Program> const& branches) {
    auto const only = branches.only_branch(e.first);
    bool const operation =
        only != no_instruction && rules.code[only].code == step::operation && rules.code[only].through == 0;
    return {branches.gate_of(e.first, 1), e.stage, e.first, only, e.strip, operation};
  }

  // What a name means depends on the version of the operator set: whatever it may mean.
  void add_name(std::uint16_t name, dialect const& names, int stages) {
    if (names_.size() <= name) names_.resize(name + std::size_t{1}, false);
    names_[name] = true;
    auto const mark = [&](opcode op) {
      for (int stage = 0; stage <= stages; ++stage)
        ranges_[static_cast<std::size_t>(stage) * operators + static_cast<std::size_t>(op)].named = true;
    };
    mark(opcode::opaque);
    auto const& first = names.rows[name - 1u];
    for (std::size_t k = 0; k <= first.more; ++k) mark((&first)[k].op);
  }

  plain_vector<range> ranges_;  // by stage and operator
  plain_vector<basic_entrance<Program>> entrances_;
  std::vector<bool> names_;  // by name code
};
using entrance = basic_entrance<program>;
using entrances = basic_entrances<program>;

}  // namespace fuse::inline v0::detail
