// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include <fuse/dsl/dsl.hpp>

/// What rules of layers are put together from: Conv, ConvTranspose, Gemm and MatMul with constants.
namespace fuse::inline v0::rules::formula {

inline constexpr auto layer_input = dsl::var<"x">, weights = dsl::var<"w">, layer_bias = dsl::var<"b">;
inline constexpr auto bias_factor = dsl::param<"factor of b">, product_factor = dsl::param<"factor of w">;
inline constexpr auto known_bias = dsl::or_else(layer_bias, 0.0);
inline constexpr auto over_bias_factor = product_factor / bias_factor;
/// Constants that multiply what goes into a layer or comes out of it, and such that are added to it.
inline constexpr auto factors = dsl::rest<"factor">, addends = dsl::rest<"shift">;

/// Layers with a bias or without.
[[nodiscard]] constexpr expression conv(expression const& of) {
  return expression(opcode::conv, of, weights, dsl::optional(layer_bias));
}
[[nodiscard]] constexpr expression conv_transpose(expression const& of) {
  return expression(opcode::conv_transpose, of, weights, dsl::optional(layer_bias)).attr<"group">(1);
}
/// A Gemm with weights that lie one way or the other, whose bias is multiplied by a factor.
[[nodiscard]] constexpr expression gemm(int transposed, expression const& of) {
  return expression(opcode::gemm, of, weights, dsl::optional(layer_bias))
      .attr<"beta">(bias_factor)
      .attr<"transB">(transposed);
}

/// A layer of rows that tokens, (batch, length, size), are joined to for it alone, and which are tokens again behind
/// it; without the bias, it needs no rows.
inline constexpr auto layer_tokens = dsl::var<"tokens">, product_of_tokens = dsl::matmul(layer_tokens, weights);
[[nodiscard]] constexpr expression layer_of_joined_tokens(expression const& added) {
  using namespace dsl;
  auto const rows = rearrange<"b s k -> (b s) k">(layer_tokens);
  auto const gemm = expression(opcode::gemm, rows, weights, added).attr<"alpha">(1).attr<"beta">(1);
  auto const layer = either(gemm.attr<"transA">(0).attr<"transB">(0), matmul(rows, weights).users(1) + added);
  return rearrange<"(b s) n -> b s n">(layer.users(1));
}

/// The sum of products of weights and numbers of input channels, for each output channel: where these are the first
/// axis of the weights, or the last of two.
[[nodiscard]] constexpr expression summed_by_first(expression const& along_second) {
  auto const rows = dsl::flatten(weights * dsl::along<1>(along_second)).attr<"axis">(1);
  return dsl::sum(rows).attr<"axes">(dsl::list(1)).attr<"keepdims">(0);
}
[[nodiscard]] constexpr expression summed_by_last(expression const& along_first) {
  return dsl::sum(weights * dsl::along<0>(along_first)).attr<"axes">(dsl::list(0)).attr<"keepdims">(0);
}

/// The layer on x, with other constants.
template <class... Constants>
[[nodiscard]] constexpr expression layer_with(Constants const&... made) {
  return dsl::again<"layer">(layer_input, dsl::fold(made)...);
}

/// Others would keep them beside the new ones.
template <fixed_string Weights>
inline constexpr condition used_once = [] {
  constexpr condition made = dsl::pred<Weights>([](auto held) { return held.users() == 1; });
  return made;
}();

/// That nothing is padded: what is there is 0, and not the shift.
inline constexpr auto no_padding = dsl::pred<"pads">([](auto pads) {
  std::vector<std::int64_t> all;
  if (!pads.integers(all)) return false;
  for (auto const each : all)
    if (each != 0) return false;
  return true;
});

}  // namespace fuse::inline v0::rules::formula
