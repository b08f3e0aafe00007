// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <string>
#include <vector>

#include <fuse/rewrite/check.hpp>

namespace dsl_list {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

using integers = std::vector<std::int64_t>;

constexpr auto x = var<"x">, y = var<"y">;

// Required and written.
constexpr auto swapped = fuse::rule<"swapped">(relu(op<"Transpose">(x).attr<"perm">(list(0, 2, 1))))
                             .replace(op<"Transpose">(relu(x)).attr<"perm">(list(0, 2, 1)))
                             .at_equal_cost();
// Captured.
constexpr auto inverse =
    fuse::rule<"same-order">(
        tanh(op<"Transpose">(relu(op<"Transpose">(x).attr<"perm">(param<"perm">))).attr<"perm">(param<"perm">)))
        .replace(
            op<"Transpose">(op<"Transpose">(relu(tanh(x))).attr<"perm">(param<"perm">)).attr<"perm">(param<"perm">))
        .at_equal_cost();
constexpr auto reshaped = fuse::rule<"reshaped">(relu(op<"Reshape">(x).attr<"shape">(param<"shape">)))
                              .replace(op<"Reshape">(relu(x)).attr<"shape">(param<"shape">))
                              .at_equal_cost();
// Computed.
constexpr auto by_rows =
    fuse::rule<"by-rows">(tanh(tanh(x))).replace(op<"Reshape">(x).attr<"shape">(list(dim<"x", 0>, 2, dim<"x", 1> / 2)));
constexpr auto sliced =
    fuse::rule<"sliced">(
        tanh(op<"Slice">(x).attr<"starts">(param<"starts">).attr<"ends">(param<"ends">).attr<"axes">(param<"axes">)))
        .replace(op<"Slice">(x)
                     .attr<"starts">(param<"starts"> + 1)
                     .attr<"ends">(param<"ends">)
                     .attr<"axes">(param<"axes">)
                     .attr<"steps">(list(2)));
constexpr auto joined =
    fuse::rule<"joined">(op<"Unsqueeze">(op<"Unsqueeze">(x).attr<"axes">(list(0))).attr<"axes">(list(1)))
        .replace(op<"Unsqueeze">(x).attr<"axes">(list(0, 1)))
        .at_equal_cost();
constexpr auto squeezed = fuse::rule<"squeezed">(relu(op<"Squeeze">(x).attr<"axes">(param<"axes">)))
                              .replace(op<"Squeeze">(relu(x)).attr<"axes">(param<"axes">))
                              .at_equal_cost();
constexpr auto over_last_two = fuse::rule<"over-last-two">(tanh(mean(x).attr<"axes">(list(-2, -1))))
                                   .replace(mean(tanh(x)).attr<"axes">(list(1, 2)));
constexpr auto over_last = fuse::rule<"over-last">(tanh(mean(x).attr<"axes">(-1))).replace(mean(x).attr<"axes">(-1));
constexpr auto expanded =
    fuse::rule<"expanded">(tanh(tanh(x))).replace(op<"Expand">(x, list(3, list(dim<"x", 0>, dim<"x", 1>))));

fuse::rewrite_options checked() {
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  return options;
}

integers listed(graph const& g, graph::node n, std::string_view name) {
  auto const* a = g.attribute(n, name);
  REQUIRE(a != nullptr);
  return std::get<integers>(a->content);
}
integers contents(graph const& g, graph::node n, std::size_t operand) {
  auto const all = g.constant(g.operands(n)[operand]);
  integers made;
  for (std::size_t i = 0; i < all.size(); ++i) made.push_back(all.integer(i));
  return made;
}

}  // namespace

TEST_CASE("a pattern requires a list") {
  for (auto const& [perm, fires] : {std::pair{integers{0, 2, 1}, 1u}, {{0, 1, 2}, 0u}, {{2, 1, 0}, 0u}}) {
    sketch g;
    g.end(g.add("Relu", {g.add("Transpose", {g.in("x", {2, 3, 4})}, {{"perm", perm}})}));
    CHECK(applied<swapped>(g, checked()) == fires);
    if (fires != 0) CHECK(listed(g, last(g), "perm") == perm);
  }
}

TEST_CASE("a list that no node says is the operator's own") {
  static constexpr auto turned = fuse::rule<"turned">(relu(op<"Transpose">(x).attr<"perm">(list(2, 1, 0))))
                                     .replace(op<"Transpose">(relu(x)))
                                     .at_equal_cost();
  sketch g;
  g.end(g.add("Relu", {g.add("Transpose", {g.in("x", {2, 3, 4})})}));
  CHECK(applied<turned>(g) == 1);
}

TEST_CASE("lists of one name agree, and are written as they are") {
  for (auto const& [second, fires] : {std::pair{integers{1, 2, 0}, 1u}, {{2, 0, 1}, 0u}}) {
    sketch g;
    auto const first = g.add("Transpose", {g.in("x", {2, 3, 4})}, {{"perm", {1, 2, 0}}});
    g.end(g.add("Tanh", {g.add("Transpose", {g.add("Relu", {first})}, {{"perm", second}})}));
    CHECK(applied<inverse>(g, checked()) == fires);
    if (fires != 0) CHECK(listed(g, last(g), "perm") == second);
  }
}

TEST_CASE("a list is read from where the operator set keeps it, and written there") {
  for (int version : {11, 13}) {
    sketch g(version);
    auto const x_ = g.in("x", {1, 4, 1});
    g.end(g.add("Relu", {version < 13 ? g.add("Squeeze", {x_}, {{"axes", {2, 0}}})
                                      : g.add("Squeeze", {x_, g.constant({2, 0})})}));
    CHECK(applied<squeezed>(g, checked()) == 1);
    auto const found = version < 13 ? listed(g, last(g), "axes") : contents(g, last(g), 1);
    CHECK(found == integers{-3, -1});
  }
}

TEST_CASE("an operand of one axis is a list") {
  sketch g;
  g.end(g.add("Relu", {g.add("Reshape", {g.in("x", {4, 6}), g.constant({2, -1, 3})})}));
  CHECK(applied<reshaped>(g, checked()) == 1);
  CHECK(ops(g) == "Relu Reshape");
  CHECK(contents(g, last(g), 1) == integers{2, -1, 3});
}

TEST_CASE("entries are computed of extents") {
  sketch g;
  SECTION("that are known") {
    static constexpr auto rows =
        fuse::rule<"rows">(abs(abs(abs(abs(abs(x))))))
            .replace(op<"Reshape">(abs(op<"Reshape">(x).attr<"shape">(list(dim<"x", 0>, 2, dim<"x", 1> / 2))))
                         .attr<"shape">(list(dim<"x", 0>, dim<"x", 1>)));
    auto v = g.in("x", {3, 8});
    for (int i = 0; i < 5; ++i) v = g.add("Abs", {v});
    g.end(v);
    CHECK(applied<rows>(g, checked()) == 1);
    CHECK(ops(g) == "Reshape Abs Reshape");
    CHECK(contents(g, last(g), 1) == integers{3, 8});
  }
  SECTION("that the graph tells when it runs, where an operand is a list") {
    static constexpr auto spread =
        fuse::rule<"spread">(abs(abs(abs(abs(abs(x) + y))))).replace(expand(x, list(dim<"x", -2>, 2, dim<"y", 0>)));
    auto v = g.add("Add", {g.add("Abs", {g.in("x", {"batch", 1, 1})}), g.in("y", {"n"})});
    for (int i = 0; i < 4; ++i) v = g.add("Abs", {v});
    g.output(v, "y");
    auto const report = fuse::rewrite<spread>(g, {.trust_shapes = true});
    UNSCOPED_INFO(to_text(report));
    CHECK(report.applied() == 0);
    REQUIRE_FALSE(report.rules[0].refused.empty());
    CHECK(report.rules[0].refused.back().reason.find("another shape") != std::string::npos);
  }
  SECTION("that the graph tells when it runs: the shape that is made of them is known") {
    static constexpr auto wide = fuse::rule<"wide">(abs(abs(abs(abs(abs(abs(abs(x) + y)))))))
                                     .replace(abs(expand(x, list(dim<"x", 0>, 2, dim<"y", -1>))));
    auto v = g.add("Add", {g.add("Abs", {g.in("x", {"batch", 1, 1})}), g.in("y", {2, "n"})});
    for (int i = 0; i < 6; ++i) v = g.add("Abs", {v});
    g.end(v);
    CHECK(applied<wide>(g) == 1);
    CHECK(ops(g) == "Shape Gather Shape Gather Concat Expand Abs");
  }
  SECTION("and not where a value has that shape") {
    static constexpr auto twice =
        fuse::rule<"twice">(abs(abs(abs(abs(x))))).replace(abs(expand(x, list(dim<"x", 0>, 1, dim<"x", -1>))));
    g.end(g.add("Abs", {g.add("Abs", {g.add("Abs", {g.add("Abs", {g.in("x", {"batch", 8, "n"})})})})}));
    CHECK(applied<twice>(g) == 1);
    CHECK(ops(g) == "Abs");
  }
  SECTION("of axes that there are") {
    static constexpr auto beyond =
        fuse::rule<"beyond">(abs(abs(abs(abs(abs(x)))))).replace(expand(x, list(dim<"x", 0>, dim<"x", 2>)));
    auto v = g.in("x", {"batch", "n"});
    for (int i = 0; i < 5; ++i) v = g.add("Abs", {v});
    g.end(v);
    CHECK(refusal<beyond>(g, {.trust_shapes = true}).find("right side") != std::string::npos);
  }
  SECTION("that are not: the reason names the dimension") {
    g.end(g.add("Tanh", {g.add("Tanh", {g.in("x", {"batch", 8})})}));
    auto const report = fuse::rewrite<by_rows>(g);
    REQUIRE(report.rules[0].refused.size() == 1);
    CHECK(report.rules[0].refused[0].reason.find("axis 0 of 'x' is batch") != std::string::npos);
  }
}

TEST_CASE("entries are computed of captured lists") {
  sketch g;
  g.end(
      g.add("Tanh", {g.add("Slice", {g.in("x", {8, 8}), g.constant({1, 2}), g.constant({7, 8}), g.constant({1, 0})})}));
  auto const report = fuse::rewrite<sliced>(g);
  CHECK(report.applied() == 0);  // of another shape
  CHECK(report.rules[0].matched == 1);
}

TEST_CASE("entries are numbers where the attribute is a list of these") {
  using numbers = std::vector<float>;
  static constexpr auto clipped =
      fuse::rule<"clipped">(op<"LeakyRelu">(op<"Conv">(x, y)).attr<"alpha">(param<"alpha">))
          .replace(op<"com.microsoft::FusedConv">(x, y).attr<"activation_params">(list(1, param<"alpha"> * 2)));
  static constexpr auto whole = fuse::rule<"whole">(op<"LeakyRelu">(relu(x)).attr<"alpha">(param<"alpha">))
                                    .replace(op<"Transpose">(x).attr<"perm">(list(0, param<"alpha">)))
                                    .at_equal_cost();
  for (auto const& [alpha, made] : {std::pair{0.75, numbers{1, 1.5f}}, {2.0, numbers{1, 4}}}) {
    sketch g, h;
    g.end(g.add("LeakyRelu", {g.add("Conv", {g.in("x", {1, 2, 8}), g.in("w", {3, 2, 3})})}, {{"alpha", alpha}}));
    h.end(h.add("LeakyRelu", {h.add("Relu", {h.in("x", {2, 3})})}, {{"alpha", alpha}}));
    fuse::rewrite_options options;
    options.target = fuse::target::onnxruntime;
    CHECK(applied<clipped>(g, options) == 1);
    auto const* list = g.attribute(last(g), "activation_params");
    REQUIRE(list != nullptr);
    CHECK(std::get<numbers>(list->content) == made);
    auto const report = fuse::rewrite<whole>(static_cast<graph&>(h));
    REQUIRE(report.rule("whole")->refused.size() == 1);
    if (alpha < 1)
      CHECK(report.rule("whole")->refused[0].reason ==
            "the parameter 'perm' of Transpose would be a list of what are no integers");
  }
}

TEST_CASE("axes are a set where each stands for itself") {
  for (auto const& [axes, fires] : {std::pair{integers{-2, -1}, 1u}, {{2, 1}, 1u}, {{0, 1}, 0u}, {{2}, 0u}}) {
    sketch g;
    g.end(g.add("Tanh", {g.add("ReduceMean", {g.in("x", {2, 3, 4})}, {{"axes", axes}})}));
    CHECK(fuse::rewrite<over_last_two>(g).rules[0].matched == fires);
  }
}

TEST_CASE("two axes that a pattern names are no others, also where they are one") {
  static constexpr auto named = list(0, -2);
  static constexpr auto means = fuse::rule<"means">(tanh(mean(x).attr<"axes">(named))).replace(mean(x).attr<"axes">(0));
  static constexpr auto squeezes = fuse::rule<"squeezes">(tanh(op<"Squeeze">(x).attr<"axes">(named))).replace(tanh(x));
  sketch::dims const square{1, 1}, cube{1, 1, 1}, four{1, 1, 1, 1};
  struct {
    sketch::dims const& shape;
    integers axes;
    std::size_t fires;
  } const cases[] = {{cube, {0, 1}, 1}, {cube, {-2, -3}, 1}, {cube, {0, 2}, 0},   {cube, {0}, 0},
                     {four, {2, 0}, 1}, {four, {0, 1}, 0},   {square, {0, 1}, 0}, {square, {0}, 0}};
  for (auto const& [shape, axes, fires] : cases) {
    for (auto const* const name : {"ReduceMean", "Squeeze"}) {
      sketch g(11);
      g.end(g.add("Tanh", {g.add(name, {g.in("x", shape)}, {{"axes", axes}})}));
      CHECK(fuse::rewrite<means>(g).rules[0].matched + fuse::rewrite<squeezes>(g).rules[0].matched == fires);
    }
  }
}

TEST_CASE("a reduction over one axis that a pattern names") {
  for (auto const& [axis, fires] : {std::pair{-1, 1u}, {1, 1u}, {0, 0u}}) {
    sketch g;
    g.end(g.add("Tanh", {g.add("ReduceMean", {g.in("x", {2, 3})}, {{"axes", {axis}}})}));
    auto const report = fuse::rewrite<over_last>(g);
    CHECK(report.rules[0].matched == fires);
  }
}

TEST_CASE("axes are required as they are counted") {
  sketch g;
  auto const once = g.add("Unsqueeze", {g.in("x", {2, 3}), g.constant({0})});
  g.end(g.add("Unsqueeze", {once, g.constant({1})}));
  CHECK(applied<joined>(g, checked()) == 1);
  CHECK(ops(g) == "Unsqueeze");
  CHECK(contents(g, last(g), 1) == integers{0, 1});
}

TEST_CASE("a list is an operand of integers") {
  sketch g;
  g.end(g.add("Tanh", {g.add("Tanh", {g.in("x", {2, 3})})}));
  auto const report = fuse::rewrite<expanded>(g);
  CHECK(report.rules[0].matched == 1);
  CHECK(report.rules[0].refused[0].condition == "shape and element type");
}

TEST_CASE("conditions and matches have lists as lists") {
  static constexpr auto turns = fuse::rule<"turns">(op<"Transpose">(x).attr<"perm">(param<"perm">))
                                    .where<"swaps the last two">(pred<"perm">([](auto perm) {
                                      std::vector<std::int64_t> order;
                                      return perm.integers(order) && order.size() == 3 && order[1] == 2;
                                    }))
                                    .replace(x);
  for (auto const& [perm, fires] : {std::pair{integers{0, 2, 1}, 1u}, {{0, 1, 2}, 0u}}) {
    sketch g;
    g.end(g.add("Transpose", {g.in("x", {2, 3, 4})}, {{"perm", perm}}));
    auto const found = fuse::match_all<turns>(g);
    REQUIRE(found.size() == fires);
    if (fires != 0) CHECK(found[0].integers<"perm">() == perm);
  }
}

TEST_CASE("axes of a Slice keep their order") {
  static constexpr auto twice =
      fuse::rule<"twice">(op<"Slice">(op<"Slice">(x).attr<"starts">(param<"a">).attr<"axes">(param<"axes">))
                              .attr<"starts">(param<"b">)
                              .attr<"axes">(param<"axes">))
          .replace(x);
  for (auto const& [axes, fires] : {std::pair{integers{1, 0}, 1u}, {{-1, -2}, 1u}, {{0, 1}, 0u}}) {
    sketch g;
    auto const slice = [&](graph::value v, integers const& along) {
      return g.add("Slice", {v, g.constant({1, 2}), g.constant({7, 8}),
                             g.constant(fuse::make_tensor<std::int64_t>({2}, along))});
    };
    g.end(slice(slice(g.in("x", {8, 8}), {1, 0}), axes));
    CHECK(fuse::match_all<twice>(g).size() == fires);
  }
}

}  // namespace dsl_list
