// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/plain_vector.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/ops/algebra.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// How far above a node the root of a pattern may be that has it inside: how many operators may stand between, where
/// what `passes` counts for none. Told for the patterns of a stage and of all before it: rules of later stages will
/// look at every node. Made once for a program, linear in it for each stage.
class pattern_reach {
 public:
  static constexpr int none = -1;  ///< no pattern has such an operator inside

  explicit pattern_reach(program const& rules)
      : rules_(rules),
        above_(operators * static_cast<std::size_t>(rules.stages), none),
        most_(static_cast<std::size_t>(rules.stages), none),
        passed_(operators, false) {
    list_passed();
    plain_vector<int> before(rules.code.size());
    for (int stage = 0; stage < rules.stages; ++stage) {
      before.assign(before.size(), -1);
      for (auto const& e : rules.entries)
        if (e.stage <= stage) follow(e.first, 0, stage, before);
      // A sum or a mean may be spelled as another of these.
      for (auto op : {opcode::sum, opcode::mean})
        for (auto const& each : summings) raise(at(stage, each.op), at(stage, op));
    }
  }

  /// Above what `op` computes.
  [[nodiscard]] int above(int stage, opcode op) const { return above_[place(stage, op)]; }
  /// Whether matching may go through such an operator without a step of the pattern: it opens sums and products,
  /// leaves out what keeps elements, follows what moves them, and looks through what a rule names.
  [[nodiscard]] bool passes(operator_tag tag) const {
    if (passed_[tag.op]) return true;
    for (auto const name : passed_names_)
      if (name == tag.name) return true;
    return false;
  }
  /// Above anything.
  [[nodiscard]] int most(int stage) const { return most_[static_cast<std::size_t>(stage)]; }

 private:
  static constexpr auto operators = static_cast<std::size_t>(opcode::count_);

  void list_passed() {
    bool rearranges = false;
    for (auto const& i : rules_.code) rearranges = rearranges || i.code == step::rearranged;
    for (std::size_t at = 0; at < operators; ++at) {
      auto const op = static_cast<opcode>(at);
      passed_[at] = info(op).group != op_group::none || op == opcode::log || may_keep_elements(op) || may_clip(op) ||
                    opening_of(op, op_group::product).when != opens_with::none || (rearranges && may_move_elements(op));
    }
    for (auto const& set : rules_.sets)
      for (std::size_t i = 0; i < set.count; ++i)
        if (set.by_name[i])
          passed_names_.push_back(set.ops[i]);
        else
          passed_[set.ops[i]] = true;
  }

  // `above`: twice the operators on the way to instruction `pc`, and one more where a sum or product is among what is
  // opened there.
  void follow(std::uint16_t pc, int above, int stage, plain_vector<int>& before) {
    for (; pc != no_instruction && before[pc] < above; pc = rules_.code[pc].next) {
      before[pc] = above;
      auto const& i = rules_.code[pc];
      if (i.code == step::fork) follow(i.other, above, stage, before);
      if (i.code == step::group) above |= 1;
      if (i.code != step::operation && i.code != step::reduction && i.code != step::exactly) continue;
      auto const op = i.code == step::exactly ? opcode::opaque : static_cast<opcode>(i.op);
      if (above != 0) raise(at(stage, op), above / 2);  // else it is a root
      above += 2;
      raise(most_[static_cast<std::size_t>(stage)], above / 2);
    }
  }
  static void raise(int& most, int found) {
    if (found > most) most = found;
  }
  [[nodiscard]] static std::size_t place(int stage, opcode op) {
    return static_cast<std::size_t>(stage) * operators + static_cast<std::size_t>(op);
  }
  int& at(int stage, opcode op) { return above_[place(stage, op)]; }

  program const& rules_;
  plain_vector<int> above_;    // by stage and opcode
  plain_vector<int> most_;     // by stage
  plain_vector<bool> passed_;  // by opcode
  plain_vector<std::uint16_t> passed_names_;
};

}  // namespace fuse::inline v0::detail
