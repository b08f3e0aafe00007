// SPDX-License-Identifier: BSL-1.0
#include "named_rules.hpp"
#include "trial.hpp"

namespace soundness {

TEST_CASE("the same rules on graphs in another dialect") {
  static auto const alone = each_alone<second_graph, second_members>();
  auto const count =
      try_all(graphs_to_try(14), {engine_of<second_graph, set_of<second_members>>, second_members, &alone, true});
  check_tally("another dialect", count);
  CHECK(count.plain * 4 >= count.graphs);
  CHECK(count.compared * 10 >= count.graphs);
}

}  // namespace soundness
