// SPDX-License-Identifier: BSL-1.0
#include "../trial.hpp"

#include <exception>
#include <functional>

#include "../disguise.hpp"
#include "../laws.hpp"
#include "../mutation.hpp"
#include "../shrink.hpp"
#include "../spelling.hpp"

namespace soundness {

namespace {

/// The smallest example that breaks the same law, with the texts of it all.
std::string smallest(example const& e, finding const& broken, std::function<finding(example const&)> const& check) {
  auto const same = [&](example const& candidate) { return check(candidate).law == broken.law; };
  auto const small = same(e) ? shrunk(e, same) : e;
  auto const again = check(small);
  return "the smallest graph:\n" + to_text(small.graph) + again.what + "\n" + again.more + "found in:\n" +
         to_text(e.graph);
}

/// Tries one rule on the graph of a seed. Returns whether all laws hold; else says what is broken, in the smallest
/// graph.
bool try_rule(trial const& in, std::size_t which, std::uint64_t seed, tally& count) {
  auto const& rule = in.members[which];
  std::string const name{rule.rule->name};
  fuse::rewrite_options options;
  // Alone, or among the others of its set.
  if (seed % 5 != 0) options.only = {name};
  options.near_misses = seed % 16 == 1;
  bool plain = false;
  example e{fuse::graph(1)};
  try {
    spelling s(rule, seed, in.second);
    plain = s.plain;
    e = s.made;
    if (in.disguises != 0 && !s.choose.one_in("undisguised", 4)) {
      auto const before = e;
      bool const changed = disguise(e, s.choose).some(1 + s.choose.number("disguises", {0, 1, 2, 3}) % in.disguises);
      if (!changed || !rewritten(e, in.tested, options).fits)
        e = before;
      else
        plain = false;
    }
    mutation change(e, s.choose);
    if (s.looks_through() && s.choose.one_in("reshaped to the same", 8)) change.reshape_to_same();
    if (s.choose.one_in("mutated", 3)) {
      auto const before = e;
      bool const changed = change.any();
      if (!changed || !rewritten(e, in.tested, options).fits)
        e = before;
      else
        plain = false;
    }
  } catch (std::exception const&) {
    ++count.unfit;
    return true;
  }
  auto const check = [&](example const& of) { return rewritten(of, in.tested, options).broken; };
  auto const result = rewritten(e, in.tested, options);
  if (!result.fits) {
    ++count.unfit;
    return true;
  }
  ++count.graphs;
  if (result.applied) ++count.applied;
  if (result.bounded) ++count.bounded;
  auto broken = result.broken;
  std::string text;
  if (broken) text = smallest(e, broken, check);
  bool const spelled = plain && rule.spelled && !options.only.empty();
  if (!broken && spelled && !result.bounded && (result.applied || !result.costly)) {
    ++count.plain;
    if (result.applied)
      ++count.found;
    else  // what must be found is told by the whole graph alone
      broken = {"a spelled pattern is found"}, text = to_text(e.graph);
  }
  if (!broken && in.alone != nullptr && seed % 8 == 3) {
    ++count.compared;
    auto const compare = [&](example const& of) { return set_and_each(of, in.tested, *in.alone, in.members, which); };
    if ((broken = compare(e))) text = smallest(e, broken, compare);
  }
  if (!broken && seed % 48 == 5) {
    auto const explain = [&](example const& of) -> finding {
      auto const why = in.tested.why(of.graph, in.members);
      return why.empty() ? finding{} : finding{"why says what at finds", why};
    };
    if ((broken = explain(e))) text = smallest(e, broken, explain);
  }
  if (!broken) return true;
  UNSCOPED_INFO("seed " << seed << ", rule " << name << ": " << broken.what << "\n" << text);
  CHECK("broken: " + broken.law == "");
  return false;
}

}  // namespace

tally try_all(std::uint64_t graphs, trial const& in, std::uint64_t first_seed) {
  tally count;
  int failures = 0;
  if (auto const* const told = std::getenv("FUSE_SOUNDNESS_SEED"))
    first_seed += static_cast<std::uint64_t>(std::atoll(told));
  for (std::uint64_t seed = first_seed; seed < first_seed + graphs && failures < 5; ++seed)
    if (!try_rule(in, seed % in.members.size(), seed, count)) ++failures;
  return count;
}

void check_tally(std::string const& of, tally const& count, std::uint64_t rarely) {
  CHECK(count.found == count.plain);
  CHECK(count.unfit * 10 <= count.graphs);
  CHECK(count.applied * 4 >= count.graphs);
  CHECK(count.bounded * rarely <= count.graphs);
  if (std::getenv("FUSE_SOUNDNESS_GRAPHS") != nullptr)
    WARN(of << ": " << count.graphs << " graphs, " << count.unfit << " unfit, " << count.applied << " rewritten, "
            << count.found << " of " << count.plain << " found, " << count.compared << " compared, " << count.bounded
            << " bounded");
}

void check_numbers(fuse::span<member const> of) {
  for (auto const& m : of) {
    auto const& right = m.rule->replacement;
    for (std::size_t i = 0; i < right.size; ++i)
      if (right[i].kind == term_kind::attribute && right[i].name == "rule")
        CHECK(member_numbered(static_cast<std::size_t>(right[i].number)).rule == m.rule);
  }
}

}  // namespace soundness
