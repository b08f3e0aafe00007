// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/fuse.hpp>

/// Rules as somebody writes them who knows the mathematics and not the library, of everything that the language has:
/// right ones, and ones that are wrong by an oversight.
namespace known_bad::strangers {

using namespace fuse::dsl;

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, w = var<"w">, b = var<"b">;
inline constexpr auto s = scalar<"s">, t = scalar<"t">;
inline constexpr auto axes = param<"axes">;

constexpr fuse::rewrite_rule equal(fuse::rule_name name, fuse::expression const& from, fuse::expression const& to) {
  return name(from).replace(to).at_equal_cost();
}
// Its absolute value, eight times over: what costs more than what it replaces is written where this was.
constexpr fuse::expression dear(fuse::expression const& of) { return abs(abs(abs(abs(abs(abs(abs(abs(of)))))))); }

// Right

inline constexpr auto swap_product =
    equal(fuse::rule<"swap-product">, matmul(rearrange<"... a b -> ... b a">(x), rearrange<"... a b -> ... b a">(y)),
          rearrange<"... a b -> ... b a">(matmul(y, x)));
inline constexpr auto mean_turned =
    equal(fuse::rule<"mean-turned">, dear(mean(rearrange<"a b c -> b a c">(x)).attr<"axes">(0)),
          rearrange<"a b c -> b a c">(abs(mean(x).attr<"axes">(1))));
inline constexpr auto softmax_joined =
    equal(fuse::rule<"softmax-joined">, softmax(rearrange<"b h d -> (b h) d">(x)).attr<"axis">(-1),
          rearrange<"b h d -> (b h) d">(softmax(x).attr<"axis">(-1)));
inline constexpr auto part_of_tanh =
    equal(fuse::rule<"part-of-tanh">, tanh(part<"d", 0, 2>(x)) + y, part<"d", 0, 2>(tanh(x)) + y);
inline constexpr auto parts_joined =
    equal(fuse::rule<"parts-joined">, tanh(concat(part<"d", 0, 2>(x), part<"d", 1, 2>(x)).attr<"axis">(-1)), tanh(x));
inline constexpr auto third_parts = equal(fuse::rule<"third-parts">, dear(part<"d", 2, 3>(x) * part<"d", 0, 3>(x)),
                                          abs(part<"d", 0, 3>(x) * part<"d", 2, 3>(x)));
inline constexpr auto largest_turned =
    equal(fuse::rule<"largest-turned">, dear(reduce_max(rearrange<"a b c -> a c b">(x)).attr<"axes">(-1)),
          rearrange<"a 1 c -> a c 1">(abs(reduce_max(x).attr<"axes">(1))));
inline constexpr auto rows_together =
    equal(fuse::rule<"rows-together">, dear(matmul(rearrange<"b s d -> (b s) d">(x), w)),
          rearrange<"b s d -> (b s) d">(abs(matmul(x, w))));
inline constexpr auto repeated_times =
    equal(fuse::rule<"repeated-times">, dear(rearrange<"b d -> b s d">(x) * y), abs(rearrange<"b d -> b 1 d">(x) * y));
inline constexpr auto twice_turned =
    equal(fuse::rule<"twice-turned">, tanh(rearrange<"a b c -> c a b">(rearrange<"a b c -> c a b">(x))),
          rearrange<"a b c -> b c a">(tanh(x)));
inline constexpr auto pairs = equal(fuse::rule<"pairs">, tanh(rearrange<"n (d two) -> n two d">(x)) + y,
                                    rearrange<"n (d two) -> n two d">(tanh(x)) + y);
inline constexpr auto turned_sum =
    equal(fuse::rule<"turned-sum">, rearrange<"... a b -> ... b a">(x) + rearrange<"... a b -> ... b a">(y),
          rearrange<"... a b -> ... b a">(x + y));
inline constexpr auto joined_sum =
    equal(fuse::rule<"joined-sum">, dear(rearrange<"b h d -> b (h d)">(x) * rearrange<"b h d -> b (h d)">(y)),
          abs(rearrange<"b h d -> b (h d)">(x* y)));
inline constexpr auto cut_heads_product =
    equal(fuse::rule<"cut-heads-product">,
          dear(matmul(rearrange<"b s (h d) -> b h s d">(x), rearrange<"b s (h d) -> b h d s">(y))),
          abs(rearrange<"b h s t -> b h t s">(
              matmul(rearrange<"b s (h d) -> b h s d">(y), rearrange<"b s (h d) -> b h d s">(x)))));
inline constexpr auto sum_repeated =
    equal(fuse::rule<"sum-repeated">, dear(sum(rearrange<"b d -> b r d">(x)).attr<"axes">(1)),
          abs(rearrange<"b d -> b 1 d">(x) * dim<"r">));
inline constexpr auto one_less_sigmoid = equal(fuse::rule<"one-less-sigmoid">, 1 - sigmoid(x), sigmoid(-x));
inline constexpr auto root_of_square = equal(fuse::rule<"root-of-square">, sqrt(x* x), abs(x));
inline constexpr auto where_sum = equal(fuse::rule<"where-sum">, op<"Where">(op<"Less">(x, y), x, y) + z,
                                        op<"Where">(op<"Less">(x, y), x + z, y + z));
inline constexpr auto where_alike =
    equal(fuse::rule<"where-alike">, op<"Where">(op<"Less">(x, y), z, z) + x * y, z + x * y);
inline constexpr auto by_a_number = equal(fuse::rule<"by-a-number">, x / s + y, x* fold(1.0 / s) + y);
inline constexpr auto twice_divided = equal(fuse::rule<"twice-divided">, dear((x / s) / t), abs(x / (s * t)));
inline constexpr auto erf_odd = equal(fuse::rule<"erf-odd">, erf(-x), -erf(x));
inline constexpr auto norm_of_sum = equal(fuse::rule<"norm-of-sum">, dear(layer_norm(x + s, y, z).attr<"axis">(-1)),
                                          abs(layer_norm(x, y, z).attr<"axis">(-1)));
inline constexpr auto squared_length =
    equal(fuse::rule<"squared-length">, square(op<"ReduceL2">(x).attr<"axes">(axes)), sum(x* x).attr<"axes">(axes));
inline constexpr auto conv_scaled =
    equal(fuse::rule<"conv-scaled">, dear(op<"Conv">(x* s, w).as<"c">()), abs(again<"c">(x, w) * s));
inline constexpr auto largest_of_largest =
    equal(fuse::rule<"largest-of-largest">, dear(reduce_max(reduce_max(x).attr<"axes">(-1)).attr<"axes">(-2)),
          abs(reduce_max(x).attr<"axes">(list(-2, -1))));
inline constexpr auto joined_tanh = equal(fuse::rule<"joined-tanh">, dear(concat(tanh(x), tanh(y)).attr<"axis">(-1)),
                                          abs(tanh(concat(x, y).attr<"axis">(-1))));
inline constexpr auto heads_to_batch =
    equal(fuse::rule<"heads-to-batch">,
          dear(matmul(rearrange<"b h s d -> (b h) s d">(x), rearrange<"b h s d -> (b h) d s">(y))),
          rearrange<"b h s t -> (b h) s t">(abs(matmul(x, rearrange<"b h s d -> b h d s">(y)))));
inline constexpr auto halves_summed = equal(fuse::rule<"halves-summed">, dear(part<"d", 0, 2>(x) + part<"d", 1, 2>(x)),
                                            abs(part<"d", 1, 2>(x) + part<"d", 0, 2>(x)));
inline constexpr auto sum_of_cut =
    equal(fuse::rule<"sum-of-cut">, dear(sum(sum(rearrange<"b (h d) -> b h d">(x)).attr<"axes">(-1)).attr<"axes">(-2)),
          abs(rearrange<"b 1 -> b 1 1">(sum(x).attr<"axes">(-1))));
inline constexpr auto whole_sum_of_any_layout =
    equal(fuse::rule<"whole-sum-of-any-layout">, dear(sum(rearrange<"b s d -> (d s) b">(x)).attr<"axes">(list(0, 1))),
          abs(rearrange<"1 1 1 -> 1 1">(sum(x).attr<"axes">(list(0, 1, 2)))));
inline constexpr auto image_to_tokens = equal(fuse::rule<"image-to-tokens">, dear(rearrange<"n c h w -> n (h w) c">(x)),
                                              rearrange<"n c h w -> n (h w) c">(abs(x)));
inline constexpr auto patches = equal(fuse::rule<"patches">, dear(rearrange<"n c (h p) (w q) -> n (h w) (c p q)">(x)),
                                      rearrange<"n c (h p) (w q) -> n (h w) (c p q)">(abs(x)));

inline constexpr auto fold_turned = fuse::rule<"fold-turned">(matmul(x, rearrange<"a b -> b a">(w)))
                                        .where(is_constant<"w">)
                                        .replace(matmul(x, fold(rearrange<"a b -> b a">(w))))
                                        .at_equal_cost();
inline constexpr auto fold_joined = fuse::rule<"fold-joined">(dear(x * rearrange<"h d -> (h d)">(w)))
                                        .where(is_constant<"w">)
                                        .replace(abs(x * fold(rearrange<"h d -> (h d)">(w))))
                                        .at_equal_cost();
inline constexpr auto two_layers_side_by_side =
    fuse::rule<"two-layers-side-by-side">(concat(matmul(x, w), matmul(x, b)).attr<"axis">(-1))
        .where(is_constant<"w">, is_constant<"b">, rank<"w">(2), rank<"b">(2))
        .replace(matmul(x, fold(concat(w, b).attr<"axis">(-1))))
        .at_equal_cost();
inline constexpr auto added_layers = fuse::rule<"added-layers">(matmul(x, w) + matmul(x, b))
                                         .where(is_constant<"w">, is_constant<"b">, same_shape<"w", "b">)
                                         .replace(matmul(x, fold(w + b)))
                                         .at_equal_cost();
inline constexpr auto mean_as_sum_of_rearranged =
    fuse::rule<"mean-as-sum-of-rearranged">(dear(mean(rearrange<"b (h d) -> b h d">(x)).attr<"axes">(-1)))
        .replace(abs(sum(rearrange<"b (h d) -> b h d">(x)).attr<"axes">(-1) * (1.0 / dim<"d">)))
        .at_equal_cost();
inline constexpr auto softmax_of_turned =
    equal(fuse::rule<"softmax-of-turned">, softmax(rearrange<"... a b -> ... b a">(x)).attr<"axis">(-1),
          rearrange<"... a b -> ... b a">(softmax(x).attr<"axis">(-2)));
inline constexpr auto cut_and_norm =
    equal(fuse::rule<"cut-and-norm">, dear(layer_norm(rearrange<"b h d -> (b h) d">(x), y, z).attr<"axis">(-1)),
          rearrange<"b h d -> (b h) d">(abs(layer_norm(x, y, z).attr<"axis">(-1))));
inline constexpr auto parts_of_product =
    equal(fuse::rule<"parts-of-product">, dear(part<"d", 1, 2>(x* s)), abs(part<"d", 1, 2>(x) * s));
inline constexpr auto rotated_twice =
    equal(fuse::rule<"rotated-twice">,
          dear(concat(-part<"d", 1, 2>(concat(-part<"d", 1, 2>(x), part<"d", 0, 2>(x)).attr<"axis">(-1)),
                      part<"d", 0, 2>(concat(-part<"d", 1, 2>(x), part<"d", 0, 2>(x)).attr<"axis">(-1)))
                   .attr<"axis">(-1)),
          abs(-x));
inline constexpr auto shifted_parts = equal(fuse::rule<"shifted-parts">, dear(part<"d", 0, 2>(x) - part<"d", 1, 2>(x)),
                                            abs(-(part<"d", 1, 2>(x) - part<"d", 0, 2>(x))));
inline constexpr auto expanded_away =
    equal(fuse::rule<"expanded-away">, dear(rearrange<"b 1 d -> b s d">(x) + y), abs(x + y));
inline constexpr auto gelu_of_parts = equal(fuse::rule<"gelu-of-parts">, part<"d", 0, 2>(x) * gelu(part<"d", 1, 2>(x)),
                                            gelu(part<"d", 1, 2>(x)) * part<"d", 0, 2>(x) * 1.0);
inline constexpr auto max_of_cut =
    equal(fuse::rule<"max-of-cut">,
          dear(reduce_max(reduce_max(rearrange<"b (h d) -> b h d">(x)).attr<"axes">(-1)).attr<"axes">(-2)),
          abs(rearrange<"b 1 -> b 1 1">(reduce_max(x).attr<"axes">(-1))));
inline constexpr auto sum_sum_turned =
    equal(fuse::rule<"sum-sum-turned">, dear(sum(rearrange<"a b c -> c b a">(x)).attr<"axes">(list(0, 2))),
          abs(rearrange<"1 b 1 -> 1 b 1">(sum(x).attr<"axes">(list(0, 2)))));
inline constexpr auto pool_by_mean = fuse::rule<"pool-by-mean">(op<"GlobalAveragePool">(x))
                                         .where(rank<"x">(4))
                                         .replace(mean(x).attr<"axes">(list(2, 3)))
                                         .at_equal_cost();
inline constexpr auto clip_in_turn =
    equal(fuse::rule<"clip-in-turn">, dear(minimum(maximum(x, s), t)), abs(minimum(t, maximum(s, x))));
inline constexpr auto exp_of_sum_of_logs =
    equal(fuse::rule<"exp-of-sum-of-logs">, exp(log(x) + log(y)), exp(log(y) + log(x)));
inline constexpr auto power_of_power = equal(fuse::rule<"power-of-power">, pow(pow(abs(x), s), t), pow(abs(x), s* t));
inline constexpr auto quotient_of_quotient =
    equal(fuse::rule<"quotient-of-quotient">, dear(x / (y / abs(z))), abs(x* abs(z) / y));
inline constexpr auto mul_of_where =
    equal(fuse::rule<"mul-of-where">, dear(where(op<"Less">(x, y), z, 0) * s), abs(where(op<"Less">(x, y), z* s, 0)));
inline constexpr auto tanh_by_exp = equal(fuse::rule<"tanh-by-exp">, dear(tanh(x)), abs(1 - 2 / (exp(2 * x) + 1)));
inline constexpr auto batch_of_products =
    equal(fuse::rule<"batch-of-products">,
          dear(matmul(rearrange<"b h s d -> (b h) s d">(x), rearrange<"b h d t -> (b h) d t">(y))),
          abs(rearrange<"b h s t -> (b h) s t">(matmul(x, y))));
inline constexpr auto product_of_turned_weights =
    fuse::rule<"product-of-turned-weights">(matmul(rearrange<"b s d -> s b d">(x), w))
        .where(rank<"w">(2))
        .replace(rearrange<"b s e -> s b e">(matmul(x, w)))
        .at_equal_cost();
inline constexpr auto flat_elementwise = equal(fuse::rule<"flat-elementwise">, dear(tanh(flatten(x).attr<"axis">(1))),
                                               abs(flatten(tanh(x)).attr<"axis">(1)));

inline constexpr auto right =
    fuse::rule_set<swap_product, mean_turned, softmax_joined, part_of_tanh, parts_joined, third_parts, largest_turned,
                   rows_together, repeated_times, twice_turned, pairs, turned_sum, joined_sum, cut_heads_product,
                   sum_repeated, one_less_sigmoid, root_of_square, where_sum, where_alike, by_a_number, twice_divided,
                   erf_odd, norm_of_sum, squared_length, conv_scaled, largest_of_largest, joined_tanh, heads_to_batch,
                   halves_summed, sum_of_cut, whole_sum_of_any_layout, image_to_tokens, patches, fold_turned,
                   fold_joined, two_layers_side_by_side, added_layers, mean_as_sum_of_rearranged, softmax_of_turned,
                   cut_and_norm, parts_of_product, rotated_twice, shifted_parts, expanded_away, gelu_of_parts,
                   max_of_cut, sum_sum_turned, pool_by_mean, clip_in_turn, exp_of_sum_of_logs, power_of_power,
                   quotient_of_quotient, mul_of_where, tanh_by_exp, batch_of_products, product_of_turned_weights,
                   flat_elementwise>;

// Wrong

inline constexpr auto product_not_exchanged = equal(
    fuse::rule<"product-not-exchanged">, matmul(rearrange<"... a b -> ... b a">(x), rearrange<"... a b -> ... b a">(y)),
    rearrange<"... a b -> ... b a">(matmul(x, y)));
inline constexpr auto softmax_cut =
    equal(fuse::rule<"softmax-cut">, softmax(rearrange<"b h d -> b (h d)">(x)).attr<"axis">(-1),
          rearrange<"b h d -> b (h d)">(softmax(x).attr<"axis">(-1)));
inline constexpr auto other_part =
    equal(fuse::rule<"other-part">, tanh(part<"d", 0, 2>(x)) + y, part<"d", 1, 2>(tanh(x)) + y);
inline constexpr auto parts_exchanged = equal(
    fuse::rule<"parts-exchanged">, tanh(concat(part<"d", 1, 2>(x), part<"d", 0, 2>(x)).attr<"axis">(-1)), tanh(x));
inline constexpr auto relu_scaled = equal(fuse::rule<"relu-scaled">, op<"Relu">(x* s), op<"Relu">(x) * s);
inline constexpr auto pool_scaled =
    equal(fuse::rule<"pool-scaled">, dear(op<"MaxPool">(x* s).as<"p">()), abs(again<"p">(x) * s));
inline constexpr auto pool_shifted =
    equal(fuse::rule<"pool-shifted">, dear(op<"AveragePool">(x + s).as<"p">()), abs(again<"p">(x) + s));
inline constexpr auto roots_multiplied = equal(fuse::rule<"roots-multiplied">, sqrt(x) * sqrt(y), sqrt(x* y));
inline constexpr auto exp_log = equal(fuse::rule<"exp-log">, tanh(exp(log(x))), tanh(x));
inline constexpr auto larger_scaled = equal(fuse::rule<"larger-scaled">, maximum(x, y) * s, maximum(x* s, y* s));
inline constexpr auto shares_shifted_by_anything =
    equal(fuse::rule<"shares-shifted-by-anything">, softmax(x + y).attr<"axis">(-1), softmax(x).attr<"axis">(-1));
inline constexpr auto where_exchanged = equal(
    fuse::rule<"where-exchanged">, op<"Where">(op<"Not">(op<"Less">(x, y)), x, z), op<"Where">(op<"Less">(x, y), x, z));
inline constexpr auto not_less =
    equal(fuse::rule<"not-less">, op<"Where">(op<"Not">(op<"Less">(x, y)), z, w), op<"Where">(op<"Less">(y, x), z, w));
inline constexpr auto cast_to_int =
    equal(fuse::rule<"cast-to-int">, tanh(op<"Cast">(op<"Cast">(x).attr<"to">(7)).attr<"to">(1)), tanh(x));
inline constexpr auto norm_of_scaled =
    equal(fuse::rule<"norm-of-scaled">, dear(layer_norm(x* s, y, z).attr<"axis">(-1)),
          abs(layer_norm(x, y, z).attr<"axis">(-1)));
inline constexpr auto erf_even = equal(fuse::rule<"erf-even">, erf(-x) + y, erf(x) + y);
inline constexpr auto tanh_gelu = equal(fuse::rule<"tanh-gelu">, gelu(x) + y, fast_gelu(x) + y);
inline constexpr auto hard_for_swish = equal(fuse::rule<"hard-for-swish">, swish(x), hard_swish(x));
inline constexpr auto leaky_of_any_slope =
    equal(fuse::rule<"leaky-of-any-slope">, maximum(x, x* s), op<"LeakyRelu">(x).attr<"alpha">(s));
inline constexpr auto max_of_sum =
    equal(fuse::rule<"max-of-sum">, dear(reduce_max(sum(x).attr<"axes">(-1)).attr<"axes">(-2)),
          abs(sum(reduce_max(x).attr<"axes">(-2)).attr<"axes">(-1)));
inline constexpr auto argmax_scaled =
    equal(fuse::rule<"argmax-scaled">, op<"Cast">(op<"ArgMax">(x* s).as<"a">()).attr<"to">(1),
          op<"Cast">(again<"a">(x)).attr<"to">(1));
inline constexpr auto conv_shifted =
    equal(fuse::rule<"conv-shifted">, dear(op<"Conv">(x + s, w).as<"c">()), abs(again<"c">(x, w) + s));
inline constexpr auto either_of_both =
    equal(fuse::rule<"either-of-both">, either(x + tanh(y), x - tanh(y)), x + tanh(y));
inline constexpr auto mean_of_means =
    equal(fuse::rule<"mean-of-means">, dear(mean(x).attr<"axes">(-1) + mean(y).attr<"axes">(-1)),
          abs(mean(x* y).attr<"axes">(-1)));
inline constexpr auto joined_otherwise =
    equal(fuse::rule<"joined-otherwise">, dear(concat(tanh(x), tanh(y)).attr<"axis">(-1)),
          abs(tanh(concat(y, x).attr<"axis">(-1))));
inline constexpr auto square_of_sum = equal(fuse::rule<"square-of-sum">, square(x + y) + z, x* x + y * y + z);
inline constexpr auto heads_in_order = equal(fuse::rule<"heads-in-order">, dear(rearrange<"b s (h d) -> b h s d">(x)),
                                             rearrange<"b s (d h) -> b h s d">(abs(x)));
inline constexpr auto repeat_lost_in_sum =
    equal(fuse::rule<"repeat-lost-in-sum">, dear(sum(rearrange<"b d -> b r d">(x)).attr<"axes">(1)),
          abs(rearrange<"b d -> b 1 d">(x)));
inline constexpr auto patches_by_columns =
    equal(fuse::rule<"patches-by-columns">, dear(rearrange<"n c (h p) (w q) -> n (h w) (c p q)">(x)),
          rearrange<"n c (h p) (w q) -> n (w h) (c p q)">(abs(x)));
inline constexpr auto log_of_sum = equal(fuse::rule<"log-of-sum">, log(exp(x) + exp(y)), x + y);
inline constexpr auto powers_wrong = equal(fuse::rule<"powers">, pow(x, s) * pow(x, t), pow(x, s + t));
inline constexpr auto clip_order =
    equal(fuse::rule<"clip-order">, op<"Clip">(x).attr<"min">(s).attr<"max">(t) + y, maximum(minimum(x, s), t) + y);
inline constexpr auto flatten_softmax =
    equal(fuse::rule<"flatten-softmax">, softmax(flatten(x)).attr<"axis">(-1), flatten(softmax(x).attr<"axis">(-1)));
inline constexpr auto swapped_gate = equal(fuse::rule<"swapped-gate">, x* sigmoid(y) + z, y* sigmoid(x) + z);
inline constexpr auto quantised_away =
    equal(fuse::rule<"quantised-away">, tanh(op<"DequantizeLinear">(op<"QuantizeLinear">(x, s), s)), tanh(x));
inline constexpr auto transposed_gemm =
    equal(fuse::rule<"transposed-gemm">, op<"Gemm">(x, w).attr<"transB">(1), op<"Gemm">(x, w).attr<"transB">(0));
inline constexpr auto l2_of_parts = equal(fuse::rule<"l2-of-parts">, dear(op<"ReduceL2">(x).attr<"axes">(axes)),
                                          abs(op<"ReduceL1">(x).attr<"axes">(axes)));
inline constexpr auto abs_inside = equal(fuse::rule<"abs-inside">, abs(x + y), abs(x) + abs(y));

inline constexpr auto fold_not_turned = fuse::rule<"fold-not-turned">(matmul(x, rearrange<"a b -> b a">(w)))
                                            .where(is_constant<"w">)
                                            .replace(matmul(x, w))
                                            .at_equal_cost();
inline constexpr auto layers_exchanged =
    fuse::rule<"layers-exchanged">(concat(matmul(x, w), matmul(x, b)).attr<"axis">(-1))
        .where(is_constant<"w">, is_constant<"b">, rank<"w">(2), rank<"b">(2))
        .replace(matmul(x, fold(concat(b, w).attr<"axis">(-1))))
        .at_equal_cost();
inline constexpr auto added_layers_subtracted = fuse::rule<"added-layers-subtracted">(matmul(x, w) - matmul(x, b))
                                                    .where(is_constant<"w">, is_constant<"b">, same_shape<"w", "b">)
                                                    .replace(matmul(x, fold(w + b)))
                                                    .at_equal_cost();
inline constexpr auto mean_by_other_extent =
    fuse::rule<"mean-by-other-extent">(dear(mean(rearrange<"b (h d) -> b h d">(x)).attr<"axes">(-1)))
        .replace(abs(sum(rearrange<"b (h d) -> b h d">(x)).attr<"axes">(-1) * (1.0 / dim<"h">)))
        .at_equal_cost();
inline constexpr auto parts_of_sum =
    equal(fuse::rule<"parts-of-sum">, dear(part<"d", 1, 2>(x + y)), abs(part<"d", 1, 2>(x) + part<"d", 0, 2>(y)));
inline constexpr auto rotated_twice_is_x =
    equal(fuse::rule<"rotated-twice-is-x">,
          concat(-part<"d", 1, 2>(concat(-part<"d", 1, 2>(x), part<"d", 0, 2>(x)).attr<"axis">(-1)),
                 part<"d", 0, 2>(concat(-part<"d", 1, 2>(x), part<"d", 0, 2>(x)).attr<"axis">(-1)))
                  .attr<"axis">(-1) +
              y,
          x + y);
inline constexpr auto power_of_any_power =
    equal(fuse::rule<"power-of-any-power">, pow(pow(x, s), t) + y, pow(x, s* t) + y);
inline constexpr auto quotient = equal(fuse::rule<"quotient">, dear(x / (y / z)), abs(x / (y * z)));
inline constexpr auto where_scaled =
    equal(fuse::rule<"where-scaled">, dear(where(op<"Less">(x, y), z, 1) * s), abs(where(op<"Less">(x, y), z* s, 1)));
inline constexpr auto batches_exchanged =
    equal(fuse::rule<"batches-exchanged">,
          dear(matmul(rearrange<"b h s d -> (b h) s d">(x), rearrange<"b h d t -> (b h) d t">(y))),
          abs(rearrange<"b h s t -> (h b) s t">(matmul(x, y))));
inline constexpr auto sum_of_quotients =
    equal(fuse::rule<"sum-of-quotients">, sum(x / y), sum(x).attr<"axes">(axes) / sum(y).attr<"axes">(axes));
inline constexpr auto sigmoid_of_double = equal(fuse::rule<"sigmoid-of-double">, sigmoid(2 * x) * 2 - 1, tanh(2 * x));
inline constexpr auto relu_of_neg = equal(fuse::rule<"relu-of-neg">, op<"Relu">(-x) + y, -op<"Relu">(x) + y);
inline constexpr auto abs_of_product = equal(fuse::rule<"abs-of-product">, abs(x) * y, abs(x* y));
inline constexpr auto min_for_max = equal(fuse::rule<"min-for-max">, minimum(-x, -y), -minimum(x, y));
inline constexpr auto mean_for_sum = equal(fuse::rule<"mean-for-sum">, sum(x) * s, mean(x).attr<"axes">(axes) * s);
inline constexpr auto log_of_product_of_any = equal(fuse::rule<"log-of-product-of-any">, log(x* y), log(x) + log(y));
inline constexpr auto reciprocal_root = equal(fuse::rule<"reciprocal-root">, 1 / sqrt(x + s), sqrt(1 / x + s));
inline constexpr auto swish_beta = equal(fuse::rule<"swish-beta">, x* sigmoid(s* x), swish(x));
inline constexpr auto dropped_bias = equal(fuse::rule<"dropped-bias">, dear(layer_norm(x, y, z).attr<"axis">(-1)),
                                           abs(layer_norm(x, y).attr<"axis">(-1)));
inline constexpr auto less_or_equal =
    equal(fuse::rule<"less-or-equal">, where(op<"LessOrEqual">(x, y), z, w), where(op<"Less">(x, y), z, w));
inline constexpr auto floor_for_round = equal(fuse::rule<"floor-for-round">, op<"Round">(x) + y, op<"Floor">(x) + y);
inline constexpr auto mod_signs = equal(fuse::rule<"mod-signs">, dear(op<"Mod">(x, y)), x - y * op<"Div">(x, y));
inline constexpr auto expand_then_mean =
    equal(fuse::rule<"expand-then-mean">, dear(sum(rearrange<"b d -> b r d">(x)).attr<"axes">(1)),
          abs(rearrange<"b d -> b 1 d">(x) * (dim<"r"> + 1)));

inline constexpr auto wrong =
    fuse::rule_set<product_not_exchanged, softmax_cut, other_part, parts_exchanged, relu_scaled, pool_scaled,
                   pool_shifted, roots_multiplied, exp_log, larger_scaled, shares_shifted_by_anything, where_exchanged,
                   not_less, cast_to_int, norm_of_scaled, erf_even, tanh_gelu, hard_for_swish, leaky_of_any_slope,
                   max_of_sum, argmax_scaled, conv_shifted, either_of_both, mean_of_means, joined_otherwise,
                   square_of_sum, heads_in_order, repeat_lost_in_sum, patches_by_columns, log_of_sum, powers_wrong,
                   clip_order, flatten_softmax, swapped_gate, quantised_away, transposed_gemm, l2_of_parts, abs_inside,
                   fold_not_turned, layers_exchanged, added_layers_subtracted, mean_by_other_extent, parts_of_sum,
                   rotated_twice_is_x, power_of_any_power, quotient, where_scaled, batches_exchanged, sum_of_quotients,
                   sigmoid_of_double, relu_of_neg, abs_of_product, min_for_max, mean_for_sum, log_of_product_of_any,
                   reciprocal_root, swish_beta, dropped_bias, less_or_equal, floor_for_round, mod_signs,
                   expand_then_mean>;

}  // namespace known_bad::strangers
