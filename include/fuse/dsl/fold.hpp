// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// In a replacement: computed when the rule is applied, and put into the graph as a constant: `fold(scale /
/// sqrt(variance + eps))`. A rule whose operands turn out not to be constants is refused there.
[[nodiscard]] constexpr expression fold(expression const& inside) {
  return expression(term_kind::fold, opcode::opaque, {}, inside);
}

}  // namespace fuse::inline v0::dsl
