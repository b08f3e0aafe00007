// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "named_rules.hpp"

/// Rules as somebody writes them who knows the mathematics and not the library: each is a true equation between
/// operators that everybody knows, of ONNX or neutral ones. Whether it pays is nobody's business here.
namespace soundness::strangers {

using namespace pool;

constexpr rewrite_rule equal(fuse::rule_name named, expression const& pattern, expression const& right) {
  return named(pattern).replace(right).at_equal_cost();
}
// Its absolute value, once more than twice: what costs more than what it replaces is written where this was.
constexpr expression dear(expression const& of) { return abs(abs(abs(abs(abs(abs(abs(abs(of)))))))); }
constexpr auto some = rest<"r">.not_empty();
constexpr auto top = op<"TopK">(x);
constexpr auto parts = op<"Split">(x);

inline constexpr auto common = equal(fuse::rule<"common-factor">, x* y + x * z, x*(y + z));
inline constexpr auto sum_scaled = equal(fuse::rule<"sum-scaled">, sum(x* s), sum(x).attr<"axes">(axes) * s);
inline constexpr auto mean_scaled = equal(fuse::rule<"mean-scaled">, mean(x* s), mean(x).attr<"axes">(axes) * s);
inline constexpr auto sum_negated = equal(fuse::rule<"sum-negated">, sum(-x), -sum(x).attr<"axes">(axes));
inline constexpr auto odd = equal(fuse::rule<"odd">, tanh(-x), -tanh(x));
inline constexpr auto even = equal(fuse::rule<"even">, abs(-x), abs(x));
inline constexpr auto squares = equal(fuse::rule<"squares">, square(x) - square(y), (x - y) * (x + y));
inline constexpr auto log_product = equal(fuse::rule<"log-product">, log(x) + log(y), log(x* y));
inline constexpr auto twice_folded = fuse::rule<"twice-folded">((tanh(x) * y) * z)
                                         .where(is_constant<"y">, is_constant<"z">)
                                         .replace(tanh(x) * fold(y * z))
                                         .at_equal_cost();
inline constexpr auto shares_shifted =
    equal(fuse::rule<"shares-shifted">, op<"Softmax">(x + s).attr<"axis">(param<"axis">),
          op<"Softmax">(x).attr<"axis">(param<"axis">));
inline constexpr auto chosen_times = equal(fuse::rule<"chosen-times">, op<"Where">(op<"Less">(x, y), x* z, y* z),
                                           op<"Where">(op<"Less">(x, y), x, y) * z);
inline constexpr auto product_scaled = equal(fuse::rule<"product-scaled">, matmul(x* s, w), matmul(x, w) * s);
inline constexpr auto rest_apart =
    equal(fuse::rule<"rest-apart">, tanh(x) * some + tanh(y) * some, (tanh(x) + tanh(y)) * r);
inline constexpr auto larger_shifted = equal(fuse::rule<"larger-shifted">, maximum(x + z, y + z), maximum(x, y) + z);
inline constexpr auto centred_mean = equal(fuse::rule<"centred-mean">, mean(x - mean(x)) + y,
                                           mean(x).attr<"axes">(axes) - mean(x).attr<"axes">(axes) + y);
inline constexpr auto variance = equal(fuse::rule<"variance">, mean(square(x)) - square(mean(x)),
                                       mean(pow(x - mean(x).attr<"axes">(axes), 2)).attr<"axes">(axes));
inline constexpr auto shares = equal(fuse::rule<"shares">, exp(x) / sum(exp(x)), op<"Softmax">(x).attr<"axis">(axes));
inline constexpr auto logistic = equal(fuse::rule<"logistic">, 1 / (1 + exp(-x)), sigmoid(x));
inline constexpr auto either_exp =
    equal(fuse::rule<"either-exp">, either(exp(x) * exp(y), exp(x) / exp(-y)) + z, exp(x + y) + z);
inline constexpr auto perhaps_exp =
    equal(fuse::rule<"perhaps-exp">, exp(x) * optional(exp(y)) + z, 1 / exp(-(x + y)) + z);
inline constexpr auto two_roots = fuse::rule<"two-roots">(roots(dear(tanh(x) * y), sigmoid(x) * y))
                                      .replace(abs((1 - 2 / (exp(2 * x) + 1)) * y), y / (1 + exp(-x)))
                                      .at_equal_cost();
inline constexpr auto far_roots = fuse::rule<"far-roots">(roots(exp(tanh(x).users(2).as<"t">()), abs(tanh(x)) + y))
                                      .replace(exp(var<"t">), maximum(var<"t">, -var<"t">) + y)
                                      .at_equal_cost();
inline constexpr auto through_sum =
    equal(fuse::rule<"through-sum">, exp(x) * exp(y), exp(x + y)).through<"Cast", "Identity", "Expand", "Tile">();
inline constexpr auto through_larger = equal(fuse::rule<"through-larger">, maximum(tanh(x), -tanh(x)), abs(tanh(x)))
                                           .through<"Cast", "Identity", "Dropout">();
inline constexpr auto means = fuse::rule<"means">(mean(x) - mean(y))
                                  .where(same_shape<"x", "y">)
                                  .replace(mean(x - y).attr<"axes">(axes))
                                  .at_equal_cost();
inline constexpr auto ratio = equal(fuse::rule<"ratio">, abs(x) / abs(y), abs(x / y));
inline constexpr auto by_both = equal(fuse::rule<"by-both">, exp(x) / (exp(y) * r), exp(x - y) / r);
inline constexpr auto binomial = equal(fuse::rule<"binomial">, dear(square(x + y)), abs(x* x + 2.0 * (x * y) + y * y));
inline constexpr auto quotients = equal(fuse::rule<"quotients">, abs(x / (y * z)), abs(x) / abs(y * z));
inline constexpr auto turned_back =
    equal(fuse::rule<"turned-sum">, op<"Transpose">(x).as<"t">() + op<"Transpose">(x), var<"t"> * 2.0);
inline constexpr auto best_twice =
    equal(fuse::rule<"best-twice">, dear(tanh(result<0>(top).as<"v">()) + result<0>(top)),
          abs(2 * sigmoid(2 * var<"v">) - 1 + var<"v">));
inline constexpr auto parts_gated =
    equal(fuse::rule<"parts-gated">, dear(result<0>(parts).as<"u">() * sigmoid(result<1>(parts).as<"v">())),
          abs(var<"u"> / (1 + exp(-var<"v">))));

// Operators once more on other operands, constants that are folded, rows.
constexpr auto dense = op<"Gemm">(x, w, z);
constexpr auto without_addend = op<"Gemm">(x * s, w).as<"g">();
inline constexpr auto dense_scaled = equal(fuse::rule<"dense-scaled">, without_addend, again<"g">(x, w) * s);
inline constexpr auto dense_times = equal(fuse::rule<"dense-times">, dense.as<"g">() * s, again<"g">(x* s, w, z* s));
inline constexpr auto dense_columns =
    fuse::rule<"dense-columns">(dense.attr<"transB">(0).as<"g">() * y)
        .where(is_constant<"w">, is_constant<"z">, is_constant<"y">, along_last_axes<"y", "g">)
        .replace(again<"g">(x, fold(w* along<1>(y)), fold(z* along<-1>(y))))
        .at_equal_cost();
inline constexpr auto dense_added = fuse::rule<"dense-added">(dense.attr<"beta">(1).as<"g">() + y)
                                        .where(is_constant<"z">, is_constant<"y">, along_last_axes<"y", "g">)
                                        .replace(again<"g">(x, w, fold(z + along<-1>(y))))
                                        .at_equal_cost();
inline constexpr auto dense_by_number = fuse::rule<"dense-by-number">(op<"Gemm">(x, w, optional(z))
                                                                          .attr<"alpha">(scalar<"a">)
                                                                          .attr<"beta">(scalar<"b">)
                                                                          .attr<"transA">(param<"ta">)
                                                                          .attr<"transB">(param<"tb">) *
                                                                      s)
                                            .replace(op<"Gemm">(x, w, z)
                                                         .attr<"alpha">(scalar<"a"> * s)
                                                         .attr<"beta">(scalar<"b"> * s)
                                                         .attr<"transA">(param<"ta">)
                                                         .attr<"transB">(param<"tb">))
                                            .at_equal_cost();
inline constexpr auto product_columns = fuse::rule<"product-columns">(matmul(x, w).as<"p">() * y)
                                            .where(is_constant<"w">, is_constant<"y">, along_last_axes<"y", "p">)
                                            .replace(again<"p">(x, fold(w* along<-1>(y))))
                                            .at_equal_cost();
constexpr auto convolved = op<"Conv">(x, w, optional(z)).as<"c">();
inline constexpr auto conv_channels = fuse::rule<"conv-channels">(op<"Conv">(x, w).as<"c">() * y)
                                          .where(is_constant<"w">, is_constant<"y">, along_axis<"y", "c">(1))
                                          .replace(again<"c">(x, fold(w* along<0>(y))))
                                          .at_equal_cost();
inline constexpr auto conv_added = fuse::rule<"conv-added">(op<"Conv">(x, w, z).as<"c">() + y)
                                       .where(is_constant<"z">, is_constant<"y">, along_axis<"y", "c">(1))
                                       .replace(again<"c">(x, w, fold(z + along<0>(y))))
                                       .at_equal_cost();
inline constexpr auto conv_negated = equal(fuse::rule<"conv-negated">, op<"Conv">(-x, w).as<"c">(), -again<"c">(x, w));
// By no number that may be infinite: what is padded stays 0 before, and is 0 times that number behind.
inline constexpr auto conv_halved =
    equal(fuse::rule<"conv-halved">, op<"Conv">(0.5 * x, w).as<"c">(), 0.5 * again<"c">(x, w));
inline constexpr auto conv_ramp = equal(fuse::rule<"conv-ramp">, maximum(dear(convolved), 0.0), abs(var<"c">));
inline constexpr auto turned_tanh =
    equal(fuse::rule<"turned-tanh">, tanh(op<"Transpose">(x).as<"t">()), again<"t">(tanh(x)));
inline constexpr auto turned_shifted =
    equal(fuse::rule<"turned-shifted">, op<"Transpose">(x + s).as<"t">(), again<"t">(x) + s);
inline constexpr auto as_told = param<"perm">;
inline constexpr auto turned_as_told =
    equal(fuse::rule<"turned-as-told">, tanh(op<"Transpose">(x).attr<"perm">(as_told)),
          op<"Transpose">(tanh(x)).attr<"perm">(as_told));
inline constexpr auto turned_together = equal(
    fuse::rule<"turned-together">, op<"Transpose">(x).attr<"perm">(as_told) * op<"Transpose">(y).attr<"perm">(as_told),
    op<"Transpose">(x* y).attr<"perm">(as_told));
inline constexpr auto turned_last =
    equal(fuse::rule<"turned-last">, abs(op<"Transpose">(x).attr<"perm">(fuse::dsl::list(0, 2, 1))),
          op<"Transpose">(abs(x)).attr<"perm">(fuse::dsl::list(0, 2, 1)));
inline constexpr auto mean_again = equal(fuse::rule<"mean-again">, mean(x* s).as<"m">(), again<"m">(x) * s);
inline constexpr auto sum_again = equal(fuse::rule<"sum-again">, sum(-x).as<"m">() + y, y - again<"m">(x));
inline constexpr auto shares_again = equal(fuse::rule<"shares-again">, op<"Softmax">(x - s).as<"f">(), again<"f">(x));
inline constexpr auto best_shifted = fuse::rule<"best-shifted">(result<0>(op<"TopK">(x + s)).as<"k">() + y)
                                         .replace(result<0>(again<"k">(x)) + s + y)
                                         .at_equal_cost();
inline constexpr auto cast_ramp =
    equal(fuse::rule<"cast-ramp">, op<"Cast">(op<"Relu">(x)).as<"c">(), op<"Relu">(again<"c">(x)));
inline constexpr auto centred_row = fuse::rule<"centred-row">((x - mean(x)) * r)
                                        .where(trailing_axes<"axes">, row_vector<"r", "x">)
                                        .replace(x * row(r, x, axes) - mean(x).attr<"axes">(axes) * row(r, x, axes))
                                        .at_equal_cost();
inline constexpr auto clipped = equal(fuse::rule<"clipped-apart">, dear(op<"Clip">(x).attr<"min">(s).attr<"max">(t)),
                                      abs(minimum(maximum(x, s), t)));
inline constexpr auto ramp_of_exp = equal(fuse::rule<"ramp-of-exp">, with_or_without<"Relu">(exp(x)) * y, y / exp(-x));
inline constexpr auto smaller_negated = equal(fuse::rule<"smaller-negated">, -maximum(-x, -y), minimum(x, y));
inline constexpr auto square_of_abs = equal(fuse::rule<"square-of-abs">, square(abs(x)), x* x);
inline constexpr auto sums_together = fuse::rule<"sums-together">(sum(x) + sum(y))
                                          .where(same_shape<"x", "y">)
                                          .replace(sum(x + y).attr<"axes">(axes))
                                          .at_equal_cost();
inline constexpr auto scaled_together = equal(fuse::rule<"scaled-together">, x* s + y * s, (x + y) * s);
inline constexpr auto turned_sign = equal(fuse::rule<"turned-sign">, op<"Where">(op<"Less">(x, 0), -x, x), abs(x));
inline constexpr auto divided_twice =
    equal(fuse::rule<"divided-twice">, dear(abs(x) / (abs(y) * abs(z))), abs(abs(x) / abs(y) / abs(z)));
inline constexpr auto many_apart =
    equal(fuse::rule<"many-apart">, dear(exactly<"Sum">(tanh(x), y, z)), abs(tanh(x) + (y + z)));
inline constexpr auto mean_by_extent = fuse::rule<"mean-by-extent">(dear(mean(x)))
                                           .where<"the last axis alone">(pred<"axes">([](auto of) {
                                             std::vector<std::int64_t> list;
                                             return of.integers(list) && list.size() == 1 && list[0] == -1;
                                           }))
                                           .replace(abs(sum(x).attr<"axes">(axes) * (1.0 / dim<"x", -1>)))
                                           .at_equal_cost();

// Several roots: one is a sum in any bracketing, one reads another, one has a part that may be absent.
constexpr auto curve = tanh(x);
inline constexpr auto sum_root = fuse::rule<"sum-root">(roots(dear(exp(curve)), curve + y + z))
                                     .replace(1 / exp(-tanh(x)), tanh(x) + z + y)
                                     .at_equal_cost();
inline constexpr auto product_root = fuse::rule<"product-root">(roots(sigmoid(curve) + y, abs(curve* y * 2.0 - z)))
                                         .replace(1 / (1 + exp(-tanh(x))) + y, abs(z - 2.0 * y * tanh(x)))
                                         .at_equal_cost();
inline constexpr auto inner_root = fuse::rule<"inner-root">(roots(curve, dear(exp(curve) * y)))
                                       .replace(2 * sigmoid(2 * x) - 1, abs(exp(2 * sigmoid(2 * x) - 1) * y))
                                       .at_equal_cost();
inline constexpr auto mean_root =
    fuse::rule<"mean-root">(roots(x - mean(x), dear(mean(square(x - mean(x))))))
        .replace(x + mean(-x).attr<"axes">(axes), mean(pow(x - mean(x).attr<"axes">(axes), 2)).attr<"axes">(axes))
        .at_equal_cost();
inline constexpr auto perhaps_root = fuse::rule<"perhaps-root">(roots(dear(exp(curve)), sigmoid(curve* optional(y))))
                                         .replace(exp(tanh(x)), 1 / (1 + exp(-(tanh(x) * y))))
                                         .at_equal_cost();

inline constexpr member members[] = {{&common, elements::either, false},
                                     {&sum_scaled, elements::either, false},
                                     {&mean_scaled, elements::floats, false},
                                     {&sum_negated, elements::either, false},
                                     {&odd, elements::floats, false},
                                     {&even, elements::either, false},
                                     {&squares, elements::either, false},
                                     {&log_product, elements::floats, false},
                                     {&twice_folded, elements::floats, false},
                                     {&shares_shifted, elements::floats, false},
                                     {&chosen_times, elements::either, false},
                                     {&product_scaled, elements::floats, false},
                                     {&rest_apart, elements::floats, false},
                                     {&larger_shifted, elements::either, false},
                                     {&centred_mean, elements::floats, false},
                                     {&variance, elements::floats, false},
                                     {&shares, elements::floats, false},
                                     {&logistic, elements::floats, false},
                                     {&either_exp, elements::floats, false},
                                     {&perhaps_exp, elements::floats, false},
                                     {&two_roots, elements::floats, false},
                                     {&far_roots, elements::floats, false},
                                     {&through_sum, elements::floats, false},
                                     {&through_larger, elements::floats, false},
                                     {&means, elements::floats, false},
                                     {&ratio, elements::floats, false},
                                     {&by_both, elements::floats, false},
                                     {&binomial, elements::either, false},
                                     {&quotients, elements::integers, false},
                                     {&turned_back, elements::floats, false},
                                     {&best_twice, elements::floats, false},
                                     {&parts_gated, elements::floats, false},
                                     {&dense_scaled, elements::floats, false},
                                     {&dense_times, elements::floats, false},
                                     {&dense_columns, elements::floats, false},
                                     {&dense_added, elements::floats, false},
                                     {&dense_by_number, elements::floats, false},
                                     {&product_columns, elements::floats, false},
                                     {&conv_channels, elements::floats, false},
                                     {&conv_added, elements::floats, false},
                                     {&conv_negated, elements::floats, false},
                                     {&conv_halved, elements::floats, false},
                                     {&conv_ramp, elements::floats, false},
                                     {&turned_tanh, elements::floats, false},
                                     {&turned_shifted, elements::either, false},
                                     {&turned_as_told, elements::floats, false},
                                     {&turned_together, elements::either, false},
                                     {&turned_last, elements::either, false},
                                     {&mean_again, elements::floats, false},
                                     {&sum_again, elements::either, false},
                                     {&shares_again, elements::floats, false},
                                     {&best_shifted, elements::floats, false},
                                     {&cast_ramp, elements::floats, false},
                                     {&centred_row, elements::floats, false},
                                     {&clipped, elements::either, false},
                                     {&ramp_of_exp, elements::either, false},
                                     {&smaller_negated, elements::either, false},
                                     {&square_of_abs, elements::either, false},
                                     {&sums_together, elements::either, false},
                                     {&scaled_together, elements::either, false},
                                     {&turned_sign, elements::either, false},
                                     {&divided_twice, elements::integers, false},
                                     {&many_apart, elements::floats, false},
                                     {&mean_by_extent, elements::floats, false},
                                     {&sum_root, elements::floats, false},
                                     {&product_root, elements::floats, false},
                                     {&inner_root, elements::floats, false},
                                     {&mean_root, elements::floats, false},
                                     {&perhaps_root, elements::floats, false}};

// ... and in the second dialect.
inline constexpr auto second_shares =
    equal(fuse::rule<"second-shares">, exp(x) / sum(exp(x)), op<"shares">(x).attr<"axis">(axes));
inline constexpr auto second_shares_shifted =
    equal(fuse::rule<"second-shares-shifted">, op<"shares">(x + s).attr<"axis">(param<"axis">),
          op<"shares">(x).attr<"axis">(param<"axis">));
inline constexpr auto second_chosen = equal(fuse::rule<"second-chosen">, op<"select">(op<"below">(x, y), x* z, y* z),
                                            op<"select">(op<"below">(x, y), x, y) * z);
inline constexpr auto second_turned =
    equal(fuse::rule<"second-turned">, op<"reordered">(x).as<"t">() + op<"reordered">(x), var<"t"> * 2.0);
inline constexpr member second_members[] = {{&common, elements::either, false},
                                            {&sum_scaled, elements::either, false},
                                            {&mean_scaled, elements::floats, false},
                                            {&sum_negated, elements::either, false},
                                            {&odd, elements::floats, false},
                                            {&even, elements::either, false},
                                            {&squares, elements::either, false},
                                            {&log_product, elements::floats, false},
                                            {&twice_folded, elements::floats, false},
                                            {&product_scaled, elements::floats, false},
                                            {&rest_apart, elements::floats, false},
                                            {&larger_shifted, elements::either, false},
                                            {&centred_mean, elements::floats, false},
                                            {&variance, elements::floats, false},
                                            {&logistic, elements::floats, false},
                                            {&either_exp, elements::floats, false},
                                            {&perhaps_exp, elements::floats, false},
                                            {&two_roots, elements::floats, false},
                                            {&far_roots, elements::floats, false},
                                            {&means, elements::floats, false},
                                            {&ratio, elements::floats, false},
                                            {&by_both, elements::floats, false},
                                            {&binomial, elements::either, false},
                                            {&quotients, elements::integers, false},
                                            {&centred_row, elements::floats, false},
                                            {&smaller_negated, elements::either, false},
                                            {&square_of_abs, elements::either, false},
                                            {&sums_together, elements::either, false},
                                            {&scaled_together, elements::either, false},
                                            {&divided_twice, elements::integers, false},
                                            {&mean_by_extent, elements::floats, false},
                                            {&sum_root, elements::floats, false},
                                            {&product_root, elements::floats, false},
                                            {&inner_root, elements::floats, false},
                                            {&mean_root, elements::floats, false},
                                            {&perhaps_root, elements::floats, false},
                                            {&second_shares, elements::floats, false},
                                            {&second_shares_shifted, elements::floats, false},
                                            {&second_chosen, elements::either, false},
                                            {&second_turned, elements::floats, false}};

}  // namespace soundness::strangers
