// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A capture: any value. A name that occurs twice stands for one value: the same computation, not necessarily the same
/// node.
template <fixed_string Name>
inline constexpr expression var = expression::leaf(term_kind::capture, detail::name_text<Name>);

}  // namespace fuse::inline v0::dsl
