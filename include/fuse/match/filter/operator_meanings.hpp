// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/ops/algebra.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

inline constexpr std::uint64_t sum_and_mean = operator_bit(opcode::sum) | operator_bit(opcode::mean);

/// What each operator is where a program is matched, looked up once: the bits that stand for it, and what of its
/// operands stands for it as well.
class operator_meanings {
 public:
  struct meaning {
    std::uint64_t bits = 0, below = 0;
    std::uint64_t kinds = 0;   ///< of a sum or product: the bits of its kinds
    std::uint64_t scaled = 0;  ///< ... and the one that it has where it multiplies by a number
    std::uint64_t alike = 0;   ///< ... and where its terms are alike
    bool transparent = false, moves = false, layout = false, power = false, logarithm = false;
  };

  explicit operator_meanings(program const& rules) : of_(static_cast<std::size_t>(opcode::count_)) {
    for (std::size_t op = 0; op < of_.size(); ++op) of_[op] = meaning_of(static_cast<opcode>(op));
    for (auto const& set : rules.sets) {
      auto& bits = through_bits_.emplace_back();
      if (set.has_identity()) bits = operator_bit(opcode::cast);  // to the same type, it is one
      for (std::size_t i = 0; i < set.count; ++i) {
        bits |= set.by_name[i] ? ~std::uint64_t{0} : operator_bit(static_cast<opcode>(set.ops[i]));
        if (!set.by_name[i]) {
          of_[set.ops[i]].transparent = true;
          continue;
        }
        if (transparent_names_.size() <= set.ops[i]) transparent_names_.resize(set.ops[i] + std::size_t{1}, false);
        transparent_names_[set.ops[i]] = true;
      }
    }
    for (auto const& i : rules.code)
      if (i.code == step::group) {
        clips_ = clips_ || (i.flags & instruction::clips) != 0;
        opens_ = true;
      }
  }

  [[nodiscard]] meaning const& operator[](std::size_t op) const { return of_[op]; }
  /// Whether rules look through operators of that name.
  [[nodiscard]] bool has_transparent_name(operator_tag tag) const {
    return tag.name < transparent_names_.size() && transparent_names_[tag.name];
  }
  /// The bits of what set `through` looks through; none of set 0.
  [[nodiscard]] std::uint64_t bits_through(std::uint8_t through) const {
    return through == 0 ? 0 : through_bits_[through - 1u];
  }
  /// Whether rules look for any sum or product.
  [[nodiscard]] bool opens() const { return opens_; }
  /// Whether rules look for clipped sums.
  [[nodiscard]] bool clips() const { return clips_; }

 private:
  [[nodiscard]] static meaning meaning_of(opcode op) {
    meaning of;
    // A sum of squares is of a product, and stands for that as well.
    auto const sums = summing_of(op);
    bool const squares = sums.of == 2;
    of.moves = may_move_elements(op);
    of.layout = may_keep_elements(op) && op != opcode::identity && op != opcode::cast;
    of.transparent = squares || (may_keep_elements(op) && (info(op).kind != op_kind::broadcast || op == opcode::where));
    if (info(op).group == op_group::none) {
      of.bits = operator_bit(op) | (sums.of != 0 ? sum_and_mean : 0);  // with a number, it may be the other
      if (squares) of.bits |= of.below = product_bit;
      if (sums.power != 1) of.bits |= root_bit;
    }
    if (of.moves) of.bits |= moved_bit;
    auto const add = [&](opening const& how, std::uint64_t kind) {
      switch (how.when) {
        case opens_with::none:
        case opens_with::squared: return;
        case opens_with::scaled: of.scaled = kind; return;
        case opens_with::alike: of.alike = kind; return;
        case opens_with::logarithm: of.logarithm = true; return;
        case opens_with::unit: of.bits |= root_bit; break;
        case opens_with::power: of.power = true; break;
        default: break;
      }
      of.kinds |= kind;
      if (kind == sum_bit && how.further != 0) of.kinds |= terms_bit;
    };
    add(opening_of(op, op_group::sum), sum_bit);
    add(opening_of(op, op_group::product), product_bit);
    return of;
  }

  plain_vector<meaning> of_;  // by opcode
  std::vector<bool> transparent_names_;
  plain_vector<std::uint64_t> through_bits_;  // by set of operators to look through
  bool clips_ = false, opens_ = false;
};

}  // namespace fuse::inline v0::detail
