// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "random_rules.hpp"
#include "strangers.hpp"

/// Rules about where elements lie: true equations, by hand and of notations that nobody wrote.
namespace soundness::layouts {

using namespace strangers;

constexpr auto same = fuse::dsl::same_shape<"x", "y">;

inline constexpr auto heads = rearrange<"b l (h d) -> b h l d">;
inline constexpr auto scaled_heads = equal(fuse::rule<"scaled-heads">, heads(x* s), heads(x) * s);
inline constexpr auto added_heads =
    fuse::rule<"added-heads">(heads(x) + heads(y)).where(same).replace(heads(x + y)).at_equal_cost();
inline constexpr auto heads_and_back =
    equal(fuse::rule<"heads-and-back">, rearrange<"b h l d -> b l (h d)">(tanh(heads(x))), tanh(x));
inline constexpr auto common_heads = equal(fuse::rule<"common-heads">, heads(x) * y + heads(x) * z, heads(x) * (y + z));
inline constexpr auto product_turned =
    equal(fuse::rule<"product-turned">, dear(matmul(rearrange<"k n -> n k">(y), rearrange<"m k -> k m">(x))),
          abs(rearrange<"m n -> n m">(matmul(x, y))));
inline constexpr auto patches = rearrange<"n c (h p) (w q) -> n (h w) (c p q)">;
inline constexpr auto patches_of_tanh = equal(fuse::rule<"patches-of-tanh">, tanh(patches(x)), patches(tanh(x)));
inline constexpr auto extents_of_patches =
    equal(fuse::rule<"extents-of-patches">, dear(patches(x)),
          abs(patches(x* dim<"p">* dim<"w">) / (dim<"x", -1> * dim<"p">)*dim<"q">));
inline constexpr auto shuffled =
    equal(fuse::rule<"shuffled">, sigmoid(rearrange<"n (c r q) h w -> n c (h r) (w q)">(-x)),
          rearrange<"n (c r q) h w -> n c (h r) (w q)">(sigmoid(-x)));
inline constexpr auto repeated =
    equal(fuse::rule<"repeated">, exp(rearrange<"a b -> a r b">(x)), rearrange<"a b -> a r b">(exp(x)));
inline constexpr auto sum_of_repeated =
    equal(fuse::rule<"sum-of-repeated">, dear(sum(rearrange<"a b -> a r b">(x)).attr<"axes">(1)),
          abs(rearrange<"a b -> a 1 b">(x) * dim<"r">));
inline constexpr auto joined =
    equal(fuse::rule<"joined">, tanh(rearrange<"... d -> (...) d">(x)), rearrange<"... d -> (...) d">(tanh(x)));
inline constexpr auto taken_out =
    equal(fuse::rule<"taken-out">, erf(rearrange<"a 1 b -> a b">(x)), rearrange<"a 1 b -> a b">(erf(x)));
inline constexpr auto last_turned = rearrange<"... a b -> ... b a">;
inline constexpr auto turned_twice =
    equal(fuse::rule<"turned-twice">, last_turned(relu(last_turned(x))) + y, relu(x) + y);
inline constexpr auto sum_of_turned =
    equal(fuse::rule<"sum-of-turned">, dear(sum(rearrange<"a b -> b a">(x)).attr<"axes">(-1)),
          abs(rearrange<"1 b -> b 1">(sum(x).attr<"axes">(0))));
inline constexpr auto rows_turned = rearrange<"a b c -> b a c">;
inline constexpr auto centred_rows =
    equal(fuse::rule<"centred-rows">, dear(rows_turned(x) - mean(rows_turned(x)).attr<"axes">(-1)),
          abs(rows_turned(x - mean(x).attr<"axes">(-1))));
inline constexpr auto shares_of_rows =
    equal(fuse::rule<"shares-of-rows">, op<"Softmax">(rows_turned(x)).attr<"axis">(-1),
          rows_turned(op<"Softmax">(x).attr<"axis">(-1)));
inline constexpr auto perhaps_turned =
    equal(fuse::rule<"perhaps-turned">, tanh(last_turned(x)) * optional(y), last_turned(tanh(x)) * y);
inline constexpr auto through_turned =
    equal(fuse::rule<"through-turned">, tanh(last_turned(x)) + y, last_turned(tanh(x)) + y)
        .through<"Cast", "Identity">();
inline constexpr auto two_turned =
    fuse::rule<"two-turned">(roots(dear(exp(last_turned(x))), sigmoid(last_turned(x)) + y))
        .replace(abs(last_turned(exp(x))), last_turned(sigmoid(x)) + y)
        .at_equal_cost();

constexpr auto first = part<"d", 0, 2>(x), second = part<"d", 1, 2>(x);
inline constexpr auto gated_parts =
    equal(fuse::rule<"gated-parts">, dear(first* sigmoid(second)), abs(first / (1 + exp(-second))));
inline constexpr auto swapped_twice =
    equal(fuse::rule<"swapped-twice">,
          op<"Concat">(part<"d", 1, 2>(op<"Concat">(second, first).attr<"axis">(-1).as<"c">()),
                       part<"d", 0, 2>(op<"Concat">(second, first).attr<"axis">(-1)))
              .attr<"axis">(-1),
          x);
inline constexpr auto joined_parts =
    equal(fuse::rule<"joined-parts">, op<"Concat">(tanh(first), tanh(second)).attr<"axis">(-1), tanh(x));
inline constexpr auto apart = equal(fuse::rule<"apart">, abs(part<"d", 0, 2, 2>(x)) * abs(part<"d", 1, 2, 2>(x)),
                                    abs(part<"d", 0, 2, 2>(x) * part<"d", 1, 2, 2>(x)));
inline constexpr auto third = equal(fuse::rule<"third">, dear(part<"d", 1, 3>(-x)), abs(part<"d", 1, 3>(x)));
inline constexpr auto part_of_heads =
    equal(fuse::rule<"part-of-heads">, dear(part<"d", 1, 2>(heads(x)) * s), abs(part<"d", 1, 2>(heads(x* s))));

constexpr auto halves_exchanged = reversed_parts<"d", 2>;
constexpr auto neighbours_exchanged = reversed_parts<"d", 2, 2>;
inline constexpr auto half_of_exchanged =
    equal(fuse::rule<"half-of-exchanged">, part<"d", 0, 2>(tanh(halves_exchanged(x))), tanh(part<"d", 1, 2>(x)));
inline constexpr auto sum_of_exchanged =
    equal(fuse::rule<"sum-of-exchanged">, dear(part<"d", 1, 2, 2>(exp(neighbours_exchanged(x))) * s),
          abs(part<"d", 1, 2, 2>(neighbours_exchanged(exp(x) * s))));
inline constexpr auto thirds_backwards = equal(
    fuse::rule<"thirds-backwards">, dear(part<"d", 2, 3>(reversed_parts<"d", 3>(x)) + y), abs(part<"d", 0, 3>(x) + y));
inline constexpr auto exchanged_folded = fuse::rule<"exchanged-folded">(dear(x - part<"d", 0, 2>(halves_exchanged(w))))
                                             .where(is_constant<"w">)
                                             .replace(abs(x - fold(part<"d", 0, 2>(halves_exchanged(w)))))
                                             .at_equal_cost();

// An operator once more, in front of what is computed of each element.
template <fuse::fixed_string Operator>
constexpr rewrite_rule behind(fuse::rule_name named) {
  return equal(named, tanh(op<Operator>(x).template as<"m">()) * y, again<"m">(tanh(x)) * y);
}
template <fuse::fixed_string Operator>
constexpr rewrite_rule behind_with_operand(fuse::rule_name named) {
  return equal(named, abs(op<Operator>(-x, z).template as<"m">()), again<"m">(abs(x), z));
}
inline constexpr auto reshaped = behind<"Reshape">(fuse::rule<"reshaped">);
inline constexpr auto squeezed = behind<"Squeeze">(fuse::rule<"squeezed">);
inline constexpr auto unsqueezed = behind<"Unsqueeze">(fuse::rule<"unsqueezed">);
inline constexpr auto sliced = behind<"Slice">(fuse::rule<"sliced">);
inline constexpr auto gathered = behind_with_operand<"Gather">(fuse::rule<"gathered">);
inline constexpr auto expanded = behind_with_operand<"Expand">(fuse::rule<"expanded">);
inline constexpr auto tiled = behind_with_operand<"Tile">(fuse::rule<"tiled">);
constexpr expression cut(expression const& of) {
  return op<"Slice">(of)
      .attr<"starts">(param<"starts">)
      .attr<"ends">(param<"ends">)
      .attr<"axes">(param<"along">)
      .attr<"steps">(param<"steps">);
}
inline constexpr auto sliced_together =
    fuse::rule<"sliced-together">(cut(x) + cut(y)).where(same).replace(cut(x + y)).at_equal_cost();
inline constexpr auto reshaped_together =
    fuse::rule<"reshaped-together">(op<"Reshape">(x).attr<"shape">(param<"shape">) *
                                    op<"Reshape">(y).attr<"shape">(param<"shape">))
        .where(same)
        .replace(op<"Reshape">(x * y).attr<"shape">(param<"shape">))
        .at_equal_cost();

// Constants, which are moved when the rule is applied.
inline constexpr auto product_folded = fuse::rule<"product-folded">(matmul(x, rearrange<"n k -> k n">(w)) + y)
                                           .where(is_constant<"w">)
                                           .replace(matmul(x, fold(rearrange<"n k -> k n">(w))) + y)
                                           .at_equal_cost();
inline constexpr auto heads_folded = fuse::rule<"heads-folded">(dear(heads(x) * heads(w)))
                                         .where(is_constant<"w">)
                                         .replace(abs(heads(x) * fold(heads(w))))
                                         .at_equal_cost();
inline constexpr auto half_folded = fuse::rule<"half-folded">(tanh(x) * part<"d", 1, 2>(w))
                                        .where(is_constant<"w">)
                                        .replace(tanh(x) * fold(part<"d", 1, 2>(w)))
                                        .at_equal_cost();
inline constexpr auto scaled_folded = fuse::rule<"scaled-folded">(dear(tanh(x) * rows_turned(w * s)))
                                          .where(is_constant<"w">)
                                          .replace(abs(tanh(x) * fold(rows_turned(w) * s)))
                                          .at_equal_cost();
inline constexpr auto evens_folded = fuse::rule<"evens-folded">(dear(x - part<"d", 0, 3, 3>(w)))
                                         .where(is_constant<"w">)
                                         .replace(abs(x - fold(part<"d", 0, 3, 3>(w))))
                                         .at_equal_cost();

inline constexpr member by_hand[] = {{&scaled_heads, elements::either},
                                     {&added_heads, elements::either},
                                     {&heads_and_back},
                                     {&common_heads, elements::either},
                                     {&product_turned},
                                     {&patches_of_tanh},
                                     {&extents_of_patches},
                                     {&shuffled},
                                     {&repeated},
                                     {&sum_of_repeated, elements::floats, false},
                                     {&joined},
                                     {&taken_out},
                                     {&turned_twice},
                                     {&sum_of_turned, elements::either, false},
                                     {&centred_rows, elements::floats, false},
                                     {&shares_of_rows},
                                     {&perhaps_turned},
                                     {&through_turned},
                                     {&two_turned, elements::floats, false},
                                     {&gated_parts},
                                     {&swapped_twice, elements::either, false},
                                     {&joined_parts},
                                     {&apart, elements::either},
                                     {&third, elements::either},
                                     {&part_of_heads, elements::either},
                                     {&half_of_exchanged},
                                     {&sum_of_exchanged},
                                     {&thirds_backwards, elements::either},
                                     {&exchanged_folded, elements::either},
                                     {&product_folded},
                                     {&heads_folded},
                                     {&half_folded},
                                     {&scaled_folded},
                                     {&evens_folded, elements::either},
                                     {&reshaped, elements::floats, false},
                                     {&squeezed, elements::floats, false},
                                     {&unsqueezed, elements::floats, false},
                                     {&sliced, elements::floats, false},
                                     {&gathered, elements::either, false},
                                     {&expanded, elements::either, false},
                                     {&tiled, elements::either, false},
                                     {&sliced_together, elements::either, false},
                                     {&reshaped_together, elements::either, false}};

/// What einops would write, drawn: names alone and in brackets, axes of one element, any other axes, a name that
/// repeats.
class notation {
 public:
  explicit constexpr notation(drawn::drawing& draw) {
    char names[] = {'a', 'b', 'c', 'd', 'r'};
    auto count = 1 + draw.below(4);
    bool const dots = draw.below(3) == 0;
    auto const left = side(names, count, dots, draw);
    repeats_ = draw.below(6) == 0;
    if (repeats_) names[count++] = 'r';
    for (auto i = count; i > 1; --i) std::swap(names[i - 1], names[draw.below(i)]);
    auto const right = side(names, count, dots, draw);
    moves_ = left.all() != right.all();
    there_.put(left.all()), there_.put("-> "), there_.put(right.all());
    back_.put(right.all()), back_.put("-> "), back_.put(left.all());
  }

  [[nodiscard]] constexpr auto there() const { return fuse::fixed_string(there_.characters); }
  /// Where nothing is repeated.
  [[nodiscard]] constexpr auto back() const { return fuse::fixed_string(back_.characters); }
  [[nodiscard]] constexpr bool repeats() const { return repeats_; }
  [[nodiscard]] constexpr bool moves() const { return moves_; }

 private:
  struct text {
    char characters[64]{};
    std::size_t size = 0;
    constexpr text() {  // blanks, which mean nothing, as far as a literal goes
      for (std::size_t i = 0; i + 1 < sizeof characters; ++i) characters[i] = ' ';
    }
    constexpr void put(std::string_view more) {
      for (auto const c : more) characters[size++] = c;
    }
    [[nodiscard]] constexpr std::string_view all() const { return {characters, size}; }
  };
  static constexpr text side(char const* names, unsigned count, bool has_dots, drawn::drawing& draw) {
    text into;
    auto const dots = !has_dots ? count + 1 : draw.below(3) == 0 ? draw.below(count + 1) : 0;
    bool open = false;
    for (unsigned i = 0; i <= count; ++i) {
      if (open && (i == count || i == dots || draw.below(3) != 0)) {
        into.characters[into.size - 1] = ')';
        into.put(" ");
        open = false;
      }
      if (i == dots) into.put("... ");
      if (i == count) break;
      if (!open && draw.below(8) == 0) into.put("1 ");
      if (!open && i + 1 < count && i + 1 != dots && draw.below(3) == 0) into.put("("), open = true;
      into.put({names + i, 1});
      into.put(" ");
    }
    return into;
  }

  text there_{}, back_{};
  bool repeats_ = false, moves_ = false;
};

// What is drawn first that moves something.
constexpr auto notation_of(int number) {
  drawn::drawing draw(static_cast<std::uint64_t>(number) * 3001 + 2'000'000);
  for (;;)
    if (notation const drawn(draw); drawn.moves()) return drawn;
}
template <int Number>
inline constexpr notation drawn_notation = notation_of(Number);

inline constexpr int first_drawn = 2000;  ///< of the numbers in their names
inline constexpr std::size_t drawn_count = 60;

constexpr expression unary(unsigned which, expression const& of) {
  switch (which % 6) {
    case 0: return tanh(of);
    case 1: return sigmoid(of);
    case 2: return fuse::dsl::abs(of);
    case 3: return -of;
    case 4: return erf(of);
    default: return relu(of);
  }
}

// What is computed of each element is computed before elements are moved.
template <int Number>
inline constexpr fuse::rewrite_rule drawn_rule = [] {
  constexpr auto const& way = drawn_notation<Number>;
  constexpr auto const& there = rearrange<way.there()>;
  constexpr auto const& back = rearrange<way.back()>;
  constexpr auto name = fuse::rule_name{{drawn::name<first_drawn + Number>.all, 10}};
  drawn::drawing draw(static_cast<std::uint64_t>(Number) + 3'000'000);
  auto const f = draw.below(6), g = draw.below(6);
  auto const inside = unary(g, x);
  switch (Number % 4) {
    case 0: {
      auto const both = draw.below(2) == 0;
      return name(both ? there(x) + there(y) : there(x) * there(y))
          .where(same)
          .replace(there(both ? x + y : x * y))
          .at_equal_cost();
    }
    case 1:
      if (!way.repeats()) return name(back(unary(f, there(x)))).replace(unary(f, x));
      [[fallthrough]];
    case 2: return name(unary(f, there(inside))).replace(there(unary(f, inside))).at_equal_cost();
    default: {
      auto const again = rearrange<"u ... -> ... u">;
      return name(unary(f, again(unary(g, there(x))))).replace(again(there(unary(f, inside)))).at_equal_cost();
    }
  }
}();

/// The drawn rules as one set, and each alone.
template <std::size_t... I>
constexpr auto set_from(std::index_sequence<I...>) {
  return fuse::rule_set_of<drawn_rule<static_cast<int>(I)>...>{};
}
inline constexpr auto drawn_set = set_from(std::make_index_sequence<drawn_count>{});
[[nodiscard]] inline std::vector<member> const& drawn_members() {
  static auto const all = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::vector<member>{{&drawn_rule<static_cast<int>(I)>}...};
  }
  (std::make_index_sequence<drawn_count>{});
  return all;
}
template <std::size_t... I>
std::vector<engine> each_from(std::index_sequence<I...>) {
  return {engine_of<graph, drawn_rule<static_cast<int>(I)>>...};
}
[[nodiscard]] inline std::vector<engine> drawn_alone() { return each_from(std::make_index_sequence<drawn_count>{}); }

}  // namespace soundness::layouts
