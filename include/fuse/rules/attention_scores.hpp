// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>

/// What stands between the two products of attention, written as attention is looked for: heads are an axis of their
/// own, and all that masks the scores is added to them.
namespace fuse::inline v0::rules {
namespace scores_formula {

inline constexpr auto left = dsl::var<"left">, right = dsl::var<"right">, scores = dsl::var<"scores">;
inline constexpr auto factors = dsl::rest<"factors">, addends = dsl::rest<"addends">, masks = dsl::rest<"masks">;

[[nodiscard]] constexpr expression product() { return (dsl::matmul(left, right).users(1) * factors).users(1); }
[[nodiscard]] constexpr expression product_apart() {
  using namespace dsl;
  return matmul(rearrange<"(b h) queries d -> b h queries d">(left), rearrange<"(b h) d keys -> b h d keys">(right)) *
         factors;
}
[[nodiscard]] constexpr expression apart(expression const& joined) {
  return dsl::rearrange<"(b h) s t -> b h s t">(joined);
}
[[nodiscard]] constexpr expression softmax_of(expression const& of) { return dsl::softmax(of).attr<"axis">(-1); }
[[nodiscard]] constexpr expression joined_softmax() {
  return softmax_of(dsl::rearrange<"b h s t -> (b h) s t">(scores)).users(1);
}
/// Scores of heads, which may just have been taken apart.
[[nodiscard]] constexpr expression of_heads() { return dsl::either(product(), apart(product())).as<"scores">(); }
[[nodiscard]] constexpr expression masked() { return (of_heads() + masks.not_empty()).users(1); }

[[nodiscard]] constexpr rewrite_rule of_joined_axes(rule_name name, expression const& pattern) {
  return name(pattern).stage(2).at_equal_cost();
}
[[nodiscard]] constexpr rewrite_rule of_joined_matrices(rule_name name, expression const& pattern) {
  return of_joined_axes(name, apart(pattern.users(1)))
      .where(dsl::floating<"left">.quiet(), dsl::rank<"left">(3).quiet(), dsl::rank<"right">(3).quiet());
}

/// Whether a number, which may be absent, absorbs scores of the element type of `of`: adding one to it gives it.
inline constexpr auto absorbs = [](auto number, auto of) {
  double held = 0;
  return number.number(held) && (held == -HUGE_VAL || (held <= -1e30 && of.type() != element_type::float16));
};
inline constexpr auto absorbs_scores = dsl::pred<"least", "left">(absorbs);
inline constexpr auto is_no_minus_zero = dsl::pred<"zeros">([](auto of) {
  double number = 0;
  return of.uniform(number) && !std::signbit(number);
});

inline constexpr auto least = dsl::scalar<"least">;

}  // namespace scores_formula

inline constexpr auto matmul_of_joined_axes =
    scores_formula::of_joined_matrices(rule<"matmul-of-joined-axes">,
                                       scores_formula::product() + scores_formula::addends)
        .summary("a product of matrices whose axis is taken apart behind it is one of matrices taken apart")
        .replace(dsl::either(scores_formula::product_apart() + scores_formula::addends,
                             scores_formula::product_apart() +
                                 dsl::rearrange<"(b h) rows columns -> b h rows columns">(scores_formula::addends)));

/// 0 makes 0 of -0, however many there are.
inline constexpr auto matmul_of_joined_axes_and_zeros =
    scores_formula::of_joined_matrices(rule<"matmul-of-joined-axes-and-zeros">,
                                       scores_formula::product() + dsl::var<"zeros">)
        .where(dsl::everywhere<"zeros">(0).quiet(), scores_formula::is_no_minus_zero.quiet())
        .summary("the same, of a product that is added to zeros")
        .replace(scores_formula::product_apart() + 0)
        .benefit(1);

inline constexpr auto softmax_of_joined_axes =
    scores_formula::of_joined_axes(rule<"softmax-of-joined-axes">,
                                   scores_formula::apart(scores_formula::joined_softmax()))
        .summary("a softmax whose rows are joined for it alone is one of rows that are not")
        .replace(scores_formula::softmax_of(scores_formula::scores));
inline constexpr auto matmul_of_joined_softmax =
    scores_formula::of_joined_axes(rule<"matmul-of-joined-softmax">,
                                   dsl::rearrange<"(b h) s e -> b h s e">(
                                       dsl::matmul(scores_formula::joined_softmax(), scores_formula::right).users(1)))
        .where(dsl::rank<"right">(3).quiet())
        .summary("a product of such a softmax is one of matrices taken apart")
        .replace(dsl::matmul(scores_formula::softmax_of(scores_formula::scores),
                             dsl::rearrange<"(b h) t e -> b h t e">(scores_formula::right)))
        .benefit(1);

/// max(s + m, l) is s + max(m, l) for a score s that l absorbs.
inline constexpr auto least_of_masked_scores =
    rule<"least-of-masked-scores">(dsl::maximum(scores_formula::masked(), scores_formula::least))
        .where(dsl::floating<"left">.quiet())
        .where<"the least number absorbs scores">(scores_formula::absorbs_scores)
        .summary("a least number of masked scores is one of the mask")
        .replace(scores_formula::scores + dsl::maximum(scores_formula::masks, scores_formula::least))
        .at_equal_cost();

}  // namespace fuse::inline v0::rules
