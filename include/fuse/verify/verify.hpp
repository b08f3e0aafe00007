// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/dsl/rule.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/owned_graph_traits.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/report.hpp>
#include <fuse/rewrite/rewrite.hpp>
#include <fuse/verify/edit.hpp>
#include <fuse/verify/judgement.hpp>
#include <fuse/verify/rules_of.hpp>
#include <fuse/verify/sample.hpp>
#include <fuse/verify/shrink.hpp>
#include <fuse/verify/spelling.hpp>
#include <fuse/verify/verification.hpp>

namespace fuse::inline v0 {

/// How a rule is verified.
struct verify_options {
  std::size_t graphs = 200;           ///< to try with each rule
  std::uint64_t seed = 1;             ///< of the first; the others follow
  std::vector<std::string> only{};    ///< names of rules; empty: all
  fuse::target target = target::any;  ///< whom the results are for; any: the standard and the vendor in turn
  bool signed_zeros = false;          ///< a 0 and a -0 are two results
  bool trust_shapes = false;          ///< as in `rewrite_options`: for graphs that tell no shapes
};

namespace detail {

/// A sample as a graph of some type, and all its values.
template <class Graph>
class sample_values {
 public:
  explicit sample_values(sample const& of)
      : typed_(of.graph), known_(typed_), values_(known_.view(), of.feeds, evaluated_values::rounding::none) {}

  [[nodiscard]] bool has(graph::value v) { return held(v) != nullptr; }
  [[nodiscard]] dense const& contents(graph::value v) { return *held(v); }
  [[nodiscard]] element_type type(graph::value v) const { return known_.view().known.type(known_.bound().number(v)); }

  [[nodiscard]] readable<Graph> const& known() const { return known_; }
  /// In double precision.
  [[nodiscard]] evaluated_values& all() { return values_; }

 private:
  dense const* held(graph::value v) { return values_.value(known_.bound().number(v)); }

  Graph typed_;
  readable<Graph> known_;
  evaluated_values values_;
};

/// Tries rules of a program on graphs of one type, which is `graph` in some dialect.
template <class Graph>
class verifier {
 public:
  verifier(program const& rules, verify_options const& options) : rules_(rules, names), options_(options) {}

  void verify(rewrite_rule const& rule, verification& into) {
    std::string const name{rule.name};
    auto& count = into.rules.emplace_back();
    count.name = name;
    refusals_.clear();
    unapplied_.clear();
    std::string unknown;
    // Where no graph was rewritten, some more are tried.
    for (std::uint64_t i = 0; i < options_.graphs || (count.compared == 0 && i < 8 * options_.graphs + 200); ++i) {
      auto const seed = options_.seed + i;
      if (!try_one(rule, seed, into, unknown)) return;
      if (i >= options_.graphs && options_.graphs == 1) break;  // one graph, again
    }
    if (count.applied == 0)
      fail(into, name,
           "it was never applied to " + std::to_string(count.graphs) + " graphs that spell its pattern" +
               (unapplied_.empty() ? "" : "; most often: " + most_frequent(unapplied_)));
    else if (count.compared == 0)
      fail(into, name, "nothing could be compared: " + unknown);
    count.reason = most_frequent(refusals_);
  }

 private:
  struct outcome {
    judgement found;
    bool matched = false, applied = false;
    std::vector<std::string> refusals{};
    fuse::graph after{};
  };

  static void fail(verification& into, std::string const& rule, std::string reason) {
    into.wrong = rule;
    into.reason = std::move(reason);
  }

  [[nodiscard]] outcome rewritten(sample const& of, rewrite_options const& how) {
    sample_values<Graph> before(of);
    return rewritten(of, before, how);
  }
  [[nodiscard]] outcome rewritten(sample const& of, sample_values<Graph>& before, rewrite_options const& how) {
    Graph typed(of.graph);
    rewrite_report report;
    detail::rewrite(rules_, typed, how, report);
    outcome result;
    result.after = typed;
    if (!report.error.empty()) result.found.wrong = "a graph is refused: " + report.error;
    for (auto const& r : report.rules) {
      for (auto const& f : r.refused) result.refusals.push_back(f.reason);
      result.matched = result.matched || r.matched != 0;
    }
    if (report.applied() == 0) return result;
    result.applied = true;
    readable<Graph> const known_after(typed);
    if (known_after.cyclic())
      result.found.wrong = "its result has a cycle";
    else
      result.found =
          graph_comparison(before.known().view(), known_after.view(), of.feeds, {options_.signed_zeros, true})
              .judge(before.all());
    return result;
  }

  bool try_one(rewrite_rule const& rule, std::uint64_t seed, verification& into, std::string& unknown) {
    auto& count = into.rules.back();
    // Shapes that contradict each other are drawn anew.
    std::optional<spelling> drawn;
    for (std::uint64_t attempt = 0; attempt < most_attempts && (!drawn || !drawn->wrong.empty()); ++attempt)
      drawn.emplace(rule, names, seed + attempt * 0x9e3779b97f4a7c15u);
    auto& spelled = *drawn;
    if (!spelled.wrong.empty()) {
      unknown = spelled.wrong;
      ++unapplied_[spelled.wrong];
      return true;
    }
    auto& made = spelled.made;
    bool edited = false;
    if (spelled.choose.one_in("edited", 3)) edited = edit(made, names, spelled.choose).any();
    sample_values<Graph> before(made);
    if (before.known().cyclic()) return true;
    for (auto const v : before.known().view().outputs)
      if (before.all().value(v) == nullptr) {
        if (!edited) unknown = before.all().reason(), ++unapplied_[before.all().reason()];
        return true;
      }
    ++count.graphs;
    rewrite_options how;
    how.only = {std::string(rule.name)};
    how.check = nullptr;  // it would refuse what is to be found
    how.trust_shapes = options_.trust_shapes;
    how.filter = seed % 4 == 0;  // in graphs this small it saves less than it costs
    how.near_misses = count.applied == 0 && count.graphs % 16 == 1;
    how.target = options_.target;
    if (how.target == target::any) how.target = seed % 2 == 0 ? target::standard : target::vendor;
    auto const result = rewritten(made, before, how);
    for (auto const& reason : result.refusals) ++unapplied_[reason];
    if (result.matched && !result.applied && !how.near_misses) {
      ++count.refused;
      for (auto const& reason : result.refusals) ++refusals_[reason];
    }
    if (result.applied) {
      ++count.applied;
      if (edited) ++count.edited;
      count.compared += result.found.compared;
      if (!result.found.unknown.empty()) unknown = result.found.unknown;
    }
    if (result.found.wrong.empty()) return true;
    auto const fails = [&](sample const& of) { return !rewritten(of, how).found.wrong.empty(); };
    auto const small = shrunk<sample_values<Graph>>(made, fails);
    auto const again = rewritten(small, how);
    fail(into, std::string(rule.name), again.found.wrong);
    into.seed = seed;
    into.before = small.graph;
    into.after = again.after;
    for (auto const& [name, contents] : small.feeds) into.inputs.emplace(name, tensor_of(contents));
    return false;
  }

  static tensor tensor_of(dense const& x) {
    auto const numbers =
        x.whole() ? std::vector<double>(x.integers.begin(), x.integers.end()) : std::vector<double>(x.elements);
    return make_tensor(x.type, x.shape, numbers);
  }

  using counts = std::map<std::string, std::size_t>;
  [[nodiscard]] static std::string most_frequent(counts const& of) {
    std::string reason;
    std::size_t most = 0;
    for (auto const& [text, times] : of)
      if (times > most) most = times, reason = text;
    return reason;
  }

  static constexpr auto const& names = dialect_of<Graph>;
  static constexpr std::uint64_t most_attempts = 32;  // to draw a graph whose shapes fit
  compiled_rules const rules_;
  verify_options const& options_;
  counts refusals_{};   // why it was not applied where it matched
  counts unapplied_{};  // and elsewhere
};

}  // namespace detail

/// The same for a program that is at hand already, `rules_of` the set that it was made of.
template <class Graph = graph>
[[nodiscard]] verification verify(program const& compiled, span<rewrite_rule const* const> rules,
                                  verify_options const& options = {}) {
  verification made;
  auto const wanted = [&](rewrite_rule const& rule) {
    bool named = options.only.empty();
    for (auto const& name : options.only) named = named || rule.name == std::string_view(name);
    return named;
  };
  for (auto const& name : options.only) {
    bool known = false;
    for (auto const* rule : rules) known = known || rule->name == std::string_view(name);
    if (!known) return made.wrong = name, made.reason = "there is no rule of this name", made;
  }
  detail::verifier<Graph> run(compiled, options);
  for (auto const* rule : rules)
    if (wanted(*rule) && made) run.verify(*rule, made);
  return made;
}

/// Verifies a rule, or each rule of a set by itself: `REQUIRE(fuse::verify<my_rule>());`.
///
/// Makes graphs that spell the rule's pattern (verify/spelling.hpp says what is drawn), every third of them changed at
/// one place (verify/edit.hpp), rewrites them with the rule alone, and computes both graphs, node by node, on random
/// numbers: in double precision, and in their element types (verify/judgement.hpp). What computes them knows nothing
/// of the rule. A rule is wrong that changes a result by more than rounding; a rule that never applies, or whose graphs
/// cannot be computed, is not verified, which is told in the same way. The graph that shows it is made as small as it
/// gets.
///
/// `Graph` is `fuse::graph`, or derived from it with traits of its own: for rules in another dialect. Deterministic.
/// Complexity: a rewrite and a few evaluations for each graph, of tens of nodes with hundreds of elements.
/// Source of the method: property testing, K. Claessen and J. Hughes: QuickCheck, ICFP 2000.
template <auto const& Rules, class Graph = graph>
[[nodiscard]] verification verify(verify_options const& options = {}) {
  static constexpr auto const& table = detail::dialect_table_of<Graph>();
  if constexpr (detail::require_rules<Rules, table>::met) {
    return verify<Graph>(program_of<Rules, table>, rules_of<Rules>(), options);
  } else {
    return {};
  }
}

}  // namespace fuse::inline v0
