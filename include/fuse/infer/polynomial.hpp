// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/checked.hpp>

namespace fuse::inline v0::detail {

/// A polynomial with integer coefficients over numbered atoms, small enough for the stack. Canonical: terms by falling
/// degree, then by their atoms; none has the factor 0. An operation that overflows or outgrows the bounds returns
/// false.
struct polynomial {
  static constexpr std::uint32_t most_terms = 12, most_degree = 6;
  using moves_as_bytes = void;  ///< see `plain_vector`

  struct term {
    std::int64_t factor;
    std::uint32_t degree;
    std::uint32_t atoms[most_degree];  ///< rising, repeated for powers

    [[nodiscard]] static constexpr term of(std::int64_t number) {
      term made{};
      made.factor = number;
      return made;
    }
  };
  term terms[most_terms];  ///< `count` of them; nearly always one, so that no other is written or copied
  std::uint32_t count = 0;

  constexpr polynomial() {}  // NOLINT: terms are written when there are some
  explicit constexpr polynomial(std::int64_t number) : count(number != 0 ? 1 : 0) { terms[0] = term::of(number); }
  constexpr polynomial(polynomial const& other) { *this = other; }
  constexpr polynomial& operator=(polynomial const& other) {
    count = other.count;
    for (std::uint32_t i = 0; i < count; ++i) terms[i] = other.terms[i];
    return *this;
  }

  /// Whether it is that number, whatever the atoms stand for.
  [[nodiscard]] constexpr bool is(std::int64_t number) const {
    return number == 0 ? count == 0 : count == 1 && terms[0].degree == 0 && terms[0].factor == number;
  }
  /// Whether it is a number, and which.
  [[nodiscard]] constexpr bool known(std::int64_t& number) const {
    number = count == 0 ? 0 : terms[0].factor;
    return count == 0 || (count == 1 && terms[0].degree == 0);
  }
  [[nodiscard]] friend constexpr bool operator==(polynomial const& a, polynomial const& b) {
    if (a.count != b.count) return false;
    for (std::uint32_t i = 0; i < a.count; ++i)
      if (a.terms[i].factor != b.terms[i].factor || order(a.terms[i], b.terms[i]) != 0) return false;
    return true;
  }

  // Degree first, then lexicographic: an order that multiplication keeps, as division needs.
  [[nodiscard]] static constexpr int order(term const& a, term const& b) {
    if (a.degree != b.degree) return a.degree < b.degree ? 1 : -1;
    for (std::uint32_t i = 0; i < a.degree; ++i)
      if (a.atoms[i] != b.atoms[i]) return a.atoms[i] < b.atoms[i] ? -1 : 1;
    return 0;
  }

  [[nodiscard]] constexpr bool add(term const& t) {
    if (t.factor == 0) return true;
    std::uint32_t at = 0;
    while (at < count && order(terms[at], t) < 0) ++at;
    if (at < count && order(terms[at], t) == 0) {
      if (!checked_add(terms[at].factor, t.factor, terms[at].factor)) return false;
      if (terms[at].factor == 0) {
        for (; at + 1 < count; ++at) terms[at] = terms[at + 1];
        --count;
      }
      return true;
    }
    if (count == most_terms) return false;
    for (auto i = count; i > at; --i) terms[i] = terms[i - 1];
    terms[at] = t;
    ++count;
    return true;
  }

  [[nodiscard]] static constexpr bool multiply(term const& a, term const& b, term& product) {
    if (a.degree + b.degree > most_degree) return false;
    term made{};
    if (!checked_multiply(a.factor, b.factor, made.factor)) return false;
    for (std::uint32_t i = 0, j = 0; i < a.degree || j < b.degree;)
      made.atoms[made.degree++] =
          j == b.degree || (i < a.degree && a.atoms[i] <= b.atoms[j]) ? a.atoms[i++] : b.atoms[j++];
    product = made;
    return true;
  }

  /// this += factor * other
  [[nodiscard]] constexpr bool add(polynomial const& other, term const& factor) {
    term product{};
    for (std::uint32_t i = 0; i < other.count; ++i)
      if (!multiply(other.terms[i], factor, product) || !add(product)) return false;
    return true;
  }

  [[nodiscard]] static constexpr bool multiply(polynomial const& a, polynomial const& b, polynomial& product) {
    product.count = 0;
    for (std::uint32_t i = 0; i < b.count; ++i)
      if (!product.add(a, b.terms[i])) return false;
    return true;
  }
  /// this += factor * other; this *= other.
  [[nodiscard]] constexpr bool add(polynomial const& other, std::int64_t factor = 1) {
    return add(other, term::of(factor));
  }
  [[nodiscard]] constexpr bool multiply(polynomial const& other) {
    polynomial const before = *this;
    return multiply(before, other, *this);
  }

  /// The term `a` / `b`, if it is one.
  [[nodiscard]] static constexpr bool divide(term const& a, term const& b, term& quotient) {
    if (b.factor == -1) {  // apart from the others: the least integer has no opposite
      if (!checked_multiply(a.factor, -1, quotient.factor)) return false;
    } else {
      if (b.factor == 0 || a.factor % b.factor != 0) return false;
      quotient.factor = a.factor / b.factor;
    }
    quotient.degree = 0;
    std::uint32_t j = 0;
    for (std::uint32_t i = 0; i < a.degree; ++i)
      if (j < b.degree && a.atoms[i] == b.atoms[j])
        ++j;
      else
        quotient.atoms[quotient.degree++] = a.atoms[i];
    return j == b.degree;
  }

  /// `a` / `b` where nothing remains (long division).
  [[nodiscard]] static constexpr bool divide(polynomial a, polynomial const& b, polynomial& quotient) {
    quotient.count = 0;
    if (b.count == 0) return false;
    for (std::uint32_t steps = 0; a.count != 0; ++steps) {
      term t{}, back{};
      if (steps == most_terms || !divide(a.terms[0], b.terms[0], t) || !quotient.add(t)) return false;
      back = t;
      if (!checked_multiply(t.factor, -1, back.factor) || !a.add(b, back)) return false;
    }
    return true;
  }
};

}  // namespace fuse::inline v0::detail
