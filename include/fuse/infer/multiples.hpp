// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/infer/congruence.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/numbers.hpp>
#include <fuse/ops/algebra.hpp>

namespace fuse::inline v0::detail {

/// Which values of a graph are multiples of others: a product with numbers, a sum of like terms. Chains of at most 8
/// operators. `may_be(v)`, where it is asked for: false if a value is known to be no product and no sum of like terms.
template <class Image>
class basic_multiples {
 public:
  basic_multiples(Image const& image, facts const& known, congruence& congruent)
      : image_(image), facts_(known), congruent_(congruent) {}

  /// What a product is, once, times numbers; absent where that are several operands, or none.
  struct scaled_operand {
    value_id value = absent;
    double by = 1;
    bool repeated = false;  // a number has several elements, which may repeat those of the operand
  };
  [[nodiscard]] scaled_operand scaled(node_id n) const {
    scaled_operand found;
    double exponent = 1;
    auto const region = image_.node(n).region;
    for (int i = 0; i < 8; ++i) {
      auto const& how = opening_of(op_of(image_, n), op_group::product);
      if (image_.node(n).region != region || !goes_on(how, n, exponent, found)) return {};
      if (exponent == 1) return found.by != 0 && found.by - found.by == 0 ? found : scaled_operand{};
      n = image_.producer(found.value);
      if (n == absent || image_.result_index(found.value) != 0) return {};
    }
    return {};
  }
  /// The value of which `v` is a multiple, and the coefficient: the outermost one, which may be a multiple itself; `v`,
  /// where there is none. Terms of different signs stay apart: they may be all that there is.
  template <class MayBe>
  [[nodiscard]] value_id term_of(value_id v, double& coefficient, MayBe const& may_be) const {
    int left = 256;
    return term_of(v, coefficient, may_be, left, 0);
  }

  /// What the exponential `n` is a power of, and the exponent, where it is of a multiple of a logarithm; else absent.
  template <class MayBe>
  [[nodiscard]] value_id power_of(node_id n, double& exponent, MayBe const& may_be) const {
    exponent = 1;
    auto log = image_.operand(n, 0);
    for (int i = 0; i < 8; ++i) {
      auto const term = term_of(log, exponent, may_be);
      if (term == log) break;
      log = term;
    }
    auto const of = log == absent ? absent : image_.producer(log);
    bool const is = of != absent && op_of(image_, of) == opcode::log && image_.node(of).region == image_.node(n).region;
    return is ? image_.operand(of, 0) : absent;
  }

 private:
  // The same, with at most so many steps left, on a way that is so deep.
  template <class MayBe>
  value_id term_of(value_id v, double& coefficient, MayBe const& may_be, int& left, int depth) const {
    auto const n = v == absent || depth == 8 || left-- <= 0 ? absent : image_.producer(v);
    if (n == absent || image_.result_index(v) != 0 || image_.operand_count(n) == 0) return v;
    auto const& how = opening_of(op_of(image_, n), op_group::sum);
    if (how.when == opens_with::scaled) {
      auto const found = scaled(n);
      if (found.value == absent || found.repeated) return v;
      coefficient *= found.by;
      return found.value;
    }
    if (how.when != opens_with::any || !may_be(v)) return v;
    auto const count = how.further == 0 ? 1 : image_.operand_count(n);
    auto one = how.first;
    for (auto term = image_.operand(n, 0);;) {
      auto sum = one;
      bool all = term != absent;
      for (std::uint32_t i = 1; all && i < count; ++i) {
        auto const more = how.further * multiple_of(term, image_.operand(n, i), may_be, left, depth + 1);
        all = more * one > 0;
        sum += more;
      }
      if (all) return coefficient *= sum, term;
      auto const below = term_of(term, one, may_be, left, depth + 1);
      if (below == term) return v;
      term = below;
    }
  }
  // How many times `term` a value is; 0: it is no multiple.
  template <class MayBe>
  double multiple_of(value_id term, value_id v, MayBe const& may_be, int& left, int depth) const {
    double by = 1;
    while (!congruent_.same_bare(term, v)) {
      auto const below = term_of(v, by, may_be, left, depth);
      if (below == v) return 0;
      v = below;
    }
    return by;
  }

  // One step to what a product is of, at a product to the power `exponent`, 1 or -1: to the operand that is no number.
  bool goes_on(opening const& how, node_id n, double& exponent, scaled_operand& into) const {
    double power = 1;
    switch (how.when) {
      case opens_with::none:
      case opens_with::alike:
      case opens_with::squared:
      case opens_with::logarithm: return false;
      default: break;
    }
    if (how.integers != opens_integers::yes && is_integer(facts_.type(image_.result(n)))) return false;
    if (how.when == opens_with::power && !is_number(image_, facts_, n, 1, power)) return false;
    if (how.when == opens_with::power) into.repeated = into.repeated || has_several(facts_, image_.operand(n, 1));
    auto const count = how.further == 0 ? 1 : image_.operand_count(n);
    double of_operand = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      double number = 0;
      auto const weight = i == 0 ? how.first * power : how.further;
      if (is_number(image_, facts_, n, i, number)) {
        into.by = exponent * weight < 0 ? into.by / number : into.by * number;
        into.repeated = into.repeated || has_several(facts_, image_.operand(n, i));
      } else if (of_operand == 0 && (weight == 1 || weight == -1)) {
        into.value = image_.operand(n, i);
        of_operand = weight;
      } else {
        return false;
      }
    }
    exponent *= of_operand;
    if (how.negates) into.by = -into.by;
    return of_operand != 0 && into.value != absent;
  }

  Image const& image_;
  facts const& facts_;
  congruence& congruent_;
};

}  // namespace fuse::inline v0::detail
