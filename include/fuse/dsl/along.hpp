// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// Inside `fold`: a constant of one axis, or of one that is longer than 1, which lies along axis `Axis` of the
/// constants beside it, counted from the last where that is negative: `fold(w * along<0>(s))` multiplies the rows of w.
template <int Axis>
[[nodiscard]] constexpr expression along(expression const& inside) {
  expression made(term_kind::along, opcode::opaque, {}, inside);
  made.terms[made.root()].number = Axis;
  return made;
}

}  // namespace fuse::inline v0::dsl
