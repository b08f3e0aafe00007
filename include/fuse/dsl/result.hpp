// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A result other than the first of an operator with several: `result<1>(op<"Split">(x))`.
template <int Index>
[[nodiscard]] constexpr expression result(expression const& of) {
  term made{};
  made.kind = term_kind::result;
  made.index = Index;
  return expression::above(made, of);
}

}  // namespace fuse::inline v0::dsl
