// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/program/rule_set.hpp>
#include <fuse/rules/clipping.hpp>
#include <fuse/rules/constant_chains.hpp>
#include <fuse/rules/identities.hpp>
#include <fuse/rules/neutral_elements.hpp>

namespace fuse::inline v0::rules {

/// Clean-up: what does nothing goes, what undoes itself goes, constants in a row become one. In a set with others it
/// comes after norms and activations, which would miss what is tidied away.
inline constexpr auto canonical =
    rule_set<identity, dropout_at_inference, cast_to_the_same_type, cast_of_cast, only_operand, shape_that_stays,
             taken_whole, padded_by_nothing, shape_and_back, reshape_of_view, unsqueeze_of_unsqueeze, slice_of_slice,
             slice_of_slice_by_ones, transpose_and_back, transpose_of_transpose, transpose_of_constant,
             transpose_of_nothing, fewest_moves_to_transpose, fewest_moves_to_reshape, fewest_moves_to_flatten,
             fewest_moves_to_squeeze, fewest_moves_to_unsqueeze, times_one, plus_nothing, to_the_one, and_true,
             always_chosen, applied_twice, negated_twice, not_twice, factors_in_one, factors_over_a_value,
             addends_in_one, addends_less_a_value, sum_of_multiples, clipping>;

}  // namespace fuse::inline v0::rules
