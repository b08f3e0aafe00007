// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/rules/all.hpp>
#include <fuse/verify.hpp>

#include "../sampled.hpp"
#include "../second_dialect.hpp"

// The rules that come with fuse.
namespace bundled {

using fuse::rules::all;

TEST_CASE("every bundled rule is right on a thousand graphs") {
  constexpr std::size_t tried = one_case_in == 1 ? 1000 : 50;
  for (auto const* rule : fuse::rules_of<all>()) {
    auto const v = fuse::verify<all>({.graphs = tried, .only = {std::string(std::string_view(rule->name))}});
    INFO(v);
    CHECK(v);
    REQUIRE(v.rules.size() == 1);
    CHECK(v.rules[0].graphs >= tried * 7 / 10);
    CHECK(v.rules[0].applied >= tried / 60);
    CHECK(v.rules[0].edited >= tried / 500);
    CHECK(v.rules[0].compared >= tried / 25);
  }
}

// Counts where a search goes no further, and takes no match.
struct dead_ends final : fuse::detail::failure_listener, fuse::detail::match_acceptor {
  std::size_t count = 0;
  void failed(std::uint16_t, fuse::value_id, int) override { ++count; }
  bool accept(std::uint16_t) override { return false; }
};

// In sums and products of many parts and in graphs of the operators that rules are made of, each of which reads some of
// the last values. All rules together have at most 23 dead ends for a node there; a rule that tries every way to take
// some terms of a sum has thousands.
TEST_CASE("bundled rules do not search long in vain") {
  std::mt19937 random(18);
  auto const below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  for (int trial = 0; trial < 40; ++trial) {
    fuse::graph g(17);
    auto const x = g.input("x", fuse::element_type::float32, {8, 8});
    float const row[] = {1, 2, 3, 4, 5, 6, 7, 8};
    auto const bias = g.constant(fuse::make_tensor({8}, fuse::span<float const>(row)));
    std::vector<fuse::graph::value> values{x, g.scalar(0.5f), bias};
    auto const recent = [&] { return values[values.size() - 1 - below(std::min<std::size_t>(values.size(), 16))]; };
    for (int i = 0; i < 60; ++i) {
      if (trial == 0) values.push_back(g.add("Add", {values.back(), bias}));
      if (trial == 1) values.push_back(g.add("Add", {values.back(), g.add("MatMul", {x, x})}));
      if (trial == 2) values.push_back(g.add("Mul", {values.back(), g.add("Sigmoid", {values.back()})}));
      if (trial < 3) continue;
      constexpr char const* unary[] = {"Relu", "Sigmoid", "Tanh", "Softplus", "Exp", "Erf", "Sqrt", "Neg", "Transpose"};
      constexpr char const* binary[] = {"MatMul", "Mul", "Add", "Min", "Max", "Sub", "Div"};
      values.push_back(below(2) == 0 ? g.add(unary[below(9)], {recent()})
                                     : g.add(binary[below(7)], {recent(), recent()}));
    }
    g.output(values.back(), "y");
    constexpr auto const& names = fuse::dialect_of<fuse::graph>;
    fuse::graph_binding<fuse::graph const> const bound(g, fuse::names_in(names), names.newest);
    fuse::detail::facts known(bound.image, names);
    known.run();
    fuse::detail::filter_tables const tables(fuse::program_of<all>, names);
    fuse::detail::machine machine(tables, bound.image, known, names);
    dead_ends met;
    machine.listen(&met);
    machine.run(met);
    CAPTURE(trial, met.count);
    CHECK(met.count <= 50 * std::size_t{bound.image.node_count()});
  }
}

TEST_CASE("bundled rules are rules of any dialect") {
  fuse::program const elsewhere = fuse::program_of<all, second::dialect>;
  CHECK(elsewhere.rules.size() == fuse::rules_of<all>().size());
}

TEST_CASE("every rule that a header of rules/ names is among them") {
  std::set<std::string> tested, named;
  auto const rules = fuse::rules_of<all>();
  for (auto const* rule : rules) tested.emplace(std::string_view(rule->name));
  CHECK(tested.size() == rules.size());
  std::regex const name("rule<\"([^\"]+)\">");
  for (auto const& file : std::filesystem::directory_iterator(FUSE_TEST_MODELS "/../../include/fuse/rules")) {
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    auto const content = text.str();
    for (std::sregex_iterator at(content.begin(), content.end(), name), end; at != end; ++at) named.insert((*at)[1]);
  }
  CHECK(named.size() >= 50);
  CHECK(tested == named);
}

}  // namespace bundled
