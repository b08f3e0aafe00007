// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::detail {

[[nodiscard]] constexpr expression dimension_of(static_text name, int axis) {
  expression made(term_kind::dimension, opcode::opaque, name);
  made.terms[0].number = axis;
  return made;
}
[[nodiscard]] constexpr expression dimension_of(static_text name) {
  expression made(term_kind::dimension, opcode::opaque, name);
  made.terms[0].index = 1;
  return made;
}

}  // namespace fuse::inline v0::detail

namespace fuse::inline v0::dsl {

/// In a replacement: how long axis `Axis` of what `var<Name>` captured is, counted from the last where that is
/// negative; without an axis, the extent that `rearrange` or `part` captured under that name. It stands where numbers
/// do: inside `fold`, and in `.attr<"scale">(1 / sqrt(dim<"q", -1>))`. A rewrite where that extent is not known is
/// refused.
template <fixed_string Name, int... Axis>
inline constexpr expression dim = detail::dimension_of(detail::name_text<Name>, Axis...);

}  // namespace fuse::inline v0::dsl
