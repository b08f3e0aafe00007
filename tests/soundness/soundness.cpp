// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/graph/graph_text.hpp>

#include "random_rules.hpp"
#include "spelling.hpp"

namespace {

using namespace soundness;

corpus::own_operators formulas() {
  return [](std::string_view name, std::vector<array const*> const& in,
            corpus::parameters const& attributes) -> std::optional<array> {
    if (name != "test::Formula") return std::nullopt;
    auto const number = static_cast<std::size_t>(attributes.number({"rule"}, -1));
    auto const& of = number < drawn::first ? members[number] : drawn::members()[number - drawn::first];
    return evaluate(of, in, attributes);
  };
}

/// Whether operands come before their users, in the graph and in its bodies.
bool ordered(fuse::graph const& g, fuse::graph::body b, std::vector<fuse::graph::node>& seen) {
  for (auto const n : g.nodes(b)) {
    for (auto const v : g.operands(n))
      if (v != fuse::graph::value{} && g.producer(v) != fuse::graph::node{} &&
          std::find(seen.begin(), seen.end(), g.producer(v)) == seen.end())
        return false;
    for (auto const inner : g.bodies(n))
      if (!ordered(g, inner, seen)) return false;
    seen.push_back(n);
  }
  return true;
}

/// Whether everything that is computed is a number: 1 / -0 and 1 / 0 differ, which equal formulas may.
bool finite(fuse::graph const& g, fuse::graph::body b, corpus::evaluator& values) {
  for (auto const n : g.nodes(b)) {
    for (auto const v : g.results(n))
      for (auto const x : values.value(v).data)
        if (!std::isfinite(x)) return false;
    for (auto const inner : g.bodies(n))
      if (!finite(g, inner, values))
        return false;
      else
        break;  // the branch that is taken
  }
  return true;
}

/// How far results differ where both are finite, or the first is; relative to the largest.
double difference(std::map<std::string, array> const& before, std::map<std::string, array> const& after) {
  double worst = before.size() == after.size() ? 0 : HUGE_VAL;
  for (auto const& [name, a] : before) {
    auto const at = after.find(name);
    if (at == after.end() || at->second.shape != a.shape) return HUGE_VAL;
    double range = 1;
    for (auto const x : a.data)
      if (std::isfinite(x)) range = std::max(range, std::fabs(x));
    for (std::size_t i = 0; i < a.data.size(); ++i) {
      if (!std::isfinite(a.data[i])) continue;
      auto const off = std::fabs(a.data[i] - at->second.data[i]) / range;
      worst = std::isfinite(off) ? std::max(worst, off) : HUGE_VAL;
    }
  }
  return worst;
}

struct tally {
  std::size_t graphs = 0, plain = 0, found = 0, bounded = 0;
};

/// Of each test: so many as FUSE_SOUNDNESS_GRAPHS says, or what takes some seconds.
std::size_t graphs_to_try() {
  auto const* const told = std::getenv("FUSE_SOUNDNESS_GRAPHS");
#ifdef NDEBUG
  constexpr std::size_t usual = 10'000;
#else
  constexpr std::size_t usual = 1'500;
#endif
  return told == nullptr ? usual : static_cast<std::size_t>(std::atoll(told));
}

bool has_formula(fuse::graph const& g, std::size_t rule) {
  std::vector<fuse::graph::body> bodies{fuse::graph::main_body};
  while (!bodies.empty()) {
    auto const b = bodies.back();
    bodies.pop_back();
    for (auto const n : g.nodes(b)) {
      if (g.op(n) == "test::Formula")
        if (auto const* a = g.attribute(n, "rule");
            std::get<std::int64_t>(a->content) == static_cast<std::int64_t>(rule))
          return true;
      for (auto const inner : g.bodies(n)) bodies.push_back(inner);
    }
  }
  return false;
}

}  // namespace

namespace {

using rewriter = fuse::rewrite_report (*)(graph&, fuse::rewrite_options const&);

/// What is wrong with a rule on the graph of a seed, if anything is; `of` counts whether it was found.
std::string try_rule(member const& rule, std::size_t number, std::uint64_t seed, rewriter rewrite, tally& of,
                     std::string& text) {
  graph g(spelling::version(seed));
  spelling s(g, rule, seed);
  text = to_text(g);
  corpus::evaluator reference(g, s.feeds, formulas());
  auto const before = reference.outputs();
  bool const numbers = finite(g, fuse::graph::main_body, reference);
  auto copy = g;
  fuse::rewrite_options options;
  // Alone, or among the others of its set.
  if (seed % 5 != 0) options.only = {std::string(rule.rule->name)};
  options.near_misses = false;
  auto const report = rewrite(g, options);
  auto const once = to_text(g);
  text += once + to_text(report).substr(0, report.error.empty() ? 0 : std::string::npos);
  if (!report.error.empty()) return report.error;
  std::vector<fuse::graph::node> seen;
  if (!ordered(g, fuse::graph::main_body, seen)) return "a node reads what comes after it";
  auto const after = corpus::evaluator(g, s.feeds, formulas()).outputs();
  if (auto const off = difference(before, after); numbers && !(off < 1e-5))
    return "results differ by " + std::to_string(off);
  rewrite(copy, options);
  if (to_text(copy) != once) return "another run gives another graph";
  ++of.graphs;
  bool const found = has_formula(g, number);
  if (!report.notes.empty()) ++of.bounded;
  if (s.plain && rule.spelled && !options.only.empty() && report.notes.empty()) {
    ++of.plain;
    of.found += found ? 1 : 0;
    if (!found) return "it is not found";
  }
  auto again = g;
  auto const more = rewrite(again, options);
  if (more.applied() != 0) return "a second run applies more";
  return {};
}

void report_wrong(std::uint64_t seed, member const& rule, std::string const& wrong, std::string const& text,
                  int& told) {
  if (wrong.empty() || told++ >= 5) return;
  INFO("seed " << seed << ", rule " << std::string(rule.rule->name) << "\n" << text);
  CHECK(wrong == "");
}

}  // namespace

TEST_CASE("rules that nobody knows, on graphs that spell them") {
  tally all;
  int told = 0;
  std::string text;
  for (std::uint64_t seed = 1; seed <= graphs_to_try(); ++seed) {
    auto const rule = seed % std::size(members);
    auto const wrong = try_rule(members[rule], rule, seed, &fuse::rewrite<pool::by_hand, graph>, all, text);
    report_wrong(seed, members[rule], wrong, text, told);
  }
  CHECK(told == 0);
  CHECK(all.found == all.plain);
  CHECK(all.plain > all.graphs / 3);
  CHECK(all.bounded * 1000 <= all.graphs);
}

TEST_CASE("why a rule does not match is told where it does not, and only there") {
  for (std::uint64_t seed = 1; seed <= graphs_to_try() / 50; ++seed) {
    auto const& rule = members[seed % std::size(members)];
    graph g(spelling::version(seed));
    spelling const s(g, rule, seed);
    fuse::matcher<pool::by_hand, graph> matches(g);
    for (auto const n : g.nodes()) {
      auto const found = matches.at(n);
      for (auto const& one : members) {
        bool const there =
            std::any_of(found.begin(), found.end(), [&](auto const& m) { return m.rule() == one.rule->name; });
        auto const why = matches.why(n, one.rule->name);
        if (why.matched != there || to_text(why).empty() || to_text(why).find("expected ,") != std::string::npos) {
          INFO("seed " << seed << ", rule " << std::string(one.rule->name) << "\n" << to_text(g) << to_text(why));
          REQUIRE(why.matched == there);
          REQUIRE(to_text(why).find("expected ,") == std::string::npos);
        }
      }
    }
  }
  SUCCEED();
}

TEST_CASE("rules that nobody wrote, on graphs that spell them") {
  constexpr rewriter sets[] = {&fuse::rewrite<drawn::set<0>, graph>, &fuse::rewrite<drawn::set<100>, graph>,
                               &fuse::rewrite<drawn::set<200>, graph>, &fuse::rewrite<drawn::set<300>, graph>};
  tally all;
  int told = 0;
  std::string text;
  for (std::uint64_t seed = 1; seed <= graphs_to_try(); ++seed) {
    auto const rule = seed % drawn::count;
    auto const& of = drawn::members()[rule];
    auto const wrong = try_rule(of, drawn::first + rule, seed, sets[rule / drawn::in_a_set], all, text);
    report_wrong(seed, of, wrong, text, told);
  }
  CHECK(told == 0);
  CHECK(all.bounded * 1000 <= all.graphs);
}
