// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/batch_norm.hpp>

namespace rules_batch_norm {

using namespace rewriting;

namespace {

/// A layer and a batch norm of it, whose every part can be changed.
struct normed : sketch {
  explicit normed(int version = 17) : sketch(version) {}

  // Numbers that are all different, and far from those of a norm that does nothing.
  value numbers(std::vector<std::int64_t> const& shape, double from, double by) {
    std::size_t count = 1;
    for (auto const extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(from + by * static_cast<double>(i));
    return constant(fuse::make_tensor(element_type::float32, shape, all));
  }
  value batch_norm(value of, std::int64_t channels, double epsilon = 1e-3) {
    return add("BatchNormalization",
               {of, numbers({channels}, 0.5, 0.25), numbers({channels}, -1, 0.5), numbers({channels}, 0.125, -0.5),
                numbers({channels}, 0.75, 0.5)},
               {{"epsilon", epsilon}});
  }
};

/// What is left of the graph with output `y`; each rewrite is checked.
std::string folded(normed& g, graph::value y) {
  g.end(y);
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<fuse::rules::batch_norm>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) CHECK(r.condition != "check");
  return ops(g);
}

}  // namespace

TEST_CASE("a batch norm goes into a convolution, which keeps its attributes") {
  normed g;
  auto const x = g.in("x", {2, 4, 8, 8});
  std::vector<graph::named> const how{{"pads", std::vector<std::int64_t>{1, 0, 1, 2}},
                                      {"strides", std::vector<std::int64_t>{2, 1}},
                                      {"group", std::int64_t{2}}};
  SECTION("with a bias") {
    auto const y = g.add("Conv", {x, g.numbers({6, 2, 3, 3}, -1, 0.0625), g.numbers({6}, 1, 0.5)}, how);
    CHECK(folded(g, g.batch_norm(y, 6)) == "Conv");
  }
  SECTION("without a bias") {
    auto const y = g.add("Conv", {x, g.numbers({6, 2, 3, 3}, -1, 0.0625)}, how);
    CHECK(folded(g, g.batch_norm(y, 6)) == "Conv");
  }
  CHECK(number(g, last(g), "group") == 2);
  CHECK(std::get<std::vector<std::int64_t>>(g.attribute(last(g), "pads")->content) ==
        std::vector<std::int64_t>{1, 0, 1, 2});
}

TEST_CASE("a batch norm goes into a transposed convolution of one group") {
  normed g;
  auto const x = g.in("x", {2, 4, 8});
  SECTION("one group") {
    auto const y = g.add("ConvTranspose", {x, g.numbers({4, 3, 3}, -1, 0.0625), g.numbers({3}, 1, 0.5)});
    CHECK(folded(g, g.batch_norm(y, 3)) == "ConvTranspose");
  }
  SECTION("one group, without a bias") {
    auto const y = g.add("ConvTranspose", {x, g.numbers({4, 3, 3}, -1, 0.0625)});
    CHECK(folded(g, g.batch_norm(y, 3)) == "ConvTranspose");
  }
  SECTION("two groups") {
    auto const y = g.add("ConvTranspose", {x, g.numbers({4, 3, 3}, -1, 0.0625)}, {{"group", std::int64_t{2}}});
    CHECK(folded(g, g.batch_norm(y, 6)) == "ConvTranspose BatchNormalization");
  }
}

TEST_CASE("a batch norm goes into a Gemm, whichever way its weights lie, and whatever its factors are") {
  for (bool const transposed : {false, true})
    for (auto const& bias : std::vector<std::vector<std::int64_t>>{{}, {3}, {1, 3}, {4, 3}}) {
      normed g;
      auto const x = g.in("x", {4, 5});
      auto const w = transposed ? g.numbers({3, 5}, -1, 0.125) : g.numbers({5, 3}, -1, 0.125);
      auto const y = g.add("Gemm", {x, w, g.numbers(bias, 0.5, 0.25)},
                           {{"transB", std::int64_t{transposed}}, {"alpha", 0.5}, {"beta", 2.0}});
      CHECK(folded(g, g.batch_norm(y, 3)) == "Gemm");
      CHECK(number(g, last(g), "alpha") == 0.5);
    }
}

TEST_CASE("a Gemm without a bias gets one") {
  for (bool const transposed : {false, true}) {
    normed g;
    auto const w = transposed ? g.numbers({3, 5}, -1, 0.125) : g.numbers({5, 3}, -1, 0.125);
    auto const y = g.add("Gemm", {g.in("x", {4, 5}), w}, {{"transB", std::int64_t{transposed}}, {"beta", 2.0}});
    CHECK(folded(g, g.batch_norm(y, 3)) == "Gemm");
    CHECK(g.operands(last(g)).size() == 3);
  }
}

TEST_CASE("a Gemm whose bias does not count takes no batch norm") {
  normed g;
  auto const y =
      g.add("Gemm", {g.in("x", {4, 5}), g.numbers({5, 3}, -1, 0.125), g.numbers({3}, 0.5, 0.25)}, {{"beta", 0.0}});
  CHECK(folded(g, g.batch_norm(y, 3)) == "Gemm BatchNormalization");
}

TEST_CASE("a batch norm goes into a matrix product of two axes") {
  normed g;
  auto const w = g.numbers({5, 3}, -1, 0.125);
  SECTION("alone") { CHECK(folded(g, g.batch_norm(g.add("MatMul", {g.in("x", {4, 5}), w}), 3)) == "MatMul Add"); }
  SECTION("with a bias") {
    auto const y = g.add("Add", {g.add("MatMul", {g.in("x", {4, 5}), w}), g.numbers({3}, 1, 0.5)});
    CHECK(folded(g, g.batch_norm(y, 3)) == "MatMul Add");
  }
  SECTION("not of three, whose channels are rows") {
    auto const y = g.add("MatMul", {g.in("x", {2, 3, 5}), w});
    CHECK(folded(g, g.batch_norm(y, 3)) == "MatMul BatchNormalization");
  }
}

TEST_CASE("weights that another layer reads take no factors, which would make them two") {
  normed g;
  auto const w = g.numbers({5, 3}, -1, 0.125);
  bool const shared = GENERATE(false, true);
  if (shared) g.output(g.add("MatMul", {g.in("z", {4, 5}), w}));
  auto const y = g.add("Mul", {g.add("MatMul", {g.in("x", {4, 5}), w}), g.numbers({3}, 1, 0.5)});
  CHECK(folded(g, y) == (shared ? "MatMul MatMul Mul" : "MatMul"));
}

TEST_CASE("biases of a layer that others read are one, and it is computed once") {
  normed g;
  auto const y = g.add("MatMul", {g.in("x", {4, 5}), g.numbers({5, 3}, -1, 0.125)});
  g.output(y);
  auto const once = g.add("Add", {y, g.numbers({3}, 1, 0.5)});
  CHECK(folded(g, g.add("Sub", {g.add("Add", {g.numbers({3}, 2, 0.5), once}), g.numbers({1}, 3, 0)})) == "MatMul Add");
}

TEST_CASE("what would not be the same stays") {
  normed g;
  auto const x = g.in("x", {2, 4, 8});
  auto const w = g.numbers({6, 4, 3}, -1, 0.0625);
  auto const y = g.add("Conv", {x, w});
  SECTION("others use the layer") {
    g.output(y, "z");
    CHECK(folded(g, g.batch_norm(y, 6)) == "Conv BatchNormalization");
  }
  SECTION("weights that are computed") {
    auto const of_input = g.add("Conv", {x, g.in("w", {6, 4, 3})});
    CHECK(folded(g, g.batch_norm(of_input, 6)).ends_with("BatchNormalization"));
  }
  SECTION("statistics that a caller gives") {
    auto const c = g.numbers({6}, 0.5, 0.25);
    CHECK(folded(g, g.add("BatchNormalization", {y, c, c, g.in("mean", {6}), c})) == "Conv BatchNormalization");
  }
  SECTION("it trains") {
    auto const c = g.numbers({6}, 0.5, 0.25);
    auto const n = g.append("BatchNormalization", {y, c, c, c, c}, {{"training_mode", std::int64_t{1}}}, 3);
    CHECK(folded(g, g.result(n, 0)) == "Conv BatchNormalization");
  }
  SECTION("a variance below 0") {
    auto const c = g.numbers({6}, -2, 0.25);
    CHECK(folded(g, g.add("BatchNormalization", {y, c, c, c, c})) == "Conv BatchNormalization");
  }
}

TEST_CASE("a batch norm that is spelled out goes into the layer, in any bracketing") {
  for (int form = 0; form < 4; ++form)
    for (int layer = 0; layer < 4; ++layer) {
      normed g;
      bool const spatial = layer < 2;
      std::vector<std::int64_t> const along = spatial ? std::vector<std::int64_t>{6, 1} : std::vector<std::int64_t>{6};
      auto const x = spatial ? g.in("x", {2, 4, 8}) : g.in("x", {5, 4});
      auto const y = layer == 0 ? g.add("Conv", {x, g.numbers({6, 2, 3}, -1, 0.0625)}, {{"group", std::int64_t{2}}})
                     : layer == 1
                         ? g.add("ConvTranspose", {x, g.numbers({4, 6, 3}, -1, 0.03125), g.numbers({6}, 1, 0.5)})
                     : layer == 2 ? g.add("Gemm", {x, g.numbers({4, 6}, -1, 0.0625)}, {{"alpha", 0.5}, {"beta", 2.0}})
                                  : g.add("MatMul", {x, g.numbers({4, 6}, -1, 0.0625)});
      auto const scale = g.numbers(along, 0.5, 0.25), bias = g.numbers(along, -1, 0.5),
                 mean = g.numbers(along, 0.125, -0.5);
      auto const deviation = g.add("Sqrt", {g.add("Add", {g.numbers(along, 0.75, 0.5), g.scalar(1e-3f)})});
      graph::value made;
      switch (form) {
        case 0:
          made = g.add("Add", {g.add("Mul", {g.add("Div", {g.add("Sub", {y, mean}), deviation}), scale}), bias});
          break;
        case 1: {
          auto const factor = g.add("Div", {scale, deviation});
          made = g.add("Add", {g.add("Mul", {factor, y}), g.add("Sub", {bias, g.add("Mul", {mean, factor})})});
          break;
        }
        case 2:
          made = g.add(
              "Add",
              {bias, g.add("Mul", {g.add("Sub", {y, mean}), g.add("Mul", {g.add("Reciprocal", {deviation}), scale})})});
          break;
        default: made = g.add("Sub", {g.add("Div", {g.add("Mul", {scale, y}), deviation}), mean}); break;
      }
      auto const left = folded(g, made);
      INFO(form << ' ' << layer << ' ' << left);
      CHECK((left.ends_with("Conv") || left.ends_with("ConvTranspose") || left.ends_with("Gemm") ||
             left.ends_with("MatMul Sub") || left.ends_with("MatMul Add")));
    }
}

TEST_CASE("a batch norm of turned channels goes into the matrix product") {
  for (bool const biased : {false, true})
    for (bool const back : {false, true}) {
      normed g;
      auto y = g.add("MatMul", {g.in("x", {2, 3, 4}), g.numbers({4, 6}, -1, 0.0625)});
      if (biased) y = g.add("Add", {g.numbers({6}, 1, 0.5), y});
      y = g.batch_norm(g.add("Transpose", {y}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}), 6);
      if (back) y = g.add("Transpose", {y}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
      CHECK(folded(g, y) == (back ? "MatMul Add" : "MatMul Add Transpose"));
    }
  normed g;
  auto const y = g.add("MatMul", {g.in("x", {6, 6, 6}), g.numbers({6, 6}, -1, 0.0625)});
  auto const turned = g.add("Transpose", {y}, {{"perm", std::vector<std::int64_t>{0, 1, 2}}});
  CHECK(folded(g, g.batch_norm(turned, 6)) == "MatMul Transpose BatchNormalization");
}

TEST_CASE("what is added to a convolution and is no constant is no news") {
  normed g;
  g.end(g.add("Add", {g.add("Conv", {g.in("x", {2, 4, 8}), g.numbers({6, 4, 3}, -1, 0.0625)}), g.in("y", {2, 6, 6})}));
  for (auto const& rule : fuse::rewrite<fuse::rules::batch_norm>(static_cast<graph&>(g)).rules)
    CHECK(rule.refused.empty());
}

TEST_CASE("a batch norm goes into the layer behind it where nothing is padded") {
  normed g;
  SECTION("a convolution") {
    auto const y = g.add("Conv", {g.batch_norm(g.in("x", {2, 4, 8, 8}), 4), g.numbers({6, 4, 3, 3}, -1, 0.03125)},
                         {{"strides", std::vector<std::int64_t>{2, 1}}});
    CHECK(folded(g, y) == "Conv");
  }
  SECTION("that pads") {
    auto const y = g.add("Conv", {g.batch_norm(g.in("x", {2, 4, 8}), 4), g.numbers({6, 4, 3}, -1, 0.03125)},
                         {{"pads", std::vector<std::int64_t>{0, 1}}});
    CHECK(folded(g, y) == "BatchNormalization Conv");
  }
  SECTION("that pads by itself") {
    auto const y = g.add("Conv", {g.batch_norm(g.in("x", {2, 4, 8}), 4), g.numbers({6, 4, 3}, -1, 0.03125)},
                         {{"auto_pad", std::string("SAME_UPPER")}});
    CHECK(folded(g, y) == "BatchNormalization Conv");
  }
  SECTION("of groups") {
    auto const y = g.add("Conv", {g.batch_norm(g.in("x", {2, 4, 8}), 4), g.numbers({6, 2, 3}, -1, 0.03125)},
                         {{"group", std::int64_t{2}}});
    CHECK(folded(g, y) == "BatchNormalization Conv");
  }
  SECTION("a Gemm") {
    for (bool const transposed : {false, true}) {
      normed one;
      auto const w = transposed ? one.numbers({3, 5}, -1, 0.125) : one.numbers({5, 3}, -1, 0.125);
      auto const y = one.add("Gemm", {one.batch_norm(one.in("x", {4, 5}), 5), w, one.numbers({3}, 1, 0.5)},
                             {{"transB", std::int64_t{transposed}}, {"alpha", 0.5}, {"beta", 2.0}});
      CHECK(folded(one, y) == "Gemm");
    }
  }
  SECTION("a matrix product") {
    CHECK(folded(g, g.add("MatMul", {g.batch_norm(g.in("x", {4, 5}), 5), g.numbers({5, 3}, -1, 0.125)})) ==
          "MatMul Add");
  }
  SECTION("the layer before it, if there is one") {
    auto const y = g.batch_norm(g.add("Conv", {g.in("x", {2, 4, 8}), g.numbers({6, 4, 3}, -1, 0.03125)}), 6);
    CHECK(folded(g, g.add("Conv", {y, g.numbers({2, 6, 1}, 0.5, 0.125)})) == "Conv Conv");
  }
}

TEST_CASE("numbers that are not one for each channel stay") {
  normed g;
  auto const y = g.add("Conv", {g.in("x", {2, 4, 8}), g.numbers({6, 4, 3}, -1, 0.0625)});
  SECTION("along another axis") { CHECK(folded(g, g.add("Mul", {y, g.numbers({6}, 0.5, 0.25)})) == "Conv Mul"); }
  SECTION("computed from an input") { CHECK(folded(g, g.add("Add", {y, g.in("t", {6, 1})})) == "Conv Add"); }
  SECTION("others use the layer") {
    g.output(y, "z");
    CHECK(folded(g, g.add("Mul", {y, g.numbers({6, 1}, 0.5, 0.25)})) == "Conv Mul");
  }
}

TEST_CASE("a transposed convolution takes no bias of another length than it has channels") {
  normed g;
  auto const x = g.in("x", {2, 4, 8});
  auto const y = g.add("ConvTranspose", {x, g.numbers({4, 3, 3}, -1, 0.0625)});
  CHECK(folded(g, g.add("Add", {y, g.numbers({}, 0.5, 0)})) == "ConvTranspose Add");
  normed h;
  auto const z = h.add("ConvTranspose", {h.in("x", {2, 4, 8}), h.numbers({4, 3, 3}, -1, 0.0625)});
  CHECK(folded(h, h.add("Add", {z, h.numbers({3, 1}, 0.5, 0.25)})) == "ConvTranspose");
}

}  // namespace rules_batch_norm
