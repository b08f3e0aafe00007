// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/eval/call.hpp>

namespace fuse::inline v0::detail {

/// What an attribute holds, as a tensor; false where it holds nothing that is one.
[[nodiscard]] inline bool tensor_of(attribute_view const& held, dense& into) {
  if (auto const* tensor = std::get_if<tensor_view>(&held)) {
    if (!*tensor || !computed_in(tensor->type) || tensor->size() != count_of(tensor->shape)) return false;
    into = dense::of(*tensor);
    return true;
  }
  if (auto const* whole = std::get_if<std::int64_t>(&held)) return into = integers_in({}, {*whole}), true;
  if (auto const* number = std::get_if<double>(&held)) {
    into = dense::of(*number);
    into.type = element_type::float32;
    return true;
  }
  if (auto const* list = std::get_if<span<std::int64_t const>>(&held)) {
    into = integers_in({static_cast<std::int64_t>(list->size())}, {list->begin(), list->end()});
    return true;
  }
  auto const* numbers = std::get_if<span<float const>>(&held);
  if (numbers == nullptr) return false;
  into = {{static_cast<std::int64_t>(numbers->size())}, {}, element_type::float32, {}};
  for (auto x : *numbers) into.elements.push_back(static_cast<double>(x));
  return true;
}

[[nodiscard]] inline evaluation evaluate_constant(call const& c) {
  dense made;
  for (auto const* name : {"value", "value_float", "value_int", "value_floats", "value_ints"})
    if (tensor_of(c.parameters.attribute(name), made)) return c.yield(std::move(made));
  return evaluation::unknown;
}

[[nodiscard]] inline evaluation constant_of_shape(call const& c, dense const& shape) {
  dense all{{1}, {0}, element_type::float32, {}};
  auto const held = c.parameters.attribute("value");
  if (!std::holds_alternative<std::monostate>(held) && !tensor_of(held, all)) return evaluation::unknown;
  if (all.size() != 1) return evaluation::misfit;
  auto extents = integers_of(shape);
  if (!are_extents(extents)) return evaluation::misfit;
  return c.yield(picked(all, std::move(extents), [](std::vector<std::int64_t> const&) { return std::int64_t{0}; }));
}

[[nodiscard]] inline evaluation ranged(call const& c, dense const& first) {
  auto const *limit = c.operand(1), *step = c.operand(2);
  if (limit == nullptr || step == nullptr || first.size() != 1 || limit->size() != 1 || step->size() != 1 ||
      limit->whole() != first.whole() || step->whole() != first.whole())
    return evaluation::misfit;
  constexpr double most = 1 << 24;  // entries
  if (first.whole()) {
    auto const from = first.integers[0], to = limit->integers[0], by = step->integers[0];
    if (by == 0 || (real(to, first.type) - real(from, first.type)) / real(by, first.type) > most)
      return evaluation::misfit;
    dense made{{}, {}, first.type, {}};
    for (auto at = from; by > 0 ? at < to : at > to; at += by) made.integers.push_back(at);
    made.shape = {static_cast<std::int64_t>(made.integers.size())};
    return c.yield(std::move(made));
  }
  auto const from = first.elements[0], to = limit->elements[0], by = step->elements[0];
  auto const count = std::ceil((to - from) / by);
  if (!(by != 0) || !(count < most)) return evaluation::misfit;
  dense made{{}, {}, first.type, {}};
  for (double i = 0; i < count; ++i) made.elements.push_back(from + i * by);
  made.shape = {static_cast<std::int64_t>(made.elements.size())};
  return c.yield(std::move(made));
}

/// 1 on a diagonal, else 0.
[[nodiscard]] inline evaluation eye_like(call const& c, dense const& x) {
  if (x.shape.size() != 2) return evaluation::misfit;
  auto const k = c.integer("k", 0);
  dense const one{{2}, {0, 1}, x.type == element_type::unknown ? element_type::float32 : element_type::float64, {}};
  auto made = picked(one, x.shape,
                     [&](std::vector<std::int64_t> const& at) -> std::int64_t { return at[1] == at[0] + k ? 1 : 0; });
  return c.yield(c.results[0].type == element_type::unknown ? converted(std::move(made), x.type) : std::move(made));
}

[[nodiscard]] inline evaluation triangle(call const& c, dense const& x) {
  auto const rank = x.shape.size();
  auto const* diagonal = c.operand(1);
  if (rank < 2 || (diagonal != nullptr && diagonal->size() != 1)) return evaluation::misfit;
  auto const k = diagonal == nullptr ? 0 : integers_of(*diagonal)[0];
  bool const upper = c.flag("upper", true);
  std::int64_t next = 0;
  return c.yield(picked(x, x.shape, [&](std::vector<std::int64_t> const& at) -> std::int64_t {
    auto const from = next++, off = at[rank - 1] - at[rank - 2];
    return (upper ? off >= k : off <= k) ? from : -1;
  }));
}

/// The indices of what is not 0, a column each.
[[nodiscard]] inline evaluation non_zero(call const& c, dense const& x) {
  auto const truth = converted(x, element_type::boolean);
  std::vector<std::vector<std::int64_t>> columns;
  std::size_t next = 0;
  for_each_index(x.shape, [&](std::vector<std::int64_t> const& at) {
    if (truth.elements[next++] != 0) columns.push_back(at);
  });
  auto made = integers_in({static_cast<std::int64_t>(x.shape.size()), static_cast<std::int64_t>(columns.size())}, {});
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis)
    for (auto const& at : columns) made.integers.push_back(at[axis]);
  return c.yield(std::move(made));
}

/// An operator that makes a tensor of a shape, of a few numbers, or tells what a tensor looks like.
[[nodiscard]] inline evaluation evaluate_making(call const& c) {
  if (c.op == opcode::constant) return evaluate_constant(c);
  auto const* x = c.operand(0);
  if (x == nullptr) return evaluation::misfit;
  switch (c.op) {
    case opcode::constant_of_shape: return constant_of_shape(c, *x);
    case opcode::shape: {
      auto const rank = static_cast<std::int64_t>(x->shape.size());
      auto const bounded = [&](std::int64_t i) {
        if (i < 0) i += rank;
        return i < 0 ? 0 : i > rank ? rank : i;
      };
      auto const start = bounded(c.integer("start", 0)), end = bounded(c.integer("end", rank));
      std::vector<std::int64_t> extents;
      for (auto i = start; i < end; ++i) extents.push_back(x->shape[static_cast<std::size_t>(i)]);
      return c.yield(integers_in({static_cast<std::int64_t>(extents.size())}, extents));
    }
    case opcode::size: return c.yield(integers_in({}, {static_cast<std::int64_t>(x->size())}));
    case opcode::range: return ranged(c, *x);
    case opcode::eye_like: return eye_like(c, *x);
    case opcode::trilu: return triangle(c, *x);
    case opcode::non_zero: return non_zero(c, *x);
    default: return evaluation::unknown;
  }
}

}  // namespace fuse::inline v0::detail
