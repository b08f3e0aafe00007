// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_again {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, w = var<"w">;
constexpr auto inner =
    fuse::rule<"inner">(abs(op<"Conv">(x, w).as<"layer">())).replace(again<"layer">(x, w)).at_equal_cost();
constexpr auto itself =
    fuse::rule<"itself">(op<"LeakyRelu">(abs(x)).as<"root">()).replace(again<"root">(x)).at_equal_cost();
constexpr auto looked_through = fuse::rule<"looked-through">(abs(tanh(x).as<"curve">()))
                                    .through<"Identity">()
                                    .replace(again<"curve">(x))
                                    .at_equal_cost();
constexpr auto sliced =
    fuse::rule<"sliced">(op<"Slice">(abs(x)).as<"part">()).replace(abs(again<"part">(x))).at_equal_cost();
constexpr auto scanned = fuse::rule<"scanned">(abs(op<"If">(x).as<"choice">())).replace(again<"choice">(x));

}  // namespace

TEST_CASE("an operator stands again with all of its attributes") {
  sketch g;
  auto const y = g.add(
      "Conv", {g.in("x", {1, 2, 8}), g.in("w", {3, 2, 3})},
      {{"pads", std::vector<std::int64_t>{1, 1}}, {"dilations", std::vector<std::int64_t>{1}}, {"auto_pad", "NOTSET"}});
  g.end(g.add("Abs", {y}));
  CHECK(applied<inner>(g) == 1);
  CHECK(ops(g) == "Conv");
  CHECK(std::get<std::vector<std::int64_t>>(g.attribute(last(g), "pads")->content) == std::vector<std::int64_t>{1, 1});
  CHECK(std::get<std::string>(g.attribute(last(g), "auto_pad")->content) == "NOTSET");
  CHECK(g.attribute(last(g), "strides") == nullptr);
}

TEST_CASE("the root stands again on other operands") {
  sketch g;
  g.end(g.add("LeakyRelu", {g.add("Abs", {g.in("x")})}, {{"alpha", 0.25}}));
  CHECK(applied<itself>(g) == 1);
  CHECK(ops(g) == "LeakyRelu");
  CHECK(number(g, last(g), "alpha") == 0.25);
}

TEST_CASE("operands that are parameters stay") {
  sketch g;
  auto const of = g.add("Abs", {g.in("x", {4, 8})});
  g.end(g.add("Slice",
              {of, g.constant({std::int64_t{1}}), g.constant({std::int64_t{3}}), g.constant({std::int64_t{1}})}));
  CHECK(applied<sliced>(g) == 1);
  CHECK(ops(g) == "Slice Abs");
}

TEST_CASE("an operator stands again with other parameters, where they are given") {
  static constexpr auto padded = fuse::rule<"padded">(abs(op<"Conv">(x, w).attr<"pads">(param<"pads">).as<"layer">()))
                                     .replace(again<"layer">(x, w).attr<"pads">(param<"pads"> + 1));
  static constexpr auto steeper =
      fuse::rule<"steeper">(abs(op<"LeakyRelu">(x).attr<"alpha">(param<"alpha">).as<"leak">()))
          .replace(again<"leak">(x).attr<"alpha">(param<"alpha"> * 2));
  static constexpr auto further =
      fuse::rule<"further">(abs(op<"Slice">(x).as<"part">())).replace(again<"part">(x).attr<"ends">(list(8)));
  auto const pads = [](sketch const& g) {
    return std::get<std::vector<std::int64_t>>(g.attribute(last(g), "pads")->content);
  };
  SECTION("attributes") {
    sketch g;
    g.end(g.add("Abs", {g.add("LeakyRelu", {g.in("x")}, {{"alpha", 0.25}})}));
    CHECK(applied<steeper>(g) == 1);
    CHECK(number(g, last(g), "alpha") == 0.5);
  }
  SECTION("that the node leaves out") {
    sketch g;
    auto const y = g.add("Conv", {g.in("x", {1, 2, 8}), g.in("w", {3, 2, 3})}, {{"strides", {4}}});
    g.end(g.add("Abs", {y}));
    CHECK(applied<padded>(g) == 1);
    CHECK(pads(g) == std::vector<std::int64_t>{1, 1});
    CHECK(std::get<std::vector<std::int64_t>>(g.attribute(last(g), "strides")->content) ==
          std::vector<std::int64_t>{4});
  }
  SECTION("and nothing says in another way how much is padded") {
    sketch g;
    auto const y = g.add("Conv", {g.in("x", {1, 2, 8}), g.in("w", {3, 2, 3})},
                         {{"auto_pad", "VALID"}, {"strides", {4}}, {"kernel_shape", {3}}});
    g.end(g.add("Abs", {y}));
    CHECK(applied<padded>(g) == 1);
    CHECK(pads(g) == std::vector<std::int64_t>{1, 1});
    CHECK(g.attribute(last(g), "auto_pad") == nullptr);
    CHECK(g.attribute(last(g), "kernel_shape") != nullptr);
  }
  SECTION("operands") {
    sketch g;
    g.end(g.add("Abs", {g.add("Slice", {g.in("x", {8}), g.constant({std::int64_t{1}}), g.constant({std::int64_t{9}}),
                                        g.constant({std::int64_t{0}})})}));
    CHECK(applied<further>(g) == 1);
    CHECK(ops(g) == "Slice");
    CHECK(g.operands(last(g)).size() == 4);
  }
}

TEST_CASE("an operator stands again with all of its results") {
  static constexpr auto best =
      fuse::rule<"best">(result<0>(op<"TopK">(abs(x))).as<"top">() + w).replace(result<0>(again<"top">(x)) + w);
  static constexpr auto half =
      fuse::rule<"half">(result<0>(op<"Split">(abs(x))).as<"half">() + w).replace(result<0>(again<"half">(x)) + w);
  static constexpr auto third =
      fuse::rule<"third">(result<0>(op<"Split">(abs(x))).as<"half">() + w).replace(result<2>(again<"half">(x)) + w);
  auto const graph_of = [](char const* op, fuse::graph::dims const& extents) {
    sketch g(13);
    auto const list = extents.size() == 1 ? g.constant({3}) : g.constant({4, 4});
    auto const n = g.append(op, {g.add("Abs", {g.in("x")}), list}, {{"axis", -1}}, 2);
    g.end(g.add("Add", {g.result(n), g.in("w", {1, 1})}));
    return g;
  };
  auto const results_of = [](sketch const& g, char const* op) {
    for (auto const n : g.nodes())
      if (g.op(n) == op) return g.results(n).size();
    return std::size_t{0};
  };
  auto g = graph_of("TopK", {3});
  CHECK(applied<best>(g) == 1);
  CHECK(results_of(g, "TopK") == 2);
  auto h = graph_of("Split", {4, 4});
  CHECK(applied<half>(h) == 1);
  CHECK(results_of(h, "Split") == 2);
  auto k = graph_of("Split", {4, 4});
  CHECK(applied<third>(k) == 0);
}

TEST_CASE("what is looked through above an operator is not it") {
  sketch g;
  g.end(g.add("Abs", {g.add("Identity", {g.add("Tanh", {g.in("x")})})}));
  auto const left = applied<looked_through>(g);
  CHECK((left == 0 || ops(g) == "Tanh"));
}

TEST_CASE("another operator takes over the attributes of one of the pattern") {
  static constexpr auto fused = fuse::rule<"fused">(abs(op<"Conv">(x, w).as<"layer">()))
                                    .replace(again<"layer", "com.microsoft::FusedConv">(x, w).attr<"group">(2));
  static constexpr auto integers =
      fuse::rule<"integers">(abs(op<"Conv">(x, w).as<"layer">())).replace(again<"layer", "ConvInteger">(x, w));
  sketch g;
  auto const y = g.add("Conv", {g.in("x", {1, 4, 8}), g.in("w", {6, 2, 3})},
                       {{"pads", std::vector<std::int64_t>{1, 0}}, {"auto_pad", "NOTSET"}, {"group", 1}});
  g.end(g.add("Abs", {y}));
  static constexpr auto by_meaning = fuse::rule<"by-meaning">(abs(op<"Conv">(x, w).as<"layer">()))
                                         .replace(again<"layer">(fuse::opcode::fused_conv, x, w).attr<"group">(2));
  fuse::rewrite_options options;
  options.target = fuse::target::onnxruntime;
  SECTION("all but those that are given") {
    auto h = g;
    CHECK(fuse::rewrite<by_meaning>(static_cast<graph&>(h), options).applied() == 1);
    CHECK(fuse::rewrite<fused>(static_cast<graph&>(g), options).applied() == 1);
    CHECK(to_text(g) == to_text(h));
    CHECK(ops(g) == "com.microsoft::FusedConv");
    CHECK(std::get<std::vector<std::int64_t>>(g.attribute(last(g), "pads")->content) ==
          std::vector<std::int64_t>{1, 0});
    CHECK(std::get<std::string>(g.attribute(last(g), "auto_pad")->content) == "NOTSET");
    CHECK(number(g, last(g), "group") == 2);
  }
  SECTION("its rule is for the target that has it") {
    auto const report = fuse::rewrite<fused>(static_cast<graph&>(g));
    CHECK(report.rule("fused")->left_out == "com.microsoft::FusedConv is for another target");
    CHECK(fuse::rewrite<by_meaning>(static_cast<graph&>(g)).rule("by-meaning")->left_out ==
          report.rule("fused")->left_out);
  }
  SECTION("where that is right") { CHECK_FALSE(refusal<integers>(g).empty()); }
}

TEST_CASE("the dialect is asked about an operator that takes over attributes, too") {
  static constexpr auto q = var<"q">, k = var<"k">, v = var<"v">, past_k = var<"past k">, past_v = var<"past v">;
  static constexpr auto all_k = concat(past_k, k).attr<"axis">(2), all_v = concat(past_v, v).attr<"axis">(2);
  static constexpr auto found = attention(q, all_k, all_v).as<"attention">();
  static constexpr auto taking = [](auto const&... of) { return again<"attention">(fuse::opcode::attention, of...); };
  static constexpr auto right = fuse::rule<"right">(found).replace(taking(q, k, v, none, past_k, past_v));
  static constexpr auto swapped = fuse::rule<"swapped">(found).replace(taking(q, k, v, none, past_v, past_k));
  static constexpr auto half = fuse::rule<"half">(found).replace(taking(q, k, v, none, past_k));
  static constexpr auto whole = taking(q, all_k, all_v);
  static constexpr auto too_many =
      fuse::rule<"too-many">(roots(found, abs(all_k))).replace(whole, abs(result<1>(whole))).at_equal_cost();
  sketch g(23);
  auto const keys = g.add("Concat", {g.in("past k", {2, 4, 2, 6}), g.in("k", {2, 4, 5, 6})}, {{"axis", 2}});
  auto const values = g.add("Concat", {g.in("past v", {2, 4, 2, 8}), g.in("v", {2, 4, 5, 8})}, {{"axis", 2}});
  g.end(g.add("Attention", {g.in("q", {2, 4, 3, 6}), keys, values}, {{"softcap", 2.0}}));
  SECTION("which takes it") {
    CHECK(fuse::rewrite<right>(static_cast<graph&>(g)).applied() == 1);
    CHECK(number(g, last(g), "softcap") == 2);
  }
  SECTION("which refuses it") {
    g.output(g.add("Abs", {keys}), "magnitudes");
    auto const why = [&](fuse::rewrite_report const& report, std::string_view rule) {
      CHECK(report.applied() == 0);
      auto const& refused = report.rule(rule)->refused;
      return refused.empty() ? std::string() : refused[0].reason;
    };
    CHECK(why(fuse::rewrite<swapped>(static_cast<graph&>(g)), "swapped") ==
          "the past has not provably heads of the same size");
    CHECK(why(fuse::rewrite<half>(static_cast<graph&>(g)), "half") == "a past is keys and values of four axes each");
    CHECK(why(fuse::rewrite<too_many>(static_cast<graph&>(g)), "too-many") ==
          "a rewrite takes the result of the operator, and behind a past all keys and values");
  }
}

TEST_CASE("whose parameters are operands has no attributes to take over") {
  static constexpr auto part =
      fuse::rule<"part">(op<"Slice">(abs(x)).as<"part">()).replace(again<"part", "Relu">(x)).at_equal_cost();
  sketch g;
  auto const one = g.constant({std::int64_t{1}});
  g.end(g.add("Slice", {g.add("Abs", {g.in("x", {4, 8})}), g.constant({std::int64_t{0}}), one, one}));
  auto const report = fuse::rewrite<part>(static_cast<graph&>(g));
  REQUIRE(report.rule("part")->refused.size() == 1);
  CHECK(report.rule("part")->refused[0].reason.find("parameters among its operands") != std::string::npos);
}

TEST_CASE("an operator of which not all is known does not stand again") {
  sketch g;
  g.end(g.add("Abs", {g.add("If", {g.in("c", {}, element_type::boolean)})}));
  CHECK(applied<scanned>(g) == 0);
}

}  // namespace dsl_again
