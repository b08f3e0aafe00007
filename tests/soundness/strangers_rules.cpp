// SPDX-License-Identifier: BSL-1.0
#include "strangers.hpp"
#include "trial.hpp"

namespace soundness {

TEST_CASE("strangers' rules, on graphs that were written to mislead them") {
  static auto const alone = each_alone<graph, strangers::members>();
  trial const all{engine_of<graph, set_of<strangers::members>>, strangers::members, &alone, false, 4};
  check_tally("strangers", try_all(graphs_to_try(6), all), 100);
}

TEST_CASE("strangers' rules in another dialect, on graphs that were written to mislead them") {
  static auto const alone = each_alone<second_graph, strangers::second_members>();
  trial const all{engine_of<second_graph, set_of<strangers::second_members>>, strangers::second_members, &alone, true,
                  4};
  check_tally("strangers in another dialect", try_all(graphs_to_try(3), all), 100);
}

TEST_CASE("rules by hand, on graphs that were written to mislead them") {
  trial const all{engine_of<graph, set_of<members>>, members, nullptr, false, 4};
  check_tally("by hand, disguised", try_all(graphs_to_try(4), all), 100);
}

}  // namespace soundness
