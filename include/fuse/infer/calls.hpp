// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/infer/sequence_pool.hpp>
#include <fuse/infer/shape_context.hpp>

namespace fuse::inline v0::detail {

/// What all calls of a function agree on is known of its inputs: element types, ranks, extents, and which extents are
/// equal. Contents are not: a constant of the caller is none inside. Symbols are the function's own, since what the
/// caller's stand for differs from call to call; two extents share one where they are equal in each call. Linear in the
/// shapes of the calls' operands, which must be known before.
template <class Context>
void meet_calls(Context& at, graph_image::function_record const& function) {
  if (function.calls.empty()) return;
  auto& facts = at.facts;
  auto const operand = [&](node_id call, std::size_t i) {
    return i < at.image().operand_count(call) ? at.image().operand(call, static_cast<std::uint32_t>(i)) : absent;
  };
  sequence_pool<extent> columns;        // an extent in one call after the other
  std::vector<extent> column, extents;  // ... and inside, by the number of its column
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    auto const input = function.inputs[i];
    if (input == absent) continue;
    auto const first = operand(function.calls[0], i);
    auto type = facts.type(first);
    auto rank = facts.rank(first);
    for (auto const call : function.calls) {
      if (facts.type(operand(call, i)) != type) type = element_type::unknown;
      if (facts.rank(operand(call, i)) != rank) rank = -1;
    }
    if (facts.type(input) == element_type::unknown) facts.set_type(input, type);
    if (rank < 0 || facts.has_rank(input)) continue;  // the graph may have said more
    at.dims.clear();
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
      column.clear();
      for (auto const call : function.calls) column.push_back(facts.shape(operand(call, i))[axis]);
      bool same = column[0].known();
      for (auto const e : column) same = same && e == column[0];
      auto const number = columns.keep(column);
      if (number == extents.size()) extents.push_back(same ? column[0] : at.symbols().fresh());
      at.dims.push_back(extents[number]);
    }
    facts.set_shape(input, at.dims);
  }
}

}  // namespace fuse::inline v0::detail
