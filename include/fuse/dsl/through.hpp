// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// Looks through chains of operators (at most 8 long) above `inside`: `through<"Cast", "Identity">(x)` by their names
/// in the dialect, `through<"cast", "identity">(x)` by the neutral ones, which hold in every dialect. What is crossed
/// must not narrow the element type below the result's. `rule.through<...>()` does it at every edge of a rule.
template <fixed_string... Names>
struct through_names {
  [[nodiscard]] constexpr expression operator()(expression const& inside) const {
    expression composed = inside;
    ((composed = wrap(composed, detail::name_text<Names>)), ...);
    return composed;
  }

 private:
  // A set is a chain of terms, one per name; lowering takes the chain as one set.
  [[nodiscard]] static constexpr expression wrap(expression const& inside, static_text name) {
    return expression(term_kind::through, opcode::opaque, name, inside);
  }
};
template <fixed_string... Names>
inline constexpr through_names<Names...> through{};

}  // namespace fuse::inline v0::dsl
