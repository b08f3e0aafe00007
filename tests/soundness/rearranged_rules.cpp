// SPDX-License-Identifier: BSL-1.0
#include "rearrangements.hpp"
#include "trial.hpp"

namespace soundness {

TEST_CASE("rules about where elements lie, on graphs that spell them") {
  static auto const alone = each_alone<graph, layouts::by_hand>();
  trial const all{engine_of<graph, set_of<layouts::by_hand>>, layouts::by_hand, &alone, false, 2};
  check_tally("rearranged by hand", try_all(graphs_to_try(5), all), 100);
}

TEST_CASE("rearrangements that nobody wrote, on graphs that spell them") {
  static auto const alone = layouts::drawn_alone();
  trial const all{engine_of<graph, layouts::drawn_set>, layouts::drawn_members(), &alone, false, 2};
  check_tally("drawn rearrangements", try_all(graphs_to_try(5), all), 100);
}

TEST_CASE("rearrangements that nobody wrote, in another dialect") {
  trial const all{engine_of<second_graph, layouts::drawn_set>, layouts::drawn_members(), nullptr, true, 2};
  check_tally("drawn rearrangements in another dialect", try_all(graphs_to_try(1), all), 100);
}

}  // namespace soundness
