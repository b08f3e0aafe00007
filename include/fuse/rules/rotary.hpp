// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rules/rotary_formulas.hpp>

namespace fuse::inline v0::rules {

/// J. Su and others: RoFormer, arXiv:2104.09864. Each pair of elements of a head is turned by an angle, whose cosine
/// and sine stand in tables by position.
namespace formula {

inline constexpr auto turned = dsl::var<"x">, cosines = dsl::var<"cos">, sines = dsl::var<"sin">;
/// Where the first element of each pair is turned by the negative of the sine: by a constant of -1 and 1, or in the
/// table.
inline constexpr auto signs = dsl::var<"signs">, signed_sines = dsl::var<"signed sin">;

/// With cosines and sines for each element. Where no half has a minus sign, the exchanged pairs come first: few values
/// are such, and any product may be one of cosines.
[[nodiscard]] constexpr expression turned_by_elements(pairs are) {
  auto const swapped = exchanged(are, turned);
  return dsl::either(turned * cosines + dsl::either(quarter_turn(are, turned, turned) * sines,
                                                    -(quarter_turn_back(are, turned, turned) * sines)),
                     swapped * dsl::either(signs * sines, signed_sines) + turned * cosines);
}
/// One row of -1 for the first element of each pair and 1 for the second.
[[nodiscard]] inline bool are_signs(pairs are, value_view row) {
  auto const held = row.constant();
  auto const size = held.size(), half = size / 2;
  bool right = row.shape().back() == extent(static_cast<std::int64_t>(size)) && size != 0 && size % 2 == 0;
  for (std::size_t i = 0; right && i < size; ++i)
    right = held.number(i) == ((are == pairs::of_halves ? i < half : i % 2 == 0) ? -1 : 1);
  return right;
}
/// With cosines and sines for each pair.
[[nodiscard]] constexpr expression turned_by_pairs(pairs are) {
  auto const a = first(are, turned), b = second(are, turned);
  return joined(are, a * cosines - b * sines, b * cosines + a * sines);
}

/// What is turned, and how its tables lie in the graph.
struct rotation {
  pairs are = pairs::of_halves;
  /// Tables are for each element, and the same for both of a pair; else they are for each pair.
  bool by_elements = true;
  /// It is (batch, sequence, heads, size), and not (batch, heads, sequence, size).
  bool by_tokens = false;

  [[nodiscard]] constexpr expression pattern() const {
    return by_elements ? turned_by_elements(are) : turned_by_pairs(are);
  }

  /// By tables of positions, which are for all batches; by such as have as many batches; and, for an operator that has
  /// only these, by tables of one batch: heads of all batches are heads of one, or the tables are repeated.
  [[nodiscard]] constexpr expression replacement() const {
    using namespace dsl;
    auto const all = turn(rearranged_as_one());
    if (!by_tokens)
      return either(turn_from_first(turned), turn(turned),
                    reshape(all).attr<"shape">(list(-1, dim<"x", 1>, 0, dim<"x", 3>)), turn_of_each(turned));
    auto const tokens = rearrange<"b s h d -> b s (h d)">(turned);
    auto const apart = [](expression const& made) {
      return reshape(made.attr<"num_heads">(dim<"x", 2>)).attr<"shape">(list(0, 0, dim<"x", 2>, dim<"x", 3>));
    };
    return either(apart(turn_from_first(tokens)), apart(turn(tokens)),
                  rearrange<"b h s d -> b s h d">(reshape(all).attr<"shape">(list(-1, dim<"x", 2>, 0, dim<"x", 3>))),
                  apart(turn_of_each(tokens)));
  }

 private:
  [[nodiscard]] constexpr expression rearranged_as_one() const {
    return by_tokens ? dsl::rearrange<"b s h d -> 1 (b h) s d">(turned)
                     : dsl::rearrange<"b h s d -> 1 (b h) s d">(turned);
  }
  // (batch, sequence, pairs).
  [[nodiscard]] constexpr expression rows(expression const& table) const {
    return by_pair(by_tokens ? dsl::rearrange<"... s 1 n -> (...) s n">(table)
                             : dsl::rearrange<"... s n -> (...) s n">(table));
  }
  // (sequence, pairs).
  [[nodiscard]] constexpr expression positions(expression const& table) const {
    using namespace dsl;
    return by_pair(reshape(table).attr<"shape">(by_elements ? list(-1, dim<"d">) : list(-1, dim<"d"> / 2)));
  }
  [[nodiscard]] constexpr expression by_pair(expression const& table) const {
    return by_elements ? second(are, table) : table;
  }
  // That of the second element of each pair has the sign of the angle.
  [[nodiscard]] constexpr expression sine() const { return by_elements ? dsl::or_else(sines, signed_sines) : sines; }
  [[nodiscard]] constexpr expression told(expression const& made) const {
    return made.attr<"interleaved">(are == pairs::of_halves ? 0 : 1);
  }
  [[nodiscard]] constexpr expression turn(expression const& heads) const {
    return told(dsl::rotary_embedding(heads, rows(cosines), rows(sine())));
  }
  [[nodiscard]] constexpr expression turn_of_each(expression const& heads) const {
    auto const each = [](expression const& table) { return dsl::expand(table, dsl::list(dsl::dim<"x", 0>, 1, 1)); };
    return told(dsl::rotary_embedding(heads, each(rows(cosines)), each(rows(sine()))));
  }
  [[nodiscard]] constexpr expression turn_from_first(expression const& heads) const {
    return told(dsl::rotary_embedding_at(heads, dsl::list(0), positions(cosines), positions(sine())));
  }
};

[[nodiscard]] constexpr rewrite_rule rotary_rule(rule_name const& name, rotation const& of) {
  using namespace dsl;
  int const heads = of.by_tokens ? 2 : 1;
  auto const made = name(of.pattern())
                        .through<"identity">()
                        .where(rank<"x">(4), repeats_along<"cos", "x">(heads), repeats_along<"sin", "x">(heads))
                        .replace(of.replacement());
  if (!of.by_elements) return made;
  auto const by_either = made.where(repeats_along<"signed sin", "x">(heads));
  if (of.are == pairs::of_halves)
    return by_either.where(equal_parts<"cos", 2>, equal_parts<"sin", 2>, opposite_parts<"signed sin", 2>)
        .where<"a constant of signs">(pred<"signs">([](auto v) { return are_signs(pairs::of_halves, v); }));
  return by_either.where(equal_parts<"cos", 2, 2>, equal_parts<"sin", 2, 2>, opposite_parts<"signed sin", 2, 2>)
      .where<"a constant of signs">(pred<"signs">([](auto v) { return are_signs(pairs::of_neighbours, v); }));
}

/// Heads are an axis of what is turned, and lie side by side in what that is made of: there they are turned as well,
/// and what moves them comes behind, where often nothing needs it.
inline constexpr auto tokens = dsl::var<"tokens">, position_ids = dsl::var<"positions">,
                      heads_of_tokens = dsl::rearrange<"b s (h d) -> b h s d">(tokens);
[[nodiscard]] constexpr rewrite_rule side_by_side_rule(rule_name const& name, expression const& pattern,
                                                       expression const& by) {
  using namespace dsl;
  auto const made = by.attr<"interleaved">(param<"interleaved">).attr<"num_heads">(dim<"h">);
  return name(pattern.attr<"interleaved">(param<"interleaved">).as<"turned">())
      .where(rank<"tokens">(3).quiet())
      .where<"heads are turned whole, and batches are not packed">(pred<"turned">([](auto rotary) {
        double told = 0;
        return rotary.parameter("rotary_embedding_dim", told) && told == 0 &&
               !(rotary.parameter("is_packed_batching", told) && told != 0) &&
               !(rotary.parameter("scale", told) && told != 1);
      }))
      .replace(rearrange<"b s h d -> b h s d">(reshape(made).attr<"shape">(list(0, 0, dim<"h">, dim<"d">))))
      .at_equal_cost();
}

}  // namespace formula

inline constexpr auto rotary_embedding =
    formula::rotary_rule(rule<"rotary-embedding">,
                         {.are = formula::pairs::of_halves, .by_elements = true, .by_tokens = false})
        .summary("x * cos + concat(-x2, x1) * sin for the halves x1 and x2 of heads");
inline constexpr auto rotary_embedding_of_tokens =
    formula::rotary_rule(rule<"rotary-embedding-of-tokens">,
                         {.are = formula::pairs::of_halves, .by_elements = true, .by_tokens = true})
        .summary("the same as rotary-embedding, where the heads of a token lie side by side");
inline constexpr auto rotary_embedding_by_halves =
    formula::rotary_rule(rule<"rotary-embedding-by-halves">,
                         {.are = formula::pairs::of_halves, .by_elements = false, .by_tokens = false})
        .summary("concat(x1 * cos - x2 * sin, x2 * cos + x1 * sin) for the halves x1 and x2 of heads");
inline constexpr auto rotary_embedding_of_tokens_by_halves =
    formula::rotary_rule(rule<"rotary-embedding-of-tokens-by-halves">,
                         {.are = formula::pairs::of_halves, .by_elements = false, .by_tokens = true})
        .summary("the same as rotary-embedding-by-halves, where the heads of a token lie side by side");
inline constexpr auto interleaved_rotary_embedding =
    formula::rotary_rule(rule<"interleaved-rotary-embedding">,
                         {.are = formula::pairs::of_neighbours, .by_elements = true, .by_tokens = false})
        .summary("x * cos + stack(-x2, x1) * sin for the even and odd elements x1 and x2 of heads");
inline constexpr auto interleaved_rotary_embedding_of_tokens =
    formula::rotary_rule(rule<"interleaved-rotary-embedding-of-tokens">,
                         {.are = formula::pairs::of_neighbours, .by_elements = true, .by_tokens = true})
        .summary("the same as interleaved-rotary-embedding, where the heads of a token lie side by side");
inline constexpr auto interleaved_rotary_embedding_by_pairs =
    formula::rotary_rule(rule<"interleaved-rotary-embedding-by-pairs">,
                         {.are = formula::pairs::of_neighbours, .by_elements = false, .by_tokens = false})
        .summary("stack(x1 * cos - x2 * sin, x2 * cos + x1 * sin) for the even and odd elements x1 and x2 of heads");
inline constexpr auto interleaved_rotary_embedding_of_tokens_by_pairs =
    formula::rotary_rule(rule<"interleaved-rotary-embedding-of-tokens-by-pairs">,
                         {.are = formula::pairs::of_neighbours, .by_elements = false, .by_tokens = true})
        .summary("the same as interleaved-rotary-embedding-by-pairs, where the heads of a token lie side by side");

inline constexpr auto rotary_embedding_side_by_side =
    formula::side_by_side_rule(rule<"rotary-embedding-side-by-side">,
                               dsl::rotary_embedding(formula::heads_of_tokens, formula::cosines, formula::sines),
                               dsl::rotary_embedding(formula::tokens, formula::cosines, formula::sines))
        .summary("a rotary embedding of heads that lie side by side in what they are made of is one of that");
inline constexpr auto rotary_embedding_at_side_by_side =
    formula::side_by_side_rule(
        rule<"rotary-embedding-at-side-by-side">,
        dsl::rotary_embedding_at(formula::heads_of_tokens, formula::position_ids, formula::cosines, formula::sines),
        dsl::rotary_embedding_at(formula::tokens, formula::position_ids, formula::cosines, formula::sines))
        .summary("the same of onnxruntime's, whose positions come before its tables");

/// Rotary embeddings, with cosines and sines for each element or for each pair.
inline constexpr auto rotary =
    rule_set<rotary_embedding, rotary_embedding_of_tokens, rotary_embedding_by_halves,
             rotary_embedding_of_tokens_by_halves, interleaved_rotary_embedding, interleaved_rotary_embedding_of_tokens,
             interleaved_rotary_embedding_by_pairs, interleaved_rotary_embedding_of_tokens_by_pairs,
             rotary_embedding_side_by_side, rotary_embedding_at_side_by_side>;

}  // namespace fuse::inline v0::rules
