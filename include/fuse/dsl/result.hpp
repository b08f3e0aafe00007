// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A result other than the first of an operator with several: `result<1>(op<"Split">(x))`.
template <int Index>
[[nodiscard]] constexpr expression result(expression const& of) {
  expression made(term_kind::result, opcode::opaque, {}, of);
  made.terms[made.root()].index = Index;
  return made;
}

}  // namespace fuse::inline v0::dsl
