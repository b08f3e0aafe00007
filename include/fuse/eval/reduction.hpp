// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/eval/call.hpp>
#include <fuse/eval/dense.hpp>

namespace fuse::inline v0::detail {

/// `shape` with extent 1 where axes are marked.
[[nodiscard]] inline std::vector<std::int64_t> reduced_shape(std::vector<std::int64_t> shape,
                                                             std::vector<bool> const& over) {
  for (std::size_t i = 0; i < over.size(); ++i)
    if (over[i]) shape[i] = 1;
  return shape;
}

/// Folds `f` over the axes of `shape` that are marked: `sum = f(sum, element)`, from `start` on.
template <class T, class F>
[[nodiscard]] std::vector<T> folded(std::vector<T> const& elements, std::vector<std::int64_t> const& shape,
                                    std::vector<bool> const& over, T start, F const& f) {
  auto const kept = reduced_shape(shape, over);
  std::vector<T> made(count_of(kept), start);
  auto const strides = strides_of(kept);
  std::size_t next = 0;
  for_each_index(shape, [&](std::vector<std::int64_t> const& at) {
    std::int64_t to = 0;
    for (std::size_t i = 0; i < at.size(); ++i) to += over[i] ? 0 : at[i] * strides[i];
    auto& sum = made[static_cast<std::size_t>(to)];
    sum = f(sum, elements[next++]);
  });
  return made;
}
/// The same of doubles, in a tensor whose marked axes stay with extent 1.
template <class F>
[[nodiscard]] dense folded(dense const& x, std::vector<bool> const& over, double start, F const& f) {
  return {reduced_shape(x.shape, over), folded(x.elements, x.shape, over, start, f), x.type, {}};
}
[[nodiscard]] inline dense summed(dense const& x, std::vector<bool> const& over) {
  return folded(x, over, 0, [](double a, double b) { return a + b; });
}
[[nodiscard]] inline dense largest(dense const& x, std::vector<bool> const& over) {
  return folded(x, over, -math::infinity, [](double a, double b) { return b > a || b != b ? b : a; });
}
[[nodiscard]] inline dense averaged(dense const& x, std::vector<bool> const& over) {
  auto made = summed(x, over);
  double count = 1;
  for (std::size_t i = 0; i < over.size(); ++i)
    if (over[i]) count *= static_cast<double>(x.shape[i]);
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

[[nodiscard]] inline std::vector<bool> marked(std::vector<std::int64_t> const& axes, std::size_t rank) {
  std::vector<bool> over(rank, false);
  for (auto axis : axes) over[static_cast<std::size_t>(axis)] = true;
  return over;
}

/// A reduction of integers, exactly; false for those that are none in integers.
[[nodiscard]] inline bool reduce_integers(opcode op, dense const& x, std::vector<bool> const& over, dense& into) {
  using whole = std::int64_t;
  auto const bits = [](whole v) { return static_cast<std::uint64_t>(v); };
  bool const is_unsigned_64 = x.type == element_type::uint64;
  auto const below = [&](whole a, whole b) { return is_unsigned_64 ? bits(a) < bits(b) : a < b; };
  auto const most = is_unsigned_64 ? -1 : size_of(x.type) == 8 ? INT64_MAX : static_cast<whole>(most_of(x.type));
  auto const least = is_unsigned(x.type) ? 0 : size_of(x.type) == 8 ? INT64_MIN : static_cast<whole>(least_of(x.type));
  auto const fold = [&](whole start, auto const& f) {
    into = {reduced_shape(x.shape, over), {}, x.type, folded(x.integers, x.shape, over, start, f)};
    for (auto& v : into.integers) v = wrapped(v, x.type);
    return true;
  };
  switch (op) {
    case opcode::sum: return fold(0, [&](whole a, whole b) { return static_cast<whole>(bits(a) + bits(b)); });
    case opcode::product: return fold(1, [&](whole a, whole b) { return static_cast<whole>(bits(a) * bits(b)); });
    case opcode::sum_square:
      return fold(0, [&](whole a, whole b) { return static_cast<whole>(bits(a) + bits(b) * bits(b)); });
    case opcode::l1_norm:
      return fold(
          0, [&](whole a, whole b) { return static_cast<whole>(bits(a) + bits(!is_unsigned_64 && b < 0 ? -b : b)); });
    case opcode::reduce_max: return fold(least, [&](whole a, whole b) { return below(a, b) ? b : a; });
    case opcode::reduce_min: return fold(most, [&](whole a, whole b) { return below(b, a) ? b : a; });
    default: return false;
  }
}

[[nodiscard]] inline evaluation reduced(opcode op, dense const& x, std::vector<bool> const& over, dense& made) {
  auto const of = [&](auto const& f) { return summed(mapped(x, f), over); };
  bool const truth = x.type == element_type::boolean;
  switch (op) {
    case opcode::sum: made = summed(x, over); break;
    case opcode::mean: made = averaged(x, over); break;
    case opcode::product: made = folded(x, over, 1, [](double a, double b) { return a * b; }); break;
    case opcode::reduce_max:
      made = truth ? folded(x, over, 0, [](double a, double b) { return b > a ? b : a; }) : largest(x, over);
      break;
    case opcode::reduce_min:
      made = folded(x, over, truth ? 1 : math::infinity, [](double a, double b) { return b < a || b != b ? b : a; });
      break;
    case opcode::sum_square: made = of([](double v) { return v * v; }); break;
    case opcode::l1_norm: made = of([](double v) { return math::abs(v); }); break;
    case opcode::l2_norm:
      made = mapped(of([](double v) { return v * v; }), [](double v) { return math::sqrt(v); });
      break;
    case opcode::log_sum: made = mapped(summed(x, over), [](double v) { return math::log(v); }); break;
    case opcode::log_sum_exp: {
      auto const shift = mapped(largest(x, over), [](double v) { return math::is_finite(v) ? v : 0; });
      auto const sums = summed(mapped(minus(x, shift), [](double v) { return math::exp(v); }), over);
      made = joined(sums, shift, [](double sum, double by) { return math::log(sum) + by; });
      break;
    }
    default: return evaluation::unknown;
  }
  return evaluation::done;
}

/// The operators that fold axes.
[[nodiscard]] inline evaluation evaluate_reduction(call const& c) {
  auto const* x = c.operand(0);
  if (x == nullptr) return evaluation::misfit;
  std::vector<std::int64_t> axes;
  if (!c.list("axes", axes)) axes.clear();
  auto const rank = x->shape.size();
  bool const none = axes.empty() && c.flag("noop_with_empty_axes");
  if (!counted_axes(axes, rank)) return evaluation::misfit;
  auto const over = axes.empty() && !none ? std::vector<bool>(rank, true) : marked(axes, rank);
  dense made;
  if (!x->whole() || !reduce_integers(c.op, *x, over, made)) {
    if (auto const state = reduced(c.op, x->type == element_type::boolean ? *x : in_doubles(*x), over, made);
        state != evaluation::done)
      return state;
    made = converted(std::move(made), x->type);
  }
  if (!c.flag("keepdims", true)) {
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < rank; ++i)
      if (!over[i]) kept.push_back(made.shape[i]);
    made.shape.swap(kept);
  }
  return c.yield(std::move(made));
}

}  // namespace fuse::inline v0::detail
