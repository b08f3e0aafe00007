// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "pool.hpp"

/// Rules that nobody wrote: patterns drawn while compiling.
namespace soundness::drawn {

inline constexpr int first = 1000;  ///< of their numbers
inline constexpr std::size_t count = 400, in_a_set = 100;

class drawing {
 public:
  explicit constexpr drawing(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  constexpr unsigned below(unsigned n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<unsigned>((state_ >> 33) % n);
  }

  constexpr expression leaf() {
    switch (below(12)) {
      case 0: return pool::s;
      case 1: return pool::t;
      case 2: return expression(0.5 * (1 + static_cast<double>(below(5))));
      case 3:
      case 4: return pool::y;
      case 5: return pool::z;
      case 6: return pool::w;
      default: return pool::x;
    }
  }
  constexpr expression term(int depth) {
    using namespace pool;
    if (depth == 0 || below(6) == 0) return leaf();
    switch (below(22)) {
      case 0:
      case 1:
      case 2: return term(depth - 1) + term(depth - 1);
      case 3:
      case 4: return term(depth - 1) - term(depth - 1);
      case 5:
      case 6:
      case 7:
      case 8: return term(depth - 1) * term(depth - 1);
      case 9:
      case 10: return term(depth - 1) / term(depth - 1);
      case 11: return -term(depth - 1);
      case 12: return tanh(term(depth - 1));
      case 13: return sigmoid(term(depth - 1));
      case 14: return fuse::dsl::abs(term(depth - 1));
      case 15: return erf(term(depth - 1));
      case 16: return square(term(depth - 1));
      case 17: return sqrt(fuse::dsl::abs(term(depth - 1)));
      case 18: return maximum(term(depth - 1), term(depth - 1));
      case 19: return sum(term(depth - 1));
      case 20: return mean(term(depth - 1));
      default: return relu(term(depth - 1));
    }
  }

 private:
  std::uint64_t state_;
};

constexpr bool has(expression const& in, fuse::term_kind kind, std::string_view name) {
  for (std::size_t i = 0; i < in.size; ++i)
    if (in[i].kind == kind && in[i].name == name) return true;
  return false;
}
constexpr bool reduces(expression const& in) {
  for (std::size_t i = 0; i < in.size; ++i)
    if (in[i].kind == term_kind::neutral && (in[i].op == opcode::sum || in[i].op == opcode::mean)) return true;
  return false;
}
constexpr bool captures(expression const& in, std::uint8_t at) {
  bool found = in[at].kind == term_kind::capture;
  for (int i = 0; i < in[at].children; ++i) found = found || captures(in, in[at].child[i]);
  return found;
}
// Whether it takes back what it adds or multiplies: such a rule does not compile.
constexpr bool cancels(expression const& in) {
  auto const lowered = fuse::detail::lower(fuse::rule<"drawn">(in).replace(in), fuse::dialect_of<fuse::graph>);
  return lowered.error == fuse::rule_error::cancels;
}
// Whether a rule can have it: an operator over captures, whose reductions have axes.
constexpr bool fits(expression const& in) {
  auto const& root = in[in.root()];
  for (std::uint8_t i = 0; i < in.size; ++i)
    if (bool const reduction = in[i].op == opcode::sum || in[i].op == opcode::mean; reduction && !captures(in, i))
      return false;
  return in.size > 3 && !in.too_large && root.kind == term_kind::neutral && root.op != opcode::sum &&
         root.op != opcode::mean && has(in, term_kind::capture, "x") && !cancels(in);
}

constexpr expression pattern(int number) {
  for (unsigned turn = 0;; ++turn) {
    drawing draw(static_cast<std::uint64_t>(number) * 1009 + turn);
    auto const drawn = draw.term(3);
    if (fits(drawn)) return drawn;
  }
}
constexpr expression right_side(expression const& of, int number) {
  using namespace pool;
  bool const y_ = has(of, term_kind::capture, "y"), z_ = has(of, term_kind::capture, "z"),
             w_ = has(of, term_kind::capture, "w");
  auto right = y_ && z_ && w_ ? made(x, y, z, w)
               : y_ && z_     ? made(x, y, z)
               : y_ && w_     ? made(x, y, w)
               : z_ && w_     ? made(x, z, w)
               : y_           ? made(x, y)
               : z_           ? made(x, z)
               : w_           ? made(x, w)
                              : made(x);
  right = right.attr<"rule">(first + number);
  if (has(of, term_kind::scalar, "s")) right = right.attr<"s">(s);
  if (has(of, term_kind::scalar, "t")) right = right.attr<"t">(t);
  if (reduces(of)) right = right.attr<"axes">(axes);
  // Of some there are two forms, the first of which needs an extent that is known.
  bool const has_room = !has(of, term_kind::scalar, "s") || !has(of, term_kind::scalar, "t") || !reduces(of);
  if (number % 4 == 0 && has_room) return fuse::dsl::either(right.attr<"extent">(fuse::dsl::dim<"x", -1>), right);
  return right;
}

struct text {
  char all[12]{};
  explicit constexpr text(int number) {
    for (int i = 0; i < 6; ++i) all[i] = "drawn-"[i];
    for (int i = 9; i > 5; --i, number /= 10) all[i] = static_cast<char>('0' + number % 10);
  }
};
template <int Number>
inline constexpr text name{Number};

template <int Number>
inline constexpr fuse::rewrite_rule rule = [] {
  auto const of = pattern(Number);
  return fuse::rule_name{{name<Number>.all, 10}}(of)
      .replace(right_side(of, Number))
      .at_equal_cost()
      .benefit(Number % 3);
}();

template <std::size_t First, std::size_t... I>
constexpr auto set_from(std::index_sequence<I...>) {
  return fuse::rule_set_of<rule<static_cast<int>(First + I)>...>{};
}
/// Rules from `First` on, as many as are in a set.
template <std::size_t First>
inline constexpr auto set = set_from<First>(std::make_index_sequence<in_a_set>{});

/// All of them.
[[nodiscard]] std::vector<member> const& members();

}  // namespace soundness::drawn
