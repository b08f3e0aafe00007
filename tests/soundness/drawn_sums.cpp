// SPDX-License-Identifier: BSL-1.0
#include "random_sums.hpp"
#include "trial.hpp"

namespace soundness {

std::vector<member> const& sums::members() {
  static auto const all = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::vector<member>{{&rule<static_cast<int>(I)>, elements::floats, true}...};
  }
  (std::make_index_sequence<count>{});
  return all;
}

// (Eight terms of several factors, each of which may be a sum, are more parts than are opened, now and then.)
constexpr std::uint64_t rarely = 100;

TEST_CASE("sums and products of like terms, on graphs that spell them") {
  auto const count = try_all(graphs_to_try(6), {engine_of<graph, sums::set>, sums::members()});
  check_tally("drawn sums", count, rarely);
  CHECK(count.plain * 10 >= count.graphs);
}

TEST_CASE("the same in another dialect") {
  auto const count = try_all(graphs_to_try(4), {engine_of<second_graph, sums::set>, sums::members(), nullptr, true});
  check_tally("drawn sums in another dialect", count, rarely);
}

TEST_CASE("the numbers of right sides of sums are those of their rules") { check_numbers(sums::members()); }

}  // namespace soundness
