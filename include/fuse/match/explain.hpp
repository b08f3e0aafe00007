// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/describe.hpp>
#include <fuse/match/machine.hpp>
#include <fuse/program/wants.hpp>
#include <fuse/program/ways.hpp>

namespace fuse::inline v0 {

/// Why a rule does not match at a node: how far it got, and what stood in the way.
struct explanation {
  std::uint16_t rule = 0;
  node_id node = absent;         ///< where matching began
  value_id at = absent;          ///< where it failed
  bool matched = false;          ///< it does match, conditions included
  int score = 0;                 ///< how telling what had matched is; 3 and more is a near miss
  bool other_reduction = false;  ///< there is a reduction at `at`, but not the one that the rule wants
  std::string condition;         ///< what failed, in a few words
  std::string expected, found;   ///< what the rule wants at `at`, what is there
};

namespace detail {

/// Has a machine look for something else for a while.
class looking_for {
 public:
  looking_for(machine& match, search_for what) : match_(match), before_(match.looks_for()) { match_.look_for(what); }
  ~looking_for() { match_.look_for(before_); }
  looking_for(looking_for const&) = delete;
  looking_for& operator=(looking_for const&) = delete;

 private:
  machine& match_;
  search_for before_;
};

/// The most telling failure of one run, of all rules or on the ways of some.
class deepest_failure final : public failure_listener {
 public:
  std::uint16_t at = no_instruction;
  value_id value = absent;
  int score = -1;

  explicit deepest_failure(chosen_rules const* only) : only_(only) {}

  void failed(std::uint16_t instruction, value_id v, int how_telling) override {
    if (how_telling < score) return;
    if (how_telling == score && at != no_instruction) return;
    if (!follows(instruction)) return;
    at = instruction;
    value = v;
    score = how_telling;
  }
  [[nodiscard]] bool follows(std::uint16_t instruction) const override {
    return only_ == nullptr || only_->pass(instruction);
  }

 private:
  chosen_rules const* only_;
};

/// Sees all matches at a node without taking any.
class all_matches final : public machine::acceptor {
 public:
  plain_vector<std::uint16_t> rules;
  bool accept(std::uint16_t rule) override {
    rules.push_back(rule);
    return false;
  }
};

/// The rules of a stage that match at a node, of `only` where that is given.
[[nodiscard]] inline plain_vector<std::uint16_t> matches_at(machine& match, node_id n, int stage,
                                                            chosen_rules const* only) {
  all_matches found;
  match.run(n, stage, found);
  if (only != nullptr) found.rules.erase_if([&](auto rule) { return !only->has(rule); });
  return found.rules;
}

/// The most telling failure there, of those that the machine looks for.
[[nodiscard]] inline deepest_failure failure_at(machine& match, node_id n, int stage, chosen_rules const* only) {
  deepest_failure found(only);
  all_matches matches;
  match.listen(&found);
  match.run(n, stage, matches);
  match.listen(nullptr);
  return found;
}

/// The extent that nobody can prove what `v` is made of for want of, as the end of a sentence; empty where there is
/// none.
template <class Image>
[[nodiscard]] std::string unproven_extent(Image const& image, facts const& known, dialect const& names, value_id v) {
  basic_layouts<Image> all(image, known, names);
  layout made;
  auto below = v;
  for (int i = 0; i < basic_layout_steps<Image>::most_below && below != absent; ++i, below = all.below(below))
    if (!all.read(v, below, made) && all.unproven().count != 0)
      return ", for which nothing proves what becomes of the extent " + known.symbols().text(all.unproven());
  return {};
}

/// Explains one node: whether the rules of a stage match there, and else the most telling failure, of `only` where that
/// is given. What fails is told by a search that looks at more than matching does, so that it can tell; whether
/// something matches, by the search that matching is. Costs two matches.
template <class Image>
[[nodiscard]] explanation explain(machine& match, Image const& image, facts const& known, dialect const& names,
                                  node_id n, int stage, chosen_rules const* only = nullptr) {
  explanation best;
  best.node = n;
  best.score = -1;
  auto const& rules = match.rules();
  if (match.has_entry(n, stage)) {
    if (auto const matching = matches_at(match, n, stage, only); !matching.empty()) {
      best.matched = true;
      best.rule = matching.front();
      best.score = 1 << 20;
      return best;
    }
    looking_for const all(match, search_for::failures);
    auto const failure = failure_at(match, n, stage, only);
    if (failure.at == no_instruction) return best;
    auto const& i = rules.code[failure.at];
    best.rule = only != nullptr ? only->rule_after(failure.at) : rule_after(rules, failure.at);
    best.at = failure.value;
    best.score = failure.score;
    auto const there = best.at == absent ? absent : image.producer(best.at);
    best.other_reduction =
        i.code == step::reduction && there != absent && info(op_of(image, there)).shape == shape_function::reduce;
    auto wanted = requirement_of(rules, i, rules.rules[best.rule], names,
                                 i.is_of_frame() ? match.found().opened(i.a).asked.kind : op_group::none);
    best.condition = std::move(wanted.condition);
    best.expected = std::move(wanted.expected);
    best.found = i.code == step::parameter || i.code == step::element
                     ? describe_parameter(image, known, names, failure.value, rules.parameter_names[i.op])
                     : describe(image, known, failure.value);
    if (i.code == step::rearranged) best.found += unproven_extent(image, known, names, failure.value);
    if (i.is_of_frame() && match.found().opened(i.a).bounded)
      best.found += ", of more than " + std::to_string(opened_group::capacity) +
                    " parts with the operators between them: the rest stayed closed";
  }
  return best;
}

/// The same over all stages.
template <class Image>
[[nodiscard]] explanation explain(machine& match, Image const& image, facts const& known, dialect const& names,
                                  node_id n, chosen_rules const* only = nullptr) {
  explanation best;
  best.node = n;
  best.score = -1;
  for (int stage = 0; stage < match.rules().stages; ++stage)
    if (auto found = explain(match, image, known, names, n, stage, only); found.score > best.score)
      best = std::move(found);
  return best;
}

#ifdef FUSE_REWRITE_SEPARATE
extern template explanation explain(machine&, graph_image const&, facts const&, dialect const&, node_id,
                                    chosen_rules const*);
#endif

}  // namespace detail

/// "expected a square among the factors, found Mul 'x3'".
[[nodiscard]] inline std::string to_text(explanation const& e) {
  if (e.matched) return "matches";
  if (e.expected.empty()) return "no rule begins at an operator like this one";
  return "expected " + e.expected + ", found " + e.found;
}

}  // namespace fuse::inline v0
