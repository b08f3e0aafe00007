// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/testing/graph_laws.hpp>
#include <second_dialect.hpp>

using fuse::element_type;

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
