// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// Whatever factors of a product, addends of a sum, or trailing operands of an operator are left, possibly none. In a
/// replacement it stands for their product, sum or list. Where it occurs again, the same is left again.
template <fixed_string Name>
inline constexpr expression rest{term_kind::rest, opcode::opaque, detail::name_text<Name>};

}  // namespace fuse::inline v0::dsl
