// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include <fuse/fuse.hpp>

/// Rules that are wrong, each in a way that somebody's rule was: a tool that tells right rules from wrong ones rejects
/// all of them. Beside most stands the rule as it is right, which it must not reject.
namespace known_bad {

using namespace fuse::dsl;

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, w = var<"w">, b = var<"b">;
inline constexpr auto scale = var<"scale">, shift = var<"shift">, average = var<"mean">, spread = var<"variance">;
inline constexpr auto s = scalar<"s">, eps = scalar<"epsilon">;
inline constexpr auto factor = rest<"factor">;
inline constexpr auto axes = param<"axes">;

constexpr fuse::rewrite_rule rewritten(fuse::rule_name name, fuse::expression const& from, fuse::expression const& to) {
  return name(from).replace(to).at_equal_cost();
}

// Batch norms

constexpr fuse::expression norm_of(fuse::expression const& layer) {
  return op<"BatchNormalization">(layer.as<"layer">().users(1), scale, shift, average, spread)
      .attr<"epsilon">(param<"e">);
}
constexpr fuse::rewrite_rule folded(fuse::rule_name name, fuse::expression const& layer,
                                    fuse::expression const& weights, fuse::expression const& bias) {
  return name(norm_of(layer))
      .where(is_constant<"w">, is_constant<"b">, is_constant<"scale">, is_constant<"shift">, is_constant<"mean">,
             is_constant<"variance">)
      .replace(again<"layer">(x, fold(weights), fold(bias)));
}
inline constexpr auto conv = op<"Conv">(x, w, optional(b));
inline constexpr auto bias = or_else(b, 0.0);
inline constexpr auto by = scale / sqrt(spread + param<"e">);

inline constexpr auto norm_without_statistics =
    folded(fuse::rule<"batch-norm-of-mean-0-and-variance-1">, conv, w* along<0>(scale), bias* scale + shift);
inline constexpr auto norm_without_epsilon =
    folded(fuse::rule<"batch-norm-without-epsilon">, conv, w* along<0>(scale / sqrt(spread)),
           (bias - average) * (scale / sqrt(spread)) + shift);
inline constexpr auto norm_without_bias =
    folded(fuse::rule<"batch-norm-without-the-layers-bias">, conv, w* along<0>(by), shift - average * by);
inline constexpr auto norm_along_inputs =
    folded(fuse::rule<"batch-norm-along-the-inputs">, conv, w* along<1>(by), (bias - average) * by + shift);
inline constexpr auto norm_right =
    folded(fuse::rule<"batch-norm-right">, conv, w* along<0>(by), (bias - average) * by + shift);

constexpr fuse::expression gemm_of_beta() {
  return op<"Gemm">(x, w, optional(b)).attr<"beta">(param<"beta">).attr<"transB">(0);
}
inline constexpr auto gemm_without_beta =
    folded(fuse::rule<"batch-norm-without-beta">, gemm_of_beta(), w* along<-1>(by), (bias - average) * by + shift);
inline constexpr auto gemm_of_turned_weights = folded(fuse::rule<"batch-norm-along-rows-of-turned-weights">,
                                                      op<"Gemm">(x, w, optional(b)).attr<"beta">(1.0).attr<"transB">(1),
                                                      w* along<-1>(by), (bias - average) * by + shift);

// Linear layers

inline constexpr auto gemm = op<"Gemm">(x, w).attr<"transB">(0);
constexpr fuse::rewrite_rule scaled(fuse::rule_name name, fuse::expression const& layer,
                                    fuse::expression const& weights) {
  return name(layer.as<"layer">().users(1) * factor.not_empty())
      .where(is_constant<"w">, floating<"layer">, along_axis<"factor", "layer">(-1))
      .replace(again<"layer">(x, fold(weights)));
}
inline constexpr auto scale_along_rows = scaled(fuse::rule<"scale-along-rows">, gemm, w* along<0>(factor));
inline constexpr auto scale_along_columns = scaled(fuse::rule<"scale-along-columns">, gemm, w* along<1>(factor));
inline constexpr auto scale_of_any_shape =
    fuse::rule<"scale-of-any-axis">(op<"MatMul">(x, w).as<"layer">().users(1) * factor.not_empty())
        .where(is_constant<"w">, rank<"w">(2), same_type<"w", "x">)
        .replace(again<"layer">(x, fold(w* along<0>(factor))));
constexpr fuse::expression turned_matrix(fuse::expression const& of) {
  return op<"Transpose">(of).attr<"perm">(list(1, 0));
}
inline constexpr auto transposed_product =
    rewritten(fuse::rule<"product-of-transposes">, op<"MatMul">(turned_matrix(x), turned_matrix(y)),
              turned_matrix(op<"MatMul">(x, y)));
inline constexpr auto transposed_product_right =
    rewritten(fuse::rule<"product-of-transposes-right">, op<"MatMul">(turned_matrix(x), turned_matrix(y)),
              turned_matrix(op<"MatMul">(y, x)));

// Norms

constexpr fuse::expression rms(fuse::expression const& under) { return x / sqrt(under); }
inline constexpr auto mean_square = mean(x * x);
inline constexpr auto mean_square_over_axes = mean(x * x).attr<"axes">(axes);
inline constexpr auto epsilon_dropped =
    rewritten(fuse::rule<"epsilon-dropped">, rms(mean_square + eps), rms(mean_square_over_axes));
inline constexpr auto epsilon_doubled =
    rewritten(fuse::rule<"epsilon-doubled">, rms(mean_square + eps), rms(mean_square_over_axes + (eps + eps)));
inline constexpr auto epsilon_kept =
    rewritten(fuse::rule<"epsilon-kept">, rms(mean_square + eps), rms(mean_square_over_axes + eps));
inline constexpr auto any_exponent = rewritten(fuse::rule<"any-exponent">, mean(pow(abs(x), s)), mean_square_over_axes);
inline constexpr auto exponent_of_2 =
    rewritten(fuse::rule<"exponent-of-2">, mean(pow(abs(x), 2)), mean_square_over_axes);
inline constexpr auto difference_exchanged =
    rewritten(fuse::rule<"difference-exchanged">, tanh(x - mean(x)), tanh(mean(x).attr<"axes">(axes) - x));
inline constexpr auto quotient_exchanged = rewritten(fuse::rule<"quotient-exchanged">, exp(x) / y, y / exp(x));
inline constexpr auto axes_dropped =
    rewritten(fuse::rule<"axes-dropped">, x - exactly<"ReduceMean">(x).attr<"axes">(axes).attr<"keepdims">(0),
              x - mean(x).attr<"axes">(axes));
inline constexpr auto variance_of_large_means =
    rewritten(fuse::rule<"variance-that-cancels">, mean(square(x - mean(x))),
              mean_square_over_axes - mean(x).attr<"axes">(axes) * mean(x).attr<"axes">(axes));
inline constexpr auto scale_that_enlarges = fuse::rule<"scale-that-enlarges">(rms(mean_square + eps) * y)
                                                .where(trailing_axes<"axes">, float32_epsilon<"epsilon">)
                                                .replace(rms_norm(x, y).attr<"axis">(axes).attr<"epsilon">(eps));

// Rotary embeddings

inline constexpr auto halves = op<"Split">(x).attr<"axis">(-1);
inline constexpr auto first = result<0>(halves).as<"first">(), second = result<1>(halves).as<"second">();
inline constexpr auto rotated_by_signs =
    rewritten(fuse::rule<"rotated-by-signs">, op<"Concat">(-second, first).attr<"axis">(-1),
              op<"Concat">(-var<"first">, var<"second">).attr<"axis">(-1));
inline constexpr auto rotated_right =
    rewritten(fuse::rule<"rotated-right">, op<"Concat">(-second, first).attr<"axis">(-1),
              op<"Concat">(0.0 - var<"second">, var<"first">).attr<"axis">(-1));

// Layout and types

// What is moved and repeated

constexpr fuse::expression joined(fuse::expression const& left, fuse::expression const& right) {
  return op<"Concat">(left, right).attr<"axis">(-1);
}
inline constexpr auto halves_exchanged =
    rewritten(fuse::rule<"halves-not-exchanged">, tanh(joined(part<"d", 1, 2>(x), part<"d", 0, 2>(x))),
              joined(part<"d", 0, 2>(tanh(x)), part<"d", 1, 2>(tanh(x))));
inline constexpr auto halves_right =
    rewritten(fuse::rule<"halves-exchanged">, tanh(joined(part<"d", 1, 2>(x), part<"d", 0, 2>(x))),
              joined(part<"d", 1, 2>(tanh(x)), part<"d", 0, 2>(tanh(x))));
inline constexpr auto heads_in_turn =
    rewritten(fuse::rule<"heads-repeated-in-turn">, tanh(rearrange<"b h s d -> b (h r) s d">(x)),
              rearrange<"b h s d -> b (r h) s d">(tanh(x)));
inline constexpr auto heads_right =
    rewritten(fuse::rule<"heads-repeated">, tanh(rearrange<"b h s d -> b (h r) s d">(x)),
              rearrange<"b h s d -> b (h r) s d">(tanh(x)));
inline constexpr auto digits_exchanged =
    rewritten(fuse::rule<"digits-exchanged">, tanh(rearrange<"b s (h d) -> b h s d">(x)),
              rearrange<"b s (d h) -> b h s d">(tanh(x)));
inline constexpr auto digits_right = rewritten(fuse::rule<"digits">, tanh(rearrange<"b s (h d) -> b h s d">(x)),
                                               rearrange<"b s (h d) -> b h s d">(tanh(x)));

inline constexpr auto turned = op<"Transpose">(x).attr<"perm">(param<"perm">);
inline constexpr auto turned_twice =
    rewritten(fuse::rule<"turned-twice-the-same-way">, op<"Transpose">(turned).attr<"perm">(param<"perm">), x);
inline constexpr auto turned_thrice =
    fuse::rule<"turned-thrice-is-turned-back">(
        op<"Transpose">(op<"Transpose">(op<"Transpose">(x).attr<"perm">(list(1, 2, 0))).attr<"perm">(list(1, 2, 0)))
            .attr<"perm">(list(1, 2, 0)))
        .replace(op<"Transpose">(x).attr<"perm">(list(2, 0, 1)));
inline constexpr auto turned_thrice_right =
    fuse::rule<"turned-thrice-right">(
        op<"Transpose">(op<"Transpose">(op<"Transpose">(x).attr<"perm">(list(1, 2, 0))).attr<"perm">(list(1, 2, 0)))
            .attr<"perm">(list(1, 2, 0)))
        .replace(x);
inline constexpr auto turned_back =
    fuse::rule<"turned-back">(
        op<"Transpose">(op<"Transpose">(x).attr<"perm">(list(0, 2, 1))).attr<"perm">(list(0, 2, 1)))
        .replace(x);
inline constexpr auto reshapes_merged =
    rewritten(fuse::rule<"reshapes-with-0-merged">, op<"Reshape">(op<"Reshape">(x)).attr<"shape">(param<"to">),
              op<"Reshape">(x).attr<"shape">(param<"to">));
inline constexpr auto through_half =
    fuse::rule<"cast-through-half">(op<"Cast">(op<"Cast">(x).attr<"to">(10)).attr<"to">(1))
        .where(type<"x">(fuse::element_type::float32))
        .replace(x);
inline constexpr auto through_double =
    fuse::rule<"cast-through-double">(op<"Cast">(op<"Cast">(x).attr<"to">(11)).attr<"to">(1))
        .where(type<"x">(fuse::element_type::float32))
        .replace(x);

// Arithmetic

inline constexpr auto tiny_taken_for_0 = fuse::rule<"1e-9-taken-for-0">(abs(x) + s)
                                             .where<"about 0">(pred<"s">([](auto v) {
                                               double number = 1;
                                               return v.number(number) && number < 1e-6 && number > -1e-6;
                                             }))
                                             .replace(abs(x));
inline constexpr auto nothing_added = fuse::rule<"0-added">(abs(x) + s)
                                          .where<"0">(pred<"s">([](auto v) {
                                            double number = 1;
                                            return v.number(number) && number == 0;
                                          }))
                                          .replace(abs(x));
inline constexpr auto sign_of_0_lost = fuse::rule<"sign-of-0-lost">(exactly<"Add">(x, constant(0))).replace(x);
inline constexpr auto default_frozen =
    fuse::rule<"overridable-initializer-frozen">(op<"Relu">(w) * y)
        .where<"no element is negative">(pred<"w">([](auto v) {
          auto const* graph = v.template graph<fuse::graph>();
          auto const held = graph == nullptr ? fuse::tensor_view() : graph->constant(v.template handle<fuse::graph>());
          for (std::size_t i = 0; i < held.size(); ++i)
            if (held.number(i) < 0) return false;
          return held.size() != 0;
        }))
        .replace(w * y);
inline constexpr auto constant_ramp = fuse::rule<"ramp-of-a-constant">(op<"Relu">(w) * y)
                                          .where(is_constant<"w">)
                                          .where<"no element is negative">(pred<"w">([](auto v) {
                                            auto const held = v.constant();
                                            for (std::size_t i = 0; i < held.size(); ++i)
                                              if (held.number(i) < 0) return false;
                                            return held.size() != 0;
                                          }))
                                          .replace(w * y);
inline constexpr auto active_dropout =
    fuse::rule<"active-dropout-removed">(exactly<"Dropout">(x, constant(0.5), constant(1))).replace(x);
inline constexpr auto three_as_two =
    rewritten(fuse::rule<"sum-of-three-as-two">, exactly<"Sum">(x, y, z), exactly<"Add">(x, y));
inline constexpr auto softmax_elsewhere =
    rewritten(fuse::rule<"softmax-over-another-axis">, exp(x) / sum(exp(x)), op<"Softmax">(x).attr<"axis">(-1));
inline constexpr auto softmax_right =
    rewritten(fuse::rule<"softmax-over-its-axis">, exp(x) / sum(exp(x)), op<"Softmax">(x).attr<"axis">(axes));
inline constexpr auto shifted = x - reduce_max(x);
inline constexpr auto softmax_that_overflows = rewritten(
    fuse::rule<"softmax-that-overflows">, exp(shifted) / sum(exp(shifted)), exp(x) / sum(exp(x)).attr<"axes">(axes));
inline constexpr auto root_of_square = rewritten(fuse::rule<"root-of-a-square">, sqrt(square(x)) + y, x + y);
inline constexpr auto ramp_forgotten = rewritten(fuse::rule<"ramp-forgotten">, tanh(op<"Relu">(x)), tanh(x));
inline constexpr auto product_of_exponentials =
    rewritten(fuse::rule<"product-of-exponentials">, tanh(exp(x) * exp(y)), tanh(exp(x* y)));
inline constexpr auto product_of_exponentials_right =
    rewritten(fuse::rule<"product-of-exponentials-right">, tanh(exp(x) * exp(y)), tanh(exp(x + y)));
inline constexpr auto mean_of_product = rewritten(fuse::rule<"mean-of-a-product">, tanh(mean(x* y)),
                                                  tanh(mean(x).attr<"axes">(axes) * mean(y).attr<"axes">(axes)));
inline constexpr auto sum_of_sums =
    rewritten(fuse::rule<"sum-of-sums-of-any-shape">, sum(x) + sum(y), sum(x + y).attr<"axes">(axes));
inline constexpr auto sum_of_alike = fuse::rule<"sum-of-sums-of-one-shape">(sum(x) + sum(y))
                                         .where(same_shape<"y", "x">)
                                         .replace(sum(x + y).attr<"axes">(axes))
                                         .at_equal_cost();
inline constexpr auto divided_and_multiplied =
    fuse::rule<"divided-and-multiplied">(exactly<"Mul">(exactly<"Div">(x, s), s)).replace(x);
inline constexpr auto largest_of_negated =
    rewritten(fuse::rule<"largest-of-negated">, reduce_max(-x), -reduce_max(x).attr<"axes">(axes));
inline constexpr auto half_forgotten =
    rewritten(fuse::rule<"gelu-without-its-half">, x*(1 + erf(x * 0.70710678118654752)), gelu(x));
inline constexpr auto gate_exchanged = rewritten(fuse::rule<"gate-exchanged">, x* sigmoid(y), y* sigmoid(x));
inline constexpr auto chosen_exchanged =
    rewritten(fuse::rule<"smaller-for-larger">, op<"Where">(op<"Less">(x, y), x, y), op<"Max">(x, y));
inline constexpr auto chosen_right =
    rewritten(fuse::rule<"smaller-chosen">, op<"Where">(op<"Less">(x, y), x, y), op<"Min">(x, y));
inline constexpr auto optional_forgotten =
    rewritten(fuse::rule<"optional-part-forgotten">, tanh(x) + optional(s), tanh(x * 1.0));
inline constexpr auto close_number =
    rewritten(fuse::rule<"number-within-a-percent">, abs(x) * constant(1.702).within(1e-2), abs(x) * 1.702);
inline constexpr auto clip_exchanged =
    rewritten(fuse::rule<"clip-exchanged">, minimum(maximum(x, 0.25), 0.5) * y, maximum(minimum(x, 0.25), 0.5) * y);

inline constexpr auto wrong =
    fuse::rule_set<norm_without_statistics, norm_without_epsilon, norm_without_bias, norm_along_inputs,
                   gemm_without_beta, gemm_of_turned_weights, scale_along_rows, scale_of_any_shape, transposed_product,
                   epsilon_dropped, epsilon_doubled, any_exponent, difference_exchanged, quotient_exchanged,
                   variance_of_large_means, rotated_by_signs, turned_twice, turned_thrice, default_frozen,
                   tiny_taken_for_0, three_as_two, softmax_elsewhere, softmax_that_overflows, root_of_square,
                   product_of_exponentials, mean_of_product, sum_of_sums, divided_and_multiplied, largest_of_negated,
                   half_forgotten, gate_exchanged, chosen_exchanged, optional_forgotten, close_number, ramp_forgotten,
                   clip_exchanged, halves_exchanged, heads_in_turn, digits_exchanged>;

/// Right as they are; or wrong where the engine refuses them, whatever a rule says: the shape of a result stays, and so
/// does what a Cast rounds.
inline constexpr auto right =
    fuse::rule_set<norm_right, scale_along_columns, transposed_product_right, epsilon_kept, exponent_of_2,
                   rotated_right, turned_back, turned_thrice_right, through_double, nothing_added, constant_ramp,
                   softmax_right, product_of_exponentials_right, sum_of_alike, chosen_right, scale_that_enlarges,
                   reshapes_merged, sign_of_0_lost, halves_right, heads_right, digits_right>;

/// These of them change shapes.
inline constexpr auto of_other_shapes = fuse::rule_set<scale_that_enlarges, reshapes_merged>;

/// Never applied: the engine refuses them everywhere.
inline constexpr auto refused = fuse::rule_set<through_half>;

}  // namespace known_bad
