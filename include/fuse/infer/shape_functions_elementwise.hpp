// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/span.hpp>
#include <fuse/infer/shape_context.hpp>

namespace fuse::inline v0::detail {

/// dims := broadcast(dims, shape), aligned at the last dimension. False where ranks are out of bounds.
template <class Context>
void broadcast_into(Context& at, span<extent const> shape) {
  auto& dims = at.dims;
  if (shape.size() > dims.size()) dims.insert(dims.begin(), shape.size() - dims.size(), extent(1));
  auto const shift = dims.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) dims[shift + i] = at.symbols().broadcast(dims[shift + i], shape[i]);
}

/// The result is as large as all operands from the first one on, broadcast.
template <class Context>
void broadcast_shape(Context& at) {
  auto const count = at.operand_count();
  if (count == 0 || at.result_count() == 0) return;
  if (count == 2) {  // the same two over and over: a broadcast is a symbol known by its arguments
    auto const a = at.facts.shape_number(at.operand(0)), b = at.facts.shape_number(at.operand(1));
    if (a == 0 || b == 0) return;
    if (a == b) return at.facts.set_shape_number(at.result(), a);
    auto& known = at.broadcasts[(a * 31 + b) % at.most_broadcasts];
    if (known.a != a || known.b != b) {
      auto const first = at.shape(0);
      at.dims.assign(first.begin(), first.end());
      broadcast_into(at, at.shape(1));
      at.set_shape(0, at.dims);
      known = {a, b, at.facts.shape_number(at.result())};
    }
    return at.facts.set_shape_number(at.result(), known.result);
  }
  bool same = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!at.ranked(i)) return;
    same = same && at.facts.same_shape(at.operand(0), at.operand(i));
  }
  if (same) return at.share_shape(0, 0);
  auto const first = at.shape(0);
  at.dims.assign(first.begin(), first.end());
  for (std::uint32_t i = 1; i < count; ++i) broadcast_into(at, at.shape(i));
  at.set_shape(0, at.dims);
}

template <class Context>
void reduce_shape(Context& at) {
  at.facts.add_reduction(at.n);
  bool keepdims = true;
  if (!reduction_axes(at.image(), at.facts, at.names, at.n, at.axes, keepdims, at.list)) {
    // Without axes the rank may still be known.
    double keeps = 0;
    if (at.ranked(0) && read_number(at.image(), at.facts, at.names, at.n, "keepdims", keeps) && keeps != 0)
      at.set_rank(0, at.shape(0).size());
    return;
  }
  if (at.result_count() == 0) return;
  auto const kind = at.facts.keep_reduction(at.n, at.axes, keepdims);
  auto const from = at.shape(0);
  auto const number = at.facts.shape_number(at.operand(0));
  auto& last = at.reduced;
  if (last.a == number && last.b == kind) return at.facts.set_shape_number(at.result(), last.result);
  last = {number, kind, 0};
  at.dims.clear();
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    bool const reduced = next < at.axes.size() && at.axes[next] == static_cast<int>(i);
    if (reduced) ++next;
    if (!reduced)
      at.dims.push_back(from[i]);
    else if (keepdims)
      at.dims.push_back(1);
  }
  at.set_shape(0, at.dims);
  last.result = at.facts.shape_number(at.result());
}

/// ArgMax, ArgMin: one axis.
template <class Context>
void arg_reduce_shape(Context& at) {
  at.set_type(0, element_type::int64);
  std::size_t axis = 0;
  std::int64_t keeps = 1;
  if (!at.ranked(0) || !at.axis("axis", 0, at.rank(0), axis) || !at.integer("keepdims", 1, keeps)) return;
  auto const from = at.shape(0);
  at.dims.assign(from.begin(), from.end());
  if (keeps != 0)
    at.dims[axis] = 1;
  else
    at.dims.erase(at.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  at.set_shape(0, at.dims);
}

/// `v`, which had one shape, may also have that of `other`: what remains known is what both say.
template <class Context>
void meet_shapes(Context& at, value_id v, value_id other) {
  auto const a = at.facts.shape(v), b = at.facts.shape(other);
  if (!at.facts.has_rank(v) || !at.facts.has_rank(other) || a.size() != b.size()) return at.facts.forget_shape(v);
  at.dims.clear();
  for (std::size_t i = 0; i < a.size(); ++i) at.dims.push_back(a[i] == b[i] ? a[i] : at.symbols().fresh());
  at.facts.set_shape(v, at.dims);
}

/// The element type of a type attribute's number.
[[nodiscard]] inline element_type type_of_number(std::int64_t number) {
  if (number <= 0) return element_type::unknown;
  return number > 16 ? element_type::other : static_cast<element_type>(number);
}

}  // namespace fuse::inline v0::detail
