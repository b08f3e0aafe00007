// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/linear.hpp>

namespace rules_linear {

using namespace rewriting;
using value = graph::value;

namespace {

using named = graph::named;

/// Layers with constants before and beside them.
struct layered : sketch {
  explicit layered(int version = 17) : sketch(version) {}

  // Numbers that are all different.
  value numbers(std::vector<std::int64_t> const& shape, double from, double by,
                element_type type = element_type::float32) {
    std::size_t count = 1;
    for (auto const extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(from + by * static_cast<double>(i));
    return constant(fuse::make_tensor(type, shape, all));
  }
  value weights(std::vector<std::int64_t> const& shape) { return numbers(shape, -1, 0.0625); }
};

/// What is left of the graph with output `y`; each rewrite is checked.
std::string left(layered& g, value y) {
  g.end(y);
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<fuse::rules::linear>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) CHECK(r.condition != "check");
  return ops(g);
}

}  // namespace

TEST_CASE("what multiplies the input channels of a layer goes into its weights") {
  layered g;
  std::string const by = GENERATE("Mul", "Div");
  SECTION("a convolution that pads") {
    auto const x = g.add(by, {g.in("x", {2, 4, 8}), g.numbers({4, 1}, 0.5, 0.25)});
    CHECK(left(g, g.add("Conv", {x, g.weights({6, 4, 3}), g.numbers({6}, 1, 0.5)},
                        {{"pads", std::vector<std::int64_t>{1, 1}}})) == "Conv");
  }
  SECTION("one number for all") {
    auto const x = g.add(by, {g.in("x", {2, 4, 8}), g.numbers({}, 0.5, 0)});
    CHECK(left(g, g.add("Conv", {x, g.weights({6, 4, 3})})) == "Conv");
  }
  SECTION("a Gemm, whichever way its weights lie") {
    for (bool const transposed : {false, true}) {
      layered one;
      auto const x = one.add(by, {one.in("x", {3, 4}), one.numbers({4}, 0.5, 0.25)});
      auto const w = transposed ? one.weights({5, 4}) : one.weights({4, 5});
      auto const y = one.add("Gemm", {x, w, one.numbers({5}, 1, 0.5)},
                             {{"transB", std::int64_t{transposed}}, {"alpha", 0.5}, {"beta", 2.0}});
      CHECK(left(one, y) == "Gemm");
    }
  }
  SECTION("a matrix product of any rank") {
    auto const x = g.add(by, {g.in("x", {"batch", 3, 4}), g.numbers({4}, 0.5, 0.25)});
    CHECK(left(g, g.add("MatMul", {x, g.weights({4, 5})})) == "MatMul");
  }
}

TEST_CASE("what is added to the input channels of a layer goes into its bias") {
  layered g;
  std::string const by = GENERATE("Add", "Sub");
  SECTION("a convolution that pads nothing") {
    auto const x = g.add(by, {g.in("x", {2, 4, 8}), g.numbers({1, 4, 1}, 0.5, 0.25)});
    CHECK(left(g, g.add("Conv", {x, g.weights({6, 4, 3})})) == "Conv");
  }
  SECTION("a Gemm, whichever way its weights lie") {
    for (bool const transposed : {false, true}) {
      layered one;
      auto const x = one.add(by, {one.in("x", {3, 4}), one.numbers({4}, 0.5, 0.25)});
      auto const w = transposed ? one.weights({5, 4}) : one.weights({4, 5});
      auto const y = one.add("Gemm", {x, w}, {{"transB", std::int64_t{transposed}}, {"alpha", 0.5}, {"beta", 2.0}});
      CHECK(left(one, y) == "Gemm");
    }
  }
  SECTION("a matrix product with a bias") {
    auto const x = g.add(by, {g.in("x", {2, 3, 4}), g.numbers({4}, 0.5, 0.25)});
    auto const y = g.add("MatMul", {x, g.weights({4, 5})});
    CHECK(left(g, g.add("Add", {y, g.numbers({5}, 1, 0.5)})) == "MatMul Add");
  }
  SECTION("a matrix product without one: there would be a sum all the same") {
    auto const x = g.add(by, {g.in("x", {2, 3, 4}), g.numbers({4}, 0.5, 0.25)});
    CHECK(left(g, g.add("MatMul", {x, g.weights({4, 5})})) == by + " MatMul");
  }
}

TEST_CASE("constants before a layer that would not be the same inside it stay") {
  layered g;
  auto const x = g.in("x", {2, 4, 8});
  auto const w = g.weights({6, 4, 3});
  auto const row = g.numbers({4, 1}, 0.5, 0.25);
  SECTION("an activation between") {
    CHECK(left(g, g.add("Conv", {g.add("Relu", {g.add("Mul", {x, row})}), w})) == "Mul Relu Conv");
  }
  SECTION("others use what is multiplied") {
    auto const scaled = g.add("Mul", {x, row});
    g.output(scaled, "z");
    CHECK(left(g, g.add("Conv", {scaled, w})) == "Mul Conv");
  }
  SECTION("others use the weights, which would be there twice") {
    g.output(g.add("Abs", {w}), "z");
    CHECK(left(g, g.add("Conv", {g.add("Mul", {x, row}), w})) == "Abs Mul Conv");
  }
  SECTION("along another axis") {
    CHECK(left(g, g.add("Conv", {g.add("Mul", {x, g.numbers({8}, 0.5, 0.25)}), w})) == "Mul Conv");
  }
  SECTION("that repeat the input") {
    auto const one = g.in("one", {2, 1, 8});
    CHECK(left(g, g.add("Conv", {g.add("Mul", {one, row}), w})) == "Mul Conv");
  }
  SECTION("computed") { CHECK(left(g, g.add("Conv", {g.add("Mul", {x, g.in("s", {4, 1})}), w})) == "Mul Conv"); }
  SECTION("weights that are computed") {
    CHECK(left(g, g.add("Conv", {g.add("Mul", {x, row}), g.in("w", {6, 4, 3})})) == "Mul Conv");
  }
  SECTION("groups") {
    auto const y = g.add("Conv", {g.add("Mul", {x, row}), g.weights({6, 2, 3})}, {{"group", std::int64_t{2}}});
    CHECK(left(g, y) == "Mul Conv");
  }
  SECTION("a shift before a convolution that pads") {
    auto const y = g.add("Conv", {g.add("Add", {x, row}), w}, {{"pads", std::vector<std::int64_t>{0, 1}}});
    CHECK(left(g, y) == "Add Conv");
  }
  SECTION("a shift before a Gemm whose bias does not count") {
    auto const shifted = g.add("Add", {g.in("a", {3, 4}), g.numbers({4}, 0.5, 0.25)});
    CHECK(left(g, g.add("Gemm", {shifted, g.weights({4, 5})}, {{"beta", 0.0}})) == "Add Gemm");
  }
  SECTION("a Gemm that turns its input") {
    auto const scaled = g.add("Mul", {g.in("a", {4, 3}), g.numbers({3}, 0.5, 0.25)});
    CHECK(left(g, g.add("Gemm", {scaled, g.weights({4, 5})}, {{"transA", std::int64_t{1}}})) == "Mul Gemm");
  }
  SECTION("a matrix for each batch") {
    CHECK(left(g, g.add("MatMul", {g.add("Mul", {x, g.numbers({8}, 0.5, 0.25)}), g.weights({2, 8, 3})})) ==
          "Mul MatMul");
  }
}

TEST_CASE("matrix products of one value that are added are one") {
  layered g;
  auto const x = g.in("x", {2, 3, 4});
  auto const product = [&](value of, value w) { return g.add("MatMul", {of, w}); };
  auto const w = g.weights({4, 5}), v = g.numbers({4, 5}, 0.5, 0.125);
  SECTION("two") { CHECK(left(g, g.add("Add", {product(x, w), product(x, v)})) == "MatMul"); }
  SECTION("three, with a bias between") {
    auto const u = g.numbers({4, 5}, 2, 0.25);
    auto const biased = g.add("Add", {product(x, w), g.numbers({5}, 1, 0.5)});
    CHECK(left(g, g.add("Add", {g.add("Add", {biased, product(x, v)}), product(x, u)})) == "MatMul Add");
  }
  SECTION("a difference is none") {
    CHECK(left(g, g.add("Sub", {product(x, w), product(x, v)})) == "MatMul MatMul Sub");
  }
  SECTION("of two values") {
    CHECK(left(g, g.add("Add", {product(x, w), product(g.in("z", {2, 3, 4}), v)})) == "MatMul MatMul Add");
  }
  SECTION("others use one") {
    auto const one = product(x, w);
    g.output(one, "z");
    CHECK(left(g, g.add("Add", {one, product(x, v)})) == "MatMul MatMul Add");
  }
  SECTION("an activation between") {
    CHECK(left(g, g.add("Add", {g.add("Relu", {product(x, w)}), product(x, v)})) == "MatMul Relu MatMul Add");
  }
  SECTION("of other shapes") {
    CHECK(left(g, g.add("Add", {product(x, w), product(x, g.weights({4, 1}))})) == "MatMul MatMul Add");
  }
  SECTION("others use the weights") {
    g.output(g.add("Abs", {v}), "z");
    CHECK(left(g, g.add("Add", {product(x, w), product(x, v)})) == "Abs MatMul MatMul Add");
  }
}

TEST_CASE("Gemms of one value that are added are one") {
  layered g;
  auto const x = g.in("x", {3, 4});
  auto const w = g.weights({4, 5}), v = g.numbers({4, 5}, 0.5, 0.125);
  auto const b = g.numbers({5}, 1, 0.5), c = g.numbers({5}, -1, 0.25);
  std::vector<named> const how{{"alpha", 0.5}, {"beta", 2.0}};
  SECTION("two") {
    CHECK(left(g, g.add("Add", {g.add("Gemm", {x, w, b}, how), g.add("Gemm", {x, v, c}, how)})) == "Gemm");
  }
  SECTION("whose weights are transposed, with something added") {
    std::vector<named> const turned{{"transB", 1}};
    auto const one = g.add("Gemm", {x, g.weights({5, 4}), b}, turned);
    auto const other = g.add("Gemm", {x, g.numbers({5, 4}, 2, 0.5), c}, turned);
    CHECK(left(g, g.add("Add", {g.add("Add", {one, g.in("z", {3, 5})}), other})) == "Gemm Add");
  }
  SECTION("of other factors") {
    CHECK(left(g, g.add("Add", {g.add("Gemm", {x, w, b}, how), g.add("Gemm", {x, v, c})})) == "Gemm Gemm Add");
  }
  SECTION("one of which turns its weights") {
    auto const turned = g.add("Gemm", {x, g.weights({5, 4}), c}, {{"transB", 1}});
    CHECK(left(g, g.add("Add", {g.add("Gemm", {x, w, b}), turned})) == "Gemm Gemm Add");
  }
  SECTION("of two values") {
    auto const other = g.add("Gemm", {g.in("z", {3, 4}), v, c});
    CHECK(left(g, g.add("Add", {g.add("Gemm", {x, w, b}), other})) == "Gemm Gemm Add");
  }
  SECTION("biases that are computed") {
    auto const other = g.add("Gemm", {x, v, g.in("c", {5})});
    CHECK(left(g, g.add("Add", {g.add("Gemm", {x, w, b}), other})) == "Gemm Gemm Add");
  }
  SECTION("others use the weights") {
    g.output(g.add("Abs", {v}), "z");
    CHECK(left(g, g.add("Add", {g.add("Gemm", {x, w, b}), g.add("Gemm", {x, v, c})})) == "Abs Gemm Gemm Add");
  }
}

TEST_CASE("matrix products of one value side by side are one") {
  layered g;
  auto const x = g.in("x", {2, "s", 4});
  auto const product = [&](value of, value w) { return g.add("MatMul", {of, w}); };
  auto const beside = [&](std::vector<value> const& all, int axis = 2) {
    return g.add("Concat", fuse::span<value const>(all), {{"axis", axis}});
  };
  auto const w = g.weights({4, 5}), v = g.numbers({4, 3}, 0.5, 0.125), u = g.numbers({4, 2}, 2, 0.25);
  SECTION("two") { CHECK(left(g, beside({product(x, w), product(x, v)})) == "MatMul"); }
  SECTION("along the last axis, counted from there") {
    CHECK(left(g, beside({product(x, w), product(x, v)}, -1)) == "MatMul");
  }
  SECTION("three") { CHECK(left(g, beside({product(x, w), product(x, v), product(x, u)})) == "MatMul"); }
  SECTION("and others behind") {
    CHECK(left(g, beside({product(x, w), product(x, v), g.in("z", {2, "s", 3})})) == "MatMul Concat");
  }
  SECTION("with biases") {
    auto const a = g.add("Add", {product(x, w), g.numbers({5}, 1, 0.5)});
    auto const b = g.add("Add", {g.numbers({3}, 2, 0.5), product(x, v)});
    auto const c = g.add("Add", {product(x, u), g.numbers({2}, 3, 0.5)});
    CHECK(left(g, beside({a, b, c})) == "MatMul Add");
  }
  SECTION("with a bias of one number") {
    auto const a = g.add("Add", {product(x, w), g.numbers({1}, 1, 0.5)});
    auto const b = g.add("Add", {product(x, v), g.numbers({3}, 2, 0.5)});
    CHECK(left(g, beside({a, b})) == "MatMul Add MatMul Add Concat");
  }
  SECTION("with a bias that is computed") {
    auto const a = g.add("Add", {product(x, w), g.in("b", {5})});
    auto const b = g.add("Add", {product(x, v), g.numbers({3}, 2, 0.5)});
    CHECK(left(g, beside({a, b})) == "MatMul Add MatMul Add Concat");
  }
  SECTION("below each other") {
    CHECK(left(g, beside({product(x, w), product(x, g.numbers({4, 5}, 0.5, 0.125))}, 1)) == "MatMul MatMul Concat");
  }
  SECTION("of two values") {
    CHECK(left(g, beside({product(x, w), product(g.in("z", {2, "s", 4}), v)})) == "MatMul MatMul Concat");
  }
  SECTION("an activation between") {
    CHECK(left(g, beside({g.add("Relu", {product(x, w)}), product(x, v)})) == "MatMul Relu MatMul Concat");
  }
  SECTION("others use one") {
    auto const one = product(x, w);
    g.output(one, "z");
    CHECK(left(g, beside({one, product(x, v)})) == "MatMul MatMul Concat");
  }
  SECTION("others use the weights") {
    g.output(g.add("Abs", {v}), "z");
    CHECK(left(g, beside({product(x, w), product(x, v)})) == "Abs MatMul MatMul Concat");
  }
  SECTION("weights that are computed") {
    CHECK(left(g, beside({product(x, w), product(x, g.in("v", {4, 3}))})) == "MatMul MatMul Concat");
  }
  SECTION("a matrix for each batch") {
    auto const one = product(x, g.weights({2, 4, 5})), other = product(x, g.weights({2, 4, 3}));
    CHECK(left(g, beside({one, other})) == "MatMul MatMul Concat");
  }
}

TEST_CASE("Gemms of one value side by side are one") {
  layered g;
  auto const x = g.in("x", {3, 4});
  auto const beside = [&](value a, value b) { return g.add("Concat", {a, b}, {{"axis", 1}}); };
  auto const gemm = [&](std::int64_t columns, bool turned, double alpha = 0.5) {
    auto const w = turned ? g.weights({columns, 4}) : g.weights({4, columns});
    return g.add("Gemm", {x, w, g.numbers({columns}, 1, 0.5)},
                 {{"alpha", alpha}, {"beta", 2.0}, {"transB", std::int64_t{turned}}});
  };
  SECTION("two") { CHECK(left(g, beside(gemm(5, false), gemm(2, false))) == "Gemm"); }
  SECTION("whose weights are transposed") { CHECK(left(g, beside(gemm(5, true), gemm(2, true))) == "Gemm"); }
  SECTION("one of which turns its weights") {
    CHECK(left(g, beside(gemm(5, true), gemm(2, false))) == "Gemm Gemm Concat");
  }
  SECTION("of other factors") { CHECK(left(g, beside(gemm(5, false), gemm(2, false, 0.25))) == "Gemm Gemm Concat"); }
}

TEST_CASE("a product of two matrices and a row is a Gemm") {
  layered g;
  auto const x = g.in("x", {3, 4});
  auto const y = g.add("MatMul", {x, g.weights({4, 5})});
  SECTION("a row") { CHECK(left(g, g.add("Add", {g.numbers({5}, 1, 0.5), y})) == "Gemm"); }
  SECTION("a computed row") { CHECK(left(g, g.add("Add", {y, g.in("b", {1, 5})})) == "Gemm"); }
  SECTION("a column") { CHECK(left(g, g.add("Add", {y, g.numbers({3, 1}, 1, 0.5)})) == "MatMul Add"); }
  SECTION("that repeats the product") {
    CHECK(left(g, g.add("Add", {y, g.numbers({2, 1, 5}, 1, 0.5)})) == "MatMul Add");
  }
  SECTION("a difference") { CHECK(left(g, g.add("Sub", {y, g.in("b", {5})})) == "MatMul Sub"); }
  SECTION("more axes") {
    auto const z = g.add("MatMul", {g.in("z", {2, 3, 4}), g.weights({4, 5})});
    CHECK(left(g, g.add("Add", {z, g.numbers({5}, 1, 0.5)})) == "MatMul MatMul Add");
  }
  SECTION("others use the product") {
    g.output(y, "z");
    CHECK(left(g, g.add("Add", {y, g.numbers({5}, 1, 0.5)})) == "MatMul Add");
  }
  SECTION("two computed matrices, which attention has") {
    auto const z = g.add("MatMul", {x, g.in("k", {4, 5})});
    CHECK(left(g, g.add("Add", {z, g.numbers({5}, 1, 0.5)})) == "MatMul MatMul Add");
  }
}

}  // namespace rules_linear
