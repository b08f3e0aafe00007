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

/// How many elements node `n`, a sum over axes, adds up for each element of its result; 0 where that is not known.
template <class Image>
[[nodiscard]] double added_elements(Image const& image, facts const& known, node_id n) {
  double count = 1;
  int unknown = 0;
  auto const multiply = [&](value_id v, bool divides) {
    for (auto const e : known.shape(v)) {
      auto const extent = e.known() ? static_cast<double>(e.value()) : 1;
      count = divides ? count / extent : count * extent;
      unknown += e.known() ? 0 : divides ? -1 : 1;
    }
  };
  multiply(image.operand(n, 0), false);
  multiply(image.result(n), true);
  return known.has_rank(image.result(n)) && unknown == 0 ? count : 0;
}

/// The operand of node `n` that it multiplies or divides by a number, which goes into `factor`; or absent.
template <class Image>
[[nodiscard]] value_id scaled_by_number(Image const& image, facts const& known, node_id n, double& factor) {
  auto const op = op_of(image, n);
  if ((op != opcode::mul && op != opcode::div) || image.operand_count(n) != 2) return absent;
  auto const a = image.operand(n, 0), b = image.operand(n, 1);
  double number = 0;
  if (a == absent || b == absent) return absent;
  if (known.uniform(b, number)) {
    factor = op == opcode::mul ? factor * number : factor / number;
    return a;
  }
  if (op == opcode::div || !known.uniform(a, number)) return absent;
  factor *= number;
  return b;
}

/// Whether `v` is a mean that is spelled as a sum over axes, times numbers that divide it by how many elements are
/// added. Steps in between change no element, at most 8.
template <class Image>
[[nodiscard]] bool is_divided_sum(Image const& image, facts const& known, value_id v) {
  double factor = 1;
  for (int i = 0; i < 8 && v != absent; ++i) {
    auto const n = image.producer(v);
    if (n == absent || image.operand_count(n) == 0) return false;
    auto const op = op_of(image, n);
    if (op == opcode::sum || op == opcode::sum_square) return divides_by(added_elements(image, known, n), factor);
    if (auto const below = scaled_by_number(image, known, n, factor); below != absent) {
      v = below;
    } else if (may_keep_elements(op)) {
      v = kept_operand(image, known, n);
    } else {
      return false;
    }
  }
  return false;
}

}  // namespace fuse::inline v0::detail
