// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/match/group_opener.hpp>

namespace match_group_opener {

using namespace rewriting;
using fuse::op_group;
using fuse::detail::opened_group;
using needs = fuse::detail::frame_needs::needs;

namespace {

/// The leaves of a value's sum or product, "a^1 b^-1".
std::string leaves(graph const& made, graph::value v, op_group kind, bool* negative = nullptr,
                   needs const& wanted = fuse::detail::frame_needs::all) {
  static constexpr auto const& names = fuse::dialect_of<graph>;
  graph g = made;
  g.output(v);
  fuse::graph_binding<graph const> bound(g, fuse::names_in(names), names.newest);
  fuse::detail::facts known(bound.image, names);
  known.run();
  opened_group opened{};
  auto const at = bound.number(v);
  auto const& rules = fuse::program_of<fuse::rules::norms>;
  fuse::detail::operator_meanings const means(rules);
  fuse::detail::operator_sets const operators(means, bound.image, known);
  fuse::detail::congruence congruent(bound.image, known, names);
  fuse::detail::group_opener(rules, bound.image, known, operators, congruent)
      .open(opened, {{at}, kind, 0, 0, bound.image.node(bound.image.producer(at)).region, wanted});
  if (negative != nullptr) *negative = opened.negative();
  std::string all;
  for (std::uint8_t i = 0; i < opened.count; ++i)
    if (opened.parts[i].leaf) {
      auto const weight = opened.parts[i].weight;
      all += (all.empty() ? "" : " ") + bound.image.source->value_name(opened.parts[i].value) + "^" +
             (weight == 0.5    ? "1/2"
              : weight == -0.5 ? "-1/2"
                               : std::to_string(static_cast<int>(weight)));
    }
  return all;
}

}  // namespace

TEST_CASE("a product opens into factors with exponents") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  CHECK(leaves(g, g.add("Mul", {a, b}), op_group::product) == "a^1 b^1");
  CHECK(leaves(g, g.add("Div", {a, b}), op_group::product) == "a^1 b^-1");
  CHECK(leaves(g, g.add("Div", {a, g.add("Div", {b, a})}), op_group::product) == "a^1 b^-1 a^1");
  CHECK(leaves(g, g.add("Mul", {a, g.add("Reciprocal", {g.add("Sqrt", {b})})}), op_group::product) == "a^1 b^-1/2");
  CHECK(leaves(g, g.add("Pow", {a, g.scalar(3.0f)}), op_group::product) == "a^3");
  CHECK(leaves(g, g.add("Div", {g.scalar(1.0f), g.add("Sqrt", {b})}), op_group::product) == "b^-1/2");
}

TEST_CASE("a sum opens into addends with signs") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  CHECK(leaves(g, g.add("Add", {a, b}), op_group::sum) == "a^1 b^1");
  CHECK(leaves(g, g.add("Sub", {a, g.add("Sub", {b, a})}), op_group::sum) == "a^1 b^-1 a^1");
  CHECK(leaves(g, g.add("Add", {a, g.add("Neg", {b})}), op_group::sum) == "a^1 b^-1");
  CHECK(leaves(g, g.add("Add", {a, g.add("Mul", {g.scalar(-1.0f), b})}), op_group::sum) == "a^1 b^-1");
  CHECK(leaves(g, g.add("Add", {a, g.scalar(0.0f)}), op_group::sum) == "a^1");
}

TEST_CASE("a negation under a product is its sign") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  bool negative = false;
  CHECK(leaves(g, g.add("Mul", {g.add("Neg", {a}), b}), op_group::product, &negative) == "a^1 b^1");
  CHECK(negative);
  CHECK(leaves(g, g.add("Mul", {g.add("Neg", {a}), g.add("Neg", {b})}), op_group::product, &negative) == "a^1 b^1");
  CHECK_FALSE(negative);
}

TEST_CASE("what is not defined alike on both sides stays closed") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  // sqrt(a b) is not sqrt(a) sqrt(b) where both are negative; (a^2)^(1/2) is not a.
  CHECK(leaves(g, g.add("Mul", {b, g.add("Sqrt", {g.add("Mul", {a, b})})}), op_group::product).find("a^1/2") ==
        std::string::npos);
  CHECK(leaves(g, g.add("Sqrt", {g.add("Pow", {a, g.scalar(2.0f)})}), op_group::product) != "a^1");
}

TEST_CASE("another group stays closed") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  auto const s = g.add("Add", {a, b});
  CHECK(leaves(g, g.add("Mul", {s, b}), op_group::product) == "%" + std::to_string(s.id) + "^1 b^1");
}

TEST_CASE("parts that have none of the operators that are looked for stay whole, but for what may be left out") {
  sketch g;
  auto const a = g.in("a"), b = g.in("b");
  auto const mean = g.add("ReduceMean", {a}, {{"axes", {-1}}, {"keepdims", 1}});
  needs const means{0, fuse::detail::operator_bit(fuse::opcode::mean)};
  auto const sum = g.add("Add", {a, b});
  auto const open = [&](graph::value v) { return leaves(g, v, op_group::sum, nullptr, means); };
  CHECK(open(g.add("Sub", {sum, b})) == "%" + std::to_string(sum.id) + "^1 b^-1");
  CHECK(open(g.add("Sub", {g.add("Add", {a, mean}), b})).starts_with("a^1 "));
  CHECK(open(g.add("Sub", {g.add("Add", {a, g.scalar(0.0f)}), b})) == "a^1 b^-1");
  CHECK(open(g.add("Sub", {g.add("Neg", {a}), b})) == "a^-1 b^-1");
}

}  // namespace match_group_opener
