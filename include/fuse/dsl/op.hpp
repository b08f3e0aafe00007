// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// `op<"Div">(a, b)`: an operator by its name in the dialect. Where the dialect gives the name a meaning, all spellings
/// of that meaning match; else that operator alone. A name that the dialect does not know does not compile.
template <fixed_string Name>
struct op_name {
  template <class... Operands>
  [[nodiscard]] constexpr expression operator()(Operands const&... operands) const {
    term made{};
    made.kind = term_kind::named;
    made.name = detail::name_text<Name>;
    return expression::above(made, operands...);
  }
};
template <fixed_string Name>
inline constexpr op_name<Name> op{};

/// `exactly<"Div">(a, b)`: a node of that name with those operands in that order, and nothing else.
template <fixed_string Name>
struct exact_name {
  template <class... Operands>
  [[nodiscard]] constexpr expression operator()(Operands const&... operands) const {
    term made{};
    made.kind = term_kind::exact;
    made.name = detail::name_text<Name>;
    return expression::above(made, operands...);
  }
};
template <fixed_string Name>
inline constexpr exact_name<Name> exactly{};

}  // namespace fuse::inline v0::dsl
