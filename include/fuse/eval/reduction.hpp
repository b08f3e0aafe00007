// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/elementwise.hpp>
#include <fuse/eval/layout.hpp>

namespace fuse::inline v0::detail {

/// Folds `f` over the axes that are marked, which stay with extent 1.
template <class F>
[[nodiscard]] dense folded(dense const& x, std::vector<bool> const& over, double start, F const& f) {
  dense made{x.shape, {}, x.type};
  for (std::size_t i = 0; i < over.size(); ++i)
    if (over[i]) made.shape[i] = 1;
  made.elements.assign(count_of(made.shape), start);
  auto const strides = strides_of(made.shape);
  std::vector<std::int64_t> at(x.shape.size(), 0);
  for (auto v : x.elements) {
    std::int64_t to = 0;
    for (std::size_t i = 0; i < at.size(); ++i) to += over[i] ? 0 : at[i] * strides[i];
    auto& sum = made.elements[static_cast<std::size_t>(to)];
    sum = f(sum, v);
    for (auto axis = at.size(); axis-- > 0;) {
      if (++at[axis] < x.shape[axis]) break;
      at[axis] = 0;
    }
  }
  return made;
}
[[nodiscard]] inline dense summed(dense const& x, std::vector<bool> const& over) {
  return folded(x, over, 0, [](double a, double b) { return a + b; });
}
[[nodiscard]] inline dense largest(dense const& x, std::vector<bool> const& over) {
  return folded(x, over, -HUGE_VAL, [](double a, double b) { return b > a || b != b ? b : a; });
}
[[nodiscard]] inline dense averaged(dense const& x, std::vector<bool> const& over) {
  auto made = summed(x, over);
  double const count = made.elements.empty() ? 1 : static_cast<double>(x.elements.size() / made.elements.size());
  for (auto& v : made.elements) v /= count;
  return made;
}

/// Operands that are known to broadcast.
template <class F>
[[nodiscard]] dense joined(dense const& a, dense const& b, F const& f) {
  dense made;
  (void)combine(a, b, made, f);
  return made;
}
[[nodiscard]] inline dense minus(dense const& a, dense const& b) {
  return joined(a, b, [](double x, double y) { return x - y; });
}
[[nodiscard]] inline dense times(dense const& a, dense const& b) {
  return joined(a, b, [](double x, double y) { return x * y; });
}

/// The operators that fold axes.
[[nodiscard]] inline evaluation evaluate_reduction(call const& c) {
  auto const* x = c.operand(0);
  if (x == nullptr) return evaluation::misfit;
  std::vector<std::int64_t> axes;
  if (!c.list("axes", axes)) axes.clear();
  if (axes.empty() && c.number("noop_with_empty_axes", 0) != 0) return c.yield(*x);
  if (!counted_axes(axes, x->shape.size())) return evaluation::misfit;
  std::vector<bool> over(x->shape.size(), axes.empty());
  for (auto axis : axes) over[static_cast<std::size_t>(axis)] = true;
  auto const of = [&](auto const& f) { return summed(mapped(*x, f), over); };
  dense made;
  switch (c.op) {
    case opcode::sum: made = summed(*x, over); break;
    case opcode::mean: made = averaged(*x, over); break;
    case opcode::product: made = folded(*x, over, 1, [](double a, double b) { return a * b; }); break;
    case opcode::reduce_max: made = largest(*x, over); break;
    case opcode::reduce_min:
      made = folded(*x, over, HUGE_VAL, [](double a, double b) { return b < a || b != b ? b : a; });
      break;
    case opcode::sum_square: made = of([](double v) { return v * v; }); break;
    case opcode::l1_norm: made = of([](double v) { return std::fabs(v); }); break;
    case opcode::l2_norm:
      made = mapped(of([](double v) { return v * v; }), [](double v) { return std::sqrt(v); });
      break;
    case opcode::log_sum: made = mapped(summed(*x, over), [](double v) { return std::log(v); }); break;
    case opcode::log_sum_exp:
      made = mapped(of([](double v) { return std::exp(v); }), [](double v) { return std::log(v); });
      break;
    default: return evaluation::unknown;
  }
  if (c.number("keepdims", 1) == 0) {
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < over.size(); ++i)
      if (!over[i]) kept.push_back(made.shape[i]);
    made.shape.swap(kept);
  }
  return c.yield(std::move(made));
}

/// The operators that make rows of the axes from one on, or along one, sum to 1.
[[nodiscard]] inline evaluation evaluate_softmax(call const& c) {
  auto const* x = c.operand(0);
  std::size_t axis = 0;
  if (x == nullptr || !c.axis(x->shape.size(), -1, axis) || axis >= x->shape.size()) return evaluation::misfit;
  std::vector<bool> over(x->shape.size(), false);
  for (auto i = axis; i < over.size(); ++i) over[i] = i == axis || c.parameters.use_of_axis() == axis_use::trailing;
  auto const shifted = minus(*x, largest(*x, over));
  auto const raised = mapped(shifted, [](double v) { return std::exp(v); });
  auto const sums = summed(raised, over);
  if (c.op == opcode::softmax) return c.yield(joined(raised, sums, [](double a, double b) { return a / b; }));
  return c.yield(minus(shifted, mapped(sums, [](double v) { return std::log(v); })));
}

/// Rows of the axes from one on, less their means (but for RMS norms) and by their deviations, times a scale, plus a
/// bias. Results: that, mean, inverse deviation (of RMS norms alone, the latter), and the sum that was normed.
[[nodiscard]] inline evaluation evaluate_norm(call const& c) {
  bool const skips = c.op == opcode::skip_layer_norm || c.op == opcode::skip_rms_norm;
  bool const centres = c.op == opcode::layer_norm || c.op == opcode::skip_layer_norm;
  auto const* first = c.operand(0);
  if (first == nullptr) return evaluation::misfit;
  auto x = *first;
  auto const add = [](double a, double b) { return a + b; };
  std::size_t const scale = skips ? 2 : 1, bias = centres ? 4 : 3;
  if (skips)
    for (auto const* added : {c.operand(1), c.operand(bias)})
      if (added != nullptr && !combine(x, *added, x, add)) return evaluation::misfit;
  std::size_t axis = 0;
  if (!c.axis(x.shape.size(), -1, axis) || axis > x.shape.size()) return evaluation::misfit;
  std::vector<bool> over(x.shape.size(), false);
  for (auto i = axis; i < over.size(); ++i) over[i] = true;
  auto const mean = averaged(x, over);
  auto const centred = centres ? minus(x, mean) : x;
  double const epsilon = c.number("epsilon", 1e-5);
  auto const inverse =
      mapped(averaged(times(centred, centred), over), [&](double v) { return 1 / std::sqrt(v + epsilon); });
  auto y = times(centred, inverse);
  auto const whole = y.shape;
  if (auto const* s = c.operand(scale); s != nullptr && !combine(y, *s, y, [](double a, double b) { return a * b; }))
    return evaluation::misfit;
  if (auto const* b = centres ? c.operand(scale + 1) : nullptr; b != nullptr && !combine(y, *b, y, add))
    return evaluation::misfit;
  if (y.shape != whole) return evaluation::misfit;
  auto const yield = [&](std::size_t i, dense const& made) {
    if (i >= c.results.size()) return;
    c.results[i].shape = made.shape;
    c.results[i].elements = made.elements;
  };
  yield(centres || skips ? 2 : 1, inverse);
  if (centres || skips) yield(1, mean);
  if (skips) yield(3, x);
  yield(0, y);
  return evaluation::done;
}

/// Norms along the axis of channels, 1: by statistics that are given, or by those of each of the other axes.
[[nodiscard]] inline evaluation evaluate_channel_norm(call const& c) {
  auto const *x = c.operand(0), *scale = c.operand(1), *bias = c.operand(2);
  if (x == nullptr || scale == nullptr || bias == nullptr || x->shape.size() < 2) return evaluation::misfit;
  if (c.op == opcode::batch_norm && c.number("training_mode", 0) != 0) return evaluation::unknown;
  auto const along_channels = [&](dense const* row, dense& into) {
    into = *row;
    if (row->shape.size() != 1 || (row->shape[0] != x->shape[1] && row->shape[0] != 1)) return false;
    into.shape.resize(x->shape.size() - 1, 1);
    return true;
  };
  dense by, added, mean, variance;
  if (!along_channels(scale, by) || !along_channels(bias, added)) return evaluation::misfit;
  if (c.op == opcode::batch_norm) {
    if (c.operand(3) == nullptr || c.operand(4) == nullptr || !along_channels(c.operand(3), mean) ||
        !along_channels(c.operand(4), variance))
      return evaluation::misfit;
  } else {
    std::vector<bool> over(x->shape.size(), true);
    over[0] = over[1] = false;
    mean = averaged(*x, over);
    auto const centred = minus(*x, mean);
    variance = averaged(times(centred, centred), over);
  }
  double const epsilon = c.number("epsilon", 1e-5);
  auto const inverse = mapped(variance, [&](double v) { return 1 / std::sqrt(v + epsilon); });
  auto made = times(times(minus(*x, mean), inverse), by);
  if (!combine(made, added, made, [](double a, double b) { return a + b; })) return evaluation::misfit;
  return c.yield(std::move(made));
}

}  // namespace fuse::inline v0::detail
