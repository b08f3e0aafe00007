// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

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

// By definition: the rules that accept somewhere after an instruction.
std::vector<bool> accepted_after(fuse::program const& rules, std::uint16_t at) {
  std::vector<bool> accepted(rules.rules.size(), false), seen(rules.code.size(), false);
  std::vector<std::uint16_t> waiting{at};
  while (!waiting.empty()) {
    auto const pc = waiting.back();
    waiting.pop_back();
    if (pc == no_instruction || seen[pc]) continue;
    seen[pc] = true;
    auto const& i = rules.code[pc];
    if (i.code == step::accept) accepted[i.op] = true;
    waiting.push_back(i.next);
    if (i.code == step::fork) waiting.push_back(i.other);
  }
  return accepted;
}

/// The first chosen rule that accepts, as the machine goes: all that follows before what is tried else.
std::size_t first_after(fuse::program const& rules, std::uint16_t at, std::vector<bool> const& chosen) {
  std::vector<bool> seen(rules.code.size(), false);
  std::vector<std::uint16_t> waiting{at};
  while (!waiting.empty()) {
    auto const pc = waiting.back();
    waiting.pop_back();
    if (pc == no_instruction || seen[pc]) continue;
    seen[pc] = true;
    auto const& i = rules.code[pc];
    if (i.code == step::accept && chosen[i.op]) return i.op;
    if (i.code == step::fork) waiting.push_back(i.other);
    waiting.push_back(i.next);
  }
  return chosen.size();
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
      bool any = false;
      for (std::size_t rule = 0; rule < chosen.size(); ++rule) any = any || (accepted[rule] && chosen[rule]);
      CAPTURE(one_in, pc);
      REQUIRE(ways.pass(pc) == any);
      if (!any) continue;
      auto const rule = ways.rule_after(pc);
      REQUIRE(rule == first_after(rules, pc, chosen));
      REQUIRE(ways.has(rule));
    }
  }
}

}  // namespace program_ways
