// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/norm_formulas.hpp>

namespace fuse::inline v0::rules {

/// J. Devlin and others: BERT, arXiv:1810.04805. A token is the sum of a row for its word, one for its position and
/// perhaps one for its segment, normalised.
namespace formula {

inline constexpr auto ids = dsl::var<"ids">, words = dsl::var<"words">;
inline constexpr auto positions = dsl::var<"positions">, places = dsl::var<"places">;
inline constexpr auto segments = dsl::var<"segments">, kinds = dsl::var<"kinds">;

[[nodiscard]] constexpr expression looked_up(expression const& table, expression const& rows) {
  return dsl::gather(table, rows).attr<"axis">(0);
}
inline constexpr auto of_words = looked_up(words, ids), of_positions = looked_up(places, positions),
                      of_segments = looked_up(kinds, segments);
/// Rows that stand there already, one for each position: a constant, or the beginning of one.
inline constexpr auto taken = dsl::var<"rows of places">, whole = dsl::var<"table of places">;
inline constexpr auto first_rows = expression(opcode::slice, whole).as<"first rows">();

/// Which rows positions are.
enum class positioned : std::uint8_t { in_order, as_given };

[[nodiscard]] constexpr expression embedded(positioned how) {
  using namespace dsl;
  auto const in_order = either(of_positions, first_rows, taken);
  return of_words + (how == positioned::in_order ? in_order : of_positions) + optional(of_segments);
}

/// The operator takes ids of 32 bits.
[[nodiscard]] constexpr expression narrowed(expression const& rows) {
  return dsl::cast(rows).attr<"to">(static_cast<int>(element_type::int32));
}

[[nodiscard]] constexpr expression embedding_norm(positioned how) {
  using namespace dsl;
  auto const by = row(old_scale, words), plus = row(or_else(old_bias, 0), words);
  auto const table = or_else(places, fold(reshape(or_else(whole, taken)).attr<"shape">(list(-1, dim<"words", 1>))));
  auto const made = how == positioned::in_order
                        ? embed_layer_norm(narrowed(ids), narrowed(segments), words, table, kinds, by, plus)
                        : embed_layer_norm(narrowed(ids), narrowed(segments), words, places, kinds, by, plus, none,
                                           narrowed(rearrange<"... s -> (...) s">(positions)));
  return made.attr<"epsilon">(epsilon);
}

/// What a table of few rows holds is segments.
inline constexpr auto fewer_segments = dsl::pred<"words", "kinds">([](auto table, auto other) {
  auto const rows = table.shape().front(), others = other.shape().front();
  return !rows.known() || !others.known() || rows.value() >= others.value();
});

/// Positions that are given are in no order that the operator needs not be told. (Words, positions and segments are
/// told apart by that alone.)
template <fixed_string Rows>
inline constexpr auto not_in_order = dsl::pred<Rows>([](auto rows) { return !rows.counts(); });

/// Rows that were taken are those of all positions, for each batch the same.
template <fixed_string Rows>
inline constexpr auto one_for_each_position = dsl::pred<Rows, "ids", "words">([](auto rows, auto of, auto table) {
  bool const for_all = rows.rank() == 2 || (rows.rank() == 3 && rows.shape()[0] == extent(1));
  return for_all && rows.as_long_as(of, -2) && rows.shape().back() == table.shape()[1];
});
inline constexpr auto begin_the_table =
    dsl::pred<"first rows", "table of places">([](auto rows, auto table) { return rows.is_beginning_of(table); });

/// What all rules of embeddings ask of rows.
[[nodiscard]] constexpr rewrite_rule of_rows(rewrite_rule const& rule) {
  using namespace dsl;
  return rule.where<"the norm is over the last axis">(last_axis)
      .where(rank<"ids">(2), same_shape<"ids", "segments">)
      .where<"the words are the table of most rows">(fewer_segments)
      .where(from_the_front<"ids">, from_the_front<"segments">, float32_epsilon<"epsilon">)
      .stage(5);
}

/// Rows that are dequantised are fewer than a table is, and a runtime may take them before.
[[nodiscard]] inline bool is_quantised(value_view table) { return table.op() == opcode::dequantize; }
template <fixed_string Table>
inline constexpr auto is_not_quantised = dsl::pred<Table>([](auto table) { return !is_quantised(table); });

[[nodiscard]] constexpr rewrite_rule embedding_rule(rule_name const& name, positioned how, bool shared) {
  using namespace dsl;
  auto const sum = embedded(how), made = embedding_norm(how);
  auto const begun =
      shared ? name(roots(sum.as<"sum">(), layer_norm_of(var<"sum">))).replace(result<2>(made), result<0>(made))
             : name(layer_norm_of(sum.users(1))).through<"identity">().replace(made);
  auto const rule = of_rows(begun)
                        .where(row_vector<"old scale", "words">, row_vector<"old bias", "words">)
                        .where<"no table is quantised">(is_not_quantised<"words">)
                        .where<"no table is quantised">(is_not_quantised<"places">);
  if (how == positioned::in_order)
    return rule.where(counts_along<"positions", "ids">, is_constant<"rows of places">)
        .where<"rows are one for each position">(one_for_each_position<"rows of places">)
        .where<"rows are one for each position">(one_for_each_position<"first rows">)
        .where<"rows are the first ones of a table">(begin_the_table);
  return rule.where(from_the_front<"positions">)
      .where<"no rows are in order">(not_in_order<"ids">)
      .where<"no rows are in order">(not_in_order<"positions">)
      .where<"no rows are in order">(not_in_order<"segments">);
}

/// A table of 8 bits: (q - zero) * scale.
struct quantised {
  expression q, scale, zero;

  [[nodiscard]] constexpr expression whole() const { return dsl::dequantize(q, scale, dsl::optional(zero)); }
  [[nodiscard]] constexpr expression rows(expression const& of) const {
    return dsl::either(looked_up(whole(), of), dsl::dequantize(looked_up(q, of), scale, dsl::optional(zero)));
  }
  [[nodiscard]] constexpr expression zero_point() const { return dsl::or_else(zero, 0); }
};
inline constexpr quantised qwords{words, dsl::var<"scale of words">, dsl::var<"zero of words">},
    qplaces{places, dsl::var<"scale of places">, dsl::var<"zero of places">},
    qkinds{kinds, dsl::var<"scale of kinds">, dsl::var<"zero of kinds">},
    qscale{old_scale, dsl::var<"scale of scale">, dsl::var<"zero of scale">},
    qbias{old_bias, dsl::var<"scale of bias">, dsl::var<"zero of bias">};

inline constexpr auto quantised_embeddings =
    qwords.rows(ids) + qplaces.rows(positions) + dsl::optional(qkinds.rows(segments));
/// `zero_of_kinds`: the zero point of the table of segments, which is absent with it, or without one.
[[nodiscard]] constexpr expression quantised_embedding_norm(expression const& zero_of_kinds) {
  using namespace dsl;
  return qembed_layer_norm(narrowed(ids), narrowed(segments), words, places, kinds, old_scale, old_bias, none,
                           qwords.scale, qplaces.scale, qkinds.scale, qscale.scale, qbias.scale, qwords.zero_point(),
                           qplaces.zero_point(), zero_of_kinds, qscale.zero_point(), qbias.zero_point())
      .attr<"epsilon">(epsilon);
}

}  // namespace formula

inline constexpr auto qembed_layer_norm =
    formula::of_rows(rule<"qembed-layer-norm">(dsl::layer_norm(formula::quantised_embeddings.users(1),
                                                               formula::qscale.whole(), formula::qbias.whole())
                                                   .attr<"axis">(dsl::param<"axes">)
                                                   .attr<"epsilon">(formula::epsilon)))
        .through<"identity">()
        .where(dsl::counts_along<"positions", "ids">)
        .summary("a layer norm of embeddings whose tables, scale and bias are of 8 bits is one operator")
        .replace(dsl::either(formula::quantised_embedding_norm(formula::qkinds.zero),
                             formula::quantised_embedding_norm(formula::qkinds.zero_point())))
        .benefit(1);
inline constexpr auto embed_layer_norm =
    formula::embedding_rule(rule<"embed-layer-norm">, formula::positioned::in_order, false)
        .summary("a layer norm of rows for words, positions and perhaps segments is one operator");
inline constexpr auto embed_layer_norm_with_sum =
    formula::embedding_rule(rule<"embed-layer-norm-with-sum">, formula::positioned::in_order, true)
        .summary("a layer norm of embeddings that others use as well is one operator, with the sum as a result")
        .quiet();
inline constexpr auto embed_layer_norm_at =
    formula::embedding_rule(rule<"embed-layer-norm-at">, formula::positioned::as_given, false)
        .summary("the same as embed-layer-norm, where positions are given")
        .quiet();
inline constexpr auto embed_layer_norm_at_with_sum =
    formula::embedding_rule(rule<"embed-layer-norm-at-with-sum">, formula::positioned::as_given, true)
        .summary("the same as embed-layer-norm-with-sum, where positions are given")
        .quiet();

/// Norms of embeddings, for targets that have an operator for them. They come after `norms`, and before `skip_norms`
/// in a set that has both.
inline constexpr auto embeddings = rule_set<qembed_layer_norm, embed_layer_norm, embed_layer_norm_with_sum,
                                            embed_layer_norm_at, embed_layer_norm_at_with_sum>;

}  // namespace fuse::inline v0::rules
