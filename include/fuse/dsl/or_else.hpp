// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// In a replacement: what a name captured, or `otherwise` where that is absent: `fold(or_else(bias, 0) * scale)`.
[[nodiscard]] constexpr expression or_else(expression const& captured, expression const& otherwise) {
  return expression(term_kind::or_else, opcode::opaque, {}, captured, otherwise);
}

}  // namespace fuse::inline v0::dsl
