// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernelgen/row_program.hpp>
#include <fuse/program/requirements.hpp>

#include <cstddef>
#include <utility>

namespace fuse::inline v0::detail {

// Not an operator: compilers would tell how it evaluates.
template <row_error Error, row_error Other>
inline constexpr bool is_other_than = Error != Other;

/// What an expression must meet to be a row kernel, a sentence each. The type's name has the culprit.
template <row_error Error, class Culprit>
struct kernel_requirement {
  static constexpr bool met = Error == row_error::none;
  static_assert(is_other_than<Error, row_error::too_large>,
                "fuse: a row kernel has at most 16 captures and 160 distinct steps; this one has more");
  static_assert(is_other_than<Error, row_error::no_operator>,
                "fuse: a row kernel computes along rows: elementwise operators, and reductions over the last axis; "
                "this operator is neither");
  static_assert(is_other_than<Error, row_error::unknown_operator>,
                "fuse: a kernel names an operator that the dialect does not know");
  static_assert(is_other_than<Error, row_error::operands>, "fuse: a row kernel needs this operator's first operands");
  static_assert(is_other_than<Error, row_error::parameter>,
                "fuse: a row kernel reduces over the last axis and keeps it; this operator has a parameter that says "
                "otherwise");
  static_assert(is_other_than<Error, row_error::power>,
                "fuse: the exponent in a row kernel is a number of the formula: a whole one up to 16, or one half, of "
                "either sign");
  static_assert(is_other_than<Error, row_error::no_term>,
                "fuse: what a row kernel computes has a value; this has none");
  static_assert(is_other_than<Error, row_error::missing>, "fuse: a kernel needs an argument for this capture");
  static_assert(is_other_than<Error, row_error::no_row>,
                "fuse: a kernel's result is a row; this one is a number for each row");
};

template <class Program, std::size_t... I>
quoted<Program::get().culprit[I]...> quoted_culprit(std::index_sequence<I...>);

/// ... and what its arguments must meet.
template <class Name, bool Met>
struct kernel_argument_names_a_capture {
  static_assert(Met, "fuse: the expression of a kernel has no capture of that name");
};
template <class Name, bool Met>
struct kernel_argument_is_given_once {
  static_assert(Met, "fuse: a kernel has two arguments of one name");
};
template <class Name, bool Met>
struct kernel_scalar_is_a_number {
  static_assert(Met, "fuse: a kernel's argument for scalar<...> is a number");
};

}  // namespace fuse::inline v0::detail
