// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// Captures a parameter of an operator: `mean(x).attr<"axes">(param<"axes">)`. Parameters of one name agree. A
/// reduction without the attribute "axes" captures it as "axes", so that all reductions of a formula are over the same
/// axes.
template <fixed_string Name>
inline constexpr expression param{term_kind::parameter, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl
