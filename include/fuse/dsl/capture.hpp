// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// A capture: any value. A name that occurs twice stands for one value: the same computation, not necessarily the same
/// node.
template <fixed_string Name>
inline constexpr expression var{term_kind::capture, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl
