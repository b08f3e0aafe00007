// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/math.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// Whether `factor` divides by `count`, exactly or as float rounds the reciprocal or a root whose square it is.
[[nodiscard]] inline bool divides_by(double count, double factor) {
  auto const is = [&](double wanted) { return factor == wanted; };
  auto const rounded = [](double number) { return static_cast<double>(static_cast<float>(number)); };
  auto const root = math::pow(count, 0.5);
  if (count == 0) return false;
  return is(1 / count) || is(rounded(1 / count)) || is(rounded(1 / root) * rounded(1 / root)) ||
         is(1 / (rounded(root) * rounded(root)));
}

/// The operand of node `n` that it multiplies or divides by a number, or absent.
template <class Image>
[[nodiscard]] value_id scaled_by_number(Image const& image, facts const& known, node_id n) {
  auto const op = op_of(image, n);
  if ((op != opcode::mul && op != opcode::div) || image.operand_count(n) != 2) return absent;
  auto const a = image.operand(n, 0), b = image.operand(n, 1);
  double number = 0;
  if (a == absent || b == absent) return absent;
  if (known.uniform(b, number)) return a;
  return op == opcode::mul && known.uniform(a, number) ? b : absent;
}

/// Whether `v` is a sum over axes, scaled by numbers: a mean, if these divide it by how many elements are added. Steps
/// in between change no element, at most 8.
template <class Image>
[[nodiscard]] bool is_scaled_sum(Image const& image, facts const& known, value_id v) {
  bool scaled = false;
  for (int i = 0; i < 8 && v != absent; ++i) {
    auto const n = image.producer(v);
    if (n == absent || image.operand_count(n) == 0) return false;
    auto const op = op_of(image, n);
    if (op == opcode::sum || op == opcode::sum_square) return scaled;
    if (auto const below = scaled_by_number(image, known, n); below != absent) {
      scaled = true;
      v = below;
    } else if (may_keep_elements(op)) {
      v = image.operand(n, 0);
    } else {
      return false;
    }
  }
  return false;
}

}  // namespace fuse::inline v0::detail
