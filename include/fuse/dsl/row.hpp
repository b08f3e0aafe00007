// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// In a replacement: `factor` as one row over the normalised axes of `like`, in its element type: constants are
/// reshaped, broadcast and converted, where that is exact; absent ones become ones (`row(scale, x)`) or stay absent
/// (`row_or_none(bias, x)`).
[[nodiscard]] constexpr expression row(expression const& factor, expression const& like) {
  term made{};
  made.kind = term_kind::row;
  made.number = 1;
  return expression::above(made, factor, like);
}
[[nodiscard]] constexpr expression row_or_none(expression const& addend, expression const& like) {
  term made{};
  made.kind = term_kind::row;
  made.number = 0;
  return expression::above(made, addend, like);
}

}  // namespace fuse::inline v0::dsl
