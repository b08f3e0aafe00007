// SPDX-License-Identifier: BSL-1.0
#include "random_rules.hpp"
#include "trial.hpp"

namespace soundness {

std::vector<member> const& drawn::members() {
  static auto const all = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::vector<member>{{&rule<static_cast<int>(I)>, elements::floats, false}...};
  }
  (std::make_index_sequence<count>{});
  return all;
}

TEST_CASE("rules that nobody wrote, on graphs that spell them") {
  static engine const sets[] = {engine_of<graph, drawn::set<0>>, engine_of<graph, drawn::set<100>>,
                                engine_of<graph, drawn::set<200>>, engine_of<graph, drawn::set<300>>};
  auto const& all = drawn::members();
  auto const graphs = graphs_to_try(26) / 4;
  for (std::size_t i = 0; i < std::size(sets); ++i) {
    fuse::span<member const> const some(all.data() + i * drawn::in_a_set, drawn::in_a_set);
    check_tally("drawn from " + std::to_string(i * drawn::in_a_set), try_all(graphs, {sets[i], some}, 1 + i * graphs));
  }
}

TEST_CASE("the numbers of drawn right sides are those of their rules") { check_numbers(drawn::members()); }

}  // namespace soundness
