// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/broadcasting.hpp>
#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

/// The rows of a tensor along an axis: element `i` of row `(o, r)` is number `(o * extent + i) * inner + r`.
struct rows_along {
  std::size_t outer, extent, inner;

  rows_along(dense const& x, std::size_t axis)
      : outer(count_between(x.shape, 0, axis)),
        extent(static_cast<std::size_t>(x.shape[axis])),
        inner(count_between(x.shape, axis + 1, x.shape.size())) {}

  [[nodiscard]] std::size_t count() const { return outer * inner; }
  [[nodiscard]] std::size_t element(std::size_t row, std::size_t i) const {
    return (row / inner * extent + i) * inner + row % inner;
  }
};

/// Whether element `a` comes before element `b` by size.
[[nodiscard]] inline bool below(dense const& x, std::size_t a, std::size_t b) {
  if (!x.whole()) return x.elements[a] < x.elements[b];
  if (x.type != element_type::uint64) return x.integers[a] < x.integers[b];
  return static_cast<std::uint64_t>(x.integers[a]) < static_cast<std::uint64_t>(x.integers[b]);
}

/// Where the largest, or the smallest, stands along an axis: the first of them or the last.
[[nodiscard]] inline evaluation evaluate_arg(call const& c) {
  auto const* x = c.operand(0);
  std::size_t axis = 0;
  if (x == nullptr || !c.axis(x->shape.size(), 0, axis) || axis >= x->shape.size() || x->shape[axis] == 0)
    return evaluation::misfit;
  bool const last = c.flag("select_last_index"), most = c.op == opcode::arg_max;
  rows_along const rows(*x, axis);
  auto made = integers_in(x->shape, {});
  if (c.flag("keepdims", true))
    made.shape[axis] = 1;
  else
    made.shape.erase(made.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::size_t row = 0; row < rows.count(); ++row) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < rows.extent; ++i) {
      auto const a = rows.element(row, best), b = rows.element(row, i);
      bool const beats = most ? below(*x, a, b) : below(*x, b, a), ties = !below(*x, a, b) && !below(*x, b, a);
      if (beats || (last && ties)) best = i;
    }
    made.integers.push_back(static_cast<std::int64_t>(best));
  }
  return c.yield(std::move(made));
}

/// The largest, or the smallest, along an axis and where they stand: in order of size, equal ones in their own order.
[[nodiscard]] inline evaluation evaluate_top_k(call const& c) {
  auto const* x = c.operand(0);
  std::size_t axis = 0;
  std::vector<std::int64_t> k;
  if (x == nullptr || !c.axis(x->shape.size(), -1, axis) || axis >= x->shape.size() || !c.list("k", k) ||
      k.size() != 1 || k[0] < 0 || k[0] > x->shape[axis])
    return evaluation::misfit;
  bool const most = c.flag("largest", true);
  rows_along const rows(*x, axis);
  auto const kept = static_cast<std::size_t>(k[0]);
  std::vector<std::int64_t> sources(rows.count() * kept), places(sources.size());
  std::vector<std::size_t> order(rows.extent);
  for (std::size_t row = 0; row < rows.count(); ++row) {
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      auto const a = rows.element(row, i), b = rows.element(row, j);
      return most ? below(*x, b, a) : below(*x, a, b);
    });
    for (std::size_t i = 0; i < kept; ++i) {
      auto const to = (row / rows.inner * kept + i) * rows.inner + row % rows.inner;
      sources[to] = static_cast<std::int64_t>(rows.element(row, order[i]));
      places[to] = static_cast<std::int64_t>(order[i]);
    }
  }
  auto shape = x->shape;
  shape[axis] = k[0];
  std::size_t next = 0;
  c.yield(1, integers_in(shape, std::move(places)));
  return c.yield(picked(*x, std::move(shape), [&](std::vector<std::int64_t> const&) { return sources[next++]; }));
}

/// Sums, or products, of all up to each along an axis: without that one, or from the end, where parameters say so.
[[nodiscard]] inline evaluation evaluate_cumulative(call const& c) {
  auto const *x = c.operand(0), *along = c.operand(1);
  if (x == nullptr || along == nullptr || along->size() != 1) return evaluation::misfit;
  auto axes = integers_of(*along);
  if (!counted_axes(axes, x->shape.size())) return evaluation::misfit;
  rows_along const rows(*x, static_cast<std::size_t>(axes[0]));
  auto const op = c.op == opcode::cumulative_sum ? opcode::add : opcode::mul;
  bool const exclusive = c.flag("exclusive"), reverse = c.flag("reverse");
  auto made = *x;
  auto const run = [&](auto& elements, auto const& f, auto const neutral) {
    for (std::size_t row = 0; row < rows.count(); ++row) {
      auto sum = neutral;
      for (std::size_t i = 0; i < rows.extent; ++i) {
        auto& element = elements[rows.element(row, reverse ? rows.extent - 1 - i : i)];
        auto const with = f(sum, element);
        element = exclusive ? sum : with;
        sum = with;
      }
    }
  };
  if (made.whole())
    run(made.integers, function_of_two_integers<std::int64_t>(op), std::int64_t{op == opcode::add ? 0 : 1});
  else
    run(made.elements, function_of_two(op), op == opcode::add ? 0. : 1.);
  return c.yield(converted(std::move(made), x->type));
}

}  // namespace fuse::inline v0::detail
