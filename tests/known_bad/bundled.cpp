// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/rules/activations.hpp>
#include <fuse/rules/attention.hpp>
#include <fuse/rules/batch_norm.hpp>
#include <fuse/rules/canonical.hpp>
#include <fuse/rules/embeddings.hpp>
#include <fuse/rules/group_norm.hpp>
#include <fuse/rules/linear.hpp>
#include <fuse/rules/onnx_functions.hpp>
#include <fuse/rules/padding.hpp>
#include <fuse/rules/rotary.hpp>
#include <fuse/rules/skip_norms.hpp>
#include <fuse/verify.hpp>

#include "../sampled.hpp"

// The rules that come with fuse.
namespace bundled {

inline constexpr auto all =
    fuse::rule_set<fuse::rules::norms, fuse::rules::group_norms, fuse::rules::embeddings, fuse::rules::skip_norms,
                   fuse::rules::activations, fuse::rules::rotary, fuse::rules::attentions, fuse::rules::batch_norm,
                   fuse::rules::onnx_functions, fuse::rules::canonical, fuse::rules::linear, fuse::rules::padding>;

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
