// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// An operator of one operand that may stand around `inside` or not: `maybe<"Relu">(x + y)`.
template <fixed_string Name>
struct maybe_name {
  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    return expression(term_kind::wrapped, opcode::opaque, detail::name_text<Name>, inside);
  }
};
template <fixed_string Name>
inline constexpr maybe_name<Name> maybe{};

}  // namespace fuse::inline v0::dsl
