// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/program/program.hpp>

namespace fuse::inline v0::detail {

/// For each value the operators that stand there: its own, or those below a sum or product (`deep`: below any nesting
/// of them; `direct`: below one that is of the value's own kind, with a bit for that kind) and below what rules look
/// through. What a pattern needs and a set lacks cannot match, so most nodes are done with at a glance. 16 bytes a
/// value.
template <class Image>
class basic_operator_sets {
 public:
  struct sets {
    std::uint64_t deep, direct;
  };

  basic_operator_sets(program const& rules, Image const& image, facts const& known)
      : rules_(rules), image_(image), facts_(known) {
    update();
  }

  [[nodiscard]] sets const& operator[](value_id v) const {
    return v < of_.size() ? of_[v] : v == absent ? none_ : all_;
  }

  /// Takes in what has changed in the image: all of it, or the results of one node.
  void update() {
    of_.resize(image_.value_count(), none_);
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) update(n);
  }
  void update(node_id n) {
    auto const& record = image_.node(n);
    if (of_.size() < record.first_result + record.result_count)
      of_.resize(record.first_result + record.result_count, none_);
    auto const found = found_at(n);
    for (std::uint32_t i = 0; i < record.result_count; ++i) of_[record.first_result + i] = found;
  }

 private:
  [[nodiscard]] sets found_at(node_id n) const {
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    auto const group = info(op).group;
    if (group == op_group::none && op != opcode::neg) {
      sets found{operator_bit(op), operator_bit(op)};
      if (record.operand_count != 0 && is_transparent(record.tag, op)) {
        auto const& inside = (*this)[image_.operand(n, 0)];
        found.deep |= inside.deep;
        found.direct |= inside.direct;
      }
      return found;
    }
    sets found{0, 0};
    auto kinds = op == opcode::neg ? sum_bit | product_bit : group == op_group::sum ? sum_bit : product_bit;
    if (op == opcode::sqrt || op == opcode::rsqrt) found.deep = root_bit;
    double number = 0.5;
    if (op == opcode::pow &&
        (record.operand_count < 2 || !facts_.number(image_.operand(n, 1), number) || !math::is_whole(number)))
      found.deep = root_bit;
    found.direct = found.deep;
    if (op == opcode::mul || op == opcode::div)  // by -1: a sign in a sum
      for (std::uint32_t i = 0; i < record.operand_count; ++i)
        if (image_.operand(n, i) != absent && facts_.number(image_.operand(n, i), number) && number == -1)
          kinds = sum_bit | product_bit;
    for (std::uint32_t i = 0; i < record.operand_count; ++i) {
      auto const& inside = (*this)[image_.operand(n, i)];
      found.deep |= inside.deep;
      auto const other = inside.direct & (sum_bit | product_bit);
      if (other == 0 || (other & kinds) != 0) found.direct |= inside.direct & ~(sum_bit | product_bit);
    }
    found.direct |= kinds;
    return found;
  }
  [[nodiscard]] bool is_transparent(operator_tag tag, opcode op) const {
    if (op == opcode::cast || op == opcode::identity || op == opcode::unsqueeze || op == opcode::reshape) return true;
    for (auto const& set : rules_.sets)
      if (set.contains(tag.name, tag.op)) return true;
    return false;
  }

  static constexpr sets none_{0, 0}, all_{~std::uint64_t{0}, ~std::uint64_t{0}};
  program const& rules_;
  Image const& image_;
  facts const& facts_;
  std::vector<sets> of_;
};
using operator_sets = basic_operator_sets<graph_image>;

}  // namespace fuse::inline v0::detail
