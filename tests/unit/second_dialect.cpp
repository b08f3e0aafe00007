// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/testing/graph_laws.hpp>
#include <second_dialect.hpp>

namespace second_dialect {

using fuse::element_type;

namespace {

// (x - mean) / sqrt(variance + 0.5) * scale over the axes `dims`, spelled out.
void spell_norm(second::graph& g, fuse::graph::value x, fuse::graph::value scale,
                std::vector<std::int64_t> const& dims) {
  auto const mean = [&](fuse::graph::value v) { return g.add("avg", {v}, {{"dim", dims}}); };
  auto const d = g.add("minus", {x, mean(x)});
  auto const variance = g.add("plus", {mean(g.add("squared", {d})), g.scalar(0.5f)});
  g.output(g.add("times", {g.add("times", {d, g.add("inverse_root", {variance})}), scale}), "y");
}

}  // namespace

TEST_CASE("a graph in a dialect of its own keeps every law") {
  CHECK(fuse::testing::graph_laws<second::graph>([] {
          second::graph g;
          auto x = g.input("x", element_type::float32, {2, 8});
          auto d = g.add("minus", {x, g.add("avg", {x}, {{"dim", {-1}}})});
          g.output(g.add("over", {d, g.add("root", {g.add("plus", {x, g.scalar(1.f)})})}), "y");
          for (auto n : g.nodes()) g.annotate(g.result(n), element_type::float32);
          return g;
        }) == std::vector<std::string>{});
}

TEST_CASE("a length is the root of a sum of squares in a dialect that names it otherwise") {
  using namespace fuse::dsl;
  static constexpr auto by_name =
      fuse::rule<"by-name">(op<"magnitude">(op<"length">(var<"x">) * var<"y">)).replace(op<"ramp">(var<"x">));
  static constexpr auto by_squares =
      fuse::rule<"by-squares">(abs(sqrt(sum(square(var<"x">))) * var<"y">)).replace(op<"ramp">(var<"x">));
  auto const found = [](auto const& spell) {
    second::graph g;
    auto const x = g.input("x", element_type::float32, {2, 8}), y = g.input("y", element_type::float32, {2, 1});
    g.output(g.add("magnitude", {g.add("times", {y, spell(g, x)})}), "z");
    return fuse::match_all<by_name>(g).size() + 10 * fuse::match_all<by_squares>(g).size();
  };
  auto const last = [](second::graph& g, char const* op, fuse::graph::value v) {
    return g.add(op, {v}, {{"dim", {-1}}});
  };
  CHECK(found([&](second::graph& g, fuse::graph::value x) { return last(g, "length", x); }) == 11);
  CHECK(found([&](second::graph& g, fuse::graph::value x) {
          return g.add("root", {last(g, "total_of_squares", x)});
        }) == 11);
  CHECK(found([&](second::graph& g, fuse::graph::value x) {
          return g.add("root", {last(g, "total", g.add("squared", {x}))});
        }) == 11);
  CHECK(found([&](second::graph& g, fuse::graph::value x) { return last(g, "total", x); }) == 0);
}

TEST_CASE("a bundled rule reads and writes parameters where the dialect keeps them") {
  for (bool const squeezed : {false, true}) {
    second::graph g;
    auto x = g.input("x", element_type::float32, {"batch", 8});
    auto mean = [&](fuse::graph::value v) {
      if (!squeezed) return g.add("avg", {v}, {{"dim", {1}}});
      return g.add("insert_dims", {g.add("same", {g.add("avg", {v}, {{"dim", {-1}}, {"squeeze", 1}})})},
                   {{"dim", {1}}});
    };
    auto d = g.add("minus", {x, mean(x)});
    auto deviation = g.add("inverse_root", {g.add("plus", {g.scalar(0.5f), mean(g.add("squared", {d}))})});
    auto scale = g.input("scale", element_type::float32, {8});
    g.output(g.add("times", {scale, g.add("times", {d, deviation})}), "y");
    fuse::rewrite<fuse::rules::norms>(g);
    CHECK(to_text(g) == R"(graph, operator set 1
  input x: float32[batch,8]
  input scale: float32[8]
  %1: float32 = norm(x, scale) from=-1 eps=0.5
  output y = %1
)");
  }
}

TEST_CASE("a squeezed mean that broadcasts along another axis is not taken") {
  second::graph g;
  auto x = g.input("x", element_type::float32, {8, 8});
  auto mean = g.add("avg", {g.add("squared", {x})}, {{"dim", {-1}}, {"squeeze", 1}});
  g.output(g.add("times", {x, g.add("inverse_root", {g.add("plus", {mean, g.scalar(0.5f)})})}), "y");
  auto const before = to_text(g);
  auto const report = fuse::rewrite<fuse::rules::norms>(g);
  CHECK(report.applied() == 0);
  CHECK(to_text(g) == before);
}

TEST_CASE("names of ONNX mean nothing in another dialect") {
  second::graph g;
  auto x = g.input("x", element_type::float32, {2, 8});
  auto mean = g.add("ReduceMean", {g.add("Mul", {x, x})}, {{"axes", {-1}}});
  g.output(g.add("Div", {x, g.add("Sqrt", {g.add("Add", {mean, g.scalar(0.5f)})})}), "y");
  CHECK(fuse::rewrite<fuse::rules::norms>(g).applied() == 0);
}

TEST_CASE("an operator may list the extents of its axes instead of naming the first") {
  second::graph g;
  auto const x = g.input("x", element_type::float32, {"batch", 4, 8});
  auto const scale = g.input("scale", element_type::float32, {4, 8});
  SECTION("read") {
    auto const norm = g.add("sized_norm", {x, scale}, {{"sizes", {4, 8}}, {"eps", 0.5}});
    g.output(g.add("times", {norm, scale}), "y");
    CHECK(fuse::rewrite<fuse::rules::norms>(g).applied() == 1);
    CHECK(to_text(g).find("norm(x, %1) from=-2 eps=0.5") != std::string::npos);
  }
  SECTION("written") {
    spell_norm(g, x, scale, {-2, -1});
    fuse::rewrite_options options;
    options.target = fuse::target::vendor;
    CHECK(fuse::rewrite<fuse::rules::norms>(g, options).applied() == 1);
    CHECK(to_text(g).find("sized_norm(x, scale) sizes=[4,8] eps=0.5") != std::string::npos);
  }
}

TEST_CASE("extents that nobody knows are not listed") {
  for (auto const target : {fuse::target::standard, fuse::target::vendor}) {
    second::graph g;
    auto const x = g.input("x", element_type::float32, {"batch", "width"});
    spell_norm(g, x, g.input("scale", element_type::float32, {"width"}), {-1});
    fuse::rewrite_options options;
    options.only = {"layer-norm"};
    options.target = target;
    auto const report = fuse::rewrite<fuse::rules::norms>(g, options);
    bool const named = target == fuse::target::standard;
    CHECK((report.applied() == 1) == named);
    bool told = false;
    for (auto const& rule : report.rules)
      for (auto const& refused : rule.refused)
        told = told || refused.reason == "the operator lists the extents of its axes, and not all of them are known";
    CHECK(told != named);
  }
}

TEST_CASE("fully connected layers have the extents of their weight's rows, an opaque layout its operand's type") {
  second::graph g;
  auto const x = g.input("x", element_type::float32, {"batch", "length", 8});
  auto const weight = g.input("weight", element_type::float32, {16, 8});
  auto const rows = g.add("dense_layer", {x, weight, g.input("bias", element_type::float32, {16})});
  auto const moved = g.add("moved", {rows}), unranked = g.add("dense_layer", {moved, weight});
  g.output(g.add("dense_layer", {g.input("untyped", element_type::unknown), weight}));
  g.output(unranked);
  fuse::graph_binding<second::graph> const bound(g, fuse::names_in(fuse::dialect_of<second::graph>), 1);
  fuse::detail::facts known(bound.image, fuse::dialect_of<second::graph>);
  known.run();
  auto const extents = known.shape(bound.number(rows));
  REQUIRE(extents.size() == 3);
  CHECK(extents[0] == known.shape(bound.number(x))[0]);
  CHECK(extents[1] == known.shape(bound.number(x))[1]);
  CHECK(extents[2] == fuse::extent(16));
  for (auto const v : {moved, unranked, g.outputs()[0]}) {
    CHECK(known.type(bound.number(v)) == element_type::float32);
    CHECK_FALSE(known.has_rank(bound.number(v)));
  }
}

}  // namespace second_dialect
