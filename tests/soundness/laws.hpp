// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/graph/graph_text.hpp>

#include "validity.hpp"

namespace soundness {

/// What was broken: which law, how, and what tells more. Nothing where all laws hold.
struct finding {
  std::string law{}, what{}, more{};
  [[nodiscard]] explicit operator bool() const { return !law.empty(); }
};

/// What a rewrite of an example came to.
struct outcome {
  finding broken{};
  bool fits = true;  ///< the example itself is a valid graph
  bool applied = false, bounded = false;
  bool costly = false;  ///< it was found where what stays alive makes the rewrite too dear
};

/// A report without the rules that were found nowhere.
[[nodiscard]] inline std::string short_text(fuse::rewrite_report report) {
  std::erase_if(report.rules, [](auto const& r) { return r.matched == 0 && r.refused.empty(); });
  return to_text(report);
}

/// Whether everything that is computed is a number of moderate size: 1 / -0 and 1 / 0 differ, which equal formulas may,
/// and large ones leave rounding where they cancel.
/// `endless`: but for what is computed of constants that are no numbers.
[[nodiscard]] inline bool finite(corpus::evaluator& values, validity const& checked, bool endless) {
  for (auto const& [id, type] : checked.types())
    if (values.has({id}))
      for (auto const x : values.value({id}).data)
        if (std::isfinite(x) ? std::fabs(x) > 1e8 : !endless) return false;
  return true;
}
/// Whether a node of the graph itself reads a constant that is no number.
[[nodiscard]] inline bool has_endless(fuse::graph const& g) {
  for (auto const n : g.nodes())
    for (auto const v : g.operands(n))
      if (auto const c = v ? g.constant(v) : fuse::tensor_view{}; c)
        for (std::size_t i = 0; i < c.size(); ++i)
          if (!std::isfinite(c.number(i))) return true;
  return false;
}

/// How far results differ, relative to the largest of them; what was no number before may be any where `endless`.
[[nodiscard]] inline double difference(std::map<std::string, array> const& before,
                                       std::map<std::string, array> const& after, bool endless = false) {
  double worst = before.size() == after.size() ? 0 : HUGE_VAL;
  for (auto const& [name, a] : before) {
    auto const at = after.find(name);
    if (at == after.end() || at->second.shape != a.shape) return HUGE_VAL;
    double range = 1;
    for (auto const x : a.data)
      if (std::isfinite(x)) range = std::max(range, std::fabs(x));
    for (std::size_t i = 0; i < a.data.size(); ++i) {
      if (endless && !std::isfinite(a.data[i])) continue;
      auto const off = std::fabs(a.data[i] - at->second.data[i]) / range;
      worst = std::isfinite(off) ? std::max(worst, off) : HUGE_VAL;
    }
  }
  return worst;
}

/// What rounding may change: the engine rounds some of the constants that follow from others, takes 0.33333334 for a
/// third, and what much cancels in shows it.
[[nodiscard]] inline double tolerance(example const& e, validity const& checked,
                                      std::map<std::string, array> const& unrounded) {
  double most = 1e-5;
  for (auto const& [id, type] : checked.types())
    if (type == fuse::element_type::float16 || type == fuse::element_type::bfloat16) most = 5e-2;
  auto const add = [&](corpus::evaluator values) {
    auto const off = difference(unrounded, values.outputs());
    most += std::isfinite(off) ? 2 * off : 0;
  };
  add(computed(e, true));
  for (double const by : {0x1p-24, -0x1p-24}) add(computed(e, false, by));
  return most;
}

/// The laws of a rewrite. Each holds of every valid graph, whatever the rules are, as long as these are true.
[[nodiscard]] inline outcome rewritten(example const& e, engine const& tested, fuse::rewrite_options const& options) {
  outcome of;
  std::map<std::string, array> before;
  bool numbers = false;
  double allowed = 0;
  bool const endless = has_endless(e.graph);
  try {
    validity const checked(e);
    of.fits = checked.wrong().empty();
    if (!of.fits) return of;
    auto values = computed(e);
    before = values.outputs();
    numbers = finite(values, checked, endless);
    allowed = tolerance(e, checked, before);
    if (auto const why = contradiction(e, values, checked, tested.infer(e.graph)); !why.empty())
      of.broken = {"what is inferred is so", why};
  } catch (std::exception const&) {
    of.fits = false;
  }
  if (!of.fits || of.broken) return of;

  auto const text = to_text(e.graph);
  auto made = e;
  auto const report = tested.rewrite(made.graph, options);
  auto const once = to_text(made.graph);
  auto const broken = [&](std::string_view law, std::string what) {
    of.broken = {std::string(law), std::move(what), "became\n" + once + short_text(report)};
    return of;
  };
  of.applied = report.applied() != 0;
  of.bounded = !report.notes.empty();
  for (auto const& r : report.rules)
    for (auto const& place : r.refused) of.costly = of.costly || place.condition == "cost";
  if (!report.error.empty()) return broken("a graph is rewritten", report.error);
  if (!of.applied && once != text) return broken("what is refused leaves no trace", {});

  try {
    validity const checked(made);
    if (!checked.wrong().empty()) return broken("every node is valid", checked.wrong());
    auto values = computed(made);
    // A number in place of a constant that is computed is what that is rounded to: below a root, no tolerance is
    // enough.
    auto const as_rounded = [&] {
      return difference(computed(e, true).outputs(), computed(made, true).outputs(), endless);
    };
    if (auto const off = difference(before, values.outputs(), endless);
        numbers && !(off < allowed) && !(as_rounded() < allowed))
      return broken("results stay", "they differ by " + std::to_string(off));
    if (auto const why = contradiction(made, values, checked, tested.infer(made.graph)); !why.empty())
      return broken("what is inferred is so", why);
  } catch (std::exception const& error) {
    return broken("operands fit", error.what());
  }

  // Without filter more is looked at, and a bound reached where it was not.
  auto copy = e.graph;
  auto unfiltered = options;
  unfiltered.filter = of.bounded;
  if (auto const other = tested.rewrite(copy, unfiltered); to_text(copy) != once && (of.bounded || other.notes.empty()))
    return broken("another run, without filter, gives the same graph", to_text(copy));
  copy = made.graph;
  if (auto const more = tested.rewrite(copy, options); more.applied() != 0 && !of.bounded)
    return broken("a second run changes nothing", "then\n" + to_text(copy) + short_text(more));
  return of;
}

/// What a set does is what its rules do alone:
/// - it matches where they do: the joint program has the matches of all programs of one rule, with its filter and
///   without;
/// - with one rule chosen, it makes the same graph as the program of that rule;
/// - what it applies first matches alone, at that node, and comes first of what applies there alone: by benefit, then
///   by the order of the set;
/// - where one rule alone applies, it makes the same graph as that rule.
[[nodiscard]] inline finding set_and_each(example const& e, engine const& set, std::vector<engine> const& alone,
                                          fuse::span<member const> rules, std::size_t chosen) {
  std::vector<place> each;
  for (auto const& one : alone)
    for (auto& p : one.matches(e.graph, false)) each.push_back(std::move(p));
  std::sort(each.begin(), each.end());
  auto const together = set.matches(e.graph, true), unfiltered = set.matches(e.graph, false);
  auto const list = [](std::vector<place> const& all) {
    std::string text;
    for (auto const& p : all) text += p.rule + " at " + std::to_string(p.node) + "\n";
    return text;
  };
  if (together != each)
    return {"a set matches where its rules do", {}, "the set:\n" + list(together) + "each alone:\n" + list(each)};

  if (unfiltered != together)
    return {"a filter hides no match", {}, "with filter:\n" + list(together) + "without:\n" + list(unfiltered)};

  auto const run = [&](engine const& by, fuse::rewrite_options const& options, fuse::rewrite_report& report) {
    auto g = e.graph;
    report = by.rewrite(g, options);
    return to_text(g);
  };
  fuse::rewrite_options options;
  options.near_misses = false;
  fuse::rewrite_report report;
  auto const own = run(alone[chosen], options, report);
  options.only = {std::string(rules[chosen].rule->name)};
  if (auto const one = run(set, options, report); one != own)
    return {"a rule does in a set what it does alone", options.only[0], "in the set\n" + one + "alone\n" + own};

  struct first_applied {
    std::string rule{}, node{};
  };
  auto const first_of = [&](std::vector<std::string> only, std::string& made) {
    first_applied first;
    options.only = std::move(only);
    options.observer.context = &first;
    options.observer.applied = [](void* context, std::string_view rule, std::string_view node) {
      auto& into = *static_cast<first_applied*>(context);
      if (into.rule.empty()) into = {std::string(rule), std::string(node)};
    };
    made = run(set, options, report);
    return first;
  };
  std::string all;
  auto const first = first_of({}, all);
  auto const of_all = report;
  if (first.rule.empty()) return {};
  std::vector<std::string_view> there;  // rules, at the node where one is applied first
  for (auto const& p : each)
    if (fuse::graph_traits<fuse::graph>::name(e.graph, fuse::graph::node{p.node}) == first.node)
      there.push_back(p.rule);
  if (std::find(there.begin(), there.end(), first.rule) == there.end())
    return {"what is applied first matches alone", first.rule + " at " + first.node, list(each)};
  auto const applied_rule =
      std::find_if(rules.begin(), rules.end(), [&](auto const& m) { return m.rule->name == first.rule; });
  for (auto m = rules.begin(); m != rules.end(); ++m) {
    auto const& mine = *m->rule;
    auto const& other = *applied_rule->rule;
    bool const before =
        mine.stage_number == other.stage_number &&
        (mine.benefit_value > other.benefit_value || (mine.benefit_value == other.benefit_value && m < applied_rule));
    if (!before || std::find(there.begin(), there.end(), std::string_view(mine.name)) == there.end()) continue;
    std::string graph;
    if (first_of({std::string(mine.name)}, graph).node == first.node)
      return {"rules are tried in order", first.rule + " at " + first.node + " before " + std::string(mine.name),
              graph};
  }

  std::size_t applied = 0, which = 0;
  bool others = false;
  for (std::size_t i = 0; i < of_all.rules.size(); ++i) {
    auto const& r = of_all.rules[i];
    if (r.applied != 0) ++applied, which = i;
    others = others || (r.applied == 0 && r.matched != 0);
  }
  if (applied != 1 || others || each.front().rule != each.back().rule) return {};
  options.only.clear();
  options.observer = {};
  if (auto const one = run(alone[which], options, report); one != all)
    return {"where one rule applies, the set does as it does", first.rule, "the set\n" + all + "alone\n" + one};
  return {};
}

}  // namespace soundness
