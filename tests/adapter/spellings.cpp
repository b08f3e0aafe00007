// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <fuse/adapters/onnx.hpp>
#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <string>
#include <vector>

#include "../corpus/all.hpp"
#include "../corpus/summary.hpp"
#include "catch.hpp"

namespace spellings {

namespace {

bool compare(fuse::graph const& from, fuse::target target) {
  fuse::rewrite_options options;
  options.target = target;
  auto owned = from;
  auto const expected = fuse::rewrite<fuse::rules::norms>(owned, options);
  auto made = fuse::adapters::model_of(from);
  fuse::adapters::onnx_graph graph(made);
  CAPTURE(graph.error(), to_text(from), to_text(owned));
  REQUIRE(graph.error() == "");
  auto const report = fuse::rewrite<fuse::rules::norms>(graph, options);
  REQUIRE(corpus::summary_of(report) == corpus::summary_of(expected));
  // (An input that is an output under another name is handed on by a node of its own.)
  REQUIRE(report.nodes_before - report.nodes_after == expected.nodes_before - expected.nodes_after);
  return true;
}

using namespace fuse::dsl;
inline constexpr auto by_length =
    fuse::rule<"by-length">(abs(op<"ReduceL2">(var<"x">) * var<"y">)).replace(op<"Max">(var<"x">, var<"y">));
inline constexpr auto by_squares =
    fuse::rule<"by-squares">(abs(sqrt(sum(square(var<"x">))) * var<"y">)).replace(op<"Max">(var<"x">, var<"y">));

}  // namespace

TEST_CASE("a length is the root of a sum of squares in a model, too") {
  using value = fuse::graph::value;
  auto const found = [](int version, auto const& spell) {
    fuse::graph g(version);
    auto const x = g.input("x", fuse::element_type::float32, {4, 8}),
               y = g.input("y", fuse::element_type::float32, {4, 1});
    auto const reduced = [&](char const* op, value v) {
      if (version >= 18) return g.add(op, {v, g.constant({-1})}, {{"keepdims", 1}});
      return g.add(op, {v}, {{"axes", {-1}}, {"keepdims", 1}});
    };
    g.output(g.add("Abs", {g.add("Mul", {spell(g, reduced, x), y})}), "z");
    auto made = fuse::adapters::model_of(g);
    fuse::adapters::onnx_graph const model(made);
    REQUIRE(model.error() == "");
    return fuse::match_all<by_length>(model).size() + 10 * fuse::match_all<by_squares>(model).size();
  };
  for (int const version : {12, 18}) {
    CHECK(found(version, [](auto&, auto const& reduced, value x) { return reduced("ReduceL2", x); }) == 11);
    CHECK(found(version, [](auto& g, auto const& reduced, value x) {
            return g.add("Sqrt", {reduced("ReduceSumSquare", x)});
          }) == 11);
    CHECK(found(version, [](auto& g, auto const& reduced, value x) {
            return g.add("Sqrt", {reduced("ReduceL1", g.add("Mul", {x, x}))});
          }) == 0);
  }
}

TEST_CASE("every spelling has the same verdict in a model as in the owned graph") {
  CHECK(corpus::all_spellings<fuse::graph>([](auto const& g, auto const&, std::uint64_t seed) {
          return compare(g, seed % 2 == 0 ? fuse::target::standard : fuse::target::onnxruntime);
        }) == corpus::spellings);
}

TEST_CASE("every look-alike has the same verdict in a model as in the owned graph") {
  CHECK(corpus::all_lookalikes<fuse::graph>([](auto const& g) { return compare(g, fuse::target::standard); }) ==
        corpus::lookalikes_in_onnx);
}

}  // namespace spellings
