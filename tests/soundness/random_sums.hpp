// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "random_rules.hpp"

/// Sums and products that nobody wrote: up to eight terms, repeated, with coefficients and exponents.
namespace soundness::sums {

inline constexpr int first = 2000;  ///< of their numbers
inline constexpr std::size_t count = 100;

class drawing : drawn::drawing {
 public:
  using drawn::drawing::drawing;

  constexpr expression pattern() {
    auto const all = below(3) == 0 ? product(2 + below(7), true) : sum(2 + below(7), true);
    switch (below(4)) {
      case 0: return fuse::dsl::abs(all);
      case 1: return fuse::dsl::tanh(all);
      default: return all;
    }
  }

 private:
  constexpr expression factor() {
    using namespace pool;
    switch (below(9)) {
      case 0:
      case 1:
      case 2: return x;
      case 3:
      case 4: return y;
      case 5: return z;
      case 6: return tanh(x);
      case 7: return fuse::dsl::sigmoid(y);
      default: return fuse::dsl::abs(w);
    }
  }
  constexpr expression number() { return expression(0.5 * (1 + static_cast<double>(below(6)))); }
  constexpr expression power() {
    switch (below(8)) {
      case 0: return fuse::dsl::square(factor());
      case 1: return fuse::dsl::pow(factor(), 3.0);
      default: return factor();
    }
  }
  constexpr expression product(unsigned size, bool may_add) {
    auto all = power();
    for (unsigned i = 1; i < size; ++i) switch (below(6)) {
        case 0: all = all / power(); break;
        case 1: all = number() * all; break;
        case 2: all = may_add ? all * sum(2, false) : all * power(); break;
        default: all = all * power();
      }
    return all;
  }
  constexpr expression term() {
    auto const all = product(1 + below(3), false);
    switch (below(6)) {
      case 0: return number() * all;
      case 1: return all * number();
      default: return all;
    }
  }
  constexpr expression sum(unsigned size, bool repeats) {
    expression terms[8]{pool::x, pool::x, pool::x, pool::x, pool::x, pool::x, pool::x, pool::x};
    for (unsigned i = 0; i < size; ++i) {
      terms[i] = term();
      if (repeats && i != 0 && below(3) == 0) terms[i] = below(2) == 0 ? terms[below(i)] : number() * terms[below(i)];
    }
    auto all = terms[0];
    for (unsigned i = 1; i < size; ++i) all = below(4) == 0 ? all - terms[i] : all + terms[i];
    return all;
  }
};

constexpr expression pattern(int number) {
  for (unsigned turn = 0;; ++turn) {
    drawing draw(static_cast<std::uint64_t>(number) * 2003 + turn + 1'000'000);
    auto const drawn = draw.pattern();
    if (drawn::fits(drawn)) return drawn;
  }
}

template <int Number>
inline constexpr fuse::rewrite_rule rule = [] {
  auto const of = pattern(Number);
  return fuse::rule_name{{drawn::name<first + Number - drawn::first>.all, 10}}(of)
      .replace(drawn::right_side(of, first + Number - drawn::first))
      .at_equal_cost();
}();

template <std::size_t... I>
constexpr auto set_from(std::index_sequence<I...>) {
  return fuse::rule_set_of<rule<static_cast<int>(I)>...>{};
}
inline constexpr auto set = set_from(std::make_index_sequence<count>{});

/// All of them.
[[nodiscard]] std::vector<member> const& members();

}  // namespace soundness::sums
