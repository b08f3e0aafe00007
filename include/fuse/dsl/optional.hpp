// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// An operand, a factor or an addend that may be absent. Names inside are then unbound; in a replacement an unbound
/// operand is an absent one. There it stands around a fold, which is absent where something that it is made of is.
[[nodiscard]] constexpr expression optional(expression const& operand) {
  return expression(term_kind::optional, opcode::opaque, {}, operand);
}

}  // namespace fuse::inline v0::dsl
