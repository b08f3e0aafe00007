// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// In a replacement: the operator of the pattern that `.as<Name>()` names, once more, on other operands: by the name
/// that it has in the graph and with all of its attributes, whatever they are, but for those that `.attr` gives.
/// `again<"conv">(x, fold(w * along<0>(s)))`.
template <fixed_string Name, class... Operands>
[[nodiscard]] constexpr expression again(Operands const&... operands) {
  return expression(term_kind::again, opcode::opaque, fuse::detail::name_text<Name>, operands...);
}

/// The same as another operator of the dialect, `As`, whose attributes of these names mean the same.
/// `again<"conv", "com.microsoft::FusedConv">(x, w, b).attr<"activation">(1)`.
template <fixed_string Name, fixed_string As, class... Operands>
[[nodiscard]] constexpr expression again(Operands const&... operands) {
  expression const made(term_kind::named, opcode::opaque, fuse::detail::name_text<As>, operands...);
  return made.with_attributes_of(fuse::detail::name_text<Name>);
}
/// The same by its meaning, for rules that serve several dialects: `again<"conv">(opcode::fused_conv, x, w, b)`.
template <fixed_string Name, class... Operands>
[[nodiscard]] constexpr expression again(opcode as, Operands const&... operands) {
  return expression(as, operands...).with_attributes_of(fuse::detail::name_text<Name>);
}

}  // namespace fuse::inline v0::dsl
