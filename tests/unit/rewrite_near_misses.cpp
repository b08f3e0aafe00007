// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace rewrite_near_misses {

using namespace rewriting;

namespace {

/// A layer norm without the square: the deviation is multiplied by something else.
graph::value broken_norm(sketch& g, std::string_view input) {
  auto const x = g.in(input);
  auto const mean = [&](graph::value v) { return g.add("ReduceMean", {v}, {{"axes", {-1}}, {"keepdims", 1}}); };
  auto const d = g.add("Sub", {x, mean(x)});
  auto const root = g.add("Sqrt", {g.add("Add", {mean(g.add("Mul", {d, x})), g.scalar(1e-5f)})});
  return g.add("Div", {d, root});
}

std::size_t told(fuse::rewrite_report const& report) {
  std::size_t all = 0;
  for (auto const& r : report.rules) all += r.refused.size();
  return all;
}

}  // namespace

TEST_CASE("what a nearly matching rule still wanted is told once, at its place") {
  sketch g;
  g.end(broken_norm(g, "a"));
  auto const report = fuse::rewrite<fuse::rules::norms>(g);
  CHECK(report.applied() == 0);
  REQUIRE_FALSE(report.rule("layer-norm")->refused.empty());
  CHECK(report.rule("layer-norm")->refused[0].reason.starts_with("expected "));
}

TEST_CASE("a reduction that nothing like a rule stands above is no news") {
  sketch g;
  g.end(g.add("Relu", {g.add("ReduceMean", {g.in("a")}, {{"axes", {-1}}, {"keepdims", 1}})}));
  CHECK(told(fuse::rewrite<fuse::rules::norms>(g)) == 0);
}

TEST_CASE("rules that are not selected miss nothing, nor does anything where near misses are off") {
  sketch g;
  g.end(broken_norm(g, "a"));
  auto h = g, i = g;
  fuse::rewrite_options only;
  only.only = {"rms-norm"};
  CHECK(fuse::rewrite<fuse::rules::norms>(h, only).rule("layer-norm")->refused.empty());
  fuse::rewrite_options off;
  off.near_misses = false;
  CHECK(told(fuse::rewrite<fuse::rules::norms>(i, off)) == 0);
}

}  // namespace rewrite_near_misses
