// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <catch.hpp>

#include <cstdint>
#include <type_traits>

#include <fuse/graph/graph.hpp>
#include <sampled.hpp>

#include "lookalike_list.hpp"
#include "spelling.hpp"

namespace corpus {

/// How many there are, for tests to hold the number that they have compared to.
inline constexpr int spellings = 600 / static_cast<int>(one_case_in);
inline constexpr int lookalikes_in_onnx = 213, lookalikes_in_second = 205;

template <class G>
inline constexpr bool is_second = !std::is_same_v<G, fuse::graph>;

/// Calls `compare(graph, spelling, seed)` for each seed; returns how often it was true.
template <class G, class Compare>
int all_spellings(Compare const& compare, int count = spellings) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    CAPTURE(seed);
    G g(spelling::version(seed, is_second<G>));
    spelling const spelled(g, is_second<G>, seed);
    compared += compare(g, spelled, seed) ? 1 : 0;
  }
  return compared;
}

/// Calls `compare(graph)` for each look-alike of each norm; returns how often it was true.
template <class G, class Compare>
int all_lookalikes(Compare const& compare) {
  int compared = 0;
  for (auto const& look : lookalike_list().all)
    for (bool const layer : {true, false}) {
      if (!concerns(look, layer, is_second<G>)) continue;
      CAPTURE(look.name, layer);
      G g(is_second<G> ? 1 : look.version);
      plain_norm n(g, is_second<G>, layer, look.shape);
      look.change(n);
      n.write();
      compared += compare(g) ? 1 : 0;
    }
  return compared;
}

}  // namespace corpus
