// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/layer_formulas.hpp>
#include <fuse/rules/rotary_formulas.hpp>

/// Heads of what a layer makes that are turned, by 90 degrees or by angles that are the same for all tokens: that is
/// linear, and goes into the weights.
namespace fuse::inline v0::rules {
namespace rotated {

/// A matrix product, or a Gemm whose weights lie one way or the other.
enum class layer : std::uint8_t { product, gemm, transposed_gemm };
/// What a layer makes of a token is one head; or several, (batch, heads, sequence, size) or (batch, sequence, heads,
/// size).
enum class heads : std::uint8_t { one, apart, of_tokens };

inline constexpr auto halves = formula::pairs::of_halves;
inline constexpr auto w = formula::weights, b = formula::layer_bias, shift = formula::addends;
inline constexpr auto cosines = dsl::var<"cos">, sines = dsl::var<"sin">;

/// What a layer makes, by heads: of a product (batch, sequence, columns), of a Gemm (batch * sequence, columns).
[[nodiscard]] constexpr expression by_heads(layer is, heads are, expression const& made) {
  using namespace dsl;
  if (are == heads::one) return made;
  if (is == layer::product)
    return are == heads::apart ? rearrange<"n s (h d) -> n h s d">(made) : rearrange<"n s (h d) -> n s h d">(made);
  return are == heads::apart ? rearrange<"(n s) (h d) -> n h s d">(made) : rearrange<"(n s) (h d) -> n s h d">(made);
}
/// A layer, with a bias inside or behind it.
[[nodiscard]] constexpr expression found(layer is) {
  if (is == layer::product) return dsl::matmul(formula::layer_input, w).as<"layer">() + shift;
  return formula::gemm(is == layer::gemm ? 0 : 1, formula::layer_input).as<"layer">() + shift;
}

/// A quarter turn of y, or y * cos + quarter turn of y * sin.
[[nodiscard]] constexpr expression turned(expression const& made) {
  auto const y = dsl::var<"y">;
  return dsl::either(formula::quarter_turn(halves, made, y), -formula::quarter_turn_back(halves, made, y),
                     made * cosines + dsl::either(formula::quarter_turn(halves, y, y) * sines,
                                                  -(formula::quarter_turn_back(halves, y, y) * sines)));
}
/// The same of constants, whose last axis is the elements of a head.
[[nodiscard]] constexpr expression turned_constants(expression const& of) {
  using namespace dsl;
  auto const quarter = concat(-formula::second(halves, of), formula::first(halves, of)).attr<"axis">(-1);
  return of * along<-1>(or_else(cosines, 0)) + quarter * along<-1>(or_else(sines, 1));
}
[[nodiscard]] constexpr expression turned_weights(layer is) {
  using namespace dsl;
  if (is == layer::transposed_gemm)
    return fold(rearrange<"k h d -> (h d) k">(turned_constants(rearrange<"(h d) k -> k h d">(w))));
  return fold(rearrange<"k h d -> k (h d)">(turned_constants(rearrange<"k (h d) -> k h d">(w))));
}
/// One number for each column, spelled out; absent without a bias.
[[nodiscard]] constexpr expression turned_bias(layer is, expression const& bias) {
  using namespace dsl;
  auto const columns = is == layer::transposed_gemm ? dim<"w", 0> : dim<"w", 1>;
  auto const row = expand(reshape(bias).attr<"shape">(list(-1)), list(columns));
  return optional(fold(rearrange<"h d -> (h d)">(turned_constants(rearrange<"(h d) -> h d">(row)))));
}
[[nodiscard]] constexpr expression turned_layer(layer is) {
  auto const by = turned_weights(is);
  if (is == layer::product) return dsl::again<"layer">(formula::layer_input, by) + turned_bias(is, shift);
  return dsl::again<"layer">(formula::layer_input, by, turned_bias(is, b)) + turned_bias(is, shift);
}

[[nodiscard]] constexpr rewrite_rule into_layer(rule_name name, layer is, heads are) {
  using namespace dsl;
  auto const made =
      name(turned(by_heads(is, are, found(is)).as<"y">()).as<"turned">())
          .where(is_constant<"w">.quiet(), is_constant<"shift">.quiet(), is_constant<"cos">.quiet(),
                 is_constant<"sin">.quiet(), rank<"w">(2).quiet(), floating<"layer">.quiet(),
                 used_only_for<"layer", "turned">.quiet(), along_axis<"shift", "layer">(-1),
                 along_axis<"cos", "y">(-1).quiet(), along_axis<"sin", "y">(-1).quiet())
          .where<"nothing else uses the weights">(formula::used_once<"w">)
          .summary("turns of what a layer makes, by the same angles for all tokens, go into its weights and its bias")
          .replace(by_heads(is, are, turned_layer(is)));
  return is == layer::product ? made : made.where(is_constant<"b">.quiet(), along_axis<"b", "layer">(-1));
}

}  // namespace rotated

inline constexpr auto rotation_into_matmul =
    rotated::into_layer(rule<"rotation-into-matmul">, rotated::layer::product, rotated::heads::one);
inline constexpr auto rotation_of_heads_into_matmul =
    rotated::into_layer(rule<"rotation-of-heads-into-matmul">, rotated::layer::product, rotated::heads::apart);
inline constexpr auto rotation_of_tokens_into_matmul =
    rotated::into_layer(rule<"rotation-of-tokens-into-matmul">, rotated::layer::product, rotated::heads::of_tokens);
inline constexpr auto rotation_into_gemm =
    rotated::into_layer(rule<"rotation-into-gemm">, rotated::layer::gemm, rotated::heads::one);
inline constexpr auto rotation_of_heads_into_gemm =
    rotated::into_layer(rule<"rotation-of-heads-into-gemm">, rotated::layer::gemm, rotated::heads::apart);
inline constexpr auto rotation_of_tokens_into_gemm =
    rotated::into_layer(rule<"rotation-of-tokens-into-gemm">, rotated::layer::gemm, rotated::heads::of_tokens);
inline constexpr auto rotation_into_transposed_gemm =
    rotated::into_layer(rule<"rotation-into-transposed-gemm">, rotated::layer::transposed_gemm, rotated::heads::one);
inline constexpr auto rotation_of_heads_into_transposed_gemm = rotated::into_layer(
    rule<"rotation-of-heads-into-transposed-gemm">, rotated::layer::transposed_gemm, rotated::heads::apart);
inline constexpr auto rotation_of_tokens_into_transposed_gemm = rotated::into_layer(
    rule<"rotation-of-tokens-into-transposed-gemm">, rotated::layer::transposed_gemm, rotated::heads::of_tokens);

/// Turns of what a layer makes. None makes a model larger.
inline constexpr auto rotated_layers =
    rule_set<rotation_into_matmul, rotation_of_heads_into_matmul, rotation_of_tokens_into_matmul, rotation_into_gemm,
             rotation_of_heads_into_gemm, rotation_of_tokens_into_gemm, rotation_into_transposed_gemm,
             rotation_of_heads_into_transposed_gemm, rotation_of_tokens_into_transposed_gemm>;

}  // namespace fuse::inline v0::rules
