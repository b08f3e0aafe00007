// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string>

#include <fuse/fuse.hpp>
#include <fuse/verify.hpp>

// Whole graphs, compared with each other.
namespace graphs {

using fuse::element_type;

fuse::graph norm(double epsilon, char const* last = "Mul", char const* input = "x") {
  fuse::graph g(17);
  auto const x = g.input(input, element_type::float32, {"batch", "sequence", 8});
  auto const d = g.add("Sub", {x, g.add("ReduceMean", {x}, {{"axes", {-1}}})});
  auto const v = g.add("ReduceMean", {g.add("Mul", {d, d})}, {{"axes", {-1}}});
  auto const e = g.constant(fuse::make_tensor(element_type::float32, {}, std::vector<double>{epsilon}));
  auto const n = g.add("Div", {d, g.add("Sqrt", {g.add("Add", {v, e})})});
  g.output(g.add(last, {n, g.input("w", element_type::float32, {8})}), "y");
  return g;
}

TEST_CASE("a graph that was rewritten equals what it was") {
  auto const before = norm(1e-5);
  auto after = before;
  REQUIRE(fuse::rewrite<fuse::rules::norms>(after).applied() == 1);
  auto const same = fuse::equivalent(before, after);
  INFO(same);
  CHECK(same);
  CHECK(same.compared >= 100);
  CHECK(fuse::equivalent(before, before));
}

TEST_CASE("a graph that computes something else does not") {
  auto const e = fuse::equivalent(norm(1e-5), norm(0.1));
  CHECK_FALSE(e);
  CHECK(e.wrong.find("of 'y' is ") != std::string::npos);
  CHECK_FALSE(fuse::equivalent(norm(1e-5), norm(1e-5, "Add")));
  CHECK_FALSE(fuse::equivalent(norm(1e-5), norm(1e-5, "Div")));
  CHECK(fuse::equivalent(norm(1e-5), norm(1e-5, "Mul", "z")).wrong == "there was no input 'z'");
}

TEST_CASE("what cannot be computed is told by its operator") {
  fuse::graph g;
  auto const x = g.input("x", element_type::float32, {2});
  g.output(g.add("acme::Unheard", {x}), "y");
  auto const e = fuse::equivalent(g, g);
  CHECK_FALSE(e);
  CHECK(e.wrong.empty());
  CHECK(e.unknown.find("acme::Unheard") == 0);
  fuse::graph open;
  open.output(open.add("Abs", {open.input("x", element_type::float32)}), "y");
  CHECK(fuse::equivalent(open, open).unknown == "the rank of the input 'x' is not known");
}

TEST_CASE("graphs are equal in their element types, too") {
  // The variance as the mean of squares less the square of the mean: equal numbers, and not where they are rounded.
  auto const graph_of = [](bool cancels) {
    fuse::graph g(17);
    auto const x = g.input("x", element_type::float32, {4, 8});
    auto const far = g.add("Add", {x, g.constant({2000.f})});
    auto const mean = g.add("ReduceMean", {far}, {{"axes", {-1}}});
    auto const d = g.add("Sub", {far, mean});
    auto const squares = g.add("ReduceMean", {g.add("Mul", {far, far})}, {{"axes", {-1}}});
    g.output(cancels ? g.add("Sub", {squares, g.add("Mul", {mean, mean})})
                     : g.add("ReduceMean", {g.add("Mul", {d, d})}, {{"axes", {-1}}}),
             "y");
    return g;
  };
  CHECK(fuse::equivalent(graph_of(false), graph_of(false)));
  CHECK(fuse::equivalent(graph_of(false), graph_of(true), {.in_type = false}));
  auto const e = fuse::equivalent(graph_of(false), graph_of(true));
  CHECK_FALSE(e);
  CHECK(e.wrong.find("in its element type") != std::string::npos);
}

}  // namespace graphs
