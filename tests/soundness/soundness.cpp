// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/graph/graph_text.hpp>

#include "spelling.hpp"

namespace {

using namespace soundness;

corpus::own_operators formulas() {
  return [](std::string_view name, std::vector<array const*> const& in,
            corpus::parameters const& attributes) -> std::optional<array> {
    if (name != "test::Formula") return std::nullopt;
    auto const number = static_cast<std::size_t>(attributes.number({"rule"}, -1));
    return evaluate(members[number], in, attributes);
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

std::size_t graphs_to_try(std::size_t usual) {
  auto const* const told = std::getenv("FUSE_SOUNDNESS_GRAPHS");
  return told == nullptr ? usual : static_cast<std::size_t>(std::atoll(told));
}

bool has_formula(fuse::graph const& g, std::size_t rule) {
  std::vector<fuse::graph::body> bodies{fuse::graph::main_body};
  while (!bodies.empty()) {
    auto const b = bodies.back();
    bodies.pop_back();
    for (auto const n : g.nodes(b)) {
      if (g.op(n) == "test::Formula")
        if (auto const* a = g.attribute(n, "rule"); std::get<std::int64_t>(a->content) == static_cast<std::int64_t>(rule))
          return true;
      for (auto const inner : g.bodies(n)) bodies.push_back(inner);
    }
  }
  return false;
}

}  // namespace

TEST_CASE("rules that nobody knows, on graphs that spell them") {
  auto const count = graphs_to_try(4000);
  std::map<std::size_t, tally> tallies;
  std::size_t missed_told = 0, wrong_told = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    auto const rule = seed % std::size(members);
    graph g(spelling::version(seed));
    spelling s(g, members[rule], seed);
    auto const text = to_text(g);
    auto const before = corpus::evaluator(g, s.feeds, formulas()).outputs();
    auto copy = g;
    fuse::rewrite_options options;
    options.only = {std::string(members[rule].rule->name)};
    options.near_misses = false;
    auto const report = fuse::rewrite<pool::by_hand>(g, options);
    std::string wrong;
    std::vector<fuse::graph::node> seen;
    if (!report.error.empty()) wrong = report.error;
    if (!ordered(g, fuse::graph::main_body, seen)) wrong = "a node reads what comes after it";
    if (wrong.empty()) {
      auto const after = corpus::evaluator(g, s.feeds, formulas()).outputs();
      if (auto const off = difference(before, after); !(off < 1e-5)) wrong = "results differ by " + std::to_string(off);
    }
    if (wrong.empty()) {
      auto once = to_text(g);
      auto again = g;
      if (fuse::rewrite<pool::by_hand>(again, options).applied() != 0) wrong = "a second run applies more";
      fuse::rewrite<pool::by_hand>(copy, options);
      if (to_text(copy) != once) wrong = "another run gives another graph";
    }
    if (!wrong.empty() && wrong_told++ < 8) {
      UNSCOPED_INFO("seed " << seed << ", rule " << std::string(members[rule].rule->name) << "\n" << text << "\n" << to_text(g));
      INFO(wrong);
      CHECK(wrong == "");
    }
    auto& t = tallies[rule];
    ++t.graphs;
    if (!s.plain) continue;
    ++t.plain;
    if (has_formula(g, rule)) {
      ++t.found;
    } else if (!report.notes.empty()) {
      ++t.bounded;
    } else if (std::getenv("FUSE_SOUNDNESS_MISSES") != nullptr && missed_told++ < 40) {
      std::fprintf(stderr, "seed %llu missed\n%s%s\n", static_cast<unsigned long long>(seed), text.c_str(),
                   to_text(report).c_str());
    }
  }
  CHECK(wrong_told == 0);
  for (auto const& [rule, t] : tallies)
    if (std::getenv("FUSE_SOUNDNESS_MISSES") != nullptr)
      std::fprintf(stderr, "%-24s %5zu graphs, %5zu plain, %5zu found, %zu bounded\n",
                   std::string(members[rule].rule->name).c_str(), t.graphs, t.plain, t.found, t.bounded);
}
