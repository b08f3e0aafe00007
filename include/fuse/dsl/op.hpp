// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/expression.hpp>

namespace fuse::inline v0::dsl {

/// `op<"Div">(a, b)`: an operator by its name in the dialect. Where the dialect gives the name a meaning, all spellings
/// of that meaning match; else that operator alone. A name that the dialect does not know does not compile.
struct op_name {
  static_text name;

  template <class... Operands>
  [[nodiscard]] constexpr expression operator()(Operands const&... operands) const {
    return expression(term_kind::named, opcode::opaque, name, operands...);
  }
};
template <fixed_string Name>
inline constexpr op_name op{{Name.text, sizeof(Name.text) - 1}};

/// `exactly<"Div">(a, b)`: a node of that name with those operands in that order, and nothing else.
struct exact_name {
  static_text name;

  template <class... Operands>
  [[nodiscard]] constexpr expression operator()(Operands const&... operands) const {
    return expression(term_kind::exact, opcode::opaque, name, operands...);
  }
};
template <fixed_string Name>
inline constexpr exact_name exactly{{Name.text, sizeof(Name.text) - 1}};

}  // namespace fuse::inline v0::dsl
