// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// An operator of one operand that may stand around `inside` or not: `with_or_without<"Relu">(x + y)`.
template <fixed_string Name>
struct with_or_without_name {
  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    return expression(term_kind::wrapped, opcode::opaque, detail::name_text<Name>, inside);
  }
};
template <fixed_string Name>
inline constexpr with_or_without_name<Name> with_or_without{};

/// Its former name.
template <fixed_string Name>
[[deprecated("fuse: maybe<...> is called with_or_without<...>")]] inline constexpr with_or_without_name<Name> maybe{};

}  // namespace fuse::inline v0::dsl
