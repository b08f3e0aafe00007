// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/checked.hpp>
#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

/// Counts an index from the first; false where it is none of `extent`.
[[nodiscard]] inline bool counted(std::int64_t& index, std::int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent;
}

[[nodiscard]] inline evaluation gathered(call const& c, dense const& x, dense const& indices) {
  std::size_t axis = 0;
  if (!c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size()) return evaluation::misfit;
  auto rows = integers_of(indices);
  for (auto& i : rows)
    if (!counted(i, x.shape[axis])) return evaluation::misfit;
  auto const count = static_cast<std::int64_t>(rows.size());
  auto const outer = static_cast<std::int64_t>(count_between(x.shape, 0, axis)),
             inner = static_cast<std::int64_t>(count_between(x.shape, axis + 1, x.shape.size()));
  auto const at_axis = x.shape.begin() + static_cast<std::ptrdiff_t>(axis);
  std::vector<std::int64_t> shape(x.shape.begin(), at_axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), at_axis + 1, x.shape.end());
  auto made = picked(x, {outer, count, inner}, [&](std::vector<std::int64_t> const& at) {
    return (at[0] * x.shape[axis] + rows[static_cast<std::size_t>(at[1])]) * inner + at[2];
  });
  made.shape = std::move(shape);
  return c.yield(std::move(made));
}

/// `x` with the same elements in another shape.
[[nodiscard]] inline dense in_shape(dense x, std::vector<std::int64_t> shape) {
  x.shape = std::move(shape);
  return x;
}

[[nodiscard]] inline evaluation reshaped(call const& c, dense const& x, std::vector<std::int64_t> shape) {
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  bool const zero_is_zero = c.flag("allowzero");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      if (i >= x.shape.size()) return evaluation::misfit;
      shape[i] = x.shape[i];
    }
    if (shape[i] == -1 && open == nullptr)
      open = &shape[i];
    else if (shape[i] < 0 || !checked_multiply(known, shape[i], known))
      return evaluation::misfit;
  }
  if (open != nullptr) {
    if (known == 0) return evaluation::misfit;
    *open = static_cast<std::int64_t>(x.size()) / known;
  }
  if (count_of(shape) != x.size()) return evaluation::misfit;
  return c.yield(in_shape(x, std::move(shape)));
}

/// With its axes in another order: axis `i` is axis `order[i]` of `x`.
[[nodiscard]] inline dense permuted(dense const& x, span<std::int64_t const> order) {
  auto const strides = strides_of(x.shape);
  std::vector<std::int64_t> shape, steps;
  for (auto axis : order) {
    shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    steps.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] * steps[i];
    return from;
  });
}

[[nodiscard]] inline evaluation transposed(call const& c, dense const& x) {
  auto const rank = x.shape.size();
  std::vector<std::int64_t> order;
  if (!c.list("perm", order) || order.empty()) {
    order.clear();
    for (auto axis = rank; axis-- > 0;) order.push_back(static_cast<std::int64_t>(axis));
  }
  if (order.size() != rank || !counted_axes(order, rank)) return evaluation::misfit;
  return c.yield(permuted(x, order));
}

[[nodiscard]] inline evaluation concatenated(call const& c) {
  std::size_t axis = 0;
  if (c.operand(0) == nullptr || !c.axis(c.operand(0)->shape.size(), 1, axis)) return evaluation::misfit;
  dense made{c.operand(0)->shape, {}, c.operand(0)->type, {}};
  if (axis >= made.shape.size()) return evaluation::misfit;
  made.shape[axis] = 0;
  for (auto const* part : c.operands) {
    if (part == nullptr || part->shape.size() != made.shape.size() || part->whole() != made.whole())
      return evaluation::misfit;
    for (std::size_t i = 0; i < made.shape.size(); ++i)
      if (i != axis && part->shape[i] != made.shape[i]) return evaluation::misfit;
    made.shape[axis] += part->shape[axis];
  }
  auto const outer = count_between(made.shape, 0, axis);
  for (std::size_t at = 0; at < outer; ++at)
    for (auto const* part : c.operands) {
      auto const run = static_cast<std::ptrdiff_t>(count_between(part->shape, axis, part->shape.size()));
      auto const append = [&](auto const& from, auto& into) {
        auto const first = from.begin() + static_cast<std::ptrdiff_t>(at) * run;
        into.insert(into.end(), first, first + run);
      };
      if (made.whole())
        append(part->integers, made.integers);
      else
        append(part->elements, made.elements);
    }
  return c.yield(std::move(made));
}

/// The part of `x` from `starts` by `steps`, as large as `shape`.
[[nodiscard]] inline dense part_of(dense const& x, span<std::int64_t const> starts, span<std::int64_t const> steps,
                                   std::vector<std::int64_t> shape) {
  auto const strides = strides_of(x.shape);
  return picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += (starts[i] + at[i] * steps[i]) * strides[i];
    return from;
  });
}
/// The part of `x` that has extent `length` along one axis, from `start` on.
[[nodiscard]] inline dense part_along(dense const& x, std::size_t axis, std::int64_t start, std::int64_t length) {
  std::vector<std::int64_t> starts(x.shape.size(), 0), steps(x.shape.size(), 1), shape = x.shape;
  starts[axis] = start;
  shape[axis] = length;
  return part_of(x, starts, steps, std::move(shape));
}

[[nodiscard]] inline evaluation sliced(call const& c, dense const& x) {
  std::vector<std::int64_t> starts, ends, axes, steps;
  if (!c.list("starts", starts) || !c.list("ends", ends)) return evaluation::unknown;
  if (!c.list("axes", axes) || axes.empty()) {
    axes.clear();
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!c.list("steps", steps) || steps.empty()) steps.assign(starts.size(), 1);
  if (!counted_axes(axes, x.shape.size()) || ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return evaluation::misfit;
  std::vector<std::int64_t> from(x.shape.size(), 0), by(x.shape.size(), 1), shape = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto const axis = static_cast<std::size_t>(axes[i]);
    auto const extent = x.shape[axis], step = steps[i];
    if (step == 0) return evaluation::misfit;
    auto const bounded = [&](std::int64_t v, std::int64_t least, std::int64_t most) {
      if (v < 0) v += extent;
      return v < least ? least : v > most ? most : v;
    };
    auto const first = step > 0 ? bounded(starts[i], 0, extent) : bounded(starts[i], 0, extent - 1);
    auto const last = step > 0 ? bounded(ends[i], 0, extent) : bounded(ends[i], -1, extent - 1);
    auto const length = step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step;
    from[axis] = first;
    by[axis] = step;
    shape[axis] = length < 0 ? 0 : length;
  }
  return c.yield(part_of(x, from, by, std::move(shape)));
}

[[nodiscard]] inline evaluation split_up(call const& c, dense const& x) {
  std::size_t axis = 0;
  if (!c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size()) return evaluation::misfit;
  std::vector<std::int64_t> lengths;
  auto const parts = static_cast<std::int64_t>(c.results.size());
  if (!c.list("split", lengths) || lengths.empty()) {
    auto const each = (x.shape[axis] + parts - 1) / parts;
    lengths.assign(c.results.size(), each);
    lengths.back() = x.shape[axis] - each * (parts - 1);
  }
  if (lengths.size() != c.results.size()) return evaluation::misfit;
  std::int64_t from = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0 || from + lengths[i] > x.shape[axis]) return evaluation::misfit;
    if (auto const state = c.yield(i, part_along(x, axis, from, lengths[i])); state != evaluation::done) return state;
    from += lengths[i];
  }
  return evaluation::done;
}

[[nodiscard]] inline evaluation tiled(call const& c, dense const& x, dense const& repeats) {
  auto const times = integers_of(repeats);
  if (times.size() != x.shape.size()) return evaluation::misfit;
  auto shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (times[i] < 0) return evaluation::misfit;
    shape[i] *= times[i];
  }
  auto const strides = strides_of(x.shape);
  return c.yield(picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] % x.shape[i] * strides[i];
    return from;
  }));
}

/// Elements around: a number, what is nearest, or what is there after a reflection, or once more from the start. What
/// is below 0 cuts off.
[[nodiscard]] inline evaluation padded(call const& c, dense const& x) {
  auto const rank = x.shape.size();
  std::vector<std::int64_t> pads, axes;
  if (!c.list("pads", pads)) return evaluation::unknown;
  if (!c.list("axes", axes) || axes.empty()) {
    axes.clear();
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!counted_axes(axes, rank) || pads.size() != 2 * axes.size()) return evaluation::misfit;
  std::vector<std::int64_t> before(rank, 0), shape = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto const axis = static_cast<std::size_t>(axes[i]);
    before[axis] = pads[i];
    shape[axis] += pads[i] + pads[i + axes.size()];
    if (shape[axis] < 0) return evaluation::misfit;
  }
  auto const mode = c.text("mode", "constant");
  auto const* blank = c.operand(2);
  auto const number = dense::of(c.number("value", 0));
  auto const strides = strides_of(x.shape);
  bool inside = true;
  auto made = picked(
      x, std::move(shape),
      [&](std::vector<std::int64_t> const& at) -> std::int64_t {
        std::int64_t from = 0;
        for (std::size_t axis = 0; axis < rank; ++axis) {
          auto i = at[axis] - before[axis];
          auto const extent = x.shape[axis];
          if (i < 0 || i >= extent) {
            if (mode == "constant") return -1;
            if (extent == 0) return inside = false, -1;
            if (mode == "edge") {
              i = i < 0 ? 0 : extent - 1;
            } else if (mode == "wrap") {
              i = (i % extent + extent) % extent;
            } else {
              auto const period = extent == 1 ? 1 : 2 * (extent - 1);
              i = (i % period + period) % period;
              if (i >= extent) i = period - i;
            }
          }
          from += i * strides[axis];
        }
        return from;
      },
      blank != nullptr ? blank : &number);
  return inside ? c.yield(std::move(made)) : evaluation::misfit;
}

/// Pixels in blocks, of which channels are made, or back.
[[nodiscard]] inline evaluation reblocked(call const& c, dense const& x) {
  auto const b = c.integer("blocksize", 0);
  if (x.shape.size() != 4 || b < 1) return evaluation::misfit;
  auto const n = x.shape[0], channels = x.shape[1], h = x.shape[2], w = x.shape[3];
  bool const depth_first = c.text("mode", "DCR") == "DCR";
  if (c.op == opcode::depth_to_space) {
    if (channels % (b * b) != 0) return evaluation::misfit;
    auto const kept = channels / (b * b);
    auto const split = depth_first ? in_shape(x, {n, b, b, kept, h, w}) : in_shape(x, {n, kept, b, b, h, w});
    std::int64_t const by_depth[] = {0, 3, 4, 1, 5, 2}, by_column[] = {0, 1, 4, 2, 5, 3};
    return c.yield(in_shape(permuted(split, depth_first ? by_depth : by_column), {n, kept, h * b, w * b}));
  }
  if (h % b != 0 || w % b != 0) return evaluation::misfit;
  std::int64_t const by_depth[] = {0, 3, 5, 1, 2, 4}, by_column[] = {0, 1, 3, 5, 2, 4};
  return c.yield(in_shape(permuted(in_shape(x, {n, channels, h / b, b, w / b, b}), depth_first ? by_depth : by_column),
                          {n, channels * b * b, h / b, w / b}));
}

[[nodiscard]] inline evaluation squeezed(call const& c, dense const& x) {
  std::vector<std::int64_t> axes, shape;
  bool const all = !c.list("axes", axes) || axes.empty();
  if (!all && !counted_axes(axes, x.shape.size())) return evaluation::misfit;
  std::vector<bool> gone(x.shape.size(), false);
  for (std::size_t i = 0; all && i < gone.size(); ++i) gone[i] = x.shape[i] == 1;
  for (auto axis : axes) gone[static_cast<std::size_t>(axis)] = true;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) shape.push_back(x.shape[i]);
    if (gone[i] && x.shape[i] != 1) return evaluation::misfit;
  }
  return c.yield(in_shape(x, std::move(shape)));
}
[[nodiscard]] inline evaluation unsqueezed(call const& c, dense const& x) {
  std::vector<std::int64_t> axes, shape;
  if (!c.list("axes", axes)) return evaluation::unknown;
  auto const rank = x.shape.size() + axes.size();
  if (!counted_axes(axes, rank)) return evaluation::misfit;
  std::vector<bool> added(rank, false);
  for (auto axis : axes) added[static_cast<std::size_t>(axis)] = true;
  for (std::size_t i = 0, from = 0; i < rank; ++i) shape.push_back(added[i] ? 1 : x.shape[from++]);
  return c.yield(in_shape(x, std::move(shape)));
}

/// An operator that moves elements as they stand, whatever they are.
[[nodiscard]] inline evaluation evaluate_layout(call const& c) {
  auto const *x = c.operand(0), *second = c.operand(1);
  if (x == nullptr) return evaluation::misfit;
  switch (c.op) {
    case opcode::reshape:
      if (std::vector<std::int64_t> shape; c.list("shape", shape)) return reshaped(c, *x, std::move(shape));
      return second == nullptr ? evaluation::misfit : reshaped(c, *x, integers_of(*second));
    case opcode::flatten: {
      std::size_t axis = 0;
      if (!c.axis(x->shape.size(), 1, axis)) return evaluation::misfit;
      return c.yield(in_shape(*x, {static_cast<std::int64_t>(count_between(x->shape, 0, axis)),
                                   static_cast<std::int64_t>(count_between(x->shape, axis, x->shape.size()))}));
    }
    case opcode::squeeze: return squeezed(c, *x);
    case opcode::unsqueeze: return unsqueezed(c, *x);
    case opcode::transpose: return transposed(c, *x);
    case opcode::concat: return concatenated(c);
    case opcode::slice: return sliced(c, *x);
    case opcode::split: return split_up(c, *x);
    case opcode::tile: return second == nullptr ? evaluation::misfit : tiled(c, *x, *second);
    case opcode::pad: return padded(c, *x);
    case opcode::gather: return second == nullptr ? evaluation::misfit : gathered(c, *x, *second);
    case opcode::depth_to_space:
    case opcode::space_to_depth: return reblocked(c, *x);
    case opcode::expand: {
      std::vector<std::int64_t> shape;
      dense made;
      if (second == nullptr || !are_extents(integers_of(*second)) ||
          !fuse::broadcast_shape(x->shape, integers_of(*second), shape) || !broadcast_to(*x, shape, made))
        return evaluation::misfit;
      return c.yield(std::move(made));
    }
    default: return evaluation::unknown;
  }
}

}  // namespace fuse::inline v0::detail
