// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A constant with one element, captured as a number (and carried as a double). A name that occurs twice is one number.
template <fixed_string Name>
inline constexpr expression scalar = expression::leaf(term_kind::scalar, detail::name_text<Name>);

}  // namespace fuse::inline v0::dsl
