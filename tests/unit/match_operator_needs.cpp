// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fuse/match/filter/operator_needs.hpp>
#include <fuse/rules/rotary.hpp>

namespace match_operator_needs {

using namespace rewriting;
using namespace fuse::dsl;
using fuse::opcode;
using fuse::detail::operator_bit;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto c = scalar<"c">;

using needs = fuse::detail::operator_needs::needs;

template <auto const& Rule>
needs at_root() {
  auto const& rules = fuse::program_of<Rule>;
  return fuse::detail::operator_needs(rules).of(rules.entries[0].first).what;
}

/// What the first step that is wanted needs, and where.
template <auto const& Rule, class Wanted>
fuse::detail::operator_needs::wanted at_first(Wanted const& is_wanted) {
  auto const& rules = fuse::program_of<Rule>;
  fuse::program const all = rules;
  for (std::uint16_t pc = 0; pc < all.code.size(); ++pc)
    if (is_wanted(all, all.code[pc])) return fuse::detail::operator_needs(rules).of(pc);
  FAIL("there is no such step");
  return {};
}

inline constexpr auto nested = fuse::rule<"nested">(relu(exp(x) * w + c)).replace(relu(x));
inline constexpr auto forked = fuse::rule<"forked">(relu(either(exp(x), abs(tanh(x))))).replace(relu(x));
inline constexpr auto product = fuse::rule<"product">(relu(exp(x) * tanh(w))).replace(relu(x));
inline constexpr auto asked = fuse::rule<"asked">((x + c).as<"y">())
                                  .where<"nothing">(pred<"y">([](auto) { return true; }).quiet())
                                  .replace(relu(x))
                                  .at_equal_cost();
inline constexpr auto with_sum = fuse::rule<"with sum">(exp(x) * w + c).replace(relu(x));

// One of each kind of step that says what it needs, or hides it.
inline constexpr auto sums = fuse::rule<"sums">(relu(x * exp(w) + c)).replace(relu(x));
inline constexpr auto powers = fuse::rule<"powers">(abs(x) * rsqrt(exp(w) + c)).replace(relu(x));
inline constexpr auto alternatives =
    fuse::rule<"alternatives">(relu(either(exp(x) + c, op<"Max">(x, 0.5), tanh(x) * c))).replace(relu(x));
inline constexpr auto optionals = fuse::rule<"optionals">(relu(with_or_without<"Neg">(exp(x)))).replace(relu(x));
inline constexpr auto wrapped = fuse::rule<"wrapped">(relu(with_or_without<"Sqrt">(abs(x)))).replace(relu(x));
inline constexpr auto looked_through =
    fuse::rule<"looked through">(relu(exp(x) + abs(x))).through<"identity">().replace(relu(x));
inline constexpr auto exact = fuse::rule<"exact">(op<"Max">(exactly<"Exp">(abs(x)), x)).replace(relu(x));
inline constexpr auto exact_sum = fuse::rule<"exact sum">(relu(exactly<"Add">(abs(x), w))).replace(relu(x));
inline constexpr auto rests = fuse::rule<"rests">(relu(exp(x) * rest<"r">)).replace(relu(x));
inline constexpr auto roots_of_two = fuse::rule<"roots">(roots(exp(x), abs(relu(x)))).replace(relu(x), relu(x));
inline constexpr auto twice = fuse::rule<"twice">(relu(op<"Max">(abs(x) + c, exp(w) * (abs(x) + c)))).replace(relu(x));
inline constexpr auto deep = fuse::rule<"deep">(relu(exp(abs(x)) + tanh(op<"Max">(w, 0.5)))).replace(relu(x));
inline constexpr auto deeper = fuse::rule<"deeper">(relu(exp(abs(x) + w) * exp(x))).replace(relu(x));
inline constexpr auto all_of_them = fuse::rule_set<sums, powers, alternatives, optionals, wrapped, looked_through,
                                                   exact, exact_sum, rests, roots_of_two, twice, deep, deeper>;

// Values are used soon, so that patterns arise by chance; those that hardly do are put in.
graph drawn(std::uint64_t seed) {
  constexpr std::string_view unary[] = {"Relu", "Relu", "Exp", "Exp", "Abs", "Abs", "Tanh", "Neg", "Sqrt", "Identity"};
  constexpr std::string_view binary[] = {"Add", "Add", "Mul", "Mul", "Sub", "Div", "Max"};
  auto const next = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  graph g(17);
  std::vector<graph::value> values{g.input("a", element_type::float32, {4, 8})};
  graph::value const constants[] = {g.scalar(0.5f), g.scalar(2.0f), g.scalar(-1.0f), g.scalar(1.0f), g.scalar(0.0f)};
  auto const recent = [&] {
    return next(6) == 0 ? constants[next(5)] : values[values.size() - 1 - next(values.size() < 2 ? values.size() : 2)];
  };
  auto const put_in = [&](std::uint64_t which, graph::value p, graph::value q) {
    auto const of = [&](std::string_view op, graph::value a) { return g.add(op, {a}); };
    auto const both = [&](std::string_view op, graph::value a, graph::value b) { return g.add(op, {a, b}); };
    auto const half = constants[0], sum = both("Add", of("Abs", p), half);
    switch (which) {
      case 0: return both("Mul", of("Abs", p), of("Reciprocal", of("Sqrt", both("Add", of("Exp", q), half))));
      case 1: return of("Relu", of("Identity", both("Add", of("Identity", of("Exp", p)), of("Abs", p))));
      case 2: return both("Max", of("Exp", of("Abs", p)), p);
      case 3: return of("Relu", both("Max", sum, both("Mul", of("Exp", q), sum)));
      case 4: return of("Relu", both("Add", of("Exp", of("Abs", p)), of("Tanh", both("Max", q, half))));
      default: return of("Relu", both("Mul", of("Exp", both("Add", of("Abs", p), q)), of("Exp", p)));
    }
  };
  for (int i = 0; i < 2000; ++i) {
    if (i % 25 == 0) {
      auto const first = recent();
      values.push_back(put_in(next(6), first, recent()));
    } else if (next(3) != 0) {
      values.push_back(g.add(unary[next(10)], {recent()}));
    } else {
      auto const first = recent();
      values.push_back(g.add(binary[next(7)], {first, recent()}));
    }
  }
  g.output(values.back(), "y");
  return g;
}

struct found final : fuse::detail::machine::acceptor {
  std::vector<std::uint16_t> rules;
  bool accept(std::uint16_t rule) override {
    rules.push_back(rule);
    return false;
  }
};
struct found_everywhere final : fuse::detail::machine::acceptor {
  fuse::detail::machine const& by;
  std::vector<std::vector<std::uint16_t>> rules;  // by node
  found_everywhere(fuse::detail::machine const& who, std::size_t nodes) : by(who), rules(nodes) {}
  bool accept(std::uint16_t rule) override {
    rules[by.root()].push_back(rule);
    return false;
  }
};
struct deaf final : fuse::detail::failure_listener {
  void failed(std::uint16_t, fuse::value_id, int) override {}
};

}  // namespace

TEST_CASE("what every way needs is known where matching begins") {
  using namespace fuse::detail;
  auto const all = at_root<nested>();
  CHECK(all.deep == operator_bit(opcode::relu));
  CHECK(all.below == (operator_bit(opcode::exp) | sum_bit | product_bit | number_bit | constant_bit));
  auto const sum = at_root<with_sum>();
  CHECK(sum.direct == (sum_bit | terms_bit | added_number_bit | constant_bit));
  CHECK(sum.deep == (operator_bit(opcode::exp) | sum_bit | product_bit | number_bit | constant_bit));
}

TEST_CASE("a sum needs as many terms as its pattern has on every way, a multiple one") {
  using namespace fuse::detail;
  auto const needs_terms = [](auto const& needed) { return (needed.direct & terms_bit) != 0; };
  static constexpr auto plain = fuse::rule<"plain">(exp(x) + w).replace(relu(x));
  static constexpr auto numbered = fuse::rule<"numbered">(exp(x) + 1).replace(relu(x));
  static constexpr auto multiple = fuse::rule<"multiple">(exp(x) + exp(x)).replace(relu(x));
  static constexpr auto optional_term = fuse::rule<"optional term">(exp(x) + optional(tanh(w))).replace(relu(x));
  static constexpr auto with_rest = fuse::rule<"with rest">(exp(x) + rest<"r">).replace(relu(x));
  CHECK(needs_terms(at_root<plain>()));
  CHECK(needs_terms(at_root<numbered>()));
  CHECK_FALSE(needs_terms(at_root<multiple>()));
  CHECK_FALSE(needs_terms(at_root<optional_term>()));
  CHECK_FALSE(needs_terms(at_root<with_rest>()));
}

TEST_CASE("ways that need different operators need one of them") {
  auto const all = at_root<forked>();
  CHECK(all.below == 0);
  CHECK(all.one_below == (operator_bit(opcode::exp) | operator_bit(opcode::abs)));
}

TEST_CASE("what is not entered at a glance would not have matched") {
  static constexpr auto const& rules = fuse::program_of<all_of_them>;
  fuse::detail::filter_tables const tables(rules, fuse::dialect_of<graph>);
  std::vector<std::size_t> matches(rules.rules.size());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto g = drawn(seed);
    auto const& names = fuse::dialect_of<graph>;
    fuse::graph_binding<graph> bound(g, fuse::names_in(names), names.newest);
    fuse::detail::facts known(bound.image, names);
    known.run();
    fuse::detail::machine looking(tables, bound.image, known, names);
    deaf everything;
    found_everywhere all_nodes(looking, bound.image.node_count());
    looking.run(all_nodes);
    for (fuse::node_id n = 0; n < bound.image.node_count(); ++n) {
      found at_a_glance, of_all, in_turn;
      looking.run(n, 0, at_a_glance);
      looking.run(n, in_turn);
      looking.listen(&everything);  // whoever listens sees the same matches
      looking.run(n, 0, of_all);
      looking.listen(nullptr);
      if (of_all.rules != at_a_glance.rules || of_all.rules != in_turn.rules || of_all.rules != all_nodes.rules[n])
        FAIL("seed " << seed << ", node " << n);
      for (auto rule : of_all.rules) ++matches[rule];
    }
  }
  for (std::size_t rule = 0; rule < matches.size(); ++rule) {
    INFO(std::string_view(rules.rules[rule].name));
    CHECK(matches[rule] != 0);
  }
}

TEST_CASE("before a part is looked for, it is known what all that follow are, whichever parts they are") {
  auto const [at, what] =
      at_first<product>([](auto const&, auto const& i) { return i.code == fuse::detail::step::member; });
  CHECK(at == fuse::detail::operator_needs::frame_base);
  CHECK(what.direct == (operator_bit(opcode::exp) | operator_bit(opcode::tanh)));
}

TEST_CASE("before a condition is asked, it is known what follows") {
  auto const [at, what] =
      at_first<asked>([](auto const&, auto const& i) { return i.code == fuse::detail::step::condition; });
  CHECK(at == 1);
  CHECK((what.direct & fuse::detail::constant_bit) != 0);
}

TEST_CASE("parts in reverse order are computed by what moves elements") {
  auto const [at, what] = at_first<fuse::rules::rotary>([](auto const& rules, auto const& i) {
    return i.code == fuse::detail::step::rearranged && rules.rearrangements[i.op].reverses();
  });
  CHECK((what.direct & fuse::detail::moved_bit) != 0);
}

TEST_CASE("what fails as a near miss is found where only these are looked for, at the same place") {
  using fuse::detail::instruction, fuse::detail::search_for;
  fuse::program const rules = fuse::program_of<all_of_them>;
  auto const& names = fuse::dialect_of<graph>;
  fuse::detail::filter_tables const tables(rules, names);
  std::vector<std::size_t> misses(rules.rules.size());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto g = drawn(seed);
    fuse::graph_binding<graph> bound(g, fuse::names_in(names), names.newest);
    fuse::detail::facts known(bound.image, names);
    known.run();
    fuse::detail::machine looking(tables, bound.image, known, names);
    for (fuse::node_id n = 0; n < bound.image.node_count(); ++n) {
      looking.look_for(search_for::failures);
      auto const any = failure_at(looking, n, 0, nullptr);
      looking.look_for(search_for::near_misses);
      auto const near = failure_at(looking, n, 0, nullptr);
      bool const same = any.at == near.at && any.value == near.value && any.score == near.score;
      if (any.score >= instruction::near_miss ? !same : near.score >= instruction::near_miss)
        FAIL("seed " << seed << ", node " << n);
      if (any.score >= instruction::near_miss) ++misses[fuse::detail::rule_after(rules, any.at)];
    }
  }
  CHECK(std::count_if(misses.begin(), misses.end(), [](std::size_t all) { return all != 0; }) >= 6);
}

}  // namespace match_operator_needs
