// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/program/ways.hpp>
#include <fuse/rewrite/counted_users.hpp>
#include <fuse/rules/norms.hpp>

namespace program_ways {

using namespace fuse::dsl;
using fuse::opcode;
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

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto of_matmul = fuse::rule<"of matmul">(relu(matmul(x, w).users(2))).replace(tanh(x));
constexpr auto of_sum = fuse::rule<"of sum">(relu((x + w).users(1))).replace(tanh(x));
constexpr auto of_either =
    fuse::rule<"of either">(relu(either(sigmoid(x), exp(x)).users(1))).replace(tanh(x)).at_equal_cost();
constexpr auto of_none = fuse::rule<"of none">(relu(matmul(x, w))).replace(tanh(w));
constexpr auto counting = fuse::rule_set<of_matmul, of_sum, of_either, of_none>;

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
      REQUIRE(rule < chosen.size());
      REQUIRE((chosen[rule] && accepted[rule] && ways.has(rule)));
    }
  }
}

TEST_CASE("of which operators a rule counts the users") {
  static constexpr fuse::program rules = fuse::program_of<counting>;
  fuse::detail::counted_users const counts(rules);
  CHECK(counts[0].has(opcode::matmul));
  CHECK_FALSE(counts[0].has(opcode::sigmoid));
  for (auto op : {opcode::add, opcode::sub, opcode::neg, opcode::sigmoid})
    CHECK(counts[1].has(op));  // of a sum: of any
  CHECK(counts[2].has(opcode::sigmoid));
  CHECK(counts[2].has(opcode::exp));
  CHECK_FALSE(counts[2].has(opcode::matmul));
  CHECK(counts[3].empty());
}

}  // namespace program_ways
