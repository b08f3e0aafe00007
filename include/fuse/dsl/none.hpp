// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// An operand that is absent, before one that is not: `op<"Resize">(x, none, scale)`.
inline constexpr expression none{term_kind::no_operand, opcode::opaque, {}};

}  // namespace fuse::inline v0::dsl
