// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>

namespace fuse::inline v0::rules {

/// Attention whose queries, keys and values are projections of one value, for targets that project them at once.
namespace projection {

inline constexpr auto projected = dsl::var<"x">, mask = dsl::var<"mask">;

/// x w + b of (batch, length, size): a product and a sum, or a Gemm of all tokens.
[[nodiscard]] constexpr expression by_matmul(expression const& w, expression const& b) {
  auto const product = dsl::matmul(projected, w);
  return dsl::either(product.users(1) + b, product);
}
[[nodiscard]] constexpr expression by_gemm(expression const& w, expression const& b) {
  using namespace dsl;
  auto const tokens = rearrange<"n s d -> (n s) d">(projected);
  auto const gemm = expression(opcode::gemm, tokens, w, optional(b));
  auto const plain = gemm.attr<"alpha">(1).attr<"beta">(1).attr<"transA">(0).attr<"transB">(0);
  return rearrange<"(n s) m -> n s m">(plain.users(1));
}

[[nodiscard]] constexpr expression attention_of(expression const& q, expression const& k, expression const& v) {
  using namespace dsl;
  return multi_head_attention(q, k, v, none, none, optional(mask))
      .attr<"num_heads">(param<"heads">)
      .attr<"scale">(param<"scale">)
      .as<"attention">();
}
inline constexpr auto looks_both_ways = dsl::pred<"attention">([](auto made) {
  double causal = 0;
  return made.parameter("unidirectional", causal) && causal == 0;
});

[[nodiscard]] constexpr rewrite_rule projection_rule(rule_name name, expression const& pattern, expression const& w,
                                                     expression const& b) {
  using namespace dsl;
  return name(pattern)
      .where(rank<"x">(3).quiet())
      .where<"queries look at all keys that the mask leaves">(looks_both_ways)
      .replace(dsl::projected_attention(projected, w, b, none, none, mask)
                   .attr<"num_heads">(param<"heads">)
                   .attr<"scale">(param<"scale">))
      .stage(2);
}

/// The bias as one row, zeros where there is none.
template <fixed_string Weights, fixed_string Bias>
[[nodiscard]] constexpr expression row() {
  using namespace dsl;
  return reshape(or_else(var<Bias>, expand(0, list(dim<Weights, 1>)))).template attr<"shape">(list(-1));
}
[[nodiscard]] constexpr expression side_by_side(expression const& q, expression const& k, expression const& v,
                                                int axis) {
  return dsl::fold(expression(opcode::concat, q, k, v).attr<"axis">(axis));
}

// Each is projected for itself.

inline constexpr auto w_of_q = dsl::var<"w of q">, w_of_k = dsl::var<"w of k">, w_of_v = dsl::var<"w of v">;
inline constexpr auto b_of_q = dsl::var<"b of q">, b_of_k = dsl::var<"b of k">, b_of_v = dsl::var<"b of v">;
[[nodiscard]] constexpr expression each_by(expression (*by)(expression const&, expression const&)) {
  return attention_of(by(w_of_q, b_of_q).as<"q">().users(1), by(w_of_k, b_of_k).as<"k">().users(1),
                      by(w_of_v, b_of_v).as<"v">().users(1));
}
inline constexpr auto each = dsl::either(each_by(by_matmul), each_by(by_gemm));
inline constexpr auto all_weights = side_by_side(w_of_q, w_of_k, w_of_v, 1);
inline constexpr auto all_biases =
    side_by_side(row<"w of q", "b of q">(), row<"w of k", "b of k">(), row<"w of v", "b of v">(), 0);
/// Others would keep them beside the new ones.
inline constexpr auto used_once = dsl::pred<"w of q", "w of k", "w of v">(
    [](auto q, auto k, auto v) { return q.users() == 1 && k.users() == 1 && v.users() == 1; });
/// Weights, and a bias for each of their columns.
template <fixed_string Weights, fixed_string Bias, fixed_string Sum>
[[nodiscard]] constexpr rewrite_rule with_constants(rewrite_rule const& of) {
  using namespace dsl;
  return of.where(is_constant<Weights>, is_constant<Bias>, along_axis<Bias, Sum>(-1));
}

// They are projected at once, and cut apart.

[[nodiscard]] constexpr expression parts_of(expression const& whole) {
  auto const y = whole.as<"y">();
  return attention_of(dsl::part<"m", 0, 3>(y), dsl::part<"m", 1, 3>(y), dsl::part<"m", 2, 3>(y));
}
inline constexpr auto parts =
    dsl::either(parts_of(by_matmul(dsl::var<"w">, dsl::var<"b">)), parts_of(by_gemm(dsl::var<"w">, dsl::var<"b">)));
/// One operator reads the whole, or three Slices, and nothing else reads what they make.
inline constexpr auto only_parts_are_read = dsl::pred<"attention", "y">([](auto made, auto whole) {
  for (std::uint32_t i = 0; i < 3; ++i)
    if (made.operand(i).users() != 1 || made.operand(i).is_output()) return false;
  bool const by_three = whole.users() == 3 && made.operand(0).op() != opcode::split;
  return (whole.users() == 1 || by_three) && !whole.is_output();
});

}  // namespace projection

inline constexpr auto projected_attention =
    projection::with_constants<"w of q", "b of q", "q">(
        projection::with_constants<"w of k", "b of k", "k">(
            projection::with_constants<"w of v", "b of v", "v">(projection::projection_rule(
                rule<"projected-attention">, projection::each, projection::all_weights, projection::all_biases))))
        .where(dsl::rank<"w of q">(2).quiet(), dsl::same_shape<"w of q", "w of k">, dsl::same_shape<"w of q", "w of v">)
        .where<"nothing else uses the weights">(projection::used_once)
        .summary("attention whose queries, keys and values are projections of one value is one operator");
inline constexpr auto projected_attention_of_parts =
    projection::with_constants<"w", "b", "y">(projection::projection_rule(rule<"projected-attention-of-parts">,
                                                                          projection::parts, dsl::var<"w">,
                                                                          dsl::fold(projection::row<"w", "b">())))
        .where(dsl::rank<"w">(2).quiet())
        .where<"nothing else reads what is projected">(projection::only_parts_are_read)
        .summary("the same as projected-attention, where queries, keys and values are parts of one projection");

}  // namespace fuse::inline v0::rules
