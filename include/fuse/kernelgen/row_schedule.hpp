// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/read_operands.hpp>
#include <fuse/kernelgen/row_access.hpp>
#include <fuse/kernelgen/row_program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fuse::inline v0::kernelgen {

/// In which order the steps of a row program are computed for tiles of a row, and where their rows are kept meanwhile.
///
/// A pass for each depth of reductions, and one that writes. What a pass reduces is kept for the whole row, and later
/// passes read it there. Rows of one tile keep everything: a step is computed once. Of longer rows, a pass computes
/// again what it needs of the others, tile by tile, which stay in the first cache. Of short rows several are one tile,
/// one after the other.
class row_schedule {
 public:
  static constexpr std::size_t tile = 1024;  ///< columns

  enum class fold_form : std::uint8_t { sum, mean, spread, largest, products, products_with_number };
  /// A reduction of steps `a` (and `b`); of a spread `b` is the mean, which is told, too.
  struct fold {
    fold_form form;
    std::uint8_t step, a, b;
  };
  /// A step of rows, and the slot that it is kept in.
  struct action {
    std::uint8_t step;
    std::uint16_t slot;
  };
  struct pass {
    std::vector<action> actions{};  ///< for each tile
    std::vector<fold> folds{};      ///< of the row
    std::vector<std::uint8_t> numbers{};
  };

  /// `inputs` are those of the program, in their order.
  row_schedule(detail::row_program const& program, std::span<row_access const> inputs, std::size_t columns)
      : program_(program), inputs_(inputs), columns_(columns), is_whole_(columns <= tile) {
    // A loop over few columns takes as long to begin as to run: the groups of Softmax in bench/runtime.py.
    if (columns * 8 <= tile) rows_at_once_ = std::min<std::size_t>(tile / std::max<std::size_t>(columns, 1), 64);
    for (std::size_t i = 0; i < program.size; ++i) note(i);
    for (std::size_t i = 0; i < program.number_of_results; ++i) ++readers_[program.results[i]];
    // A loop over a row waits for memory more than for arithmetic: the norms of bench/kernels/expressions.cpp.
    for (std::size_t i = 0; i < program.size; ++i) operands_[i] = detail::operands_of(program, readers_, i);
    passes_.resize(static_cast<std::size_t>(program.depth) + 1);
    for (std::size_t i = 0; i < passes_.size(); ++i) list(passes_[i], static_cast<int>(i));
    std::vector<action*> together;
    for (auto& each : passes_) {
      for (auto& one : each.actions) together.push_back(&one);
      if (is_whole_ && &each != &passes_.back()) continue;
      give_slots(together);
      together.clear();
    }
    for (auto& each : passes_)
      for (auto& one : each.actions)
        if (is_kept(one.step)) one.slot = static_cast<std::uint16_t>(slots_ + kept_++);
    slot_columns_ = is_whole_ ? up(columns * rows_at_once_) : tile;
    row_columns_ = up(columns);
  }

  [[nodiscard]] std::vector<pass> const& passes() const { return passes_; }
  /// How many rows are one tile.
  [[nodiscard]] std::size_t rows_at_once() const { return rows_at_once_; }
  /// Numbers that all rows share, and those of each row that no reduction is before.
  [[nodiscard]] std::vector<std::uint8_t> const& shared_numbers() const { return shared_; }
  [[nodiscard]] std::vector<std::uint8_t> const& first_numbers() const { return first_; }
  /// Whether number `step` is another one for each row.
  [[nodiscard]] bool varies(std::size_t step) const { return varies_[step]; }
  /// Whether rows meet number `step`, and whether they are divided by it.
  [[nodiscard]] bool is_met(std::size_t step) const { return is_met_[step]; }
  [[nodiscard]] bool divides(std::size_t step) const { return divides_[step]; }
  /// Whether the row of input `step` is read where it lies.
  [[nodiscard]] bool is_read_in_place(std::size_t step) const {
    auto const& s = program_[step];
    return s.op == detail::row_op::input && inputs_[s.index].element == row_element::float32 &&
           inputs_[s.index].columns.contiguous() && (rows_at_once_ == 1 || are_together(inputs_[s.index].rows));
  }
  /// Whether a row begins where the one before it ends.
  [[nodiscard]] bool are_together(digits const& rows) const {
    return rows.count == 1 && rows.strides[0] == static_cast<std::ptrdiff_t>(columns_);
  }
  /// Whether step `step` is kept for the whole row where that has several tiles.
  [[nodiscard]] bool is_kept(std::size_t step) const { return !is_whole_ && is_kept_[step]; }

  /// What is read for step `step`, of rows.
  [[nodiscard]] detail::read_operands const& operands(std::size_t step) const { return operands_[step]; }

  /// Floats for all slots and, behind them, for the numbers of the rows of a tile; and where a slot begins.
  [[nodiscard]] std::size_t size() const { return begin_of_numbers() + 2 * program_.size * rows_at_once_; }
  [[nodiscard]] std::size_t begin_of_numbers() const { return slots_ * slot_columns_ + kept_ * row_columns_; }
  [[nodiscard]] std::size_t begin_of(std::uint16_t slot) const {
    return slot < slots_ ? slot * slot_columns_ : slots_ * slot_columns_ + (slot - slots_) * row_columns_;
  }

 private:
  [[nodiscard]] static constexpr std::size_t up(std::size_t columns) { return (columns + 15) / 16 * 16; }

  // Which numbers rows meet, when each number is known, and how often each step is read.
  void note(std::size_t at) {
    auto const& s = program_[at];
    bool const is_folded = detail::is_reduction(s.op);
    for (int i = 0; i < s.operands; ++i) {
      auto const operand = s.operand(i);
      if (s.is_used) ++readers_[operand];
      varies_[at] = varies_[at] || varies_[operand];
      if (!s.is_used || !(s.is_row || is_folded) || program_[operand].is_row) continue;
      is_met_[operand] = true;
      divides_[operand] = divides_[operand] || (s.is_row && s.op == detail::row_op::div && i == 1);
    }
    if (s.op == detail::row_op::input && !s.is_row) varies_[at] = inputs_[s.index].rows.count != 0;
    varies_[at] = varies_[at] || is_folded;
    if (s.is_used && !s.is_row && !is_folded && s.depth == 0)
      (varies_[at] ? first_ : shared_).push_back(static_cast<std::uint8_t>(at));
  }

  void list(pass& into, int depth) {
    std::vector<std::uint8_t> wanted;
    for (std::size_t i = 0; i < program_.size; ++i) {
      auto const& s = program_[i];
      if (!s.is_used) continue;
      if (detail::is_reduction(s.op) && s.depth == depth + 1) add_fold(into, i, wanted);
      if (!s.is_row && !detail::is_reduction(s.op) && s.depth == depth + 1)
        into.numbers.push_back(static_cast<std::uint8_t>(i));
    }
    if (depth == program_.depth)
      for (std::size_t i = 0; i < program_.number_of_results; ++i)
        if (program_[program_.results[i]].is_row) wanted.push_back(program_.results[i]);
    bool needed[detail::row_program::capacity]{};
    for (auto const at : wanted) need(at, needed);
    for (std::size_t i = 0; i < program_.size; ++i)
      if (needed[i]) into.actions.push_back({static_cast<std::uint8_t>(i), 0});
    for (auto const& one : into.actions) is_there_[one.step] = is_there_[one.step] || is_whole_;
    for (auto const& one : into.folds)
      for (auto const at : {one.a, one.form == fold_form::products ? one.b : one.a})
        is_kept_[at] = is_there_[at] = program_[at].is_row;
  }
  void add_fold(pass& into, std::size_t at, std::vector<std::uint8_t>& wanted) {
    auto const& s = program_[at];
    auto const step = static_cast<std::uint8_t>(at);
    switch (s.op) {
      case detail::row_op::mean:
        if (detail::has_spread(program_, s.a)) return;
        into.folds.push_back({fold_form::mean, step, s.a, s.a});
        break;
      case detail::row_op::spread: into.folds.push_back({fold_form::spread, step, s.a, s.b}); break;
      case detail::row_op::largest: into.folds.push_back({fold_form::largest, step, s.a, s.a}); break;
      case detail::row_op::sum_of_products:
        if (program_[s.a].is_row && program_[s.b].is_row) {
          into.folds.push_back({fold_form::products, step, s.a, s.b});
          wanted.push_back(s.b);
        } else {
          auto const [row, number] = program_[s.a].is_row ? std::pair(s.a, s.b) : std::pair(s.b, s.a);
          into.folds.push_back({fold_form::products_with_number, step, row, number});
          wanted.push_back(row);
          return;
        }
        break;
      default: into.folds.push_back({fold_form::sum, step, s.a, s.a}); break;
    }
    wanted.push_back(s.a);
  }
  void need(std::uint8_t at, bool (&needed)[detail::row_program::capacity]) const {
    auto const& s = program_[at];
    if (!s.is_row || needed[at] || is_there_[at] || is_read_in_place(at)) return;
    needed[at] = true;
    for (int i = 0; i < s.operands; ++i) need(operands_[at][i], needed);
  }

  // Each action but those that are kept for the row gets a slot that nobody needs any more; the one of an operand that
  // it is the last to read, too.
  void give_slots(std::vector<action*> const& all) {
    std::size_t last[detail::row_program::capacity]{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const& s = program_[all[i]->step];
      last[all[i]->step] = i;
      for (int k = 0; k < s.operands; ++k) last[operands_[all[i]->step][k]] = i;
    }
    for (std::size_t i = 0; i < program_.number_of_results; ++i) last[program_.results[i]] = all.size();
    for (auto const& each : passes_)
      for (auto const& one : each.folds) last[one.a] = last[one.b] = all.size();
    std::vector<std::uint16_t> unused;
    std::uint16_t slot_of[detail::row_program::capacity]{};
    bool has_slot[detail::row_program::capacity]{};
    std::size_t made = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const& s = program_[all[i]->step];
      for (int k = 0; k < s.operands; ++k) {
        auto const operand = operands_[all[i]->step][k];
        if (!has_slot[operand] || last[operand] != i) continue;
        has_slot[operand] = false;
        unused.push_back(slot_of[operand]);
      }
      if (is_kept(all[i]->step)) continue;
      if (unused.empty()) unused.push_back(static_cast<std::uint16_t>(made++));
      all[i]->slot = slot_of[all[i]->step] = unused.back();
      has_slot[all[i]->step] = true;
      unused.pop_back();
    }
    slots_ = std::max(slots_, made);
  }

  detail::row_program const& program_;
  std::span<row_access const> inputs_;
  std::size_t columns_, rows_at_once_ = 1;
  bool is_whole_;  // the row is one tile
  detail::read_operands operands_[detail::row_program::capacity]{};
  std::uint16_t readers_[detail::row_program::capacity]{};
  std::vector<pass> passes_;
  std::vector<std::uint8_t> shared_, first_;
  bool varies_[detail::row_program::capacity]{}, is_met_[detail::row_program::capacity]{},
      divides_[detail::row_program::capacity]{}, is_kept_[detail::row_program::capacity]{},
      is_there_[detail::row_program::capacity]{};
  std::size_t slots_ = 0, kept_ = 0, slot_columns_ = 0, row_columns_ = 0;
};

}  // namespace fuse::inline v0::kernelgen
