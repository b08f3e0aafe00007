// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/program/ways.hpp>
#include <fuse/rules/norms.hpp>

namespace program_ways {

using fuse::detail::no_instruction;
using fuse::detail::step;

namespace {

/// The rules that accept behind an instruction, as the machine goes: all that follows before what is tried else.
std::vector<std::uint16_t> accepted_after(fuse::program const& rules, std::uint16_t at) {
  std::vector<std::uint16_t> accepted;
  std::vector<bool> seen(rules.code.size(), false);
  std::vector<std::uint16_t> waiting{at};
  while (!waiting.empty()) {
    auto const pc = waiting.back();
    waiting.pop_back();
    if (pc == no_instruction || seen[pc]) continue;
    seen[pc] = true;
    auto const& i = rules.code[pc];
    if (i.code == step::accept) accepted.push_back(i.op);
    if (i.code == step::fork) waiting.push_back(i.other);
    waiting.push_back(i.next);
  }
  return accepted;
}

}  // namespace

TEST_CASE("an instruction is on the way of the chosen rules that accept after it") {
  static constexpr fuse::program rules = fuse::program_of<fuse::rules::norms>;
  std::mt19937 random(11);
  for (unsigned one_in : {1u, 2u, 4u, 1000u}) {
    std::vector<bool> chosen(rules.rules.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = random() % one_in == 0;
    fuse::detail::chosen_rules const ways(rules, [&](std::size_t rule) { return chosen[rule]; });
    for (std::uint16_t pc = 0; pc < rules.code.size(); ++pc) {
      auto const accepted = accepted_after(rules, pc);
      auto const first = std::find_if(accepted.begin(), accepted.end(), [&](auto rule) { return chosen[rule]; });
      CAPTURE(one_in, pc);
      REQUIRE(ways.pass(pc) == (first != accepted.end()));
      if (first == accepted.end()) continue;
      REQUIRE(ways.rule_after(pc) == *first);
      REQUIRE(ways.has(*first));
    }
  }
}

}  // namespace program_ways
