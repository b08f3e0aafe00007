// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// One of several forms, tried in order. Inside a product or a sum an alternative that is itself one adds its own
/// factors or addends to it. Every name that the rest of the rule needs must be bound by each of them.
///
/// As the whole of a right side it is the first form that can be written there: that of which the target has the
/// operators, and whose result is proven to fit and pays. What is reported is why the first one was refused of which
/// the target has the operators.
template <class... Forms>
[[nodiscard]] constexpr expression either(Forms const&... forms) {
  return expression(term_kind::alternatives, opcode::opaque, {}, forms...);
}

}  // namespace fuse::inline v0::dsl
