// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// A value that is divided by a constant of one element, or multiplied by one.
struct scaled_value {
  value_id value = absent;  ///< absent: there is none
  double number = 1;
  bool multiplied = false;

  /// Whether that divides by `count`; the reciprocal may have been rounded to float.
  [[nodiscard]] bool by(double count) const {
    if (count == 0) return false;
    if (!multiplied) return number == count;
    return number == 1 / count || number == static_cast<double>(static_cast<float>(1 / count));
  }
};

/// What node `n` divides or multiplies by a number, where that leaves its rank alone.
template <class Image>
[[nodiscard]] scaled_value scaled_by(Image const& image, facts const& known, node_id n) {
  auto const op = op_of(image, n);
  if ((op != opcode::mul && op != opcode::div) || image.operand_count(n) != 2) return {};
  auto a = image.operand(n, 0), b = image.operand(n, 1);
  double number = 0;
  if (op == opcode::mul && a != absent && known.number(a, number)) std::swap(a, b);
  if (a == absent || b == absent || !known.number(b, number)) return {};
  if (!known.has_rank(a) || known.rank(a) != known.rank(image.result(n))) return {};
  return {a, number, op == opcode::mul};
}

/// Whether `v` is a sum over axes, scaled by a number: a mean, if the number is how many elements are added. Steps in
/// between change no element, at most 8.
template <class Image>
[[nodiscard]] bool is_scaled_sum(Image const& image, facts const& known, value_id v) {
  auto const n = v == absent ? absent : image.producer(v);
  if (n == absent) return false;
  auto below = scaled_by(image, known, n).value;
  for (int i = 0; i < 8 && below != absent; ++i) {
    auto const producer = image.producer(below);
    if (producer == absent) return false;
    auto const op = op_of(image, producer);
    if (op == opcode::sum) return true;
    if (op != opcode::unsqueeze && op != opcode::reshape && op != opcode::identity && op != opcode::cast) return false;
    if (image.operand_count(producer) == 0) return false;
    below = image.operand(producer, 0);
  }
  return false;
}

}  // namespace fuse::inline v0::detail
