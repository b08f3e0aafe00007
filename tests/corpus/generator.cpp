// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cmath>
#include <set>
#include <string>

#include <fuse/graph/graph_text.hpp>
#include <sampled.hpp>
#include <second_dialect.hpp>

#include "lookalike_list.hpp"
#include "spelling.hpp"

namespace generator {

using corpus::array;
using corpus::spelling;

TEST_CASE("every spelling computes its formula") {
  for (bool const second : {false, true})
    for (std::uint64_t seed = 1; seed <= 1500; seed += one_case_in) {
      fuse::graph g(spelling::version(seed, second));
      spelling s(g, second, seed);
      for (auto const n : g.nodes())
        if (g.use_count(g.result(n)) == 0)
          FAIL("a node that nobody reads in seed " << seed << (second ? " second\n" : "\n") << to_text(g));
      auto const error = s.formula_error();
      if (!(error < 5e-7)) {  // reciprocals of counts are rounded to float
        CAPTURE(seed, second, to_text(g));
        CHECK(error < 5e-7);
      }
    }
  SUCCEED();
}

TEST_CASE("a seed gives the same graph every time, and another seed another one") {
  std::set<std::string> texts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    auto text = [&] {
      fuse::graph g(spelling::version(seed, false));
      spelling s(g, false, seed);
      return to_text(g);
    };
    auto const once = text();
    REQUIRE(once == text());
    texts.insert(once);
  }
  CHECK(texts.size() == 200);
}

TEST_CASE("every option of every dimension is drawn") {
  std::map<std::string, std::set<std::string>> seen;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    fuse::graph g(spelling::version(seed, false));
    spelling const s(g, false, seed);
    for (auto const& [dimension, choice] : s.choose.choices()) seen[dimension].insert(choice);
  }
  CHECK(seen["root"].size() == 8);
  CHECK(seen["bracketing"].size() == 5);
  CHECK(seen["types"].size() == 10);
  CHECK(seen["axes"].size() == 4);
  CHECK(seen["mean"].size() == 4);
  CHECK(seen["constant"].size() == 5);
  CHECK(seen["live"].size() == 6);
  CHECK(seen["distributed parts"].size() == 3);
  CHECK(seen["scale shape"].size() == 7);
}

TEST_CASE("the evaluator agrees with numbers worked out by hand") {
  fuse::graph g;
  auto const x = g.input("x", fuse::element_type::float32, {2, 2});
  g.output(g.add("ReduceMean", {x}, {{"axes", {-1}}, {"keepdims", 0}}), "mean");
  g.output(g.add("Div", {g.add("Sub", {x, g.constant({1.f, 2.f})}), g.scalar(2.f)}), "row");
  g.output(g.add("Unsqueeze", {g.add("Pow", {x, g.scalar(2)}), g.constant({-1})}), "squares");
  g.output(g.add("LayerNormalization", {x, g.constant({1.f, 10.f}), g.constant({0.f, 1.f})}, {{"epsilon", 0.0}}),
           "norm");
  g.output(g.add("SimplifiedLayerNormalization", {x}, {{"epsilon", 0.0}}), "rms");
  corpus::evaluator e(g, {{"x", {{2, 2}, {1, 3, 7, 1}, false}}});
  auto out = e.outputs();
  CHECK(out["mean"].data == std::vector<double>{2, 4});
  CHECK(out["mean"].shape == std::vector<std::int64_t>{2});
  CHECK(out["row"].data == std::vector<double>{0, 0.5, 3, -0.5});
  CHECK(out["squares"].shape == std::vector<std::int64_t>{2, 2, 1});
  CHECK(out["squares"].data == std::vector<double>{1, 9, 49, 1});
  CHECK(out["norm"].data == std::vector<double>{-1, 11, 1, -9});
  CHECK(out["rms"].data[0] == Approx(1 / std::sqrt(5.0)));
}

TEST_CASE("a distance is told") {
  array const a{{2}, {1, -4}, false};
  CHECK(corpus::distance(a, a) == 0);
  CHECK(corpus::distance(a, {{2}, {1, -3}, false}) == 0.25);
  CHECK(std::isinf(corpus::distance(a, {{1, 2}, {1, -4}, false})));
  CHECK(std::isinf(corpus::distance(a, {{2}, {1, NAN}, false})));
}

TEST_CASE("every look-alike can be evaluated, and is not the norm it looks like") {
  std::set<std::string> names;
  for (auto const& look : corpus::lookalike_list().all) {
    CHECK(names.insert(look.name).second);
    for (bool const second : {false, true})
      for (bool const layer : {false, true}) {
        if (!corpus::concerns(look, layer, second)) continue;
        CAPTURE(look.name, second, layer);
        auto build = [&](bool changed) {
          fuse::graph g(second ? 1 : look.version);
          corpus::plain_norm n(g, second, layer, look.shape);
          if (changed) look.change(n);
          n.write();
          return corpus::evaluator(g, n.feeds).outputs().at("y");
        };
        auto const y = build(true);
        bool const rounds_only = look.name.find("half") != std::string::npos && look.name != "half of the mean";
        if (!look.norm_may_stay && !rounds_only) CHECK(corpus::distance(build(false), y) > 1e-6);
      }
  }
  CHECK(names.size() > 100);
}

}  // namespace generator
