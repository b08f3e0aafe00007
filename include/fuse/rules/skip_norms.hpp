// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>
#include <fuse/rules/norm_formulas.hpp>

namespace fuse::inline v0::rules {
namespace formula {

inline constexpr auto input = dsl::var<"input">, skip = dsl::var<"skip">, addend = dsl::var<"addend">;

/// Whether what is added has the shape of what it is added to, which has two axes or three; of three, it may lack the
/// first or repeat along it.
[[nodiscard]] inline bool is_skip(value_view of, value_view added) {
  auto const rank = of.rank(), skip_rank = added.rank();
  if ((rank != 2 && rank != 3) || skip_rank < 2 || skip_rank > rank) return false;
  for (int i = 1; i <= skip_rank; ++i) {
    auto const a = of.shape()[static_cast<std::size_t>(rank - i)];
    auto const b = added.shape()[static_cast<std::size_t>(skip_rank - i)];
    if (!(a == b) && !(i == 3 && b == extent(1))) return false;
  }
  return true;
}
inline constexpr auto shapes_of_skips =
    dsl::pred<"input", "skip">([](auto of, auto added) { return is_skip(of, added); });

/// A residual connection: input + skip, perhaps with a row. What is added first has no other user: it would be computed
/// all the same.
inline constexpr auto biased_residual = dsl::either(
    dsl::either((input + addend).users(1) + skip, (skip + addend).users(1) + input), (input + skip).users(1) + addend);
inline constexpr auto residual = dsl::either(biased_residual, input + skip);
/// The same, used by nothing but the norm; and used by others.
inline constexpr auto own_residual = residual.users(1);
inline constexpr auto shared_residual = residual.as<"sum">();

/// The same of a layer of joined tokens, whose bias is that row.
inline constexpr auto layer_residual = layer_of_joined_tokens(addend).as<"input">().users(1) + skip;
inline constexpr auto own_layer_residual = layer_residual.users(1);
inline constexpr auto shared_layer_residual = layer_residual.as<"sum">();

[[nodiscard]] constexpr expression rms_norm_of(expression const& sum) {
  return dsl::rms_norm(sum, old_scale).attr<"axis">(dsl::param<"axes">).attr<"epsilon">(epsilon);
}
[[nodiscard]] constexpr expression skip_layer_norm_of(expression const& made) {
  return dsl::skip_layer_norm(made, skip, dsl::row(old_scale, input), dsl::row_or_none(old_bias, input),
                              dsl::row_or_none(addend, input))
      .attr<"epsilon">(epsilon);
}
[[nodiscard]] constexpr expression skip_rms_norm_of(expression const& made) {
  return dsl::skip_rms_norm(made, skip, dsl::row(old_scale, input), dsl::row_or_none(addend, input))
      .attr<"epsilon">(epsilon);
}

[[nodiscard]] constexpr rewrite_rule of_skips(rewrite_rule const& made) {
  return made.where<"the norm is over the last axis">(last_axis)
      .where<"the skip has the shape of the input, or repeats along the batch">(shapes_of_skips)
      .where(dsl::row_vector<"old scale", "input">, dsl::row_vector<"addend", "input">, dsl::float32_epsilon<"epsilon">)
      .stage(5);
}
[[nodiscard]] constexpr rewrite_rule layer_norm_rule(rule_name name, expression const& pattern) {
  return of_skips(name(pattern)).where(dsl::row_vector<"old bias", "input">);
}
[[nodiscard]] constexpr rewrite_rule rms_norm_rule(rule_name name, expression const& pattern) {
  return of_skips(name(pattern));
}

}  // namespace formula

/// A layer norm of input + skip, or of input + skip + row, becomes one operator. It comes when norms are operators and
/// have absorbed the rows around them.
inline constexpr auto skip_layer_norm =
    formula::layer_norm_rule(rule<"skip-layer-norm">, formula::layer_norm_of(formula::own_residual))
        .through<"identity">()
        .summary("a layer norm of input + skip, perhaps with a bias, is one operator")
        .replace(formula::skip_layer_norm_of(formula::input));

/// The same where others use the sum, which is a result of the operator. (Not through an Identity: behind one, the sum
/// itself would stay.)
inline constexpr auto skip_layer_norm_with_sum =
    formula::layer_norm_rule(rule<"skip-layer-norm-with-sum">,
                             dsl::roots(formula::shared_residual, formula::layer_norm_of(dsl::var<"sum">)))
        .summary("a layer norm of a sum that others use as well is one operator, with the sum as a result")
        .replace(dsl::result<3>(formula::skip_layer_norm_of(formula::input)),
                 dsl::result<0>(formula::skip_layer_norm_of(formula::input)))
        .quiet();

/// An RMS norm of input + skip, or of input + skip + row, becomes one operator.
inline constexpr auto skip_rms_norm =
    formula::rms_norm_rule(rule<"skip-rms-norm">, formula::rms_norm_of(formula::own_residual))
        .through<"identity">()
        .summary("an RMS norm of input + skip, perhaps with a bias, is one operator")
        .replace(formula::skip_rms_norm_of(formula::input));
inline constexpr auto skip_rms_norm_with_sum =
    formula::rms_norm_rule(rule<"skip-rms-norm-with-sum">,
                           dsl::roots(formula::shared_residual, formula::rms_norm_of(dsl::var<"sum">)))
        .summary("an RMS norm of a sum that others use as well is one operator, with the sum as a result")
        .replace(dsl::result<3>(formula::skip_rms_norm_of(formula::input)),
                 dsl::result<0>(formula::skip_rms_norm_of(formula::input)))
        .quiet();

/// The norm's operator takes the bias of a layer before it, whose product is one of tokens then.
inline constexpr auto skip_layer_norm_of_layer =
    formula::layer_norm_rule(rule<"skip-layer-norm-of-layer">, formula::layer_norm_of(formula::own_layer_residual))
        .through<"identity">()
        .summary("a layer norm of skip + layer takes the bias of the layer, which needs no rows without one")
        .replace(formula::skip_layer_norm_of(formula::product_of_tokens))
        .benefit(1);
inline constexpr auto skip_layer_norm_of_layer_with_sum =
    formula::layer_norm_rule(rule<"skip-layer-norm-of-layer-with-sum">,
                             dsl::roots(formula::shared_layer_residual, formula::layer_norm_of(dsl::var<"sum">)))
        .summary("the same as skip-layer-norm-of-layer, with the sum as a result")
        .replace(dsl::result<3>(formula::skip_layer_norm_of(formula::product_of_tokens)),
                 dsl::result<0>(formula::skip_layer_norm_of(formula::product_of_tokens)))
        .benefit(1)
        .quiet();
inline constexpr auto skip_rms_norm_of_layer =
    formula::rms_norm_rule(rule<"skip-rms-norm-of-layer">, formula::rms_norm_of(formula::own_layer_residual))
        .through<"identity">()
        .summary("an RMS norm of skip + layer takes the bias of the layer, which needs no rows without one")
        .replace(formula::skip_rms_norm_of(formula::product_of_tokens))
        .benefit(1);
inline constexpr auto skip_rms_norm_of_layer_with_sum =
    formula::rms_norm_rule(rule<"skip-rms-norm-of-layer-with-sum">,
                           dsl::roots(formula::shared_layer_residual, formula::rms_norm_of(dsl::var<"sum">)))
        .summary("the same as skip-rms-norm-of-layer, with the sum as a result")
        .replace(dsl::result<3>(formula::skip_rms_norm_of(formula::product_of_tokens)),
                 dsl::result<0>(formula::skip_rms_norm_of(formula::product_of_tokens)))
        .benefit(1)
        .quiet();

/// Norms of sums, for targets that have operators for them. They come after `norms`.
inline constexpr auto skip_norms =
    rule_set<skip_layer_norm, skip_layer_norm_with_sum, skip_rms_norm, skip_rms_norm_with_sum, skip_layer_norm_of_layer,
             skip_layer_norm_of_layer_with_sum, skip_rms_norm_of_layer, skip_rms_norm_of_layer_with_sum>;

}  // namespace fuse::inline v0::rules
