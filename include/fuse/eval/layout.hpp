// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

/// `from` with the elements that `source` names by their indices there: `source(at)`, where `at` is an index in
/// `shape`.
template <class Source>
[[nodiscard]] dense picked(dense const& from, std::vector<std::int64_t> shape, Source const& source) {
  dense made{std::move(shape), {}, from.type};
  auto const count = count_of(made.shape);
  made.elements.reserve(count);
  std::vector<std::int64_t> at(made.shape.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    made.elements.push_back(from.elements[source(at)]);
    for (auto axis = at.size(); axis-- > 0;) {
      if (++at[axis] < made.shape[axis]) break;
      at[axis] = 0;
    }
  }
  return made;
}
[[nodiscard]] inline std::vector<std::int64_t> strides_of(span<std::int64_t const> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (auto axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Counts axes from the first; false where one is none of `rank`, or named twice.
[[nodiscard]] inline bool counted_axes(std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> seen(rank, false);
  for (auto& axis : axes) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

[[nodiscard]] inline evaluation reshaped(call const& c, dense const& x, std::vector<std::int64_t> shape) {
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  bool const zero_is_zero = c.number("allowzero", 0) != 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      if (i >= x.shape.size()) return evaluation::misfit;
      shape[i] = x.shape[i];
    }
    if (shape[i] == -1 && open == nullptr)
      open = &shape[i];
    else if (shape[i] < 0)
      return evaluation::misfit;
    else
      known *= shape[i];
  }
  if (open != nullptr) {
    if (known == 0) return evaluation::misfit;
    *open = static_cast<std::int64_t>(x.elements.size()) / known;
  }
  if (count_of(shape) != x.elements.size()) return evaluation::misfit;
  return c.yield({std::move(shape), x.elements, x.type});
}

[[nodiscard]] inline evaluation transposed(call const& c, dense const& x) {
  auto const rank = x.shape.size();
  std::vector<std::int64_t> order;
  if (!c.list("perm", order) || order.empty()) {
    order.clear();
    for (auto axis = rank; axis-- > 0;) order.push_back(static_cast<std::int64_t>(axis));
  }
  if (order.size() != rank || !counted_axes(order, rank)) return evaluation::misfit;
  auto const strides = strides_of(x.shape);
  std::vector<std::int64_t> shape;
  for (auto axis : order) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  return c.yield(picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < rank; ++i) from += at[i] * strides[static_cast<std::size_t>(order[i])];
    return static_cast<std::size_t>(from);
  }));
}

[[nodiscard]] inline evaluation concatenated(call const& c) {
  std::size_t axis = 0;
  if (c.operand(0) == nullptr || !c.axis(c.operand(0)->shape.size(), 1, axis)) return evaluation::misfit;
  dense made{c.operand(0)->shape, {}};
  if (axis >= made.shape.size()) return evaluation::misfit;
  made.shape[axis] = 0;
  for (auto const* part : c.operands) {
    if (part == nullptr || part->shape.size() != made.shape.size()) return evaluation::misfit;
    for (std::size_t i = 0; i < made.shape.size(); ++i)
      if (i != axis && part->shape[i] != made.shape[i]) return evaluation::misfit;
    made.shape[axis] += part->shape[axis];
  }
  auto const outer = count_between(made.shape, 0, axis);
  for (std::size_t at = 0; at < outer; ++at)
    for (auto const* part : c.operands) {
      auto const run = count_between(part->shape, axis, part->shape.size());
      auto const first = part->elements.begin() + static_cast<std::ptrdiff_t>(at * run);
      made.elements.insert(made.elements.end(), first, first + static_cast<std::ptrdiff_t>(run));
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
    return static_cast<std::size_t>(from);
  });
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
  std::vector<std::int64_t> from(x.shape.size(), 0), by(x.shape.size(), 1);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    auto shape = x.shape;
    shape[axis] = lengths[i];
    if (lengths[i] < 0 || from[axis] + lengths[i] > x.shape[axis]) return evaluation::misfit;
    auto made = part_of(x, from, by, std::move(shape));
    c.results[i].shape.swap(made.shape);
    c.results[i].elements.swap(made.elements);
    from[axis] += lengths[i];
  }
  return evaluation::done;
}

[[nodiscard]] inline evaluation gathered(call const& c, dense const& x, dense const& indices) {
  std::size_t axis = 0;
  if (!c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size()) return evaluation::misfit;
  for (auto i : indices.elements)
    if (!(i >= -static_cast<double>(x.shape[axis]) && i < static_cast<double>(x.shape[axis])))
      return evaluation::misfit;
  std::vector<std::int64_t> shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape.end());
  auto const outer = count_between(x.shape, 0, axis), inner = count_between(x.shape, axis + 1, x.shape.size());
  dense made{std::move(shape), {}};
  for (std::size_t o = 0; o < outer; ++o)
    for (auto i : indices.elements) {
      auto const row = static_cast<std::size_t>(i < 0 ? i + static_cast<double>(x.shape[axis]) : i);
      auto const first =
          x.elements.begin() + static_cast<std::ptrdiff_t>((o * static_cast<std::size_t>(x.shape[axis]) + row) * inner);
      made.elements.insert(made.elements.end(), first, first + static_cast<std::ptrdiff_t>(inner));
    }
  return c.yield(std::move(made));
}

[[nodiscard]] inline evaluation tiled(call const& c, dense const& x, dense const& repeats) {
  if (repeats.elements.size() != x.shape.size()) return evaluation::misfit;
  auto shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= static_cast<std::int64_t>(repeats.elements[i]);
  auto const strides = strides_of(x.shape);
  return c.yield(picked(x, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] % x.shape[i] * strides[i];
    return static_cast<std::size_t>(from);
  }));
}

[[nodiscard]] inline std::vector<std::int64_t> integers_of(dense const& from) {
  std::vector<std::int64_t> all;
  for (auto x : from.elements) all.push_back(static_cast<std::int64_t>(x));
  return all;
}

/// An operator that moves elements, makes them of a shape, or tells one.
[[nodiscard]] inline evaluation evaluate_layout(call const& c) {
  auto const *x = c.operand(0), *second = c.operand(1);
  if (x == nullptr) return evaluation::misfit;
  std::vector<std::int64_t> axes;
  switch (c.op) {
    case opcode::shape: {
      dense made{{static_cast<std::int64_t>(x->shape.size())}, {}};
      for (auto e : x->shape) made.elements.push_back(static_cast<double>(e));
      if (c.number("start", 0) != 0 || c.number("end", 64) < static_cast<double>(x->shape.size()))
        return evaluation::unknown;
      return c.yield(std::move(made));
    }
    case opcode::size: return c.yield(dense::of(static_cast<double>(x->elements.size())));
    case opcode::range: {
      auto const *limit = second, *step = c.operand(2);
      if (limit == nullptr || step == nullptr || x->elements.size() != 1 || limit->elements.size() != 1 ||
          step->elements.size() != 1 || step->elements[0] == 0)
        return evaluation::misfit;
      dense made{{0}, {}};
      for (double at = x->elements[0], by = step->elements[0];
           (by > 0 ? at < limit->elements[0] : at > limit->elements[0]) && made.shape[0] < 65536;
           at += by, ++made.shape[0])
        made.elements.push_back(at);
      return c.yield(std::move(made));
    }
    case opcode::reshape:
      if (std::vector<std::int64_t> shape; c.list("shape", shape)) return reshaped(c, *x, std::move(shape));
      return second == nullptr ? evaluation::misfit : reshaped(c, *x, integers_of(*second));
    case opcode::flatten: {
      std::size_t axis = 0;
      if (!c.axis(x->shape.size(), 1, axis)) return evaluation::misfit;
      return c.yield({{static_cast<std::int64_t>(count_between(x->shape, 0, axis)),
                       static_cast<std::int64_t>(count_between(x->shape, axis, x->shape.size()))},
                      x->elements});
    }
    case opcode::squeeze: {
      bool const all = !c.list("axes", axes) || axes.empty();
      if (!all && !counted_axes(axes, x->shape.size())) return evaluation::misfit;
      std::vector<bool> gone(x->shape.size(), false);
      for (std::size_t i = 0; all && i < gone.size(); ++i) gone[i] = x->shape[i] == 1;
      for (auto axis : axes) gone[static_cast<std::size_t>(axis)] = true;
      dense made{{}, x->elements};
      for (std::size_t i = 0; i < gone.size(); ++i) {
        if (!gone[i]) made.shape.push_back(x->shape[i]);
        if (gone[i] && x->shape[i] != 1) return evaluation::misfit;
      }
      return c.yield(std::move(made));
    }
    case opcode::unsqueeze: {
      if (!c.list("axes", axes)) return evaluation::unknown;
      auto const rank = x->shape.size() + axes.size();
      if (!counted_axes(axes, rank)) return evaluation::misfit;
      std::vector<bool> added(rank, false);
      for (auto axis : axes) added[static_cast<std::size_t>(axis)] = true;
      dense made{{}, x->elements};
      for (std::size_t i = 0, from = 0; i < rank; ++i) made.shape.push_back(added[i] ? 1 : x->shape[from++]);
      return c.yield(std::move(made));
    }
    case opcode::transpose: return transposed(c, *x);
    case opcode::concat: return concatenated(c);
    case opcode::slice: return sliced(c, *x);
    case opcode::split: return split_up(c, *x);
    case opcode::gather: return second == nullptr ? evaluation::misfit : gathered(c, *x, *second);
    case opcode::tile: return second == nullptr ? evaluation::misfit : tiled(c, *x, *second);
    case opcode::expand: {
      std::vector<std::int64_t> shape;
      dense made;
      if (second == nullptr || !fuse::broadcast_shape(x->shape, integers_of(*second), shape) ||
          !broadcast_to(*x, shape, made))
        return evaluation::misfit;
      return c.yield(std::move(made));
    }
    default: return evaluation::unknown;
  }
}

}  // namespace fuse::inline v0::detail
