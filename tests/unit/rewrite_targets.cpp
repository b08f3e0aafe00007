// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_targets {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

inline constexpr auto x = var<"x">, bias = var<"bias">;
inline constexpr auto with_bias = fuse::rule<"with-bias">(tanh(x + bias)).replace(bias_gelu(x, bias));
inline constexpr auto by_name =
    fuse::rule<"by-name">(sigmoid(x)).replace(exactly<"com.microsoft::QuickGelu">(x)).at_equal_cost();
inline constexpr auto stands_in = fuse::rule<"stands-in">(exp(x)).replace(gelu(x)).at_equal_cost();
inline constexpr auto rules = fuse::rule_set<with_bias, by_name, stands_in>;

struct gates : sketch {
  gates() {
    auto const a = in("x");
    end(add("Exp", {add("Sigmoid", {add("Tanh", {add("Add", {a, in("bias", {8})})})})}));
  }
};

}  // namespace

TEST_CASE("a rule that makes operators of another target is not looked for") {
  gates g, h;
  auto const standard = fuse::rewrite<rules>(static_cast<graph&>(g));
  CHECK(ops(g) == "Add Tanh Sigmoid fuse::Gelu_float32");
  for (auto const* name : {"with-bias", "by-name"}) {
    CHECK(standard.rule(name)->matched == 0);
    CHECK(standard.rule(name)->refused.empty());
  }
  CHECK(standard.notes.empty());
  CHECK(standard.rule("with-bias")->left_out == "com.microsoft::BiasGelu is for another target");
  CHECK(standard.rule("stands-in")->left_out.empty());
  CHECK(
      to_text(standard).find("not looked for: with-bias (com.microsoft::BiasGelu is for another target), by-name (") !=
      std::string::npos);
  CHECK(to_json(standard).find(R"("left_out":"com.microsoft::BiasGelu is for another target")") != std::string::npos);
  fuse::rewrite_options options;
  options.target = fuse::target::onnxruntime;
  CHECK(applied<rules>(h, options) == 3);
  CHECK(ops(h) == "com.microsoft::BiasGelu com.microsoft::QuickGelu com.microsoft::Gelu");
}

TEST_CASE("where such a rule is asked for by name, a note says what it makes") {
  gates g;
  fuse::rewrite_options options;
  options.only = {"with-bias"};
  auto const report = fuse::rewrite<rules>(static_cast<graph&>(g), options);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0] == "rule 'with-bias' makes operators of another target");
}

}  // namespace rewrite_targets
