// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/dsl/expression.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/verify/choices.hpp>

namespace fuse::inline v0::detail {

/// Writes the sums and products of a pattern in some spelling: any order and bracketing, any inverse operators, like
/// terms apart or as one, powers and roots in their forms, neutral elements. What is a term, and how a node comes into
/// the graph, is the business of `Spelling`, which has
///
///     value write(std::uint8_t);                     // a term of the pattern
///     value add(opcode, std::vector<value> const&);  // a node
///     value note(value);                             // ... that stands inside of the pattern
///     value number(double);                          // a constant
///     value exponent(int);                           // one that a power has
///     bool has(opcode);                              // whether the dialect has this operator
template <class Spelling>
class group_spelling {
 public:
  using value = graph::value;

  random_choices choose;

 protected:
  group_spelling(std::uint64_t seed, expression const& pattern) : choose(seed), pattern_(pattern) {}

  struct part {
    value v;
    int weight;
    std::uint8_t term = 255;  // of the pattern
    int number = 0;           // a whole one that a product has
  };

  // In braces operands are made from the first to the last, by any compiler.
  struct two_values {
    value a, b;
  };
  value two(opcode op, two_values const& of) { return self().note(self().add(op, {of.a, of.b})); }

  // Sums: the signed terms, in any order and bracketing.

  void collect_sum(std::uint8_t at, int sign, std::vector<part>& into) {
    auto const& t = pattern_[at];
    bool const opens = t.kind == term_kind::neutral;
    if (opens && (t.op == opcode::add || t.op == opcode::sub)) {
      collect_sum(t.child[0], sign, into);
      collect_sum(t.child[1], t.op == opcode::sub ? -sign : sign, into);
    } else if (opens && t.op == opcode::neg) {
      collect_sum(t.child[0], -sign, into);
    } else if (t.kind == term_kind::named && self().op_of(t) == opcode::sum_of) {
      for (int i = 0; i < t.operands(); ++i) collect_sum(t.child[i], sign, into);
    } else if (t.kind == term_kind::alternatives) {
      collect_sum(t.child[choose.number("branch", {0, 1}) % t.children], sign, into);
    } else if (auto const times = whole_number(t); times != 0 && choose.one_in("times are terms", 3)) {
      for (int i = 0; i < times; ++i) collect_sum(t.child[number_at(t) == 0 ? 1 : 0], sign, into);
    } else if (!left_out(t)) {
      into.push_back({self().write(at), sign, at});
    }
  }
  // Which operand of a product is a number.
  [[nodiscard]] int number_at(term const& t) const { return pattern_[t.child[0]].kind == term_kind::number ? 0 : 1; }
  // A small whole one of them; 0: there is none.
  [[nodiscard]] int whole_number(term const& t) const {
    if (t.kind != term_kind::neutral || t.op != opcode::mul) return 0;
    auto const which = number_at(t);
    auto const& by = pattern_[t.child[which]];
    auto const other = pattern_[t.child[1 - which]].kind;
    bool const one = other == term_kind::capture || other == term_kind::neutral;
    if (by.kind != term_kind::number || !one) return 0;
    return by.number == 2 || by.number == 3 ? static_cast<int>(by.number) : 0;
  }
  // Like terms, as one times a number.
  void add_up(std::vector<part>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const p = all[i];
      auto const like = [&](part const& q) { return q.v.id == p.v.id && q.weight == p.weight && q.term == p.term; };
      auto const times = static_cast<double>(std::count_if(all.begin(), all.end(), like));
      if (times == 1 || p.term == 255 || !choose.one_in("like terms are one", 3)) continue;
      all.erase(std::remove_if(all.begin(), all.end(), like), all.end());
      all.insert(all.begin(), {multiple(p.v, times), p.weight});
    }
  }
  value multiple(value v, double times) {
    auto const how =
        integers_ ? std::string_view("multiplied") : choose("a multiple is", {"multiplied", "by", "divided"});
    if (how == "divided") return two(opcode::div, {v, self().number(1 / times)});
    return how == "by" ? two(opcode::mul, {self().number(times), v}) : two(opcode::mul, {v, self().number(times)});
  }
  bool left_out(term const& t) {
    return (t.kind == term_kind::optional || t.kind == term_kind::rest) && captured_.count(std::string(t.name)) == 0 &&
           choose.one_in("left out", 3);
  }
  value write_sum(std::uint8_t at) {
    std::vector<part> all;
    collect_sum(at, 1, all);
    add_up(all);
    shuffle(all);
    if (choose.one_in("plus nothing", 8)) all.push_back({self().number(0), 1});
    return sum_of(all);
  }
  value negated(value v) {
    if (integers_ || choose.one_in("negated by", 2)) return self().note(self().add(opcode::neg, {v}));
    return two(opcode::mul, {v, self().number(-1)});
  }
  value sum_of(std::vector<part> const& all) {
    if (all.empty()) return self().number(0);
    if (all.size() == 1) return all[0].weight > 0 ? all[0].v : negated(all[0].v);
    bool const positive = std::all_of(all.begin(), all.end(), [](part const& p) { return p.weight > 0; });
    if (positive && !integers_ && self().has(opcode::sum_of) && choose.one_in("one sum", 4)) {
      std::vector<value> operands;
      for (auto const& p : all) operands.push_back(p.v);
      return self().note(self().add(opcode::sum_of, operands));
    }
    auto const middle = split(all.size());
    std::vector<part> const left(all.begin(), all.begin() + middle);
    std::vector<part> right(all.begin() + middle, all.end());
    if (choose.one_in("added", 2)) return two(opcode::add, {sum_of(left), sum_of(right)});
    for (auto& p : right) p.weight = -p.weight;
    return two(opcode::sub, {sum_of(left), sum_of(right)});
  }

  // Products: factors with whole exponents, in any order and bracketing.

  void collect_product(std::uint8_t at, int exponent, std::vector<part>& into) {
    auto const& t = pattern_[at];
    if (t.kind == term_kind::neutral) {
      switch (t.op) {
        case opcode::mul:
        case opcode::div:
          // Integers are rounded where they are divided.
          if (integers_ && t.op == opcode::div)
            return into.push_back({two(opcode::div, {self().write(t.child[0]), self().write(t.child[1])}), exponent});
          collect_product(t.child[0], exponent, into);
          return collect_product(t.child[1], t.op == opcode::div ? -exponent : exponent, into);
        case opcode::reciprocal: return collect_product(t.child[0], -exponent, into);
        case opcode::square: return collect_product(t.child[0], 2 * exponent, into);
        case opcode::pow: {
          if (pattern_[t.child[1]].kind != term_kind::number)
            return into.push_back({two(opcode::pow, {self().write(t.child[0]), self().write(t.child[1])}), exponent});
          auto const by = pattern_[t.child[1]].number;
          if (by == std::trunc(by)) return collect_product(t.child[0], static_cast<int>(by) * exponent, into);
          return into.push_back({two(opcode::pow, {self().write(t.child[0]), self().number(by)}), exponent});
        }
        case opcode::rsqrt: return push_root(self().write(t.child[0]), -exponent, into);
        case opcode::sqrt: return push_root(self().write(t.child[0]), exponent, into);
        default: break;
      }
    } else if (t.kind == term_kind::alternatives) {
      return collect_product(t.child[choose.number("branch", {0, 1}) % t.children], exponent, into);
    } else if (left_out(t)) {
      return;
    }
    auto const n = t.kind == term_kind::number && (t.number == 2 || t.number == 3) ? static_cast<int>(t.number) : 0;
    into.push_back({self().write(at), exponent, at, n});
  }
  void push_root(value v, int exponent, std::vector<part>& into) {
    auto const how = choose("a root is", {"itself", "itself", "power", "inverse"});
    if (how == "inverse" && self().has(opcode::rsqrt))
      return into.push_back({self().note(self().add(opcode::rsqrt, {v})), -exponent});
    if (how == "inverse") return into.push_back({two(opcode::pow, {v, self().number(-0.5)}), -exponent});
    into.push_back(
        {how == "power" ? two(opcode::pow, {v, self().number(0.5)}) : self().note(self().add(opcode::sqrt, {v})),
         exponent});
  }
  value write_product(std::uint8_t at) {
    std::vector<part> all;
    collect_product(at, 1, all);
    std::vector<part> factors;
    add_factors(all);
    for (auto const& p : all) {
      auto const times = std::abs(p.weight);
      if (times > 1 && choose.one_in("a power is", 2)) {
        bool const squared = times == 2 && self().has(opcode::square) && choose.one_in("squared", 2);
        auto const power =
            squared ? self().add(opcode::square, {p.v}) : self().add(opcode::pow, {p.v, self().exponent(times)});
        factors.push_back({self().note(power), p.weight / times});
        continue;
      }
      for (int i = 0; i < times; ++i) factors.push_back({p.v, p.weight / times});
    }
    shuffle(factors);
    if (choose.one_in("times one", 8)) factors.push_back({self().number(1), 1});
    return product_of(factors);
  }
  // A number and a factor, as the sum of that.
  void add_factors(std::vector<part>& all) {
    auto const number = std::find_if(all.begin(), all.end(), [](part const& p) { return p.number != 0; });
    if (number == all.end() || (number->weight != 1 && number->weight != -1)) return;
    auto const with = std::find_if(all.begin(), all.end(),
                                   [&](part const& p) { return p.number == 0 && p.weight == number->weight; });
    if (with == all.end() || !choose.one_in("a factor is a sum", 3)) return;
    auto sum = with->v;
    for (int i = 1; i < number->number; ++i) sum = two(opcode::add, {sum, with->v});
    with->v = sum;
    all.erase(number);
  }
  value inverse(value v) {
    return choose.one_in("inverted by", 2) ? self().note(self().add(opcode::reciprocal, {v}))
                                           : two(opcode::div, {self().number(1), v});
  }
  value product_of(std::vector<part> const& all) {
    if (all.empty()) return self().number(1);
    if (all.size() == 1) return all[0].weight > 0 ? all[0].v : inverse(all[0].v);
    auto const middle = split(all.size());
    std::vector<part> const left(all.begin(), all.begin() + middle);
    std::vector<part> right(all.begin() + middle, all.end());
    if (integers_ || choose.one_in("multiplied", 2)) return two(opcode::mul, {product_of(left), product_of(right)});
    for (auto& p : right) p.weight = -p.weight;
    return two(opcode::div, {product_of(left), product_of(right)});
  }

  std::ptrdiff_t split(std::size_t size) {
    return 1 + choose.number("split", {0, 1, 2, 3, 4, 5, 6}) % static_cast<std::ptrdiff_t>(size - 1);
  }
  void shuffle(std::vector<part>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(choose.number("order", {0, 1, 2, 3, 4, 5, 6})) % i]);
  }

  [[nodiscard]] Spelling& self() { return static_cast<Spelling&>(*this); }

  expression pattern_;
  bool integers_ = false;
  std::map<std::string, value> captured_;
};

}  // namespace fuse::inline v0::detail
