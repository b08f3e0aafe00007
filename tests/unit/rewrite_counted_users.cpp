// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <fuse/fuse.hpp>
#include <fuse/rewrite/counted_users.hpp>

namespace rewrite_counted_users {

using namespace fuse::dsl;
using fuse::opcode;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto of_matmul = fuse::rule<"of matmul">(relu(matmul(x, w).users(2))).replace(tanh(x));
constexpr auto of_sum = fuse::rule<"of sum">(relu((x + w).users(1))).replace(tanh(x));
constexpr auto of_either =
    fuse::rule<"of either">(relu(either(sigmoid(x), exp(x)).users(1))).replace(tanh(x)).at_equal_cost();
constexpr auto of_none = fuse::rule<"of none">(relu(matmul(x, w))).replace(tanh(w));
constexpr auto counting = fuse::rule_set<of_matmul, of_sum, of_either, of_none>;

}  // namespace

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

}  // namespace rewrite_counted_users
