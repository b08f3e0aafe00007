// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/verify.hpp>

#include "../sampled.hpp"
#include "strangers.hpp"
#include "wrong_rules.hpp"

/// A graph whose nodes and values have no shapes.
struct shapeless : fuse::graph {
  using graph::graph;
  explicit shapeless(graph const& from) : graph(from) {}
};
template <>
struct fuse::graph_traits<shapeless> : fuse::graph_traits<fuse::graph> {
  static bool shape(shapeless const&, value, std::vector<fuse::dimension>&) = delete;
};

// That a verification can fail, and what it tells then; and that it fails for nothing that is right.
namespace rejected {

template <auto const& Set>
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (auto const* rule : fuse::rules_of<Set>()) all.emplace_back(std::string_view(rule->name));
  return all;
}

template <auto const& Wrong>
void reject_all(std::size_t least) {
  auto const all = names<Wrong>();
  CHECK(all.size() >= least);
  for (auto const& name : all) {
    auto const v = fuse::verify<Wrong>({.graphs = 100, .only = {name}});
    INFO(name << "\n" << v);
    CHECK_FALSE(v);
    CHECK(v.wrong == name);
    REQUIRE(v.seed != 0);
    CHECK(v.seed <= 100);
    REQUIRE(v.inputs.size() == v.before.inputs().size());
    CHECK(v.before.node_count() >= 1);
    CHECK(v.before.node_count() <= 24);
    auto const text = to_text(v);
    CHECK(text.find("rule '" + name + "': element ") == 0);
    CHECK(text.find("seed " + std::to_string(v.seed)) != std::string::npos);
    CHECK(text.find("output ") != std::string::npos);
    for (auto const& [input, contents] : v.inputs) CHECK(text.find("  " + input + " = ") != std::string::npos);
  }
}

TEST_CASE("every wrong rule is rejected within 100 graphs, by an input that is told") {
  reject_all<known_bad::wrong>(39);
}

TEST_CASE("and so is every wrong rule of a stranger") { reject_all<known_bad::strangers::wrong>(62); }

TEST_CASE("the seed that is told makes the same graph again") {
  auto const first = fuse::verify<known_bad::wrong>({.graphs = 100, .only = {"scale-along-rows"}});
  auto const again = fuse::verify<known_bad::wrong>({.graphs = 1, .seed = first.seed, .only = {"scale-along-rows"}});
  CHECK_FALSE(first);
  CHECK(to_text(first) == to_text(again));
}

template <auto const& Right>
void accept_all(std::size_t least) {
  constexpr std::size_t tried = one_case_in == 1 ? 300 : 30;
  auto const all = names<Right>();
  CHECK(all.size() >= least);
  for (auto const& name : all) {
    auto const v = fuse::verify<Right>({.graphs = tried, .seed = 1000, .only = {name}});
    INFO(v);
    CHECK(v);
    REQUIRE(v.rules.size() == 1);
    CHECK(v.rules[0].applied >= tried / 30);
    CHECK(v.rules[0].compared >= tried / 30);
    CHECK(to_text(v).find(name + ": right on ") == 0);
  }
}

TEST_CASE("no right rule is rejected, and each is applied") { accept_all<known_bad::right>(21); }

TEST_CASE("no right rule of a stranger is, either") { accept_all<known_bad::strangers::right>(57); }

TEST_CASE("a zero of another sign is another result where one asks for that") {
  CHECK(fuse::verify<known_bad::sign_of_0_lost>({.graphs = 100}));
  auto const v = fuse::verify<known_bad::sign_of_0_lost>({.graphs = 100, .signed_zeros = true});
  CHECK_FALSE(v);
  CHECK(v.reason.find("another zero") != std::string::npos);
}

TEST_CASE("a rule that is never applied is not verified") {
  auto const v = fuse::verify<known_bad::refused>({.graphs = 20});
  CHECK_FALSE(v);
  CHECK(v.wrong == "cast-through-half");
  CHECK(v.seed == 0);
  CHECK(v.reason.find("never applied") != std::string::npos);
  CHECK(v.reason.find("narrower than the result's float32") != std::string::npos);
}

TEST_CASE("what changes a shape is refused, which is told") {
  for (auto const& name : names<known_bad::of_other_shapes>()) {
    auto const v = fuse::verify<known_bad::right>({.graphs = 100, .only = {name}});
    INFO(v);
    REQUIRE(v.rules.size() == 1);
    CHECK(v.rules[0].refused >= 5);
    CHECK(to_text(v).find("others, most often: the result would have another shape") != std::string::npos);
  }
}

TEST_CASE("what changes a shape is rejected where nobody knows shapes") {
  auto const v = fuse::verify<known_bad::scale_that_enlarges, shapeless>({.graphs = 100, .trust_shapes = true});
  INFO(v);
  CHECK_FALSE(v);
  CHECK(v.seed != 0);
}

TEST_CASE("a rule whose operators nobody can compute is not verified") {
  auto const v = fuse::verify<known_bad::active_dropout>({.graphs = 20});
  CHECK_FALSE(v);
  CHECK(v.wrong == "active-dropout-removed");
  CHECK(v.seed == 0);
  CHECK(v.reason.find("Dropout") != std::string::npos);
}

TEST_CASE("a name of no rule is told") {
  auto const v = fuse::verify<known_bad::refused>({.only = {"no-such-rule"}});
  CHECK_FALSE(v);
  CHECK(to_text(v) == "rule 'no-such-rule': there is no rule of this name\n");
}

}  // namespace rejected
