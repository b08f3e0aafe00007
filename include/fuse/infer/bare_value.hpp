// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// The value below widening Casts and what changes nothing, at most 8 of them: the same numbers in the element type
/// that they come in.
template <class Image>
[[nodiscard]] value_id bare_value(Image const& image, facts const& known, value_id v) {
  for (int i = 0; i < 8; ++i) {
    auto const n = v == absent ? absent : image.producer(v);
    if (n == absent || image.result_index(v) != 0) return v;
    auto const op = op_of(image, n);
    if (!may_keep_elements(op)) return v;
    auto const below = kept_operand(image, known, n);
    if (below == absent) return v;
    if (!unchanged(image, known, n) && (op != opcode::cast || !widens(known.type(below), known.type(v)))) return v;
    v = below;
  }
  return v;
}

/// Whether `v` is of fewer bits than what it is computed from.
template <class Image>
[[nodiscard]] bool narrows(Image const& image, facts const& known, value_id v) {
  auto const n = image.producer(v);
  auto const below = n == absent ? absent : kept_operand(image, known, n);
  auto const type = known.type(v);
  return below != absent && type != known.type(below) && !widens(known.type(below), type);
}

}  // namespace fuse::inline v0::detail
