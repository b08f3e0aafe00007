// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/infer/rule_context.hpp>

namespace fuse::inline v0::detail {

/// Takes over the contents of a constant if it is small, with its type and shape.
inline void read_constant(rule_context& at, value_id v, tensor_view const& contents) {
  at.facts.set_type(v, contents.type);
  at.dims.assign(contents.shape.begin(), contents.shape.end());
  for (auto& e : at.dims)
    if (e.value() < 0) return;
  at.facts.set_shape(v, at.dims);
  std::size_t count = 0;
  if (!small_count(at.dims, fact_table::most_contents, count) || contents.size() != count) return;
  if (is_floating(contents.type)) {
    at.numbers.clear();
    for (std::size_t i = 0; i < count; ++i) at.numbers.push_back(contents.number(i));
    at.facts.set_numbers(v, at.numbers);
  } else if (is_integer(contents.type) || contents.type == element_type::boolean) {
    at.extents.clear();
    for (std::size_t i = 0; i < count; ++i) {
      auto const element = contents.integer(i);
      bool const too_large = contents.type == element_type::uint64 && element < 0;
      at.extents.push_back(too_large ? at.symbols().fresh() : extent(element));
    }
    at.facts.set_integers(v, at.extents);
  }
}

inline extent declared_extent(rule_context& at, dimension const& d) {
  if (d.extent >= 0) return d.extent;
  return d.symbol.empty() ? at.symbols().fresh() : at.symbols().named(d.symbol);
}

inline void declared_shape(rule_context& at, value_id v, std::vector<dimension> const& declared) {
  if (declared.size() > fact_table::most_rank) return;
  at.dims.clear();
  for (auto const& d : declared) at.dims.push_back(declared_extent(at, d));
  at.facts.set_shape(v, at.dims);
}

/// What the graph says of an input or a constant holds.
inline void read_leaf(rule_context& at, value_id v, std::vector<dimension>& declared) {
  auto const& source = *at.image().source;
  if (at.image().value(v).constant) {
    if (auto const contents = source.constant(v)) return read_constant(at, v, contents);
  }
  at.facts.set_type(v, source.type(v));
  declared.clear();
  if (source.has_shapes() && source.shape(v, declared)) declared_shape(at, v, declared);
}

/// What the graph says of a computed value counts where nothing is known: declarations may be stale.
/// Symbols below `before` stood in the operands, and say more than a declaration.
inline void refine_by_declaration(rule_context& at, value_id v, std::uint32_t before, std::vector<dimension>& declared) {
  auto const& source = *at.image().source;
  if (at.facts.type(v) == element_type::unknown) at.facts.set_type(v, source.type(v));
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
    if (open(at.dims[i]) && (declared[i].extent >= 0 || !declared[i].symbol.empty())) at.dims[i] = declared_extent(at, declared[i]);
  at.facts.set_shape(v, at.dims);
}

/// Follows small contents through the operators of shape arithmetic.
inline void propagate_contents(rule_context& at, opcode op) {
  if (op == opcode::identity && at.operand(0) != absent && at.result_count() != 0) at.facts.share_contents(at.result(), at.operand(0));
}

}  // namespace fuse::inline v0::detail
