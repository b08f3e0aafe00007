// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/infer/shape_context.hpp>

namespace fuse::inline v0::detail {

/// Whether all elements have the same bytes.
[[nodiscard]] inline bool is_uniform(tensor_view const& contents) {
  auto const size = size_of(contents.type), all = contents.bytes.size();
  return size != 0 && all >= size && std::memcmp(contents.bytes.data(), contents.bytes.data() + size, all - size) == 0;
}

/// Takes over the contents of a constant if it is small or has the same number everywhere, with its type and shape.
template <class Context>
void read_constant(Context& at, value_id v, tensor_view const& contents) {
  at.facts.set_type(v, contents.type);
  at.dims.assign(contents.shape.begin(), contents.shape.end());
  for (auto& e : at.dims)
    if (e.value() < 0) return;
  at.facts.set_shape(v, at.dims);
  std::size_t count = 0;
  if (!small_count(at.dims, fact_table::most_contents, count)) {
    bool const number = is_floating(contents.type) || is_integer(contents.type);
    if (number && is_uniform(contents)) at.facts.set_uniform(v, contents.number(0));
    return;
  }
  if (contents.size() != count) return;
  if (is_floating(contents.type)) {
    at.numbers.clear();
    for (std::size_t i = 0; i < count; ++i) at.numbers.push_back(contents.number(i));
    at.facts.set_numbers(v, at.numbers);
  } else if (is_integer(contents.type) || contents.type == element_type::boolean) {
    at.extents.clear();
    for (std::size_t i = 0; i < count; ++i) {
      auto const element = contents.integer(i);
      if (contents.type == element_type::uint64 && element < 0) return;  // more than an extent can be
      at.extents.push_back(extent(element));
    }
    at.facts.set_integers(v, at.extents);
  }
}

template <class Context>
extent declared_extent(Context& at, dimension const& d) {
  if (d.extent >= 0) return d.extent;
  return d.symbol.empty() ? at.symbols().fresh() : at.symbols().named(d.symbol);
}

template <class Context>
void declared_shape(Context& at, value_id v, std::vector<dimension> const& declared) {
  if (declared.size() > fact_table::most_rank) return;
  at.dims.clear();
  for (auto const& d : declared) at.dims.push_back(declared_extent(at, d));
  at.facts.set_shape(v, at.dims);
}

/// What the graph says of an input or a constant holds.
template <class Context>
void read_declared(Context& at, value_id v, std::vector<dimension>& declared) {
  auto const& source = *at.image().source;
  if (at.image().value(v).constant) {
    if (auto const contents = source.constant(v)) return read_constant(at, v, contents);
  }
  at.facts.set_type(v, source.type(v));
  declared.clear();
  if (source.has_shapes() && source.shape(v, declared)) declared_shape(at, v, declared);
}

template <class Context>
void refine_shape(Context& at, value_id v, std::uint32_t before, std::vector<dimension>& declared) {
  auto const& source = *at.image().source;
  if (!source.has_shapes()) return;
  bool const ranked = at.facts.has_rank(v);
  auto const open = [&](extent e) { return !e.known() && e.symbol() >= before && at.symbols().is_fresh(e); };
  bool wanted = !ranked;
  for (auto e : at.facts.shape(v)) wanted = wanted || open(e);
  if (!wanted) return;
  declared.clear();
  if (!source.shape(v, declared)) return;
  if (!ranked) return declared_shape(at, v, declared);
  auto const computed = at.facts.shape(v);
  if (computed.size() != declared.size()) return;
  at.dims.assign(computed.begin(), computed.end());
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (open(at.dims[i]) && (declared[i].extent >= 0 || !declared[i].symbol.empty()))
      at.dims[i] = declared_extent(at, declared[i]);
  at.facts.set_shape(v, at.dims);
}

/// What the graph says of a computed value counts where nothing is known: declarations may be stale.
/// Symbols below `before` stood in the operands, and say more than a declaration.
template <class Context>
void refine_by_declaration(Context& at, value_id v, std::uint32_t before, std::vector<dimension>& declared) {
  if (at.facts.type(v) == element_type::unknown) at.facts.set_type(v, at.image().source->type(v));
  if (!at.facts.has_rank(v) || at.symbols().symbol_count() != before) refine_shape(at, v, before, declared);
}

/// A node that is a constant: by its contents, or by an attribute.
template <class Context>
void read_constant_node(Context& at) {
  auto const v = at.result();
  auto const& source = *at.image().source;
  if (auto const contents = source.constant(v)) return read_constant(at, v, contents);
  auto const value = source.attribute_of(at.n, "value");
  if (auto const* tensor = std::get_if<tensor_view>(&value)) return read_constant(at, v, *tensor);
  auto const whole = source.attribute_of(at.n, "value_int");
  if (auto const* number = std::get_if<std::int64_t>(&whole)) {
    extent const element[] = {*number};
    at.facts.set_type(v, element_type::int64);
    at.facts.set_shape(v, {});
    return at.facts.set_integers(v, element);
  }
  auto const real = source.attribute_of(at.n, "value_float");
  if (auto const* number = std::get_if<double>(&real)) {
    at.facts.set_type(v, element_type::float32);
    at.facts.set_shape(v, {});
    double const element[] = {static_cast<double>(static_cast<float>(*number))};
    return at.facts.set_numbers(v, element);
  }
  auto const wholes = source.attribute_of(at.n, "value_ints");
  if (auto const* list = std::get_if<span<std::int64_t const>>(&wholes)) {
    extent const length[] = {static_cast<std::int64_t>(list->size())};
    at.facts.set_type(v, element_type::int64);
    at.facts.set_shape(v, length);
    at.extents.assign(list->begin(), list->end());
    return at.facts.set_integers(v, at.extents);
  }
  auto const reals = source.attribute_of(at.n, "value_floats");
  if (auto const* list = std::get_if<span<float const>>(&reals)) {
    extent const length[] = {static_cast<std::int64_t>(list->size())};
    at.facts.set_type(v, element_type::float32);
    at.facts.set_shape(v, length);
    at.numbers.assign(list->begin(), list->end());
    return at.facts.set_numbers(v, at.numbers);
  }
}

}  // namespace fuse::inline v0::detail
