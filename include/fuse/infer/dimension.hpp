// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/checked.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/polynomial.hpp>
#include <fuse/infer/sequence_pool.hpp>
#include <fuse/ops/extent.hpp>

namespace fuse::inline v0 {

/// Arithmetic on extents. Results are canonical: expressions that are equal as polynomials are one symbol; other
/// functions (a maximum, a rounded quotient, a broadcast) are symbols known by their arguments.
class extent_algebra {
 public:
  enum class function : std::uint8_t { maximum, minimum, floor_quotient, quotient, broadcast };

  /// The symbol of a name that the graph uses for a dimension.
  [[nodiscard]] extent named(std::string_view name);

  /// A symbol that equals nothing else: a dimension nobody knows, or (`least` the smallest integer) any number.
  [[nodiscard]] extent fresh(std::int64_t least = 0);

  [[nodiscard]] extent add(extent a, extent b);
  [[nodiscard]] extent subtract(extent a, extent b);
  [[nodiscard]] extent multiply(extent a, extent b);

  /// a / b where the quotient is an integer for every value of the symbols; else false.
  [[nodiscard]] bool divide_exactly(extent a, extent b, extent& quotient);

  /// a / b rounded down; a / b rounded to zero, as integers divide in programs.
  [[nodiscard]] extent floor_divide(extent a, extent b);
  [[nodiscard]] extent divide(extent a, extent b);
  [[nodiscard]] extent maximum(extent a, extent b);
  [[nodiscard]] extent minimum(extent a, extent b);

  /// The dimension of a broadcast of two in a graph that is valid: one of them is 1, or both are equal.
  [[nodiscard]] extent broadcast(extent a, extent b);

  /// Whether an axis of `part` elements has `whole` of them wherever a valid graph broadcasts the two: both are equal,
  /// or a part is as many as there are, up to a number above 1.
  [[nodiscard]] bool equal_where_broadcast(extent whole, extent part) const {
    return whole == part || (!whole.known() && !part.known() && caps(whole.symbol(), part.symbol(), 2));
  }

  /// The dimensions that `e` is the broadcast of, or itself; returns how many.
  static constexpr std::size_t most_broadcast = 12;
  [[nodiscard]] std::size_t broadcast_of(extent e, extent (&set)[most_broadcast]) const;

  /// What `e` is where `of(symbol)` is the value of each symbol that is no function of others; false where that is
  /// nothing: such values contradict each other, or are too large.
  template <class Of>
  [[nodiscard]] bool value(extent e, Of const& of, std::int64_t& into) const;

  /// A bound from below; the smallest integer where there is none.
  [[nodiscard]] std::int64_t least(extent) const;
  [[nodiscard]] bool nonnegative(extent e) const { return least(e) >= 0; }
  [[nodiscard]] bool different(extent a, extent b);  ///< provably

  /// Numbered from 0 in the order they were made; a later symbol has a greater number.
  [[nodiscard]] std::uint32_t symbol_count() const { return symbols_.count(); }
  [[nodiscard]] bool is_fresh(extent e) const { return !e.known() && symbols_[e.symbol()][0] == fresh_tag; }
  [[nodiscard]] bool is_named(extent e) const { return !e.known() && symbols_[e.symbol()][0] == name_tag; }

  /// Of two that are equal in a valid graph, the one that tells more: a number, then a name, then `a`.
  [[nodiscard]] extent plainer(extent a, extent b) const {
    return !a.known() && (b.known() || (is_named(b) && !is_named(a))) ? b : a;
  }

  /// The same as a polynomial over symbols, for arithmetic that makes no symbols; and a bound from below of such a one.
  [[nodiscard]] detail::polynomial polynomial_of(extent) const;
  [[nodiscard]] std::int64_t least(detail::polynomial const&) const;

  /// For people: names, `?3` for a fresh symbol, sums of products. Recursion ends with the nesting of functions; deep
  /// ones print as `...`.
  [[nodiscard]] std::string text(extent e, int depth = 4) const;
  [[nodiscard]] std::string text(detail::polynomial const& p, int depth = 4) const;

 private:
  // A symbol is a sequence in the pool; its first item says which kind.
  enum : std::int64_t { name_tag, fresh_tag, polynomial_tag, function_tag };

  extent symbol(span<std::int64_t const> key, std::int64_t least);
  extent apply(function f, extent a, extent b, std::int64_t least);
  void expand(extent e, detail::polynomial& into) const;
  extent contract(detail::polynomial const& p);
  extent combine(extent a, extent b, std::int64_t factor);
  [[nodiscard]] extent argument(span<std::int64_t const> key, std::size_t at) const {
    return key[at] != 0 ? extent(key[at + 1]) : extent::of_symbol(static_cast<std::uint32_t>(key[at + 1]));
  }
  // Whether `b` is min(a, c) with c >= 1: then the broadcast of both is `a`. (With c >= 2 it is 1 only where `a` is.)
  [[nodiscard]] bool caps(std::uint32_t a, std::uint32_t b, std::int64_t most = 1) const {
    auto const key = symbols_[b];
    if (key[0] != function_tag || key[1] != static_cast<std::int64_t>(function::minimum)) return false;
    auto const first = argument(key, 2), second = argument(key, 4);
    return (first == extent::of_symbol(a) && least(second) >= most) ||
           (second == extent::of_symbol(a) && least(first) >= most);
  }

  // A broadcast of several is known by the set of them: rising, without one that another covers. Larger sets are not
  // followed.
  [[nodiscard]] bool collect(extent e, std::uint32_t (&set)[most_broadcast], std::size_t& size) const;

  detail::sequence_pool<std::int64_t> symbols_;
  std::vector<std::int64_t> least_;
  std::int64_t fresh_count_ = 0;
};

inline constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::min();

inline extent extent_algebra::symbol(span<std::int64_t const> key, std::int64_t least) {
  auto const at = symbols_.keep(key);
  if (at == least_.size()) least_.push_back(least);
  return extent::of_symbol(at);
}

inline extent extent_algebra::named(std::string_view name) {
  std::vector<std::int64_t> key{name_tag};
  for (char c : name) key.push_back(static_cast<unsigned char>(c));
  return symbol(key, 0);
}

inline extent extent_algebra::fresh(std::int64_t least) {
  std::int64_t const key[] = {fresh_tag, fresh_count_++};
  return symbol(key, least);
}

inline extent extent_algebra::apply(function f, extent a, extent b, std::int64_t least) {
  auto const code = [](extent e) { return e.known() ? e.value() : std::int64_t{e.symbol()}; };
  std::int64_t const key[] = {function_tag, static_cast<std::int64_t>(f), a.known(), code(a), b.known(), code(b)};
  return symbol(key, least);
}

inline void extent_algebra::expand(extent e, detail::polynomial& into) const {
  into.count = 1;
  auto& first = into.terms[0];
  if (e.known()) {
    first.factor = e.value();
    first.degree = 0;
    if (e.value() == 0) into.count = 0;
    return;
  }
  auto const key = symbols_[e.symbol()];
  if (key[0] != polynomial_tag) {
    first.factor = 1;
    first.degree = 1;
    first.atoms[0] = e.symbol();
    return;
  }
  into.count = 0;
  for (std::size_t at = 1; at < key.size();) {
    auto& t = into.terms[into.count++];
    t.factor = key[at++];
    t.degree = static_cast<std::uint32_t>(key[at++]);
    for (std::uint32_t i = 0; i < t.degree; ++i) t.atoms[i] = static_cast<std::uint32_t>(key[at++]);
  }
}

inline detail::polynomial extent_algebra::polynomial_of(extent e) const {
  detail::polynomial made;
  expand(e, made);
  return made;
}

inline std::int64_t extent_algebra::least(detail::polynomial const& p) const {
  std::int64_t bound = 0;
  for (std::uint32_t i = 0; i < p.count; ++i) {
    auto const& t = p.terms[i];
    std::int64_t part = t.factor;
    bool bounded = t.factor > 0 || t.degree == 0;
    for (std::uint32_t k = 0; k < t.degree; ++k)
      bounded = bounded && least_[t.atoms[k]] >= 0 && detail::checked_multiply(part, least_[t.atoms[k]], part);
    if (!bounded || !detail::checked_add(bound, part, bound)) return no_bound;
  }
  return bound;
}

inline extent extent_algebra::contract(detail::polynomial const& p) {
  if (p.count == 0) return 0;
  auto const& first = p.terms[0];
  if (p.count == 1 && first.degree == 0) return first.factor;
  if (p.count == 1 && first.degree == 1 && first.factor == 1) return extent::of_symbol(first.atoms[0]);
  std::int64_t key[1 + detail::polynomial::most_terms * (2 + detail::polynomial::most_degree)];
  std::size_t size = 0;
  key[size++] = polynomial_tag;
  for (std::uint32_t i = 0; i < p.count; ++i) {
    auto const& t = p.terms[i];
    key[size++] = t.factor;
    key[size++] = t.degree;
    for (std::uint32_t k = 0; k < t.degree; ++k) key[size++] = t.atoms[k];
  }
  return symbol({key, size}, least(p));
}

inline extent extent_algebra::combine(extent a, extent b, std::int64_t factor) {
  std::int64_t product = 0, sum = 0;
  if (a.known() && b.known() && detail::checked_multiply(b.value(), factor, product) &&
      detail::checked_add(a.value(), product, sum))
    return sum;
  detail::polynomial p, q;
  expand(a, p);
  expand(b, q);
  return p.add(q, detail::polynomial::term::of(factor)) ? contract(p) : fresh(no_bound);
}

inline extent extent_algebra::add(extent a, extent b) { return combine(a, b, 1); }
inline extent extent_algebra::subtract(extent a, extent b) { return a == b ? extent(0) : combine(a, b, -1); }

inline extent extent_algebra::multiply(extent a, extent b) {
  if (a == extent(1)) return b;
  if (b == extent(1)) return a;
  std::int64_t product = 0;
  if (a.known() && b.known() && detail::checked_multiply(a.value(), b.value(), product)) return product;
  detail::polynomial p, q, r;
  expand(a, p);
  expand(b, q);
  if (detail::polynomial::multiply(p, q, r)) return contract(r);
  return fresh(nonnegative(a) && nonnegative(b) ? 0 : no_bound);
}

inline bool extent_algebra::divide_exactly(extent a, extent b, extent& quotient) {
  if (b == extent(0)) return false;
  detail::polynomial p, q, r;
  expand(a, p);
  expand(b, q);
  if (!detail::polynomial::divide(p, q, r)) return false;
  quotient = contract(r);
  return true;
}

inline extent extent_algebra::divide(extent a, extent b) {
  extent quotient;
  if (divide_exactly(a, b, quotient)) return quotient;
  if (b == extent(0)) return fresh(no_bound);
  if (nonnegative(a) && nonnegative(b)) return floor_divide(a, b);
  if (a.known() && b.known()) return b.value() == -1 ? fresh(no_bound) : extent(a.value() / b.value());
  return apply(function::quotient, a, b, no_bound);
}

inline extent extent_algebra::floor_divide(extent a, extent b) {
  extent quotient;
  if (divide_exactly(a, b, quotient)) return quotient;
  if (b == extent(0)) return fresh(no_bound);
  if (a.known() && b.known()) {
    if (b.value() == -1) return fresh(no_bound);  // the least integer: its opposite is none
    auto const whole = a.value() / b.value();
    return (a.value() % b.value() != 0) && ((a.value() < 0) != (b.value() < 0)) ? whole - 1 : whole;
  }
  return apply(function::floor_quotient, a, b, nonnegative(a) && nonnegative(b) ? 0 : no_bound);
}

inline extent extent_algebra::maximum(extent a, extent b) {
  if (a == b) return a;
  if (a.known() && b.known()) return a.value() > b.value() ? a : b;
  if (nonnegative(subtract(a, b))) return a;
  if (nonnegative(subtract(b, a))) return b;
  if (b.known() || (!a.known() && b.symbol() < a.symbol())) return maximum(b, a);
  auto const bound = least(a) > least(b) ? least(a) : least(b);
  return apply(function::maximum, a, b, bound);
}

inline extent extent_algebra::minimum(extent a, extent b) {
  if (a == b) return a;
  if (a.known() && b.known()) return a.value() < b.value() ? a : b;
  if (nonnegative(subtract(b, a))) return a;
  if (nonnegative(subtract(a, b))) return b;
  if (b.known() || (!a.known() && b.symbol() < a.symbol())) return minimum(b, a);
  auto const bound = least(a) < least(b) ? least(a) : least(b);
  return apply(function::minimum, a, b, bound);
}

inline extent extent_algebra::broadcast(extent a, extent b) {
  if (a == b || b == extent(1)) return a;
  if (a == extent(1)) return b;
  if (a.known() && b.known()) return fresh();  // no valid graph
  if (least(a) >= 2 || a == extent(0)) return a;
  if (least(b) >= 2 || b == extent(0)) return b;
  if (a.known() || b.known()) return fresh();
  std::uint32_t set[most_broadcast];
  std::size_t size = 0;
  if (!collect(a, set, size) || !collect(b, set, size)) return fresh();
  if (size == 1) return extent::of_symbol(set[0]);
  std::int64_t key[2 + 2 * most_broadcast] = {function_tag, static_cast<std::int64_t>(function::broadcast)};
  auto bound = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < size; ++i) {
    key[3 + 2 * i] = set[i];
    bound = least_[set[i]] < bound ? least_[set[i]] : bound;
  }
  return symbol({key, 2 + 2 * size}, bound);
}

inline bool extent_algebra::collect(extent e, std::uint32_t (&set)[most_broadcast], std::size_t& size) const {
  auto const insert = [&](std::uint32_t symbol) {
    for (std::size_t i = 0; i < size; ++i)
      if (set[i] == symbol || caps(set[i], symbol)) return true;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i)
      if (!caps(symbol, set[i])) set[kept++] = set[i];
    size = kept;
    if (size == most_broadcast) return false;
    std::size_t at = size++;
    for (; at > 0 && set[at - 1] > symbol; --at) set[at] = set[at - 1];
    set[at] = symbol;
    return true;
  };
  auto const key = symbols_[e.symbol()];
  if (key[0] != function_tag || key[1] != static_cast<std::int64_t>(function::broadcast)) return insert(e.symbol());
  for (std::size_t at = 3; at < key.size(); at += 2)
    if (!insert(static_cast<std::uint32_t>(key[at]))) return false;
  return true;
}

inline std::size_t extent_algebra::broadcast_of(extent e, extent (&set)[most_broadcast]) const {
  std::uint32_t symbols[most_broadcast];
  std::size_t size = 0;
  set[0] = e;
  if (e.known() || !collect(e, symbols, size)) return 1;
  for (std::size_t i = 0; i < size; ++i) set[i] = extent::of_symbol(symbols[i]);
  return size;
}

inline std::int64_t extent_algebra::least(extent e) const { return e.known() ? e.value() : least_[e.symbol()]; }

inline bool extent_algebra::different(extent a, extent b) {
  if (a == b) return false;
  if (a.known() && b.known()) return true;
  return least(subtract(a, b)) > 0 || least(subtract(b, a)) > 0;
}

template <class Of>
bool extent_algebra::value(extent e, Of const& of, std::int64_t& into) const {
  if (e.known()) return into = e.value(), true;
  auto const key = symbols_[e.symbol()];
  if (key[0] == name_tag || key[0] == fresh_tag) return into = of(e), true;
  if (key[0] == polynomial_tag) {
    std::int64_t sum = 0;
    for (std::size_t at = 1; at < key.size();) {
      auto product = key[at++], factor = std::int64_t{0};
      for (auto degree = key[at++]; degree > 0; --degree)
        if (!value(extent::of_symbol(static_cast<std::uint32_t>(key[at++])), of, factor) ||
            !detail::checked_multiply(product, factor, product))
          return false;
      if (!detail::checked_add(sum, product, sum)) return false;
    }
    return into = sum, true;
  }
  std::int64_t a = 0, b = 0;
  if (!value(argument(key, 2), of, a)) return false;
  for (std::size_t at = 4; at < key.size(); at += 2, a = into) {
    if (!value(argument(key, at), of, b)) return false;
    switch (static_cast<function>(key[1])) {
      case function::maximum: into = a > b ? a : b; break;
      case function::minimum: into = a < b ? a : b; break;
      case function::broadcast:
        if (a != b && a != 1 && b != 1) return false;
        into = a == 1 ? b : a;
        break;
      case function::floor_quotient:
      case function::quotient:
        if (b == 0 || b == -1) return false;
        into = a / b;
        if (static_cast<function>(key[1]) == function::floor_quotient && a % b != 0 && (a < 0) != (b < 0)) --into;
        break;
    }
  }
  return true;
}

inline std::string extent_algebra::text(extent e, int depth) const {
  if (e.known()) return std::to_string(e.value());
  auto const key = symbols_[e.symbol()];
  std::string out;
  if (key[0] == name_tag) {
    for (auto c : key.subspan(1)) out.push_back(static_cast<char>(c));
  } else if (key[0] == fresh_tag) {
    out = "?" + std::to_string(key[1]);
  } else if (depth == 0) {
    out = "...";
  } else if (key[0] == function_tag) {
    constexpr std::string_view names[] = {"max", "min", "floor_div", "div", "broadcast"};
    out.append(names[static_cast<std::size_t>(key[1])]);
    for (std::size_t at = 2; at < key.size(); at += 2)
      out.append(at == 2 ? "(" : ", ").append(text(argument(key, at), depth - 1));
    out.append(")");
  } else {
    out = text(polynomial_of(e), depth);
  }
  return out;
}

inline std::string extent_algebra::text(detail::polynomial const& p, int depth) const {
  std::string out;
  for (std::uint32_t i = 0; i < p.count; ++i) {
    auto const& t = p.terms[i];
    if (i != 0) out.append(" + ");
    if (t.factor != 1 || t.degree == 0) out.append(std::to_string(t.factor)).append(t.degree == 0 ? "" : "*");
    for (std::uint32_t k = 0; k < t.degree; ++k) {
      if (k != 0) out.append("*");
      out.append(text(extent::of_symbol(t.atoms[k]), depth - 1));
    }
  }
  return out.empty() ? "0" : out;
}

}  // namespace fuse::inline v0
