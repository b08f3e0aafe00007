// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/fixed_string.hpp>
#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// The elements of `inside` in another shape and order, as einops writes it: `rearrange<"b s (h d) -> b h s d">(x)`. On
/// each side of the arrow stands an axis for each name, for each group in brackets, whose names are its digits, the
/// last the fastest, for each `1`; `...` stands for any number of axes, and `(...)`, on the right, for one that they
/// are together; on both sides, for any axes of the same elements in the same order. A name on the right alone repeats.
///
/// A pattern matches every chain of operators that amounts to that: Reshape, Transpose, Slice, Split, Gather, Concat of
/// neighbours, Expand. Each name is the extent of its axis, everywhere the same: `dim<"h">` in a right side, a name for
/// conditions. What nothing in the graph tells does not match. In a replacement it is written with as few operators as
/// it takes; a rewrite that would need an extent which is not known is refused.
template <fixed_string Notation>
struct rearranging {
  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    return expression(term_kind::rearranged, opcode::opaque, detail::name_text<Notation>, inside);
  }
};
template <fixed_string Notation>
inline constexpr rearranging<Notation> rearrange{};

}  // namespace fuse::inline v0::dsl
