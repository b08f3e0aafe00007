// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace program_program {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto first = fuse::rule<"first">(relu(tanh(exp(matmul(x, w))))).replace(matmul(x, w));
constexpr auto second = fuse::rule<"second">(relu(tanh(exp(abs(x))))).replace(abs(x));
constexpr auto other = fuse::rule<"other">(erf(tanh(exp(abs(x))))).replace(abs(x));
constexpr auto again = fuse::rule<"again">(relu(tanh(exp(matmul(x, w))))).where(rank<"x">(2)).replace(matmul(x, w));

constexpr auto alike = fuse::rule_set<first, second>;
constexpr auto unlike = fuse::rule_set<first, other>;
constexpr auto twins = fuse::rule_set<again, first>;

constexpr std::size_t size(fuse::program const& p) { return p.code.size(); }

}  // namespace

TEST_CASE("rules that begin alike share their first instructions") {
  constexpr auto one = size(fuse::program_of<first>), two = size(fuse::program_of<second>);
  // relu, tanh, exp are shared; one fork is added.
  CHECK(size(fuse::program_of<alike>) == one + two - 3 + 1);
  CHECK(size(fuse::program_of<unlike>) == one + size(fuse::program_of<other>));
}

TEST_CASE("rules of one pattern share all of it but their conditions and ends") {
  CHECK(size(fuse::program_of<twins>) == size(fuse::program_of<again>) + 2);  // a fork and an accept
}

TEST_CASE("the table of roots has one entry per operator that a rule may begin with") {
  auto const& p = fuse::program_of<alike>;
  REQUIRE(p.entries.size() == 1);
  CHECK(p.entries[0].tag == static_cast<std::uint16_t>(fuse::opcode::relu));
  CHECK(fuse::program_of<unlike>.entries.size() == 2);
}

TEST_CASE("a merged program finds what each of its rules finds") {
  for (auto [inner, name] : {std::pair{"MatMul", "first"}, {"Abs", "second"}}) {
    sketch g;
    auto const a = g.in("a", {8, 8});
    auto const v = std::string_view(inner) == "Abs" ? g.add("Abs", {a}) : g.add("MatMul", {a, a});
    g.end(g.add("Relu", {g.add("Tanh", {g.add("Exp", {v})})}));
    auto const report = fuse::rewrite<alike>(g);
    REQUIRE(report.rule(name) != nullptr);
    CHECK(report.rule(name)->applied == 1);
    CHECK(report.applied() == 1);
  }
}

TEST_CASE("a program is a constant") {
  static constexpr fuse::program p = fuse::program_of<alike>;
  static_assert(p.rules.size() == 2 && p.rules[0].name == "first" && p.stages == 1);
  CHECK(p.rules[1].name == "second");
}

}  // namespace program_program
