// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/match/filter/frame_needs.hpp>

namespace match_frame_needs {

using namespace rewriting;
using namespace fuse::dsl;
using fuse::opcode;
using fuse::detail::step;
using needs = fuse::detail::frame_needs::needs;

namespace {

inline constexpr auto x = var<"x">, y = var<"y">, z = var<"z">;

inline constexpr auto one_capture = fuse::rule<"one capture">(x - mean(x)).replace(relu(x));
inline constexpr auto two_captures = fuse::rule<"two captures">(x + y - mean(x)).replace(relu(x));
inline constexpr auto with_rest = fuse::rule<"with rest">(mean(x) + rest<"r">).replace(relu(x));
inline constexpr auto hidden = fuse::rule<"hidden">(x * (relu(y) + z)).replace(relu(x));

inline constexpr auto perhaps_a_product =
    fuse::rule<"perhaps a product">(exp(x) * optional(relu(y)) + z).replace(relu(x)).at_equal_cost();

/// What the first opened sum or product of a rule needs.
template <auto const& Rule>
needs first_needs() {
  auto const& rules = fuse::program_of<Rule>;
  fuse::detail::branch_lists const branches(rules);
  fuse::detail::frame_needs all(rules, branches);
  for (auto const& i : rules.code)
    if (i.code == step::group) return all.of(i);
  FAIL("the rule opens nothing");
  return {};
}

}  // namespace

TEST_CASE("beside one capture, operators say which parts must be opened") {
  CHECK(first_needs<one_capture>() == needs{0, fuse::detail::operator_bit(opcode::mean)});
}

TEST_CASE("two captures or a rest may split any part") {
  CHECK(first_needs<two_captures>() == fuse::detail::frame_needs::all);
  CHECK(first_needs<with_rest>() == fuse::detail::frame_needs::all);
}

TEST_CASE("a sum among factors is looked for at any depth") {
  CHECK(first_needs<hidden>() == needs{fuse::detail::operator_bit(opcode::relu), 0});
}

TEST_CASE("so is what may be a product among addends, or one operator") {
  CHECK(first_needs<perhaps_a_product>() == needs{fuse::detail::operator_bit(opcode::exp), 0});
  for (bool const filter : {false, true}) {
    sketch g;
    auto const product = g.add("Mul", {g.add("Exp", {g.in("x")}), g.add("Relu", {g.in("y")})});
    g.end(g.add("Add", {g.add("Add", {g.in("z"), product}), g.scalar(0.f)}));
    fuse::rewrite_options options;
    options.filter = filter;
    CHECK(applied<perhaps_a_product>(g, options) == 1);
    CHECK(ops(g) == "Relu");
  }
}

TEST_CASE("a part that only one capture can take is not opened") {
  sketch g;
  auto value = g.in("a");
  for (int i = 0; i < 100; ++i) value = g.add("Add", {value, g.in("b" + std::to_string(i))});
  auto const m = g.add("ReduceMean", {value}, {{"axes", {-1}}, {"keepdims", 1}});
  g.end(g.add("Sub", {value, m}));
  CHECK(applied<one_capture>(g) == 1);
  CHECK(ops(g).ends_with("Add Relu"));
}

}  // namespace match_frame_needs
