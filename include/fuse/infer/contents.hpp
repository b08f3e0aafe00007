// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include <fuse/infer/contents_elementwise.hpp>
#include <fuse/infer/operand_contents.hpp>
#include <fuse/infer/shape_context.hpp>
#include <fuse/infer/shape_functions_layout.hpp>

namespace fuse::inline v0::detail {

template <class Context>
void gather_contents(Context& at) {
  operand_contents data, indices;
  std::size_t axis = 0;
  if (!data.read(at, 0) || !indices.read(at, 1) || indices.floating || !at.axis("axis", 0, at.rank(0), axis)) return;
  auto const whole = data.shape[axis].value();
  pick_contents(at, data, axis, indices.size(), at.result(), [&](std::size_t i) {
    auto const e = indices.integers[i];
    auto const index = e.value() < 0 ? e.value() + whole : e.value();
    return static_cast<std::size_t>(!e.known() || index < 0 || index >= whole ? whole : index);
  });
}

/// Slices along one axis.
template <class Context>
void slice_contents(Context& at) {
  operand_contents data;
  std::size_t count = 0;
  if (!data.read(at, 0) || !small_result(at, count)) return;
  if (read_slice(at, at.rank(0)) != slice_state::known || at.axes.size() != 1) return;
  auto const axis = static_cast<std::size_t>(at.axes[0]);
  auto const whole = data.shape[axis].value();
  auto const picked = at.facts.shape(at.result())[axis].value();
  auto const step = at.list[0];
  if (!at.extents[0].known() || step == 0 || step > 0x7fffffff || step < -0x7fffffff) return;
  auto start = at.extents[0].value() < 0 ? at.extents[0].value() + whole : at.extents[0].value();
  auto const last = step < 0 ? whole - 1 : whole;
  start = start < 0 ? 0 : start > last ? last : start;
  pick_contents(at, data, axis, static_cast<std::size_t>(picked), at.result(), [&](std::size_t i) {
    auto const index = start + static_cast<std::int64_t>(i) * step;
    return static_cast<std::size_t>(index < 0 || index >= whole ? whole : index);
  });
}

template <class Context>
void split_contents(Context& at) {
  operand_contents data;
  std::size_t axis = 0;
  if (!data.read(at, 0) || !at.axis("axis", 0, at.rank(0), axis)) return;
  std::size_t start = 0;
  for (std::uint32_t i = 0; i < at.result_count(); ++i) {
    if (!at.facts.has_rank(at.result(i)) || !data.read(at, 0)) return;  // storing moves what was read
    auto const part = at.facts.shape(at.result(i))[axis];
    if (!part.known() || part.value() < 0 || part.value() > static_cast<std::int64_t>(fact_table::most_contents))
      return;
    auto const length = static_cast<std::size_t>(part.value());
    pick_contents(at, data, axis, length, at.result(i), [&](std::size_t k) {
      auto const whole = static_cast<std::size_t>(data.shape[axis].value());
      return start + k < whole ? start + k : whole;
    });
    start += length;
  }
}

template <class Context>
void concat_contents(Context& at) {
  std::size_t count = 0, axis = 0;
  operand_contents part;
  if (!small_result(at, count) || !at.axis("axis", 1, at.facts.rank(at.result()), axis)) return;
  auto const shape = at.facts.shape(at.result());
  if (count == 0) return;  // any extents may stand beside the 0
  std::size_t outer = 1, pieces = 0;
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(shape[i].value());
  bool const floating = is_floating(at.facts.type(at.result()));
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t o = 0; o < outer; ++o)
    for (std::uint32_t i = 0; i < at.operand_count(); ++i) {
      if (!part.read(at, i)) {
        // A part nobody knows, in a list whose other parts matter.
        std::size_t unknown = 0;
        if (floating || !at.ranked(i) || !small_count(at.shape(i), fact_table::most_contents, unknown)) return;
        for (std::size_t k = 0; k < unknown / outer; ++k) at.extents.push_back(at.symbols().fresh(no_bound));
        continue;
      }
      if (part.floating != floating) return;
      ++pieces;
      auto const block = part.size() / outer;
      if (floating)
        at.numbers.insert(at.numbers.end(), part.numbers.begin() + static_cast<std::ptrdiff_t>(o * block),
                          part.numbers.begin() + static_cast<std::ptrdiff_t>((o + 1) * block));
      else
        at.extents.insert(at.extents.end(), part.integers.begin() + static_cast<std::ptrdiff_t>(o * block),
                          part.integers.begin() + static_cast<std::ptrdiff_t>((o + 1) * block));
      if (at.numbers.size() > count || at.extents.size() > count) return;
    }
  if ((floating ? at.numbers.size() : at.extents.size()) != count || pieces == 0) return;
  if (floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

template <class Context>
void expand_contents(Context& at) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count)) return repeat_contents(at);
  if (!from.read(at, 0) || !from.covers(count)) return;
  auto const shape = at.facts.shape(at.result());
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t i = 0; i < count; ++i)
    if (from.floating)
      at.numbers.push_back(from.numbers[from.index(shape, i)]);
    else
      at.extents.push_back(from.integers[from.index(shape, i)]);
  if (from.floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

template <class Context>
void fill_contents(Context& at) {
  std::size_t count = 0;
  auto const value = at.image().source->attribute_of(at.n, "value");
  auto const* tensor = std::get_if<tensor_view>(&value);
  if (tensor != nullptr && tensor->size() != 1) return;
  if (tensor == nullptr && !std::holds_alternative<std::monostate>(value)) return;
  auto const type = at.facts.type(at.result());
  if (!small_result(at, count)) {
    return store_uniform(at, tensor == nullptr ? 0.0 : tensor->number(0));
  }
  if (is_floating(type)) {
    at.numbers.assign(count, tensor == nullptr ? 0.0 : tensor->number(0));
    store_numbers(at, at.result());
  } else if (tensor != nullptr && type != element_type::uint64) {
    at.extents.assign(count, extent(tensor->integer(0)));
    store_integers(at, at.result());
  }
}

template <class Context>
void range_contents(Context& at) {
  std::size_t count = 0;
  operand_contents from, step;
  if (!small_result(at, count) || !from.read(at, 0) || !step.read(at, 2) || from.size() != 1 || step.size() != 1)
    return;
  if (from.floating || step.floating) {  // each further number depends on how a runtime rounds
    if (!from.floating || count != 1) return;
    at.numbers.assign(1, from.numbers[0]);
    return store_numbers(at, at.result());
  }
  auto e = from.integers[0];
  auto const by = step.integers[0];
  at.extents.clear();
  for (std::size_t i = 0; i < count; ++i, e = at.symbols().add(e, by)) at.extents.push_back(e);
  store_integers(at, at.result());
}

/// A reduction of a list of integers to one.
template <class Context>
void reduce_contents(Context& at, opcode op) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count) || count != 1 || !from.read(at, 0) || from.floating || from.size() == 0) return;
  auto const binary = op == opcode::sum          ? opcode::add
                      : op == opcode::product    ? opcode::mul
                      : op == opcode::reduce_max ? opcode::maximum
                                                 : opcode::minimum;
  auto all = from.integers[0];
  for (auto e : from.integers.subspan(1))
    if (!compute(at.symbols(), binary, all, e, all)) return;
  at.extents.assign(1, all);
  store_integers(at, at.result());
}

template <class Context>
void shape_contents(Context& at) {
  std::int64_t start = 0;
  if (!at.ranked(0) || !at.facts.has_rank(at.result()) || !at.integer("start", 0, start)) return;
  auto const from = at.shape(0);
  auto const length = at.facts.shape(at.result())[0];
  auto const rank = static_cast<std::int64_t>(from.size());
  if (!length.known()) return;
  start = start < 0 ? start + rank : start;
  start = start < 0 ? 0 : start > rank ? rank : start;
  if (length.value() > rank - start) return;
  auto const listed = from.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(length.value()));
  at.extents.assign(listed.begin(), listed.end());
  at.facts.set_integers(at.result(), at.extents);
}

/// Follows small contents through the operators of shape arithmetic.
template <class Context>
void propagate_contents(Context& at, opcode op) {
  if (at.result_count() == 0) return;
  switch (op) {
    case opcode::identity:
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
      if (at.operand(0) != absent && at.facts.type(at.result()) == at.type(0))
        at.facts.share_contents(at.result(), at.operand(0));
      return;
    case opcode::transpose:
      if (at.rank(0) == 0 || at.rank(0) == 1) at.facts.share_contents(at.result(), at.operand(0));
      return;
    case opcode::cast:
    case opcode::cast_like: return cast_contents(at);
    case opcode::where: return where_contents(at);
    case opcode::shape: return shape_contents(at);
    case opcode::size:
      if (!at.ranked(0)) return;
      at.extents.assign(1, at.product(at.shape(0)));
      return at.facts.set_integers(at.result(), at.extents);
    case opcode::gather: return gather_contents(at);
    case opcode::slice: return slice_contents(at);
    case opcode::split: return split_contents(at);
    case opcode::concat: return concat_contents(at);
    case opcode::expand: return expand_contents(at);
    case opcode::constant_of_shape: return fill_contents(at);
    case opcode::range: return range_contents(at);
    case opcode::sum:
    case opcode::product:
    case opcode::reduce_max:
    case opcode::reduce_min: return reduce_contents(at, op);
    default: {
      if (!at.facts.has_contents(at.operand(0))) return;  // of most values none are known
      auto const kind = info(op).kind;
      if (kind == op_kind::elementwise || kind == op_kind::broadcast) elementwise_contents(at, op);
    }
  }
}

}  // namespace fuse::inline v0::detail
