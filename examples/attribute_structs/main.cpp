// SPDX-License-Identifier: BSL-1.0

// The attributes of a node are a struct of its operator's (ir.hpp); Boost.Hana tells fuse their members (adapt.hpp).

#include <iostream>

#include <fuse/fuse.hpp>

#include "adapt.hpp"

namespace sample {
using namespace fuse::dsl;

constexpr auto x = var<"x">;

// Names of attributes are names of members: with "beta" instead of "alpha" this does not compile.
inline constexpr auto plain_relu =
    fuse::rule<"plain-relu">(op<"elu">(x).attr<"alpha">(0)).replace(op<"relu">(x)).at_equal_cost();

inline constexpr auto rules = fuse::rule_set<fuse::rules::norms, plain_relu>;
}  // namespace sample

namespace {

framework::graph build() {
  framework::graph g;
  auto* const x = g.input("x", {2, 3, 4});
  auto* const d = g.add("sub", {x, g.add("mean", {x}, framework::reduce{{2}})});
  auto* const variance = g.add("mean", {g.add("mul", {d, d})}, framework::reduce{});
  auto* const deviation = g.add("sqrt", {g.add("add", {variance, g.constant({}, {1e-5f})})});
  auto* const normed = g.add("mul", {g.add("div", {d, deviation}), g.constant({4}, {1, 2, 3, 4})});
  g.results = {g.add("elu", {g.add("elu", {normed}, framework::elu{0})})};
  return g;
}

void print(framework::graph const& g) {
  for (auto const& n : g.order) {
    std::cout << "  " << n->name << " = " << n->op;
    for (auto const* operand : n->operands) std::cout << ' ' << operand->name;
    if (auto const* norm = std::get_if<framework::norm>(&n->attributes))
      std::cout << " from=" << norm->from << " eps=" << norm->eps;
    std::cout << '\n';
  }
}

}  // namespace

int main() {
  auto graph = build();
  std::cout << "before:\n";
  print(graph);
  auto const report = fuse::rewrite<sample::rules>(graph);
  std::cout << "\nafter:\n";
  print(graph);
  std::cout << '\n' << to_text(report);

  std::cout << '\n';
  fuse::matcher<sample::plain_relu, framework::graph> matcher(graph);
  std::cout << "the elu that is left: " << to_text(matcher.why(graph.results[0])) << '\n';
}
