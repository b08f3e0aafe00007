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

/// What rules make of an example.
struct made_graph {
  std::string text{};
  fuse::rewrite_report report{};
  std::string first_rule{}, first_node{};  ///< what was applied first; empty where nothing was
};
[[nodiscard]] inline made_graph made(example const& e, engine const& by, std::vector<std::string> only = {}) {
  made_graph of;
  fuse::rewrite_options options;
  options.near_misses = false;
  options.only = std::move(only);
  options.observer.context = &of;
  options.observer.applied = [](void* context, std::string_view rule, std::string_view node) {
    auto& into = *static_cast<made_graph*>(context);
    if (into.first_rule.empty()) into.first_rule = rule, into.first_node = node;
  };
  auto g = e.graph;
  of.report = by.rewrite(g, options);
  of.text = to_text(g);
  return of;
}

[[nodiscard]] inline std::string to_text(std::vector<place> const& all) {
  std::string text;
  for (auto const& p : all) text += p.rule + " at " + std::to_string(p.node) + "\n";
  return text;
}

/// A set matches where its rules do: the joint program has the matches of all programs of one rule (`each`), with its
/// filter and without.
[[nodiscard]] inline finding matches_as(example const& e, engine const& set, std::vector<place> const& each) {
  auto const together = set.matches(e.graph, true), unfiltered = set.matches(e.graph, false);
  if (together != each)
    return {"a set matches where its rules do", {}, "the set:\n" + to_text(together) + "each alone:\n" + to_text(each)};
  if (unfiltered != together)
    return {"a filter hides no match", {}, "with filter:\n" + to_text(together) + "without:\n" + to_text(unfiltered)};
  return {};
}

/// What a set applies first (`of_all`) matches alone, at that node, and comes first of what applies there alone: by
/// benefit, then by the order of the set.
[[nodiscard]] inline finding tries_in_order(example const& e, engine const& set, fuse::span<member const> rules,
                                            std::vector<place> const& each, made_graph const& of_all) {
  std::vector<std::string_view> there;  // rules that match at that node
  for (auto const& p : each)
    if (fuse::graph_traits<fuse::graph>::name(e.graph, fuse::graph::node{p.node}) == of_all.first_node)
      there.push_back(p.rule);
  auto const matches = [&](std::string_view rule) {
    return std::find(there.begin(), there.end(), rule) != there.end();
  };
  if (!matches(of_all.first_rule))
    return {"what is applied first matches alone", of_all.first_rule + " at " + of_all.first_node, to_text(each)};

  auto const first =
      std::find_if(rules.begin(), rules.end(), [&](auto const& m) { return m.rule->name == of_all.first_rule; });
  for (auto m = rules.begin(); m != rules.end(); ++m) {
    auto const &mine = *m->rule, &other = *first->rule;
    bool const before =
        mine.stage_number == other.stage_number &&
        (mine.benefit_value > other.benefit_value || (mine.benefit_value == other.benefit_value && m < first));
    std::string const name{mine.name};
    if (!before || !matches(name)) continue;
    if (auto const alone = made(e, set, {name}); alone.first_node == of_all.first_node)
      return {"rules are tried in order", of_all.first_rule + " at " + of_all.first_node + " before " + name,
              alone.text};
  }
  return {};
}

/// What a set does is what its rules do alone: it matches where they do; with one of them chosen, or where only one
/// applies, it makes the same graph as the program of that rule; of several it tries the first in order first.
[[nodiscard]] inline finding set_and_each(example const& e, engine const& set, std::vector<engine> const& alone,
                                          fuse::span<member const> rules, std::size_t chosen) {
  std::vector<place> each;
  for (auto const& one : alone)
    for (auto& p : one.matches(e.graph, false)) each.push_back(std::move(p));
  std::sort(each.begin(), each.end());
  if (auto broken = matches_as(e, set, each)) return broken;

  std::string const name{rules[chosen].rule->name};
  auto const own = made(e, alone[chosen]).text;
  if (auto const one = made(e, set, {name}).text; one != own)
    return {"a rule does in a set what it does alone", name, "in the set\n" + one + "alone\n" + own};

  auto const all = made(e, set);
  if (all.first_rule.empty()) return {};
  if (auto broken = tries_in_order(e, set, rules, each, all)) return broken;

  std::size_t applied = 0, which = 0;
  bool others = false;
  for (std::size_t i = 0; i < all.report.rules.size(); ++i) {
    auto const& r = all.report.rules[i];
    if (r.applied != 0) ++applied, which = i;
    others = others || (r.applied == 0 && r.matched != 0);
  }
  if (applied != 1 || others || each.front().rule != each.back().rule) return {};
  if (auto const one = made(e, alone[which]).text; one != all.text)
    return {"where one rule applies, the set does as it does", all.first_rule,
            "the set\n" + all.text + "alone\n" + one};
  return {};
}

}  // namespace soundness
