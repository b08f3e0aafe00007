// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <second_dialect.hpp>

#include "all.hpp"
#include "summary.hpp"

namespace reports {

namespace {

using place = std::pair<std::string_view, std::string>;  // a rule and the name of a node

// Where rules match.
template <auto const& Rules, class G>
std::set<place> matches_of(G const& g, bool filter) {
  std::set<place> found;
  fuse::matcher<Rules, G> search(g);
  search.filter(filter);
  for (auto const& m : search.all()) found.emplace(m.rule(), fuse::graph_traits<G>::name(g, m.root()));
  return found;
}
template <class G>
std::set<place> matches(G const& g, bool filter = true) {
  return matches_of<fuse::rules::norms>(g, filter);
}
// The same by a program for each rule, which has no trie, and without filter.
template <class G, auto const&... Members>
std::set<place> matches_one_by_one(G const& g, fuse::rule_set_of<Members...>) {
  std::set<place> found;
  (found.merge(matches_of<Members>(g, false)), ...);
  return found;
}

// Of the others, the report also tells where a part was rewritten since.
bool quiet(std::string_view rule) {
  for (auto const& known : fuse::program_of<fuse::rules::norms>.rules)
    if (known.name == rule) return known.silent;
  return false;
}

// Returns how many refusals of matches there were.
template <class G>
std::size_t check(G g, fuse::target target) {
  fuse::rewrite_options options;
  options.target = target;
  auto const before = to_text(g);
  auto const at_first = matches(g);
  bool const the_same = at_first == matches(g, false) && at_first == matches_one_by_one(g, fuse::rules::norms);
  auto const report = fuse::rewrite<fuse::rules::norms>(g, options);
  CAPTURE(before, to_text(g), to_text(report));
  CHECK(the_same);
  CHECK(corpus::miscounted(report) == "");
  auto const left = matches(g);
  std::set<place> told;
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused)
      if (corpus::is_requirement(r.condition)) told.emplace(rule.name, r.node);
  for (auto const& [rule, node] : left) {
    INFO(rule << " matches at " << node << " and nothing is told of it");
    CHECK(told.count({rule, node}) == 1);
  }
  for (auto const& [rule, node] : told) {
    INFO(rule << " is told to match at " << node);
    CHECK((!quiet(rule) || left.count({rule, node}) == 1));
  }
  return told.size();
}

template <class G>
std::size_t check_all(fuse::target target) {
  std::size_t told = 0;
  auto const add = [&](auto const& g, auto const&...) {
    told += check(g, target);
    return true;
  };
  corpus::all_spellings<G>(add);
  corpus::all_lookalikes<G>(add);
  return told;
}

}  // namespace

TEST_CASE("what matched was applied, or is refused with a reason, as the graph is left: ONNX's dialect") {
  CHECK(check_all<fuse::graph>(fuse::target::standard) > 20);
  CHECK(check_all<fuse::graph>(fuse::target::onnxruntime) > 20);
}

TEST_CASE("what matched was applied, or is refused with a reason, as the graph is left: another dialect") {
  CHECK(check_all<second::graph>(fuse::target::standard) > 20);
}

}  // namespace reports
