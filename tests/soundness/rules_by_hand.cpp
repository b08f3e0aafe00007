// SPDX-License-Identifier: BSL-1.0
#include "named_rules.hpp"
#include "trial.hpp"

namespace soundness {

TEST_CASE("rules by hand, on graphs that spell them") {
  static auto const alone = each_alone<graph, members>();
  auto const count = try_all(graphs_to_try(26), {engine_of<graph, set_of<members>>, members, &alone});
  check_tally("by hand", count);
  CHECK(count.plain * 4 >= count.graphs);
  CHECK(count.compared * 10 >= count.graphs);
}

TEST_CASE("the numbers of right sides by hand are those of their rules") {
  check_numbers(members);
  check_numbers(second_members);
}

}  // namespace soundness
