// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A constant all of whose elements equal `value` within a relative tolerance of 1e-6 (`.within(t)` sets another; 0
/// equals only 0). Plain numbers in a formula are this.
[[nodiscard]] constexpr expression constant(double value) { return expression(value); }

}  // namespace fuse::inline v0::dsl
