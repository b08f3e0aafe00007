// SPDX-License-Identifier: BSL-1.0
#include "named_rules.hpp"
#include "random_rules.hpp"
#include "random_sums.hpp"
#include "trial.hpp"

namespace soundness {

TEST_CASE("rules by hand, on graphs that spell them") {
  static auto const alone = each_alone<graph, members>();
  auto const count = try_all(graphs_to_try(26), {engine_of<graph, set_of<members>>, members, &alone});
  check_tally("by hand", count);
  CHECK(count.plain * 4 >= count.graphs);
  CHECK(count.compared * 10 >= count.graphs);
}

TEST_CASE("the numbers of right sides are those of their rules") {
  auto const check = [](fuse::span<member const> all) {
    for (auto const& m : all) {
      auto const& right = m.rule->replacement;
      for (std::size_t i = 0; i < right.size; ++i)
        if (right[i].kind == term_kind::attribute && right[i].name == "rule")
          CHECK(member_numbered(static_cast<std::size_t>(right[i].number)).rule == m.rule);
    }
  };
  check(members);
  check(second_members);
  check(drawn::members());
  check(sums::members());
}

}  // namespace soundness
