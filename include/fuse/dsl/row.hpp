// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// In a replacement: `factor`, a product or a sum of captures, broadcast to the last axes of `like`, in its element
/// type. Constants are reshaped, broadcast and converted, where that is exact; absent ones become ones (`row(scale,
/// x)`) or stay absent (`row_or_none(bias, x)`). The axes are those of the one parameter that the rule captures, or the
/// last one where it captures none; a rule that captures several says which: `row(scale, x, param<"axes">)`.
[[nodiscard]] constexpr expression row(expression const& factor, expression const& like) {
  expression made(term_kind::row, opcode::opaque, {}, factor, like);
  made.terms[made.root()].number = 1;
  return made;
}
[[nodiscard]] constexpr expression row(expression const& factor, expression const& like, expression const& axes) {
  expression made(term_kind::row, opcode::opaque, {}, factor, like, axes);
  made.terms[made.root()].number = 1;
  return made;
}
[[nodiscard]] constexpr expression row_or_none(expression const& addend, expression const& like) {
  expression made(term_kind::row, opcode::opaque, {}, addend, like);
  made.terms[made.root()].number = 0;
  return made;
}
[[nodiscard]] constexpr expression row_or_none(expression const& addend, expression const& like,
                                               expression const& axes) {
  expression made(term_kind::row, opcode::opaque, {}, addend, like, axes);
  made.terms[made.root()].number = 0;
  return made;
}

}  // namespace fuse::inline v0::dsl
