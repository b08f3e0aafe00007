// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <sampled.hpp>

#include "engine.hpp"

namespace soundness {

/// How many graphs were tried, and what became of them.
struct tally {
  std::size_t graphs = 0, unfit = 0, applied = 0, plain = 0, found = 0, bounded = 0, compared = 0;
};

/// What a trial is made of.
struct trial {
  engine const& tested;
  fuse::span<member const> members;            ///< the rules of `tested`
  std::vector<engine> const* alone = nullptr;  ///< each of them, where they are compared
  bool second = false;
  int disguises = 0;  ///< behind how many nodes of most graphs something is written that may look like nothing
};

/// Of a test that takes so many of a hundred graphs: as many as FUSE_SOUNDNESS_GRAPHS says for all, or what takes some
/// seconds.
[[nodiscard]] inline std::uint64_t graphs_to_try(std::uint64_t of_a_hundred) {
  auto const* const told = std::getenv("FUSE_SOUNDNESS_GRAPHS");
  constexpr std::uint64_t usual = one_case_in == 1 ? 20'000 : 1'000;
  return (told == nullptr ? usual : static_cast<std::uint64_t>(std::atoll(told))) * of_a_hundred / 100;
}

/// Tries as many graphs, of seeds from `first_seed` on (FUSE_SOUNDNESS_SEED further: so many that nobody tried before),
/// each with one of the rules; what breaks a law is told in the smallest graph. Stops after some failures.
[[nodiscard]] tally try_all(std::uint64_t graphs, trial const& in, std::uint64_t first_seed = 1);

/// That the trial tried something, and how much; told where the number of graphs was asked for. At most one graph of
/// `rarely` reaches a bound.
void check_tally(std::string const& of, tally const& count, std::uint64_t rarely = 1000);

/// That the number of a rule, where a right side says it, is that of the rule.
void check_numbers(fuse::span<member const> of);

}  // namespace soundness
