// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/match/filter/branch_lists.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// For each step that opens a sum or product: the operators that a pattern looks for among its parts. Where all but one
/// of the members are operators, a part that has none of these below it can only be taken whole, by the one capture,
/// and need not be opened: without that, the x of x - mean(x) is opened as far as a chain of residuals goes.
template <class Program>
class basic_frame_needs {
 public:
  struct needs {
    std::uint64_t deep = 0, direct = 0;  ///< see operator_sets
    /// Whether none of these are there, nor is what may be both a sum and a product.
    template <class Sets>
    [[nodiscard]] bool lack(Sets const& there, op_group kind) const {
      constexpr auto both = sum_bit | product_bit;
      bool const other = kind == op_group::sum && (there.direct & both) == both;
      return ((there.deep & deep) | (there.direct & direct)) == 0 && !other;
    }
    friend bool operator==(needs const&, needs const&) = default;
  };
  static constexpr needs all{~std::uint64_t{0}, ~std::uint64_t{0}};  ///< every part may have to be opened

  basic_frame_needs(Program const& rules, branch_lists const& branches) : rules_(rules), of_(rules.code.size()) {
    finder find(rules, branches);
    for (std::uint16_t pc = 0; pc < rules.code.size(); ++pc)
      if (rules.code[pc].code == step::group) of_[pc] = find.wanted(pc);
  }

  [[nodiscard]] needs const& of(instruction const& i) const {
    return of_[static_cast<std::size_t>(&i - rules_.code.data())];
  }

 private:
  // Looks for what one step after the other needs: its lists stay.
  class finder {
   public:
    finder(Program const& rules, branch_lists const& branches)
        : rules_(rules), branches_(branches), seen_(rules.code.size(), false), captures_(rules.code.size()) {}

    [[nodiscard]] needs wanted(std::uint16_t group) {
      auto const frame = rules_.code[group].b;
      needs found{};
      // Programs only go forwards: each step that follows the opening, in turn.
      for (auto pc : reached_) seen_[pc] = false;
      reached_.clear();
      waiting_.assign(1, rules_.code[group].next);
      while (!waiting_.empty()) {
        auto const pc = waiting_.back();
        waiting_.pop_back();
        if (pc == no_instruction || seen_[pc]) continue;
        seen_[pc] = true;
        reached_.push_back(pc);
        auto const& i = rules_.code[pc];
        if (i.code == step::fork) {
          waiting_.push_back(i.other);
        } else if (i.code == step::scalar_member || i.code == step::literal || i.code == step::rest) {
          if (i.a == frame) return all;
        } else if (i.code == step::member && i.a == frame && (i.flags & instruction::captures) == 0) {
          bool tells = true;
          branches_.any(i.next, [&](auto const& b) {
            // A sum among factors, a product among addends hides what is below it from the `direct` set around it; so
            // may what is opened as one, and is one operator where its other parts are absent.
            auto const operators = b.direct & operator_bits, deep = b.deep & operator_bits;
            auto const& first = rules_.code[b.after];
            bool const hidden =
                (b.direct & (sum_bit | product_bit)) != 0 || (first.code == step::group && first.a == b.at);
            tells = tells && b.at == i.b && (deep | operators) != 0;
            (hidden || operators == 0 ? found.deep : found.direct) |= operators | (operators == 0 ? deep : 0);
            return false;
          });
          if (!tells) return all;
        }
        if (!(i.code == step::close && i.a == frame)) waiting_.push_back(i.next);
      }
      return most_captures(group, frame) > 1 ? all : found;
    }

   private:
    // How many captures one match can take from the frame.
    [[nodiscard]] int most_captures(std::uint16_t group, std::uint8_t frame) {
      for (auto pc : reached_) captures_[pc] = unknown;
      auto& path = path_;
      path.assign(1, rules_.code[group].next);
      auto const known = [&](std::uint16_t pc) { return pc == no_instruction || captures_[pc] >= 0; };
      auto const at = [&](std::uint16_t pc) { return pc == no_instruction ? 0 : captures_[pc]; };
      while (!path.empty()) {
        auto const pc = path.back();
        auto const& i = rules_.code[pc];
        bool const last = i.code == step::close && i.a == frame, forks = i.code == step::fork;
        if (!last && !known(i.next)) {
          path.push_back(i.next);
        } else if (forks && !known(i.other)) {
          path.push_back(i.other);
        } else {
          auto const after = last ? 0 : forks && at(i.other) > at(i.next) ? at(i.other) : at(i.next);
          bool const takes = i.code == step::member && i.a == frame && (i.flags & instruction::captures) != 0;
          captures_[pc] = after + (takes ? (i.number == 1 || i.number == -1 ? 1 : 2) : 0);  // squared: taken twice
          path.pop_back();
        }
      }
      return at(rules_.code[group].next);
    }
    static constexpr int unknown = -1;

    Program const& rules_;
    branch_lists const& branches_;
    std::vector<bool> seen_;
    plain_vector<int> captures_;
    plain_vector<std::uint16_t> waiting_, reached_, path_;
  };

  Program const& rules_;
  plain_vector<needs> of_;  // per instruction
};
using frame_needs = basic_frame_needs<program>;

}  // namespace fuse::inline v0::detail
