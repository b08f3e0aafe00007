// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/attention_scores.hpp>
#include <fuse/rules/cached_attention.hpp>
#include <fuse/rules/projected_attention.hpp>

namespace fuse::inline v0::rules {

/// A. Vaswani and others: Attention Is All You Need, arXiv:1706.03762. softmax(scale * q k^T + mask) v.
namespace attention_formula {

inline constexpr auto queries = dsl::var<"q">, turned_keys = dsl::var<"k">, attended = dsl::var<"v">;

/// A value, perhaps multiplied by a number, which is 1 where nothing does.
[[nodiscard]] constexpr expression scaled(expression const& of, expression const& number) {
  return dsl::either(of * number, of);
}
inline constexpr auto scale_of_queries = dsl::scalar<"scale of q">, scale_of_keys = dsl::scalar<"scale of k">,
                      scale_of_scores = dsl::scalar<"scale">;
/// scale * q k^T, by numbers in front and behind, which so many operators read.
[[nodiscard]] constexpr expression scores_of(expression const& keys, int readers = 1) {
  using namespace dsl;
  auto const product = matmul(scaled(queries, scale_of_queries), scaled(keys, scale_of_keys));
  return either((product.users(1) * scale_of_scores).users(readers), product.users(readers));
}
inline constexpr auto whole_scale =
    dsl::or_else(scale_of_queries, 1) * dsl::or_else(scale_of_keys, 1) * dsl::or_else(scale_of_scores, 1);

/// Scores are masked by what is added to them; or they are a number but where a condition holds, or where it does, and
/// more may be added in front and behind. That number takes all that is added to it, and where nothing is, so does half
/// of it, which is never the lowest one: where a query has no other, onnxruntime's Attention takes its keys for none.
/// (Beside other masks, it weighs as much as keys that are left out by these.)
inline constexpr auto masks = dsl::rest<"mask">, masks_in_front = dsl::rest<"mask in front">;
inline constexpr auto kept_where = dsl::var<"kept">, left_out_where = dsl::var<"left out">;
inline constexpr auto fill = dsl::scalar<"fill">, fill_beside_masks = dsl::scalar<"fill beside masks">;
[[nodiscard]] constexpr expression selected(expression const& kept, expression const& left_out,
                                            expression const& scores) {
  using namespace dsl;
  auto const by = [&](expression const& number, expression const& of) {
    return either(where(kept, of, number), where(left_out, number, of));
  };
  return either(by(fill, scores), by(fill_beside_masks, scores + masks_in_front).users(1) + masks);
}
[[nodiscard]] constexpr expression masked(expression const& scores) {
  return dsl::either(scores + masks, selected(kept_where, left_out_where, scores)).users(1);
}
/// The same, or by a condition that is repeated until it has the shape of the scores, which nothing else needs then.
[[nodiscard]] constexpr expression masked_scores_of(expression const& keys) {
  using namespace dsl;
  auto const scores = scores_of(keys, 2);
  auto const repeated = [&](expression const& condition) {
    return expand(condition, expression(opcode::shape, scores)).users(1);
  };
  return either(masked(scores_of(keys)), selected(repeated(kept_where), repeated(left_out_where), scores).users(1));
}
inline constexpr auto low = dsl::fold(dsl::or_else(fill, 0) * 0.5 + dsl::or_else(fill_beside_masks, 0));
inline constexpr auto in_front = dsl::or_else(masks_in_front, 0);
inline constexpr auto mask = dsl::where(kept_where, in_front, low) + dsl::where(left_out_where, low, in_front) + masks;
inline constexpr auto absorbs_scores = dsl::pred<"fill", "q">(scores_formula::absorbs),
                      absorbs_beside_masks = dsl::pred<"fill beside masks", "q">(scores_formula::absorbs);

/// What each query weighs values with: softmax(masked scores), perhaps in float between two Casts.
[[nodiscard]] constexpr expression weights_of(expression const& masked_scores) {
  return dsl::softmax(dsl::through<"cast", "identity">(masked_scores)).attr<"axis">(-1);
}

[[nodiscard]] constexpr expression weighted(expression const& weights, expression const& values) {
  return dsl::matmul(dsl::through<"cast", "identity">(weights.users(1)), values);
}

/// What a query has that may look at nothing. As its row of the result is no number then, and no other is where scores
/// and values are numbers, zeros can take their place behind.
enum class blind : bool { is_no_number, is_zero };
[[nodiscard]] constexpr expression attention_of(expression const& keys, expression const& values, blind is) {
  using namespace dsl;
  if (is == blind::is_no_number) return weighted(weights_of(masked_scores_of(keys)), values);
  auto const weights = weights_of((scores_of(keys) + masks).users(1)).as<"weights">();
  return matmul(where(is_nan(weights), 0, var<"weights">).users(1), values);
}
[[nodiscard]] constexpr expression put_right(expression const& made, blind is) {
  if (is == blind::is_no_number) return made;
  return dsl::where(dsl::is_nan(made), 0, made);
}

/// What is added to the scores.
[[nodiscard]] constexpr expression mask_of(blind is) {
  if (is == blind::is_zero) return masks;
  return mask;
}
[[nodiscard]] constexpr rewrite_rule attention_rule(rule_name name, expression const& pattern,
                                                    blind is = blind::is_no_number) {
  auto const made = name(pattern).through<"identity">().where(dsl::floating<"q">.quiet()).stage(1);
  if (is == blind::is_zero) return made;
  return made.where<"what is left out absorbs its score">(absorbs_scores)
      .where<"what is left out absorbs its score">(absorbs_beside_masks);
}

/// A mask for each query and key, of all batches and heads, or of each. Keys are (..., length).
template <int Queries, int Keys>
[[nodiscard]] constexpr expression spread(expression const& of) {
  return dsl::expand(of, dsl::list(1, 1, dsl::dim<"q", Queries>, dsl::dim<"k", Keys>));
}
/// onnxruntime's operator and the standard's, of queries, keys and values whose heads lie side by side.
struct side_by_side {
  expression q, k, v, heads, shared;

  [[nodiscard]] constexpr expression multi_head(expression const& with) const {
    return dsl::multi_head_attention(q, k, v, dsl::none, dsl::none, with)
        .attr<"num_heads">(heads)
        .attr<"scale">(whole_scale);
  }
  [[nodiscard]] constexpr expression standard(expression const& with) const {
    return in_float(dsl::attention(q, k, v, with).attr<"q_num_heads">(heads).attr<"kv_num_heads">(shared));
  }
  [[nodiscard]] static constexpr expression in_float(expression const& made) {
    return made.attr<"scale">(whole_scale).attr<"softmax_precision">(static_cast<int>(element_type::float32));
  }
};

// Heads are an axis: (batch, heads, length, size), keys (batch, heads, size, length).

inline constexpr side_by_side of_tokens{
    dsl::rearrange<"b h s d -> b s (h d)">(queries), dsl::rearrange<"b h d t -> b t (h d)">(turned_keys),
    dsl::rearrange<"b h t e -> b t (h e)">(attended), dsl::dim<"q", 1>, dsl::dim<"k", 1>};

/// onnxruntime's operator takes keys and values as they are, too: behind a cache, to turn them takes longer than the
/// attention of one query.
inline constexpr side_by_side with_keys_by_heads{dsl::rearrange<"b h s d -> b s (h d)">(queries),
                                                 dsl::rearrange<"b h d t -> b h t d">(turned_keys), attended,
                                                 dsl::dim<"q", 1>, dsl::dim<"k", 1>};

/// One head of keys and values, once for each of queries: for what `multi_query_rule` has no shape of all queries for.
[[nodiscard]] constexpr expression for_each_head(expression const& of_one) {
  return expression(opcode::tile, of_one, dsl::list(1, 1, dsl::dim<"q", 1>));
}
inline constexpr side_by_side with_one_repeated{
    of_tokens.q, for_each_head(dsl::rearrange<"b 1 d t -> b t d">(turned_keys)),
    for_each_head(dsl::rearrange<"b 1 t e -> b t e">(attended)), of_tokens.heads, of_tokens.heads};

[[nodiscard]] constexpr rewrite_rule with_axis_of_heads(rewrite_rule const& made) {
  return made.where(dsl::rank<"q">(4).quiet(), dsl::rank<"k">(4).quiet(), dsl::rank<"v">(4).quiet());
}
[[nodiscard]] constexpr rewrite_rule of_tokens_rule(rule_name name, blind is) {
  using namespace dsl;
  auto const pattern = rearrange<"b h s e -> b s (h e)">(attention_of(turned_keys, attended, is).users(1));
  auto const with = mask_of(is), wide = spread<2, 3>(with);
  return with_axis_of_heads(attention_rule(name, pattern, is))
      .replace(either(put_right(of_tokens.multi_head(wide), is), put_right(with_keys_by_heads.multi_head(wide), is),
                      put_right(with_one_repeated.multi_head(wide), is), put_right(of_tokens.standard(with), is),
                      put_right(of_tokens.standard(wide), is)))
      .benefit(1);
}
[[nodiscard]] constexpr rewrite_rule of_heads_rule(rule_name name, blind is) {
  using namespace dsl;
  auto const standard = [](expression const& with) {
    return side_by_side::in_float(attention(queries, rearrange<"b h d t -> b h t d">(turned_keys), attended, with));
  };
  auto const apart = [](expression const& tokens) {
    return rearrange<"b s h d -> b h s d">(reshape(tokens).attr<"shape">(list(0, 0, dim<"q", 1>, -1)));
  };
  auto const with = mask_of(is), wide = spread<2, 3>(with);
  return with_axis_of_heads(attention_rule(name, attention_of(turned_keys, attended, is), is))
      .replace(either(put_right(apart(of_tokens.multi_head(wide)), is),
                      put_right(apart(with_keys_by_heads.multi_head(wide)), is),
                      put_right(apart(with_one_repeated.multi_head(wide)), is), put_right(standard(with), is),
                      put_right(standard(wide), is)));
}

// Each head of keys and values is repeated for several of queries, one after the other: (batch, heads, length, size).

inline constexpr auto shared_keys = dsl::rearrange<"b h t d -> b (h g) d t">(turned_keys);
inline constexpr auto shared_values = dsl::rearrange<"b h t e -> b (h g) t e">(attended);
inline constexpr side_by_side of_shared{
    dsl::rearrange<"b n s d -> b s (n d)">(queries), dsl::rearrange<"b h t d -> b t (h d)">(turned_keys),
    dsl::rearrange<"b h t e -> b t (h e)">(attended), dsl::dim<"q", 1>, dsl::dim<"k", 1>};

/// onnxruntime's operator has as many heads of each: queries of those that share keys come one behind the other, as if
/// there were more of them, which the mask is repeated for. Keys and values are not.
[[nodiscard]] constexpr side_by_side with_more_queries(expression const& keys, expression const& values) {
  return {dsl::rearrange<"b (h g) s d -> b (g s) (h d)">(queries), keys, values, dsl::dim<"k", 1>, dsl::dim<"k", 1>};
}
inline constexpr auto more_queries = with_more_queries(of_shared.k, of_shared.v),
                      more_queries_of_keys_by_heads = with_more_queries(turned_keys, attended);
/// What is added to their scores: nothing, what is the same for all heads, or what each has for itself.
struct masks_of_more_queries {
  expression none, of_all, of_each;
};
[[nodiscard]] constexpr masks_of_more_queries for_more_queries(expression const& of) {
  using namespace dsl;
  auto const each = spread<2, 2>(of);
  return {of, rearrange<"... s columns -> ... (g s) columns">(each),
          rearrange<"... (h g) s columns -> ... h (g s) columns">(each)};
}

inline constexpr auto are_repeated = dsl::pred<"g">([](auto times) {
  double number = 0;
  return !times.number(number) || number != 1;
});
[[nodiscard]] constexpr rewrite_rule grouped_rule(rule_name name, expression const& pattern, blind is) {
  return with_axis_of_heads(attention_rule(name, pattern, is))
      .where<"heads are repeated">(are_repeated.quiet())
      .benefit(2);
}
[[nodiscard]] constexpr rewrite_rule grouped_of_tokens_rule(rule_name name, blind is) {
  using namespace dsl;
  auto const attention = attention_of(shared_keys, shared_values, is).users(1);
  auto const with = mask_of(is), wide = spread<2, 2>(with);
  auto const more = for_more_queries(with);
  auto const by = [&](side_by_side const& of, expression const& added) {
    return put_right(rearrange<"b (g s) (h e) -> b s (h g e)">(of.multi_head(added)), is);
  };
  auto const &tokens = more_queries, &heads = more_queries_of_keys_by_heads;
  return grouped_rule(name, rearrange<"b n s e -> b s (n e)">(attention), is)
      .replace(either(put_right(of_shared.standard(with), is), put_right(of_shared.standard(wide), is),
                      by(heads, more.none), by(heads, more.of_all), by(heads, more.of_each), by(tokens, more.none),
                      by(tokens, more.of_all), by(tokens, more.of_each)))
      .benefit(3);
}
[[nodiscard]] constexpr rewrite_rule grouped_of_heads_rule(rule_name name, blind is) {
  using namespace dsl;
  auto const standard = [](expression const& with) {
    return side_by_side::in_float(attention(queries, turned_keys, attended, with));
  };
  auto const with = mask_of(is), wide = spread<2, 2>(with);
  auto const more = for_more_queries(with);
  auto const by = [&](side_by_side const& of, expression const& added) {
    return put_right(rearrange<"b (g s) (h e) -> b (h g) s e">(of.multi_head(added)), is);
  };
  auto const &tokens = more_queries, &heads = more_queries_of_keys_by_heads;
  return grouped_rule(name, attention_of(shared_keys, shared_values, is), is)
      .replace(either(put_right(standard(with), is), put_right(standard(wide), is), by(heads, more.none),
                      by(heads, more.of_all), by(heads, more.of_each), by(tokens, more.none), by(tokens, more.of_all),
                      by(tokens, more.of_each)));
}

// All heads of queries share one of keys and values, which is not repeated.

inline constexpr auto have_several_heads = dsl::pred<"q">([](auto q) { return !(q.shape()[1] == extent(1)); });
[[nodiscard]] constexpr side_by_side with_queries_of_all_heads(expression const& keys, expression const& values) {
  return {dsl::rearrange<"b n s d -> b (n s) d">(queries), keys, values, 1, 1};
}
inline constexpr auto queries_of_all_heads = with_queries_of_all_heads(of_tokens.k, of_tokens.v),
                      queries_of_all_heads_by_heads = with_queries_of_all_heads(with_keys_by_heads.k, attended);
[[nodiscard]] constexpr rewrite_rule multi_query_rule(rule_name name, expression const& pattern, blind is) {
  return with_axis_of_heads(attention_rule(name, pattern, is))
      .where(dsl::repeats_along<"k", "q">(1).quiet(), dsl::repeats_along<"v", "q">(1).quiet())
      .where<"queries have several heads">(have_several_heads.quiet())
      .benefit(2);
}
[[nodiscard]] constexpr rewrite_rule multi_query_of_tokens_rule(rule_name name, blind is) {
  using namespace dsl;
  auto const attention = attention_of(turned_keys, attended, is).users(1);
  auto const none = mask_of(is), each = spread<2, 3>(none);
  auto const of_all = rearrange<"... s columns -> ... (n s) columns">(each),
             of_each = rearrange<"... n s columns -> ... 1 (n s) columns">(each);
  auto const by = [&](side_by_side const& of, expression const& added) {
    return put_right(rearrange<"b (n s) e -> b s (n e)">(of.multi_head(added)), is);
  };
  auto const &tokens = queries_of_all_heads, &heads = queries_of_all_heads_by_heads;
  return multi_query_rule(name, rearrange<"b n s e -> b s (n e)">(attention), is)
      .replace(either(by(heads, none), by(heads, of_all), by(heads, of_each), by(tokens, none), by(tokens, of_all),
                      by(tokens, of_each)))
      .benefit(3);
}
[[nodiscard]] constexpr rewrite_rule multi_query_of_heads_rule(rule_name name, blind is) {
  using namespace dsl;
  auto const heads = dim<"q", 1>, sizes = dim<"v", 3>;
  auto const none = mask_of(is), each = spread<2, 3>(none);
  auto const of_all = expression(opcode::tile, each, list(1, 1, heads, 1)),
             of_each = rearrange<"... n s columns -> ... 1 (n s) columns">(each);
  auto const by = [&](side_by_side const& of, expression const& added) {
    return put_right(reshape(of.multi_head(added)).attr<"shape">(list(0, heads, -1, sizes)), is);
  };
  auto const &tokens = queries_of_all_heads, &by_heads = queries_of_all_heads_by_heads;
  return multi_query_rule(name, attention_of(turned_keys, attended, is), is)
      .replace(either(by(by_heads, none), by(by_heads, of_all), by(by_heads, of_each), by(tokens, none),
                      by(tokens, of_all), by(tokens, of_each)));
}

// Heads are part of the first axis: (batch * heads, length, size), keys (batch * heads, size, length). Masks may be
// added where they are apart.

inline constexpr side_by_side of_joined{
    dsl::rearrange<"(b h) s d -> b s (h d)">(queries), dsl::rearrange<"(b h) d t -> b t (h d)">(turned_keys),
    dsl::rearrange<"(b h) t e -> b t (h e)">(attended), dsl::dim<"h">, dsl::dim<"h">};
[[nodiscard]] constexpr expression masked_apart(expression const& scores) {
  using namespace dsl;
  return rearrange<"b h s t -> (b h) s t">(masked(rearrange<"(b h) s t -> b h s t">(scores)));
}
[[nodiscard]] constexpr rewrite_rule with_joined_heads(rewrite_rule const& made) {
  return made.where(dsl::rank<"q">(3).quiet(), dsl::rank<"k">(3).quiet(), dsl::rank<"v">(3).quiet());
}
[[nodiscard]] constexpr rewrite_rule of_joined_heads_rule(rule_name name) {
  using namespace dsl;
  auto const scores = scores_of(turned_keys);
  auto const weights = weights_of(either(masked(scores), masked_apart(scores)));
  auto const attention = weighted(weights, attended).users(1);
  return with_joined_heads(attention_rule(name, rearrange<"(b h) s e -> b s (h e)">(attention)))
      .replace(either(of_joined.multi_head(mask), of_joined.multi_head(spread<1, 2>(mask)),
                      of_joined.multi_head(rearrange<"(b h) s t -> b h s t">(mask)), of_joined.standard(mask),
                      of_joined.standard(spread<1, 2>(mask)),
                      of_joined.standard(rearrange<"(b h) s t -> b h s t">(mask))))
      .benefit(1);
}

/// A head in each of the first axis.
inline constexpr side_by_side of_rows{queries, dsl::rearrange<"n d t -> n t d">(turned_keys), attended, 1, 1};
[[nodiscard]] constexpr rewrite_rule of_rows_rule(rule_name name) {
  using namespace dsl;
  auto const mask_of_each = rearrange<"n s t -> n 1 s t">(mask);
  return with_joined_heads(attention_rule(name, attention_of(turned_keys, attended, blind::is_no_number)))
      .replace(either(of_rows.multi_head(mask_of_each), of_rows.multi_head(spread<1, 2>(mask)),
                      of_rows.standard(mask_of_each), of_rows.standard(spread<1, 2>(mask))));
}

}  // namespace attention_formula

inline constexpr auto attention =
    attention_formula::of_tokens_rule(rule<"attention">, attention_formula::blind::is_no_number)
        .summary("softmax(scale * q k^T + mask) v of heads, which lie side by side behind it");
inline constexpr auto attention_of_heads =
    attention_formula::of_heads_rule(rule<"attention-of-heads">, attention_formula::blind::is_no_number)
        .summary("softmax(scale * q k^T + mask) v of heads");
inline constexpr auto attention_or_zero =
    attention_formula::of_tokens_rule(rule<"attention-or-zero">, attention_formula::blind::is_zero)
        .summary("the same as attention, where a query that may look at nothing has 0");
inline constexpr auto attention_of_heads_or_zero =
    attention_formula::of_heads_rule(rule<"attention-of-heads-or-zero">, attention_formula::blind::is_zero)
        .summary("the same as attention-of-heads, where a query that may look at nothing has 0");

inline constexpr auto grouped_attention =
    attention_formula::grouped_of_tokens_rule(rule<"grouped-attention">, attention_formula::blind::is_no_number)
        .summary("the same as attention, of heads of keys and values that several of queries share");
inline constexpr auto grouped_attention_of_heads =
    attention_formula::grouped_of_heads_rule(rule<"grouped-attention-of-heads">, attention_formula::blind::is_no_number)
        .summary("the same as attention-of-heads, of heads of keys and values that several of queries share");
inline constexpr auto grouped_attention_or_zero =
    attention_formula::grouped_of_tokens_rule(rule<"grouped-attention-or-zero">, attention_formula::blind::is_zero)
        .summary("the same as grouped-attention, where a query that may look at nothing has 0");
inline constexpr auto grouped_attention_of_heads_or_zero =
    attention_formula::grouped_of_heads_rule(rule<"grouped-attention-of-heads-or-zero">,
                                             attention_formula::blind::is_zero)
        .summary("the same as grouped-attention-of-heads, where a query that may look at nothing has 0");

inline constexpr auto multi_query_attention =
    attention_formula::multi_query_of_tokens_rule(rule<"multi-query-attention">, attention_formula::blind::is_no_number)
        .summary("the same as attention, of one head of keys and values that all of queries share");
inline constexpr auto multi_query_attention_of_heads =
    attention_formula::multi_query_of_heads_rule(rule<"multi-query-attention-of-heads">,
                                                 attention_formula::blind::is_no_number)
        .summary("the same as attention-of-heads, of one head of keys and values that all of queries share");
inline constexpr auto multi_query_attention_or_zero =
    attention_formula::multi_query_of_tokens_rule(rule<"multi-query-attention-or-zero">,
                                                  attention_formula::blind::is_zero)
        .summary("the same as multi-query-attention, where a query that may look at nothing has 0");
inline constexpr auto multi_query_attention_of_heads_or_zero =
    attention_formula::multi_query_of_heads_rule(rule<"multi-query-attention-of-heads-or-zero">,
                                                 attention_formula::blind::is_zero)
        .summary("the same as multi-query-attention-of-heads, where a query that may look at nothing has 0");

inline constexpr auto attention_of_joined_heads =
    attention_formula::of_joined_heads_rule(rule<"attention-of-joined-heads">)
        .summary("the same as attention, of heads that are part of the first axis");
inline constexpr auto attention_of_rows =
    attention_formula::of_rows_rule(rule<"attention-of-rows">).summary("softmax(scale * q k^T + mask) v of one head");

/// Attention, in every spelling.
inline constexpr auto attentions =
    rule_set<grouped_attention, grouped_attention_of_heads, grouped_attention_or_zero,
             grouped_attention_of_heads_or_zero, multi_query_attention, multi_query_attention_of_heads,
             multi_query_attention_or_zero, multi_query_attention_of_heads_or_zero, attention, attention_of_heads,
             attention_or_zero, attention_of_heads_or_zero, attention_of_joined_heads, attention_of_rows,
             matmul_of_joined_axes, matmul_of_joined_axes_and_zeros, softmax_of_joined_axes, matmul_of_joined_softmax,
             least_of_masked_scores, projected_attention, projected_attention_of_parts, multi_head_attention_with_past,
             attention_with_past, attention_of_heads_with_past>;

}  // namespace fuse::inline v0::rules
