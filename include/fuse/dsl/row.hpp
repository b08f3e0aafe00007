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

/// The same for axis `Axis` of `like`, counted from the first, and no other, such as the scale of each channel:
/// `row_along<1>(scale, x)` has one axis, whatever axes of one element `scale` has beside it. An absent factor becomes
/// ones, `or_else(bias, 0)` zeros.
template <int Axis>
[[nodiscard]] constexpr expression row_along(expression const& factor, expression const& like) {
  static_assert(Axis >= 0 && Axis < 64, "fuse: the axis of row_along<1>(v, x) counts from the first one");
  auto made = row(factor, like);
  made.terms[made.root()].index = Axis + 1;
  return made;
}

}  // namespace fuse::inline v0::dsl
