// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A list of integers, where a parameter or an operand is one: `.attr<"perm">(list(0, 2, 1))`. A pattern requires it,
/// of numbers; in a replacement an entry may be computed of numbers, extents and what was captured, and an entry that
/// is a list itself stands for all of its own.
template <class... Others>
[[nodiscard]] constexpr expression list(expression const& first, Others const&... others) {
  return expression(term_kind::list, opcode::opaque, {}, first, expression(others)...);
}

}  // namespace fuse::inline v0::dsl
