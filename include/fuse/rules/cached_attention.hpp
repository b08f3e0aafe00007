// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>

namespace fuse::inline v0::rules {

/// Attention whose keys and values stand behind those of earlier calls, for operators that put them there themselves.
namespace cache {

inline constexpr auto queries = dsl::var<"q">, new_keys = dsl::var<"k">, new_values = dsl::var<"v">,
                      past_keys = dsl::var<"past k">, past_values = dsl::var<"past v">, mask = dsl::var<"mask">;

/// Of (batch, heads, length, size); and with heads side by side.
[[nodiscard]] constexpr expression appended(expression const& past, expression const& now) {
  return dsl::concat(past, now).attr<"axis">(2);
}
inline constexpr auto all_keys = appended(past_keys, new_keys), all_values = appended(past_values, new_values);
inline constexpr auto all_keys_of_tokens = dsl::rearrange<"b h t d -> b t (h d)">(all_keys),
                      all_values_of_tokens = dsl::rearrange<"b h t e -> b t (h e)">(all_values),
                      keys_of_tokens = dsl::rearrange<"b h n d -> b n (h d)">(new_keys),
                      values_of_tokens = dsl::rearrange<"b h n e -> b n (h e)">(new_values);

[[nodiscard]] constexpr expression attention_of(expression const& k, expression const& v) {
  return dsl::attention(queries, k, v, dsl::optional(mask)).as<"attention">();
}
[[nodiscard]] constexpr expression attention_again(expression const& k, expression const& v) {
  return dsl::again<"attention">(opcode::attention, queries, k, v, mask, past_keys, past_values);
}
/// onnxruntime's takes all keys and values as heads, too, but not those that it appends.
[[nodiscard]] constexpr expression multi_head_of(expression const& k, expression const& v) {
  return dsl::multi_head_attention(queries, k, v, dsl::none, dsl::none, dsl::optional(mask)).as<"attention">();
}
[[nodiscard]] constexpr expression multi_head_again(expression const& k, expression const& v) {
  return dsl::again<"attention">(opcode::multi_head_attention, queries, k, v, dsl::none, dsl::none, mask, past_keys,
                                 past_values);
}

[[nodiscard]] inline bool has(value_view made, std::string_view parameter, double number) {
  double told = 0;
  return made.parameter(parameter, told) && told == number;
}
/// Causal, or with a window, an operator counts queries from the first key, and behind a past from the first new one.
inline constexpr auto looks_at_all = dsl::pred<"attention">([](auto made) {
  if (made.op() == opcode::multi_head_attention) return has(made, "unidirectional", 0);
  return has(made, "is_causal", 0) && has(made, "left_window_size", -1) && has(made, "right_window_size", -1);
});

/// Attention that appends keys and values itself has all of them as results.
[[nodiscard]] constexpr rewrite_rule cached_rule(rule_name name, expression const& found, expression const& made) {
  using namespace dsl;
  return name(roots(found, all_keys, all_values))
      .where(rank<"past k">(4).quiet(), rank<"past v">(4).quiet())
      .where<"queries look at all keys that the mask leaves">(looks_at_all)
      .replace(made, result<1>(made), result<2>(made))
      .stage(2);
}

}  // namespace cache

inline constexpr auto multi_head_attention_with_past =
    cache::cached_rule(rule<"multi-head-attention-with-past">,
                       cache::multi_head_of(dsl::either(cache::all_keys, cache::all_keys_of_tokens),
                                            dsl::either(cache::all_values, cache::all_values_of_tokens)),
                       cache::multi_head_again(cache::keys_of_tokens, cache::values_of_tokens))
        .summary("onnxruntime's attention appends keys and values to those of earlier calls itself");
inline constexpr auto attention_with_past =
    cache::cached_rule(rule<"attention-with-past">,
                       cache::attention_of(cache::all_keys_of_tokens, cache::all_values_of_tokens),
                       cache::attention_again(cache::keys_of_tokens, cache::values_of_tokens))
        .summary("attention appends keys and values to those of earlier calls itself");
inline constexpr auto attention_of_heads_with_past =
    cache::cached_rule(rule<"attention-of-heads-with-past">, cache::attention_of(cache::all_keys, cache::all_values),
                       cache::attention_again(cache::new_keys, cache::new_values))
        .summary("the same as attention-with-past, of heads that are an axis");

}  // namespace fuse::inline v0::rules
