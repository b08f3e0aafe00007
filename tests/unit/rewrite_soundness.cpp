// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <algorithm>
#include <vector>

// Rules that nobody wrote with care, on graphs that nobody wrote for them: a rewrite is right or refused.

namespace acme {

constexpr bool half(fuse::known_extents of, std::vector<fuse::result_extent>& into) {
  if (of.size() != 1 || of[0].empty()) return false;
  for (std::size_t i = 0; i + 1 < of[0].size(); ++i) into.push_back({-1, 0, static_cast<std::int8_t>(i)});
  into.push_back({of[0].back() < 0 ? -1 : of[0].back() / 2});
  return true;
}

using result = fuse::result_info;
inline constexpr fuse::element_types typed[] = {{.operands = {1u << static_cast<int>(fuse::element_type::float32)}}};
inline constexpr fuse::operator_row rows[] = {
    {.name = "acme::SwiGLU", .result = {.shape = result::kind::function, .extents = &half}},
    {.name = "acme::Same", .result = {.shape = result::kind::operand}},
    {.name = "acme::Compare", .result = {.shape = result::kind::broadcast, .type = fuse::element_type::boolean}},
    {.name = "acme::Blend", .result = {.shape = result::kind::broadcast}},
    {.name = "acme::Unknown"},
    {.name = "acme::Read", .emit = fuse::target::none, .result = {.shape = result::kind::operand}},
    {.name = "acme::One", .operands = 1, .result = {.shape = result::kind::operand}},
    {.name = "acme::Typed", .result = {.shape = result::kind::operand}, .types = typed},
    {.name = "acme::Norm", .op = fuse::opcode::layer_norm, .operands = 1},
    {.name = "LayerNormalization", .op = fuse::opcode::layer_norm, .emit = fuse::target::none}};
inline constexpr auto dialect = fuse::onnx.with(rows);

struct graph : rewriting::sketch {
  /// Makes none of this operator.
  std::string_view refused{};
};

}  // namespace acme

template <>
struct fuse::graph_traits<acme::graph> : fuse::graph_traits<fuse::graph> {
  static constexpr auto& dialect = acme::dialect;
  static node insert(acme::graph& g, node place, fuse::new_node<value> const& made) {
    return made.op == g.refused ? node{} : fuse::graph_traits<fuse::graph>::insert(g, place, made);
  }
};

namespace rewrite_soundness {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, y = var<"y">, w = var<"w">;
constexpr auto s = scalar<"s">;

template <auto const& Rules>
void stays(sketch& g) {
  auto const before = to_text(g);
  CHECK(fuse::rewrite<Rules>(g).applied() == 0);
  CHECK(to_text(g) == before);
}

graph::value integers(sketch& g, std::vector<std::int64_t> const& list) {
  return g.constant(fuse::make_tensor({static_cast<std::int64_t>(list.size())}, fuse::span<std::int64_t const>(list)));
}

/// Whether operands come before their users.
bool ordered(graph const& g) {
  std::vector<graph::node> seen;
  for (auto n : g.nodes()) {
    for (auto v : g.operands(n))
      if (v != graph::value{} && g.producer(v) != graph::node{} &&
          std::find(seen.begin(), seen.end(), g.producer(v)) == seen.end())
        return false;
    seen.push_back(n);
  }
  return true;
}

}  // namespace

// What a name captures is below the root

TEST_CASE("a capture is never the root that is replaced") {
  sketch g;
  auto const a = g.in("a");
  SECTION("times one") {
    static constexpr auto leaky =
        fuse::rule<"leaky">(x * s).replace(op<"LeakyRelu">(x).attr<"alpha">(s)).at_equal_cost();
    g.end(g.add("Mul", {a, g.scalar(1.0f)}));
    CHECK(applied<leaky>(g) == 1);
    CHECK(g.operands(last(g))[0] == a);
  }
  SECTION("plus zero") {
    static constexpr auto shrunk = fuse::rule<"shrunk">(x + s).replace(op<"Shrink">(x).attr<"bias">(s)).at_equal_cost();
    g.end(g.add("Add", {g.scalar(0.0f), a}));
    CHECK(applied<shrunk>(g) == 1);
    CHECK(g.operands(last(g))[0] == a);
  }
  SECTION("times whatever is left") {
    static constexpr auto largest =
        fuse::rule<"largest">(x * rest<"r">).replace(op<"Max">(x, rest<"r">)).at_equal_cost();
    g.end(g.add("Mul", {a, g.in("b")}));
    fuse::rewrite<largest>(g);
    for (auto v : g.operands(last(g))) CHECK(g.producer(v) != last(g));
  }
  SECTION("times what may be absent") {
    static constexpr auto optionally_gated =
        fuse::rule<"optionally-gated">(x * optional(tanh(y))).replace(op<"PRelu">(x, y)).at_equal_cost();
    g.end(g.add("Mul", {a, g.add("Tanh", {g.in("b")})}));
    CHECK(applied<optionally_gated>(g) == 1);
    CHECK(ordered(g));
    CHECK(g.operands(last(g))[0] == a);
  }
  CHECK(ordered(g));
}

TEST_CASE("matches do not take the root for a capture either") {
  static constexpr auto scaled = fuse::rule<"scaled">(x * s).replace(x);
  sketch g;
  auto const a = g.in("a");
  g.end(g.add("Mul", {a, g.scalar(1.0f)}));
  auto const found = fuse::match_all<scaled>(g);
  REQUIRE(found.size() == 1);
  CHECK(found[0].template get<"x">() == a);
}

// Axes

TEST_CASE("an operator's axis is written as it counts") {
  static constexpr auto softmax = fuse::rule<"softmax">(exp(x) / sum(exp(x)).attr<"axes">(param<"axes">))
                                      .replace(op<"Softmax">(x).attr<"axis">(param<"axes">));
  auto const normalised = [](sketch& g, std::vector<std::int64_t> axes, graph::value of) {
    auto const e = g.add("Exp", {of});
    g.end(g.add("Div", {e, g.add("ReduceSum", {e, integers(g, axes)})}));
  };
  SECTION("one axis") {
    for (int axis : {0, 1, 2}) {
      sketch g(17);
      normalised(g, {axis}, g.in("a", {2, 3, 4}));
      CHECK(applied<softmax>(g) == 1);
      CHECK(number(g, last(g), "axis") == axis - 3);
    }
  }
  SECTION("two axes are none") {
    sketch g(17);
    normalised(g, {1, 2}, g.in("a", {2, 3, 4}));
    CHECK(refusal<softmax>(g) == "right side");
  }
  SECTION("the first of the last ones, before operator set 13") {
    sketch g(11);
    auto const e = g.add("Exp", {g.in("a", {2, 3, 4})});
    auto const which = GENERATE(0, 1, 2);
    auto const axes = std::vector<std::vector<std::int64_t>>{{2}, {1, 2}, {1}}[static_cast<std::size_t>(which)];
    g.end(g.add("Div", {e, g.add("ReduceSum", {e}, {{"axes", axes}})}));
    if (which == 2) {
      CHECK(refusal<softmax>(g) == "right side");
    } else {
      CHECK(applied<softmax>(g) == 1);
      CHECK(number(g, last(g), "axis") == -1 - which);
    }
  }
}

TEST_CASE("an axis is wanted from the first or from the last") {
  static constexpr auto first = fuse::rule<"first">(relu(op<"Softmax">(x).attr<"axis">(0))).replace(relu(x));
  static constexpr auto last_one = fuse::rule<"last">(relu(op<"Softmax">(x).attr<"axis">(-2))).replace(relu(x));
  for (int axis : {0, 1, -1, -2}) {
    sketch g;
    g.end(g.add("Relu", {g.add("Softmax", {g.in("a", {2, 3})}, {{"axis", axis}})}));
    auto h = g;
    CHECK(applied<first>(g) == (axis == 0 || axis == -2 ? 1u : 0u));
    CHECK(applied<last_one>(h) == (axis == 0 || axis == -2 ? 1u : 0u));
  }
}

// What occurs twice

TEST_CASE("a part that occurs twice has the same parameters in both places") {
  constexpr auto turned = op<"Transpose">(x);
  static constexpr auto gated = fuse::rule<"gated">(tanh(turned) * sigmoid(turned)).replace(relu(op<"Transpose">(x)));
  bool const same = GENERATE(true, false);
  sketch g;
  auto const a = g.in("a", {4, 4, 4});
  std::vector<std::int64_t> const p{2, 1, 0}, q = same ? p : std::vector<std::int64_t>{1, 0, 2};
  g.end(g.add("Mul", {g.add("Tanh", {g.add("Transpose", {a}, {{"perm", p}})}),
                      g.add("Sigmoid", {g.add("Transpose", {a}, {{"perm", q}})})}));
  CHECK((fuse::rewrite<gated>(g).rules[0].matched == 1) == same);
}

TEST_CASE("two results are those of one node") {
  constexpr auto top = op<"TopK">(x);
  static constexpr auto both = fuse::rule<"both">(op<"Max">(result<0>(top), cast(result<1>(top)))).replace(relu(x));
  int const which = GENERATE(0, 1, 2);
  sketch g;
  auto const a = g.in("a", {4, 4});
  auto const k = [&](std::int64_t n) { return integers(g, {n}); };
  auto const one = g.append("TopK", {a, k(4)}, {}, 2);
  auto const other = which == 0 ? one : g.append("TopK", {a, k(4)}, {{"largest", which == 1 ? 1 : 0}}, 2);
  g.end(g.add("Max", {g.result(one, 0), g.add("Cast", {g.result(other, 1)}, {{"to", 1}})}));
  auto const matched = fuse::rewrite<both>(g).rules[0].matched;
  if (which == 0) CHECK(matched == 1);
  if (which == 2) CHECK(matched == 0);
}

// Repeated elements

TEST_CASE("a repetition below a sum over it counts") {
  static constexpr auto unit = fuse::rule<"unit">(x / sqrt(sum(square(x))))
                                   .through<"identity">()
                                   .replace(op<"LpNormalization">(x))
                                   .at_equal_cost();
  bool const along = GENERATE(true, false);
  sketch g;
  auto const a = g.in("a", along ? graph::dims{4, 1} : graph::dims{1, 8});
  auto const e = g.add("Expand", {a, g.constant({4, 8})});
  auto const squares = g.add("ReduceSum", {g.add("Mul", {e, e}), integers(g, {-1})});
  g.end(g.add("Div", {e, g.add("Sqrt", {squares})}));
  CHECK(applied<unit>(g) == 1);
  CHECK(g.operands(last(g))[0] == e);
}

// Types and shapes of what is written

TEST_CASE("a number has the element type of where it stands") {
  static constexpr auto below =
      fuse::rule<"below">(op<"Not">(op<"Less">(x, y))).replace(op<"Less">(x, 0.5)).at_equal_cost();
  sketch g;
  g.end(g.add("Not", {g.add("Less", {g.in("a"), g.in("b")})}));
  CHECK(applied<below>(g) == 1);
  CHECK(g.constant(g.operands(last(g))[1]).type == element_type::float32);
}

TEST_CASE("a number that an integer type lacks is refused") {
  static constexpr auto half = fuse::rule<"half">(abs(abs(x))).replace(x * 0.5);
  static constexpr auto twice = fuse::rule<"twice">(abs(abs(x))).replace(x * 2);
  sketch g;
  g.end(g.add("Abs", {g.add("Abs", {g.in("a", {4}, element_type::int64)})}));
  CHECK(refusal<half>(g) == "right side");
  CHECK(applied<twice>(g) == 1);
}

TEST_CASE("operands of two element types are refused") {
  static constexpr auto larger =
      fuse::rule<"larger">(abs(op<"Where">(op<"Equal">(y, y), x, x))).replace(op<"Max">(x, y));
  sketch g;
  auto const b = g.in("b", {4, 8}, element_type::float16);
  g.end(g.add("Abs", {g.add("Where", {g.add("Equal", {b, b}), g.in("a"), g.in("c")})}));
  static constexpr auto mixed = fuse::rule<"mixed">(abs(op<"Where">(op<"Equal">(y, y), x, w))).replace(op<"Max">(x, y));
  (void)larger;
  CHECK(refusal<mixed>(g) == "operator");
}

TEST_CASE("a past that does not fit is refused") {
  static constexpr auto keys = var<"k">, values = var<"v">;
  static constexpr auto swapped =
      fuse::rule<"swapped">(exactly<"Attention">(w, keys, values, none, x, y))  // its own right side
          .replace(exactly<"Attention">(w, keys, values, none, y, x))
          .at_equal_cost();
  auto const [axis, fits] =
      GENERATE(std::pair{0, false}, std::pair{1, false}, std::pair{2, false}, std::pair{3, false}, std::pair{-1, true});
  CAPTURE(axis);
  sketch g(23);
  graph::dims of_values{2, 4, 5, 6};
  if (axis >= 0) of_values[static_cast<std::size_t>(axis)] = 3;
  g.end(g.add("Attention", {g.in("q", {2, 4, 7, 6}),
                            g.in("k", {2, 4, 1, 6}),
                            g.in("v", {2, 4, 1, axis == 3 ? 3 : 6}),
                            {},
                            g.in("past k", {2, 4, 5, 6}),
                            g.in("past v", of_values)}));
  if (fits)
    CHECK(applied<swapped>(g) > 0);
  else
    CHECK(refusal<swapped>(g) == "operator");
}

TEST_CASE("channels that do not fit are refused") {
  static constexpr auto folded = fuse::rule<"folded">(relu(op<"Conv">(x, y))).replace(op<"Conv">(y, x));
  sketch g;
  g.end(g.add("Relu", {g.add("Conv", {g.in("a", {3, 3, 5, 5}), g.in("b", {3, 3, 1, 1})})}));
  stays<folded>(g);
}

TEST_CASE("what is not known of a dimension is a reason, unless a matched node required it") {
  static constexpr auto commuted = fuse::rule<"commuted">(abs(abs(op<"Max">(x, y)))).replace(op<"Min">(y, x));
  static constexpr auto others =
      fuse::rule<"others">(abs(op<"Max">(op<"Max">(x, y), w))).replace(op<"Min">(op<"Min">(x, w), y));
  static constexpr auto unrelated = fuse::rule<"unrelated">(abs(matmul(op<"Mod">(x, y), w))).replace(matmul(x, w));
  SECTION("required") {
    sketch g;
    g.end(g.add("Abs", {g.add("Abs", {g.add("Max", {g.in("a", {"n", 8}), g.in("b", {"m", 8})})})}));
    CHECK(applied<commuted>(g) == 1);
  }
  SECTION("of three") {
    sketch g;
    g.end(g.add("Abs", {g.add("Max", {g.add("Max", {g.in("a", {"n"}), g.in("b", {"m"})}), g.in("c", {"k"})})}));
    CHECK(applied<others>(g) == 1);
  }
  SECTION("of two, each with a third") {
    static constexpr auto apart =
        fuse::rule<"apart">(matmul(x, y) + matmul(w, y)).replace(matmul(x, op<"Transpose">(w)));
    sketch g;
    auto const a = g.in("a", {4, "n"}), b = g.in("b", {"m", 4}), c = g.in("c", {4, "k"});
    g.end(g.add("Add", {g.add("MatMul", {a, b}), g.add("MatMul", {c, b})}));
    CHECK(applied<apart>(g) == 1);
  }
  SECTION("another one") {
    sketch g;
    g.end(g.add("Abs", {g.add("MatMul", {g.add("Mod", {g.in("a", {4, "n"}), g.in("b", {4, 8})}), g.in("c", {8, 4})})}));
    stays<unrelated>(g);
  }
}

TEST_CASE("a Reshape leaves an extent to others that may be 0 only where what is replaced fails of that, too") {
  static constexpr auto by_reshape = fuse::rule<"by-reshape">(op<"Flatten">(abs(x)))
                                         .replace(reshape(abs(x)).attr<"shape">(fuse::dsl::list(0, -1)))
                                         .at_equal_cost();
  static constexpr auto of_both = fuse::rule<"of-both">(op<"Flatten">(abs(reshape(x))))
                                      .replace(reshape(abs(x)).attr<"shape">(fuse::dsl::list(0, -1)))
                                      .at_equal_cost();
  static constexpr auto of_one =
      fuse::rule<"of-one">(op<"Flatten">(abs(abs(x)))).replace(reshape(abs(x)).attr<"shape">(fuse::dsl::list(0, -1)));
  sketch g;
  auto const v = g.in("x", {"b", "s", 8});
  auto const flat = [&](graph::value of) { g.end(g.add("Flatten", {g.add("Abs", {of})}, {{"axis", 1}})); };
  auto const left = [&](std::vector<std::int64_t> const& list) { return g.add("Reshape", {v, integers(g, list)}); };
  SECTION("elsewhere a Flatten stands for it") {
    flat(g.add("Abs", {v}));
    CHECK(applied<of_one>(g) == 1);
    CHECK(ops(g) == "Abs Flatten");
  }
  SECTION("what is left is a number, and is said") {
    flat(g.in("y", {"b", 4, 8}));
    CHECK(applied<by_reshape>(g) == 1);
    auto const list = g.constant(g.operands(last(g))[1]);
    REQUIRE(list.size() == 2);
    CHECK(list.integer(1) == 32);
  }
  SECTION("what is never 0") {
    auto const one = g.constant(fuse::make_tensor<float>({1, 1, 1}, std::vector<float>{0}));
    flat(g.add("Concat", {g.in("y", {"b", 1, 1}), one, g.in("z", {"c", 1, 1})}, {{"axis", 0}}));
    CHECK(applied<by_reshape>(g) == 1);
  }
  SECTION("what is matched") {
    flat(left({0, -1, 4}));
    CHECK(applied<of_both>(g) == 1);
    CHECK(ops(g) == "Abs Reshape");
  }
  SECTION("what makes that") {
    flat(g.add("Abs", {left({0, 0, -1, 4})}));
    CHECK(applied<by_reshape>(g) == 1);
    CHECK(ops(g) == "Reshape Abs Abs Reshape");
  }
  SECTION("what makes it as it runs") {
    auto const b = g.add("Gather", {g.add("Shape", {v}), integers(g, {0})}, {{"axis", 0}});
    auto const list = g.add("Concat", {b, integers(g, {-1, 4})}, {{"axis", 0}});
    flat(g.add("Neg", {g.add("Reshape", {v, list})}));
    CHECK(applied<by_reshape>(g) == 1);
  }
  SECTION("what makes that does of each factor") {
    auto const z = g.add("Reshape", {g.in("z", {"b", "s", "t"}), integers(g, {0, 0, -1, 1})});
    auto const rows = g.add("Unsqueeze", {g.add("Flatten", {z}, {{"axis", 2}}), integers(g, {2})});
    flat(g.add("Concat", {rows, rows}, {{"axis", 2}}));
    CHECK(applied<by_reshape>(g) == 1);
  }
  SECTION("another value does") {
    g.output(g.add("Abs", {left({0, -1, 4})}), "z");
    flat(g.add("Abs", {v}));
    CHECK(applied<of_one>(g) == 1);
    CHECK(ops(g) == "Abs Reshape Abs Flatten");
  }
}

TEST_CASE("an operator takes no more operands than the dialect's row states") {
  static constexpr auto normed =
      fuse::rule<"normed">(abs(abs(x))).replace(fuse::dsl::layer_norm(x, 1.0, 0.0)).at_equal_cost();
  sketch g;
  g.end(g.add("Abs", {g.add("Abs", {g.in("a", {4, 1})})}));
  (void)fuse::rewrite<normed>(g);
  CHECK(ordered(g));
}

// Folds and rows

TEST_CASE("operands of a fold of different ranks are refused") {
  static constexpr auto scaled = fuse::rule<"scaled">(op<"Max">(op<"Max">(x, y), w)).replace(op<"Max">(x, fold(y * w)));
  sketch g;
  g.end(g.add(
      "Max", {g.add("Max", {g.in("a", {2, 3}), g.constant(fuse::make_tensor<float>({2, 1}, std::vector<float>{1, 4}))}),
              g.constant({1.0f, 4.0f, 9.0f})}));
  auto const report = fuse::rewrite<scaled>(g);
  REQUIRE(report.rules[0].refused.size() == 1);
  CHECK(report.rules[0].refused[0].reason.find("different ranks") != std::string::npos);
}

TEST_CASE("a row's axes are those that the rule says, whatever else it captures") {
  static constexpr auto normed =
      fuse::rule<"normed">(op<"LeakyRelu">(mean(x) * rest<"scale">).attr<"alpha">(param<"alpha">))
          .replace(fuse::dsl::layer_norm(x, row(rest<"scale">, x, param<"axes">)).attr<"axis">(param<"axes">))
          .at_equal_cost();
  sketch g;
  auto const a = g.in("a", {2, 3});
  auto const m = g.add("Expand", {g.add("ReduceMean", {a}, {{"axes", {-1}}, {"keepdims", 1}}), g.constant({2, 3})});
  g.end(g.add("LeakyRelu", {g.add("Mul", {m, g.constant({1.0f, 2.0f, 3.0f})})}, {{"alpha", -2.0}}));
  (void)fuse::rewrite<normed>(g);
  for (auto n : g.nodes())
    if (g.op(n) == "LayerNormalization") CHECK(g.constant(g.operands(n)[1]).size() == 3);
}

// Conditions

TEST_CASE("a predicate receives numbers and parameters") {
  static constexpr auto whole = fuse::rule<"whole">(abs(abs(op<"Softmax">(x).attr<"axis">(param<"p">))))
                                    .where<"the last axis">(pred<"p">([](auto p) {
                                      double number = 0;
                                      return p.number(number) && number == -1;
                                    }))
                                    .replace(op<"Softmax">(x).attr<"axis">(param<"p">));
  static constexpr auto small = fuse::rule<"small">(abs(abs(tanh(x) + s)))
                                    .where<"a small number">(pred<"s">([](auto v) {
                                      double number = 0;
                                      return v.number(number) && number < 1;
                                    }))
                                    .replace(tanh(x));
  for (int axis : {0, 1}) {
    sketch g;
    g.end(g.add("Abs", {g.add("Abs", {g.add("Softmax", {g.in("a")}, {{"axis", axis}})})}));
    CHECK(applied<whole>(g) == static_cast<std::size_t>(axis));
  }
  for (float number : {0.5f, 2.0f}) {
    sketch g;
    g.end(g.add("Abs", {g.add("Abs", {g.add("Add", {g.add("Tanh", {g.in("a")}), g.scalar(number)})})}));
    CHECK(applied<small>(g) == (number < 1 ? 1u : 0u));
  }
}

TEST_CASE("a predicate may read the shape of an unknown rank") {
  static constexpr auto narrow = fuse::rule<"narrow">(abs(abs(x)))
                                     .where<"two columns">(pred<"x">([](auto v) {
                                       return v.shape()[1] == fuse::extent(2) && v.shape().back().known();
                                     }))
                                     .replace(abs(x));
  sketch g;
  g.end(g.add("Abs", {g.add("Abs", {g.input("a", element_type::float32)})}));
  CHECK(refusal<narrow>(g) == "two columns");
}

TEST_CASE("a predicate reaches the user's own value, if the graph is of that type") {
  static constexpr auto own = fuse::rule<"own">(abs(abs(x)))
                                  .where<"a mine">(pred<"x">([](auto v) {
                                    auto const* const g = v.template graph<sketch>();
                                    return g != nullptr &&
                                           fuse::graph_traits<sketch>::name(*g, v.template handle<sketch>()) == "a" &&
                                           v.template graph<graph>() == nullptr;
                                  }))
                                  .replace(abs(x));
  sketch g;
  g.end(g.add("Abs", {g.add("Abs", {g.in("a")})}));
  CHECK(fuse::rewrite<own>(g).applied() == 1);
}

// Operators of one's own

TEST_CASE("an operator without a meaning has the shape and type that its row states") {
  static constexpr auto gated = fuse::rule<"gated">(abs(abs(relu(x)))).replace(op<"acme::SwiGLU">(op<"acme::Same">(x)));
  static constexpr auto compared =
      fuse::rule<"compared">(op<"Not">(op<"Less">(x, y))).replace(op<"acme::Compare">(x, y));
  static constexpr auto unknown = fuse::rule<"unknown">(abs(abs(x))).replace(op<"acme::Unknown">(x));
  SECTION("a function of the extents") {
    static constexpr auto halves =
        fuse::rule<"halves">(op<"acme::SwiGLU">(abs(abs(x)))).replace(op<"acme::SwiGLU">(op<"acme::Same">(x)));
    acme::graph g;
    g.end(g.add("acme::SwiGLU", {g.add("Abs", {g.add("Abs", {g.in("a", {"n", 8})})})}));
    auto h = g;
    CHECK(fuse::rewrite<halves>(g).applied() == 1);
    CHECK(ops(g) == "acme::Same acme::SwiGLU");
    CHECK(fuse::rewrite<gated>(h).applied() == 0);
  }
  SECTION("another shape") {
    acme::graph g;
    g.end(g.add("Abs", {g.add("Abs", {g.add("Relu", {g.in("a")})})}));
    CHECK(fuse::rewrite<gated>(g).rules[0].refused.at(0).condition == "shape and element type");
  }
  SECTION("broadcast, and of another type") {
    acme::graph g;
    g.end(g.add("Not", {g.add("Less", {g.in("a", {4, 1}), g.in("b", {1, 8})})}));
    CHECK(fuse::rewrite<compared>(g).applied() == 1);
  }
  SECTION("what no row states is not known") {
    acme::graph g;
    g.end(g.add("Abs", {g.add("Abs", {g.in("a")})}));
    CHECK(fuse::rewrite<unknown>(g).rules[0].refused.at(0).condition == "shape and element type");
  }
}

TEST_CASE("an operator whose row says that its operands broadcast is written where they do") {
  // (A mean has fewer elements than what it is of.)
  static constexpr auto blended =
      fuse::rule<"blended">(abs(maximum(mean(x), y))).replace(op<"acme::Blend">(y, x, y)).at_equal_cost();
  acme::graph g;
  auto const run = [&](graph::dims const& of_x, graph::dims const& of_y) {
    auto const mean = g.add("ReduceMean", {g.in("x", of_x)}, {{"axes", {-2}}, {"keepdims", 1}});
    g.end(g.add("Abs", {g.add("Max", {mean, g.in("y", of_y)})}));
    return fuse::rewrite<blended>(g);
  };
  SECTION("which is so") { CHECK(run({3, 1}, {3, 4}).applied() == 1); }
  SECTION("which is not") {
    auto const report = run({3, 1}, {4, 3});
    CHECK(report.applied() == 0);
    REQUIRE_FALSE(report.rule("blended")->refused.empty());
    CHECK(report.rule("blended")->refused[0].reason.find("acme::Blend") != std::string::npos);
  }
  SECTION("which nobody knows") { CHECK(run({"n", 1}, {4, 3}).applied() == 0); }
}

TEST_CASE("what the dialect, or the graph, does not write is refused, and nothing remains of it") {
  static constexpr auto read = fuse::rule<"read">(abs(abs(x))).replace(op<"acme::Read">(x));
  static constexpr auto two = fuse::rule<"two">(abs(abs(op<"Max">(x, y)))).replace(op<"acme::Same">(op<"Min">(x, y)));
  acme::graph g;
  SECTION("a row that is only read") {
    g.end(g.add("Abs", {g.add("Abs", {g.in("a")})}));
    auto const before = to_text(g);
    CHECK(fuse::rewrite<read>(g).rules[0].refused.at(0).condition == "right side");
    CHECK(to_text(g) == before);
  }
  SECTION("a node that the graph refuses") {
    g.end(g.add("Abs", {g.add("Abs", {g.add("Max", {g.in("a"), g.in("b")})})}));
    g.refused = GENERATE("acme::Same", "Min");
    auto const before = to_text(g);
    auto const report = fuse::rewrite<two>(g);
    CHECK(report.rules[0].refused.at(0).condition == "graph");
    CHECK(report.rules[0].refused.at(0).reason.find(g.refused) != std::string::npos);
    CHECK(to_text(g) == before);
  }
  SECTION("scale and bias for an operator that takes neither") {
    auto const a = g.in("a", {4, 8});
    auto const mean = [&](graph::value v) { return g.add("ReduceMean", {v}, {{"axes", {-1}}, {"keepdims", 1}}); };
    auto const d = g.add("Sub", {a, mean(a)});
    auto const r = g.add("Sqrt", {g.add("Add", {mean(g.add("Mul", {d, d})), g.scalar(1e-5f)})});
    g.end(g.add("Mul", {g.add("Div", {d, r}), g.constant(fuse::make_tensor<float>({8}, std::vector<float>(8, 2.0f)))}));
    auto const report = fuse::rewrite<fuse::rules::layer_norm>(g);
    CHECK(report.applied() == 0);
    CAPTURE(to_text(report));
    CHECK(to_text(report).find("takes 1 operands") != std::string::npos);
  }
}

// The end

TEST_CASE("rules that undo each other are named, whatever their stages") {
  static constexpr auto there = fuse::rule<"there">(tanh(x)).replace(sigmoid(x)).at_equal_cost();
  static constexpr auto back = fuse::rule<"back">(sigmoid(x)).replace(tanh(x)).at_equal_cost().stage(1);
  static constexpr auto both = fuse::rule_set<there, back>;
  sketch g;
  g.end(g.add("Tanh", {g.in("a")}));
  auto const report = fuse::rewrite<both>(g);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].find("there") != std::string::npos);
  CHECK(report.notes[0].find("back") != std::string::npos);
}

TEST_CASE("what a late rule makes is offered to the rules of every stage") {
  static constexpr auto first = fuse::rule<"first">(relu(erf(x))).replace(exp(abs(x)));
  static constexpr auto second = fuse::rule<"second">(tanh(exp(x))).replace(sigmoid(x)).stage(1);
  static constexpr auto third = fuse::rule<"third">(sigmoid(abs(x))).replace(relu(erf(x))).at_equal_cost().stage(2);
  static constexpr auto all = fuse::rule_set<first, second, third>;
  sketch g;
  g.end(g.add("Tanh", {g.add("Tanh", {g.add("Relu", {g.add("Erf", {g.in("a")})})})}));
  (void)fuse::rewrite<all>(g);
  CHECK(fuse::rewrite<all>(g).applied() == 0);
}

TEST_CASE("a value that fewer nodes read is looked at again") {
  static constexpr auto alone = fuse::rule<"alone">(abs(tanh(x).users(1))).replace(relu(x));
  static constexpr auto gone = fuse::rule<"gone">(erf(sigmoid(tanh(x)))).replace(exp(x));
  static constexpr auto all = fuse::rule_set<alone, gone>;
  sketch g;
  auto const t = g.add("Tanh", {g.in("a")});
  bool const before = GENERATE(true, false);
  auto const other = [&] { g.output(g.add("Erf", {g.add("Sigmoid", {t})}), "other"); };
  if (before) other();
  g.end(g.add("Abs", {t}));
  if (!before) other();
  CHECK(fuse::rewrite<all>(g).applied() == 2);
  CHECK(fuse::rewrite<all>(g).applied() == 0);
}

TEST_CASE("so is one whose users a condition counts, be it a constant") {
  static constexpr auto of_one = pred<"x">([](auto held) { return held.users() == 1; });
  static constexpr auto alone = fuse::rule<"alone">(abs(exp(tanh(x)))).replace(relu(x)).where(of_one);
  static constexpr auto tidy = fuse::rule<"tidy">(op<"Max">(var<"z">, sigmoid(x))).replace(var<"z">).stage(1);
  static constexpr auto all = fuse::rule_set<alone, tidy>;
  sketch g;
  auto const shared =
      GENERATE(true, false) ? g.constant(fuse::make_tensor<float>({8}, std::vector<float>(8, 2.0f))) : g.in("a");
  g.output(g.add("Max", {g.in("b"), g.add("Sigmoid", {shared})}), "other");
  g.end(g.add("Abs", {g.add("Exp", {g.add("Tanh", {shared})})}));
  CHECK(fuse::rewrite<all>(g).applied() == 2);
  CHECK(fuse::rewrite<all>(g).applied() == 0);
}

TEST_CASE("what fewer nodes read has its turn behind what reads it") {
  // Another rule of the set counts users: whatever reads what a rewrite has freed is looked at again.
  static constexpr auto swish =
      fuse::rule<"swish">(x * sigmoid(x * s)).replace(op<"LeakyRelu">(x).attr<"alpha">(s)).at_equal_cost();
  static constexpr auto alone = fuse::rule<"alone">(erf(sigmoid(x).users(1))).replace(relu(x));
  static constexpr auto all = fuse::rule_set<swish, alone>;
  sketch g;
  auto const a = g.in("a");
  auto const gate = g.add("Sigmoid", {g.add("Mul", {a, g.scalar(0.375f)})});
  auto const first = g.add("Mul", {g.add("Mul", {gate, a}), g.scalar(1.0f)});
  g.end(g.add("Max", {first, g.add("Mul", {a, gate})}));
  CHECK(applied<all>(g) == 2);
  CHECK(ops(g) == "LeakyRelu LeakyRelu Max");
}

TEST_CASE("an operator is written where the operator set has it, with its attributes and types") {
  SECTION("the operator") {
    static constexpr auto celu = fuse::rule<"celu">(tanh(abs(x))).replace(op<"Celu">(x));
    for (auto const& [version, fires] : {std::pair{7, 0u}, {11, 0u}, {12, 1u}}) {
      sketch g(version);
      g.end(g.add("Tanh", {g.add("Abs", {g.in("a")})}));
      CHECK(fuse::rewrite<celu>(g).applied() == fires);
    }
  }
  SECTION("the operator by its name alone") {
    static constexpr auto mish = fuse::rule<"mish">(tanh(abs(x))).replace(exactly<"Mish">(x));
    for (auto const& [version, fires] : {std::pair{17, 0u}, {18, 1u}}) {
      sketch g(version);
      g.end(g.add("Tanh", {g.add("Abs", {g.in("a")})}));
      CHECK(fuse::rewrite<mish>(g).applied() == fires);
    }
  }
  SECTION("for the target") {
    static constexpr auto ours = fuse::rule<"ours">(tanh(x)).replace(exactly<"SimplifiedLayerNormalization">(x, x));
    sketch g;
    g.end(g.add("Tanh", {g.in("a")}));
    CHECK(applied<ours>(g) == 0);
  }
  SECTION("element types") {
    static constexpr auto positive = fuse::rule<"positive">(maximum(x, 0.0)).replace(relu(x));
    for (auto const& [version, fires] : {std::pair{13, 0u}, {14, 1u}}) {
      sketch g(version);
      g.end(g.add("Max", {g.in("a", {4}, element_type::int32),
                          g.constant(fuse::make_tensor(element_type::int32, {}, std::vector<double>{0}))}));
      auto const report = fuse::rewrite<positive>(g);
      CHECK(report.applied() == fires);
      if (fires == 0) CHECK(refused(report, "positive") == "operator");
    }
  }
  SECTION("attributes") {
    static constexpr auto last = fuse::rule<"last">(tanh(x)).replace(
        op<"Cast">(op<"ArgMax">(x).attr<"select_last_index">(1).attr<"keepdims">(1)).attr<"to">(1));
    sketch old(11);
    old.end(old.add("Tanh", {old.in("a", {1, 8})}));
    CHECK(refusal<last>(old) == "right side");
  }
  SECTION("of a dialect of one's own") {
    static constexpr auto typed = fuse::rule<"typed">(tanh(x)).replace(op<"acme::Typed">(x)).at_equal_cost();
    for (auto const type : {element_type::float32, element_type::float16}) {
      acme::graph g;
      g.end(g.add("Tanh", {g.in("a", {4}, type)}));
      CHECK(fuse::rewrite<typed>(g).applied() == (type == element_type::float32 ? 1u : 0u));
    }
  }
}

// Cost

TEST_CASE("an operator is not written without an attribute that it needs") {
  static constexpr auto no_type = fuse::rule<"no-type">(abs(x)).replace(relu(cast(x))).at_equal_cost();
  static constexpr auto typed = fuse::rule<"typed">(abs(x)).replace(op<"Cast">(x).attr<"to">(1)).at_equal_cost();
  static constexpr auto joined = fuse::rule<"joined">(abs(x)).replace(op<"Concat">(x)).at_equal_cost();
  for (int const version : {3, 17}) {
    sketch g(version);
    g.end(g.add("Abs", {g.in("x")}));
    auto h = g, k = g;
    CHECK(refusal<no_type>(g) == "right side");
    CHECK(applied<typed>(h) == 1);
    if (version < 4)
      CHECK(applied<joined>(k) == 1);  // the axis is 1 there
    else
      CHECK(refusal<joined>(k) == "right side");
  }
}

TEST_CASE("a norm does not take a row that is computed from its own result") {
  sketch g;
  auto const a = g.in("a", {1, 1, 64});
  auto const n = g.add("LayerNormalization",
                       {a, g.constant(fuse::make_tensor<float>({64}, std::vector<float>(64, 2.0f)))}, {{"axis", -1}});
  g.end(g.add("Add", {n, g.add("Tanh", {n})}));
  stays<fuse::rules::norms>(g);
}

// What is found

TEST_CASE("integers are added and multiplied in any bracketing, and divided as written") {
  static constexpr auto sum = fuse::rule<"sum">(abs(x + y - w)).replace(op<"Sub">(op<"Add">(x, y), w)).at_equal_cost();
  static constexpr auto product = fuse::rule<"product">(abs(x * square(y))).replace(abs(x)).at_equal_cost();
  static constexpr auto quotient = fuse::rule<"quotient">(abs(x / y)).replace(op<"Div">(x, y)).at_equal_cost();
  static constexpr auto inverse = fuse::rule<"inverse">(abs(x * (y / w))).replace(abs(x)).at_equal_cost();
  sketch g;
  auto const type = GENERATE(element_type::int64, element_type::float32);
  auto const a = g.in("a", {4}, type), b = g.in("b", {4}, type), c = g.in("c", {4}, type);
  SECTION("a sum") {
    g.end(g.add("Abs", {g.add("Sub", {a, g.add("Sub", {c, b})})}));
    CHECK(applied<sum>(g) == 1);
  }
  SECTION("a negated sum") {
    g.end(g.add("Abs", {g.add("Add", {g.add("Neg", {c}), g.add("Add", {b, a})})}));
    CHECK(applied<sum>(g) == 1);
  }
  SECTION("a product") {
    g.end(g.add("Abs", {g.add("Mul", {b, g.add("Mul", {a, b})})}));
    CHECK(applied<product>(g) == 1);
  }
  SECTION("a quotient") {
    g.end(g.add("Abs", {g.add("Div", {a, b})}));
    CHECK(applied<quotient>(g) == 1);
  }
  SECTION("another quotient") {
    g.end(g.add("Abs", {g.add("Div", {g.add("Mul", {a, b}), c})}));
    CHECK(applied<inverse>(g) == (type == element_type::float32 ? 1u : 0u));
  }
}

TEST_CASE("quotients of integers are found as written, below what leaves them as they are too") {
  static constexpr auto plain = fuse::rule<"plain">(abs(x / y)).through<"Identity">().replace(op<"Sign">(x));
  static constexpr auto product = fuse::rule<"product">(abs(x / (y * w))).replace(op<"Sign">(x));
  static constexpr auto of_product = fuse::rule<"of-product">(abs((x * w) / y)).replace(op<"Sign">(x));
  auto const graph_of = [](auto const& write) {
    sketch g;
    auto const a = g.in("a", {4}, element_type::int32), b = g.in("b", {4}, element_type::int32),
               c = g.in("c", {4}, element_type::int32);
    g.end(g.add("Abs", {write(g, a, b, c)}));
    return g;
  };
  auto below = graph_of([](auto& g, auto a, auto b, auto) { return g.add("Identity", {g.add("Div", {a, b})}); });
  CHECK(applied<plain>(below) == 1);
  auto by_product = graph_of([](auto& g, auto a, auto b, auto c) { return g.add("Div", {a, g.add("Mul", {b, c})}); });
  auto h = by_product;
  CHECK(applied<product>(by_product) == 1);
  CHECK(applied<of_product>(h) == 0);
  auto twice = graph_of([](auto& g, auto a, auto b, auto c) { return g.add("Div", {g.add("Div", {a, b}), c}); });
  CHECK(applied<product>(twice) == 0);
  auto above = graph_of([](auto& g, auto a, auto b, auto c) { return g.add("Div", {g.add("Mul", {a, b}), c}); });
  CHECK(applied<of_product>(above) == 1);
  auto behind = graph_of([](auto& g, auto a, auto b, auto c) { return g.add("Mul", {g.add("Div", {a, b}), c}); });
  CHECK(applied<of_product>(behind) == 0);
}

TEST_CASE("what occurs several times in a sum or product is found as often") {
  static constexpr auto twice = fuse::rule<"twice">(tanh(x + x + y)).replace(op<"Max">(x, y)).at_equal_cost();
  static constexpr auto less = fuse::rule<"less">(tanh(y - x - x)).replace(op<"Max">(x, y)).at_equal_cost();
  static constexpr auto gates =
      fuse::rule<"gates">(tanh(sigmoid(x) + y + sigmoid(x))).replace(op<"Max">(x, y)).at_equal_cost();
  static constexpr auto products =
      fuse::rule<"products">(tanh(y + x * w + x * w)).replace(op<"Max">(x, op<"Max">(y, w))).at_equal_cost();
  static constexpr auto cube = fuse::rule<"cube">(tanh(pow(x, 3) * y)).replace(op<"Max">(x, y)).at_equal_cost();
  sketch g;
  auto const a = g.in("a"), b = g.in("b"), c = g.in("c");
  auto const add = [&](graph::value p, graph::value q) { return g.add("Add", {p, q}); };
  auto const times = [&](graph::value p, graph::value q) { return g.add("Mul", {p, q}); };
  SECTION("a sum") {
    g.end(g.add("Tanh", {GENERATE(0, 1, 2) == 0 ? add(a, add(b, a)) : add(b, add(a, a))}));
    CHECK(applied<twice>(g) == 1);
  }
  SECTION("three times is not twice") {
    g.end(g.add("Tanh", {add(add(a, a), add(b, a))}));
    CHECK(fuse::rewrite<less>(g).applied() == 0);
    CHECK(applied<twice>(g) == 1);  // a + a + (b + a)
    CHECK(g.producer(g.operands(last(g))[1]) != graph::node{});
  }
  SECTION("subtracted") {
    g.end(g.add("Tanh", {g.add("Sub", {b, add(a, a)})}));
    CHECK(applied<less>(g) == 1);
  }
  SECTION("computed twice") {
    g.end(g.add("Tanh", {add(g.add("Sigmoid", {a}), add(g.add("Sigmoid", {a}), b))}));
    CHECK(applied<gates>(g) == 1);
  }
  SECTION("one added, one subtracted") {
    g.end(g.add("Tanh", {g.add("Sub", {add(g.add("Sigmoid", {a}), b), g.add("Sigmoid", {a})})}));
    CHECK(fuse::rewrite<gates>(g).applied() == 0);
  }
  SECTION("products") {
    g.end(g.add("Tanh", {add(times(a, c), add(b, times(c, a)))}));
    CHECK(applied<products>(g) == 1);
  }
  SECTION("a power") {
    int const how = GENERATE(0, 1, 2);
    auto const square = how == 0 ? g.add("Pow", {a, g.scalar(2.0f)}) : times(a, a);
    g.end(g.add("Tanh", {how == 2 ? times(a, times(times(b, a), a)) : times(times(square, b), a)}));
    CHECK(applied<cube>(g) == 1);
  }
}

TEST_CASE("what is left where the rest is absent is found at its own operator") {
  static constexpr auto gated = fuse::rule<"gated">(tanh(x) * optional(sigmoid(y))).replace(relu(x)).at_equal_cost();
  static constexpr auto biased =
      fuse::rule<"biased">(matmul(x, y) + rest<"bias">).replace(matmul(y, x)).at_equal_cost();
  sketch g;
  SECTION("an optional factor") {
    g.end(g.add("Tanh", {g.in("a")}));
    CHECK(applied<gated>(g) == 1);
  }
  SECTION("a rest") {
    g.end(g.add("MatMul", {g.in("a", {4, 4}), g.in("b", {4, 4})}));
    CHECK(fuse::rewrite<biased>(g).rules[0].matched != 0);
  }
}

TEST_CASE("a number that is subtracted, or divided by, is a number") {
  static constexpr auto shifted = fuse::rule<"shifted">(abs(tanh(x) + s)).replace(op<"Shrink">(x).attr<"bias">(s));
  static constexpr auto scaled = fuse::rule<"scaled">(abs(matmul(x, y) * s)).replace(op<"Gemm">(x, y).attr<"alpha">(s));
  SECTION("subtracted") {
    sketch g;
    g.end(g.add("Abs", {g.add("Sub", {g.add("Tanh", {g.in("a")}), g.scalar(3.0f)})}));
    CHECK(applied<shifted>(g) == 1);
    CHECK(number(g, last(g), "bias") == -3);
  }
  SECTION("divided by") {
    sketch g;
    g.end(g.add("Abs", {g.add("Div", {g.add("MatMul", {g.in("a", {4, 8}), g.in("b", {8, 4})}), g.scalar(8.0f)})}));
    CHECK(applied<scaled>(g) == 1);
    CHECK(number(g, last(g), "alpha") == 0.125);
  }
}

TEST_CASE("a minus sign is a factor of -1") {
  static constexpr auto negative = fuse::rule<"negative">(-exp(x)).replace(sigmoid(x)).at_equal_cost();
  static constexpr auto difference = fuse::rule<"difference">(exp(x) - tanh(y)).replace(op<"Max">(x, y));
  sketch g;
  SECTION("of one") {
    g.end(g.add(GENERATE("Mul", "Div"), {g.add("Exp", {g.in("a")}), g.scalar(-1.0f)}));
    CHECK(applied<negative>(g) == 1);
  }
  SECTION("of a difference") {
    g.end(g.add("Mul", {g.scalar(-1.0f), g.add("Sub", {g.add("Tanh", {g.in("b")}), g.add("Exp", {g.in("a")})})}));
    CHECK(applied<difference>(g) == 1);
  }
}

}  // namespace rewrite_soundness
