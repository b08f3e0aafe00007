// SPDX-License-Identifier: BSL-1.0
#include <fuse/match/filter/operator_sets.hpp>

#include "rewriting.hpp"

namespace match_operator_sets {

using namespace rewriting;
using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
inline constexpr auto product =
    fuse::rule<"product">(exp(x) * exp(y)).through<"Identity">().replace(exp(x + y)).at_equal_cost();
}  // namespace

TEST_CASE("what a Sum of one operand adds stands in a product around it") {
  for (auto const alone : {"Sum", "Max", "Min", "Mean"})
    for (bool const filter : {false, true}) {
      CAPTURE(alone, filter);
      sketch g;
      auto const a = g.add(alone, {g.add("Exp", {g.in("a")})}), b = g.add(alone, {g.add("Exp", {g.in("b")})});
      g.end(g.add("Mul", {a, b}));
      fuse::rewrite_options options;
      options.filter = filter;
      CHECK(applied<product>(g, options) == 1);
      CHECK(ops(g) == "Add Exp");
    }
}

}  // namespace match_operator_sets
