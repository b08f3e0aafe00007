// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/normalisation.hpp>

namespace fuse::inline v0::detail {

/// The weighted negative logarithms of the probabilities of the right classes, which stand along axis 1, and their
/// weighted mean, their sum, or each. A class to ignore weighs nothing. Of scores, first their logarithmic softmax,
/// which is the second result.
[[nodiscard]] inline evaluation evaluate_loss(call const& c) {
  auto const *x = c.operand(0), *target = c.operand(1), *weight = c.operand(2);
  if (x == nullptr || target == nullptr || x->whole() || x->shape.size() < 2) return evaluation::misfit;
  auto kept = x->shape;
  kept.erase(kept.begin() + 1);
  if (target->shape != kept ||
      (weight != nullptr && (weight->whole() || weight->shape.size() != 1 || weight->shape[0] != x->shape[1])))
    return evaluation::misfit;
  auto logs = *x;
  if (c.op == opcode::cross_entropy_loss) {
    std::vector<bool> over(x->shape.size(), false);
    over[1] = true;
    auto const shifted = minus(*x, largest(*x, over));
    auto const sums = summed(mapped(shifted, [](double v) { return std::exp(v); }), over);
    logs = minus(shifted, mapped(sums, [](double v) { return std::log(v); }));
    c.yield(1, logs);
  }
  double ignored = 0, sum = 0, weights = 0;
  bool const ignores = c.parameters.number("ignore_index", ignored);
  auto const inner = count_between(x->shape, 2, x->shape.size());
  auto const classes = static_cast<std::size_t>(x->shape[1]);
  auto const rows = integers_of(*target);
  dense made{target->shape, {}, x->type, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bool const counts = !ignores || static_cast<double>(rows[i]) != ignored;
    auto const row = static_cast<std::size_t>(rows[i]);
    if (counts && (rows[i] < 0 || row >= classes)) return evaluation::misfit;
    double const by = !counts ? 0 : weight == nullptr ? 1 : weight->elements[row];
    made.elements.push_back(counts ? -by * logs.elements[(i / inner * classes + row) * inner + i % inner] : 0);
    sum += made.elements[i];
    weights += by;
  }
  auto const how = c.text("reduction", "mean");
  if (how != "none") made = {{}, {how == "sum" ? sum : sum / weights}, x->type, {}};
  return c.yield(std::move(made));
}

}  // namespace fuse::inline v0::detail
