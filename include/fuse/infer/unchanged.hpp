// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// Whether operators of this kind may leave an operand as it is, or move none of its elements.
[[nodiscard]] constexpr bool may_keep_elements(opcode op) {
  switch (op) {
    case opcode::identity:
    case opcode::cast:
    case opcode::cast_like:
    case opcode::dropout:
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
    case opcode::expand:
    case opcode::tile:
    case opcode::slice:
    case opcode::where:
    case opcode::mean_of:
    case opcode::sum_of:
    case opcode::maximum:
    case opcode::minimum: return true;
    default: return false;
  }
}

/// Which of its operands a selection returns where the condition is known and the same everywhere; else absent.
template <class Image>
[[nodiscard]] value_id selected_operand(Image const& image, facts const& known, node_id n) {
  double condition = 0;
  if (image.operand_count(n) != 3 || image.operand(n, 0) == absent || !known.uniform(image.operand(n, 0), condition))
    return absent;
  return image.operand(n, condition != 0 ? 1 : 2);
}

/// The operand of `n` that it may keep the elements of: the first, or a selected one. Absent where there is none.
template <class Image>
[[nodiscard]] value_id kept_operand(Image const& image, facts const& known, node_id n) {
  if (op_of(image, n) == opcode::where) return selected_operand(image, known, n);
  return image.operand_count(n) == 0 ? absent : image.operand(n, 0);
}

/// Whether the first result of `n` is its `kept_operand` as it is: that of an Identity, or of an operator that does
/// nothing here.
template <class Image>
[[nodiscard]] bool unchanged(Image const& image, facts const& known, node_id n) {
  auto const v = image.result(n), from = kept_operand(image, known, n);
  if (from == absent) return false;
  switch (op_of(image, n)) {
    case opcode::identity: return true;
    case opcode::cast:
    case opcode::cast_like: return known.type(v) == known.type(from) && known.type(v) != element_type::unknown;
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
    case opcode::expand:
    case opcode::tile:
    case opcode::where: return known.same_shape(v, from);
    case opcode::slice: return known.takes_all(n);
    case opcode::mean_of:
    case opcode::sum_of:
    case opcode::maximum:
    case opcode::minimum: return image.operand_count(n) == 1;
    case opcode::dropout: {  // while nobody trains
      double training = 0;
      if (image.operand_count(n) < 3 || image.operand(n, 2) == absent) return true;
      return known.number(image.operand(n, 2), training) && training == 0;
    }
    default: return false;
  }
}

[[nodiscard]] constexpr bool may_clip(opcode op) {
  return op == opcode::relu || op == opcode::maximum || op == opcode::clip;
}

/// Which operand of `n` it returns where that is positive, and 0 elsewhere: a Relu, or one spelled as a maximum or a
/// clipping. None: absent.
template <class Image>
[[nodiscard]] value_id positive_part_of(Image const& image, facts const& known, node_id n) {
  auto const count = image.operand_count(n);
  auto const is_zero = [&](std::uint32_t i) {
    double number = 1;
    return image.operand(n, i) != absent && known.uniform(image.operand(n, i), number) && number == 0;
  };
  switch (op_of(image, n)) {
    case opcode::relu: return count == 1 ? image.operand(n, 0) : absent;
    case opcode::maximum:
      if (count != 2) return absent;
      return is_zero(1) ? image.operand(n, 0) : is_zero(0) ? image.operand(n, 1) : absent;
    case opcode::clip:
      if (count < 2 || !is_zero(1) || (count > 2 && image.operand(n, 2) != absent)) return absent;
      return image.operand(n, 0);
    default: return absent;
  }
}

/// Whether `n` puts axes of extent 1 among those of its operand, or takes such away, and moves nothing.
template <class Image>
[[nodiscard]] bool moves_ones(Image const& image, facts const& known, node_id n) {
  auto const op = op_of(image, n);
  if (op != opcode::unsqueeze && op != opcode::reshape && op != opcode::squeeze && op != opcode::flatten) return false;
  auto const v = image.result(n), from = image.operand(n, 0);
  if (!known.has_rank(v) || !known.has_rank(from)) return false;
  auto const now = known.shape(v), before = known.shape(from);
  std::size_t i = 0, k = 0;
  while (true) {
    while (i < now.size() && now[i] == extent(1)) ++i;
    while (k < before.size() && before[k] == extent(1)) ++k;
    if (i == now.size() || k == before.size()) return i == now.size() && k == before.size();
    if (!(now[i++] == before[k++])) return false;
  }
}

/// Whether operators of this kind may repeat elements of an operand.
[[nodiscard]] constexpr bool may_repeat(opcode op) {
  return op == opcode::expand || op == opcode::tile || op == opcode::where;
}

/// Whether `n` repeats its `kept_operand` along axes that broadcasting would repeat it along.
template <class Image>
[[nodiscard]] bool broadcasts(Image const& image, facts const& known, node_id n) {
  auto const op = op_of(image, n);
  if (op == opcode::expand || op == opcode::where) return true;
  auto const v = image.result(n), from = image.operand(n, 0);
  if (op != opcode::tile || !known.has_rank(v) || known.rank(v) != known.rank(from)) return false;
  auto const now = known.shape(v), before = known.shape(from);
  for (std::size_t i = 0; i < now.size(); ++i)
    if (!(before[i] == extent(1)) && !(now[i] == before[i])) return false;
  return true;
}

}  // namespace fuse::inline v0::detail
