// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A constant with one element, captured as a number (and carried as a double). A name that occurs twice is one number.
template <fixed_string Name>
inline constexpr expression scalar{term_kind::scalar, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl
