// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/eval/broadcasting.hpp>
#include <fuse/eval/call.hpp>
#include <fuse/eval/layout.hpp>

namespace fuse::inline v0::detail {

/// Calls `visit(number of the index, number of the element of x)` for each index of elements along an axis.
template <class Visit>
[[nodiscard]] bool for_each_element(dense const& x, dense const& indices, std::size_t axis, Visit const& visit) {
  if (indices.shape.size() != x.shape.size()) return false;
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    if (i != axis && indices.shape[i] > x.shape[i]) return false;
  auto rows = integers_of(indices);
  for (auto& i : rows)
    if (!counted(i, x.shape[axis])) return false;
  auto const strides = strides_of(x.shape);
  std::size_t number = 0;
  for_each_index(indices.shape, [&](std::vector<std::int64_t> const& at) {
    std::int64_t to = 0;
    for (std::size_t i = 0; i < at.size(); ++i) to += (i == axis ? rows[number] : at[i]) * strides[i];
    visit(number++, static_cast<std::size_t>(to));
  });
  return true;
}
[[nodiscard]] inline evaluation gathered_elements(call const& c, dense const& x, dense const& indices) {
  std::size_t axis = 0;
  std::vector<std::int64_t> sources(indices.size());
  if (!c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size() ||
      !for_each_element(x, indices, axis,
                        [&](std::size_t i, std::size_t from) { sources[i] = static_cast<std::int64_t>(from); }))
    return evaluation::misfit;
  std::size_t next = 0;
  return c.yield(picked(x, indices.shape, [&](std::vector<std::int64_t> const&) { return sources[next++]; }));
}

/// The first elements of the slices of `x` that rows of indices name, after `batches` axes that both have; false where
/// an index is out of range. `length`: the elements of a slice.
[[nodiscard]] inline bool slices_named(dense const& x, dense const& indices, std::size_t batches,
                                       std::vector<std::size_t>& firsts, std::size_t& length) {
  if (indices.shape.empty() || indices.shape.size() <= batches) return false;
  auto const depth = static_cast<std::size_t>(indices.shape.back());
  if (batches + depth > x.shape.size()) return false;
  for (std::size_t i = 0; i < batches; ++i)
    if (indices.shape[i] != x.shape[i]) return false;
  auto const all = integers_of(indices);
  auto const strides = strides_of(x.shape);
  auto const rows = count_between(indices.shape, 0, indices.shape.size() - 1),
             in_batch = count_between(indices.shape, batches, indices.shape.size() - 1),
             batch_length = count_between(x.shape, batches, x.shape.size());
  length = count_between(x.shape, batches + depth, x.shape.size());
  for (std::size_t row = 0; row < rows; ++row) {
    auto first = row / in_batch * batch_length;
    for (std::size_t i = 0; i < depth; ++i) {
      auto index = all[row * depth + i];
      if (!counted(index, x.shape[batches + i])) return false;
      first += static_cast<std::size_t>(index * strides[batches + i]);
    }
    firsts.push_back(first);
  }
  return true;
}
[[nodiscard]] inline evaluation gathered_slices(call const& c, dense const& x, dense const& indices) {
  auto const batches = static_cast<std::size_t>(c.integer("batch_dims", 0));
  std::vector<std::size_t> firsts;
  std::size_t length = 0;
  if (!slices_named(x, indices, batches, firsts, length)) return evaluation::misfit;
  std::vector<std::int64_t> shape(indices.shape.begin(), indices.shape.end() - 1);
  auto const depth = static_cast<std::ptrdiff_t>(batches) + static_cast<std::ptrdiff_t>(indices.shape.back());
  shape.insert(shape.end(), x.shape.begin() + depth, x.shape.end());
  auto made = picked(x, {static_cast<std::int64_t>(firsts.size()), static_cast<std::int64_t>(length)},
                     [&](std::vector<std::int64_t> const& at) {
                       return static_cast<std::int64_t>(firsts[static_cast<std::size_t>(at[0])]) + at[1];
                     });
  made.shape = std::move(shape);
  return c.yield(std::move(made));
}

/// What an element becomes where another is scattered onto it: that one, or what a reduction makes of both; null where
/// there is none of this name.
[[nodiscard]] inline auto scattering(std::string_view reduction) -> opcode {
  return reduction == "add"   ? opcode::add
         : reduction == "mul" ? opcode::mul
         : reduction == "max" ? opcode::maximum
         : reduction == "min" ? opcode::minimum
                              : opcode::identity;
}
/// Puts element `from` of `updates` onto element `to` of `x`.
inline void scatter(dense& x, dense const& updates, std::size_t to, std::size_t from, opcode reduction) {
  if (!x.whole()) {
    auto const f = function_of_two(reduction);
    x.elements[to] = f == nullptr ? updates.elements[from] : f(x.elements[to], updates.elements[from]);
    return;
  }
  auto const f = function_of_two_integers<std::int64_t>(reduction);
  auto const of_bits = function_of_two_integers<std::uint64_t>(reduction);
  auto& element = x.integers[to];
  if (f == nullptr)
    element = updates.integers[from];
  else if (x.type == element_type::uint64)
    element = static_cast<std::int64_t>(
        of_bits(static_cast<std::uint64_t>(element), static_cast<std::uint64_t>(updates.integers[from])));
  else
    element = wrapped(f(element, updates.integers[from]), x.type);
}
[[nodiscard]] inline evaluation scattered(call const& c, dense const& x, dense const& indices, dense const& updates) {
  auto const reduction = scattering(c.text("reduction", "none"));
  if (x.whole() != updates.whole()) return evaluation::misfit;
  auto made = x;
  if (c.op == opcode::scatter_nd) {
    std::vector<std::size_t> firsts;
    std::size_t length = 0;
    if (!slices_named(x, indices, 0, firsts, length) || updates.size() != firsts.size() * length)
      return evaluation::misfit;
    for (std::size_t row = 0; row < firsts.size(); ++row)
      for (std::size_t i = 0; i < length; ++i) scatter(made, updates, firsts[row] + i, row * length + i, reduction);
    return c.yield(std::move(made));
  }
  std::size_t axis = 0;
  if (updates.shape != indices.shape || !c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size() ||
      !for_each_element(x, indices, axis,
                        [&](std::size_t i, std::size_t to) { scatter(made, updates, to, i, reduction); }))
    return evaluation::misfit;
  return c.yield(std::move(made));
}

/// 1 (the second of two values) where an index points along a new axis, else 0 (the first).
[[nodiscard]] inline evaluation one_hot(call const& c, dense const& indices, dense const& depth, dense const& values) {
  auto const entries = integers_of(depth);
  std::size_t axis = 0;
  if (entries.size() != 1 || entries[0] < 0 || values.size() != 2 || !c.axis(indices.shape.size() + 1, -1, axis) ||
      axis > indices.shape.size())
    return evaluation::misfit;
  auto const rows = integers_of(indices);
  auto shape = indices.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), entries[0]);
  auto const strides = strides_of(indices.shape);
  return c.yield(picked(values, std::move(shape), [&](std::vector<std::int64_t> const& at) -> std::int64_t {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < indices.shape.size(); ++i) from += at[i < axis ? i : i + 1] * strides[i];
    auto index = rows[static_cast<std::size_t>(from)];
    return counted(index, entries[0]) && index == at[axis] ? 1 : 0;
  }));
}

/// The slices along an axis, or the elements of all, that a row of truth values keeps.
[[nodiscard]] inline evaluation compressed(call const& c, dense const& x, dense const& kept) {
  std::size_t axis = 0;
  double told = 0;
  bool const flat = !c.parameters.number("axis", told);
  auto const from = flat ? dense{{static_cast<std::int64_t>(x.size())}, x.elements, x.type, x.integers} : x;
  if (!flat && (!c.axis(x.shape.size(), 0, axis) || axis >= x.shape.size())) return evaluation::misfit;
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < kept.elements.size() && static_cast<std::int64_t>(i) < from.shape[axis]; ++i)
    if (kept.elements[i] != 0) rows.push_back(static_cast<std::int64_t>(i));
  auto shape = from.shape;
  shape[axis] = static_cast<std::int64_t>(rows.size());
  auto const strides = strides_of(from.shape);
  return c.yield(picked(from, std::move(shape), [&](std::vector<std::int64_t> const& at) {
    std::int64_t source = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      source += (i == axis ? rows[static_cast<std::size_t>(at[i])] : at[i]) * strides[i];
    return source;
  }));
}

/// The first so many of each row in the other direction, the rest as it is.
[[nodiscard]] inline evaluation reversed(call const& c, dense const& x, dense const& lengths) {
  auto const time = static_cast<std::size_t>(c.integer("time_axis", 0)),
             batch = static_cast<std::size_t>(c.integer("batch_axis", 1));
  auto const counts = integers_of(lengths);
  if (time >= x.shape.size() || batch >= x.shape.size() || counts.size() != static_cast<std::size_t>(x.shape[batch]))
    return evaluation::misfit;
  for (auto count : counts)
    if (count < 0 || count > x.shape[time]) return evaluation::misfit;
  auto const strides = strides_of(x.shape);
  return c.yield(picked(x, x.shape, [&](std::vector<std::int64_t> const& at) {
    auto const count = counts[static_cast<std::size_t>(at[batch])];
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      from += (i == time && at[i] < count ? count - 1 - at[i] : at[i]) * strides[i];
    return from;
  }));
}

/// An operator that takes elements, or puts them, where indices say.
[[nodiscard]] inline evaluation evaluate_indexing(call const& c) {
  auto const *x = c.operand(0), *second = c.operand(1), *third = c.operand(2);
  if (x == nullptr || second == nullptr) return evaluation::misfit;
  switch (c.op) {
    case opcode::gather: return gathered(c, *x, *second);
    case opcode::gather_elements: return gathered_elements(c, *x, *second);
    case opcode::gather_nd: return gathered_slices(c, *x, *second);
    case opcode::compress: return compressed(c, *x, *second);
    case opcode::reverse_sequence: return reversed(c, *x, *second);
    case opcode::scatter_nd:
    case opcode::scatter_elements: return third == nullptr ? evaluation::misfit : scattered(c, *x, *second, *third);
    case opcode::one_hot: return third == nullptr ? evaluation::misfit : one_hot(c, *x, *second, *third);
    default: return evaluation::unknown;
  }
}

}  // namespace fuse::inline v0::detail
