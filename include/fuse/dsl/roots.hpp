// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// Several roots: values that a rule finds together and replaces together. The first is where matching starts; every
/// other one must use something that those before it bind. `.replace(a, b)` gives one replacement for each.
template <class... Roots>
[[nodiscard]] constexpr expression roots(Roots const&... all) {
  return expression(term_kind::roots, opcode::opaque, {}, all...);
}

}  // namespace fuse::inline v0::dsl
