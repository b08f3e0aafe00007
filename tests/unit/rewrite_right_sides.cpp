// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <limits>

#include "rewriting.hpp"

#include <fuse/rewrite/check.hpp>

/// Right sides that would compute something else than what they replace.
namespace rewrite_right_sides {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr int float32 = 1, float16 = 10;
constexpr auto x = var<"x">, y = var<"y">, z = var<"z">, w = var<"w">, b = var<"b">;

std::ptrdiff_t count(graph const& g, std::string_view op) {
  std::ptrdiff_t found = 0;
  for (auto n : g.nodes()) found += g.op(n) == op;
  return found;
}

graph::node norm(sketch& g, graph::value of, double epsilon, std::uint32_t results) {
  return g.append("LayerNormalization", {of, g.in("w", {8}), g.in("b", {8})}, {{"epsilon", epsilon}}, results);
}

}  // namespace

TEST_CASE("another result of a norm that is used is taken over where it is the same") {
  static constexpr auto shifted =
      fuse::rule<"shifted">(op<"LayerNormalization">(x + scalar<"s">, w, b).attr<"epsilon">(param<"e">))
          .replace(op<"LayerNormalization">(x, w, b).attr<"epsilon">(param<"e">));
  static constexpr auto unscaled = fuse::rule<"unscaled">(op<"LayerNormalization">(x, w, b).attr<"epsilon">(param<"e">))
                                       .replace(op<"LayerNormalization">(x, b, w).attr<"epsilon">(param<"e">))
                                       .at_equal_cost();
  static constexpr auto sharper = fuse::rule<"sharper">(op<"LayerNormalization">(x, w, b).attr<"epsilon">(0.5))
                                      .replace(op<"LayerNormalization">(x, w, b).attr<"epsilon">(0.25))
                                      .at_equal_cost();
  static constexpr auto twice =
      fuse::rule<"twice">(op<"LayerNormalization">(op<"LayerNormalization">(x, w, b).as<"inner">(), w, b))
          .replace(var<"inner">);
  sketch g;
  auto const a = g.in("a");
  SECTION("of another operand") {
    auto const n = norm(g, g.add("Add", {a, g.scalar(3.0f)}), 0.5, 2);
    g.end(g.result(n));
    SECTION("and used") {
      g.output(g.result(n, 1), "mean");
      CHECK(refusal<shifted>(g) == "results");
    }
    SECTION("and not used") { CHECK(applied<shifted>(g) == 1); }
  }
  SECTION("of another scale and bias") {
    auto const n = norm(g, a, 0.5, 2);
    g.end(g.result(n));
    g.output(g.result(n, 1), "mean");
    auto const report = fuse::rewrite<unscaled>(g);
    CHECK(report.applied() != 0);
    CHECK(g.outputs()[1] == g.result(last(g), 1));
  }
  SECTION("of another parameter") {
    auto const n = norm(g, a, 0.5, 3);
    g.end(g.result(n));
    g.output(g.result(n, 2), "deviation");
    CHECK(refusal<sharper>(g) == "results");
  }
  SECTION("of what stands there already") {
    auto const scale = g.in("w", {8}), bias = g.in("b", {8});
    auto const inner = g.append("LayerNormalization", {a, scale, bias}, {}, 2);
    auto const outer = g.append("LayerNormalization", {g.result(inner), scale, bias}, {}, 2);
    g.end(g.result(outer));
    g.output(g.result(outer, 1), "mean");
    CHECK(refusal<twice>(g) == "results");
  }
}

TEST_CASE("what a comparison tells apart is not rounded less than before") {
  static constexpr auto less =
      fuse::rule<"less">(op<"Not">(op<"Less">(relu(x), y))).through<"Cast">().replace(op<"GreaterOrEqual">(relu(x), y));
  static constexpr auto largest = fuse::rule<"largest">(op<"ArgMax">(exp(x)).attr<"axis">(1))
                                      .through<"Cast">()
                                      .replace(op<"ArgMax">(x).attr<"axis">(1));
  static constexpr auto chosen =
      fuse::rule<"chosen">(abs(op<"Where">(op<"Less">(relu(x), y), z, z))).through<"Cast">().replace(relu(z));
  sketch g;
  auto const cast = [&g](graph::value v, int to) { return g.add("Cast", {v}, {{"to", to}}); };
  SECTION("the result itself") {
    auto const a = g.in("a"), c = g.in("c");
    SECTION("of what is rounded") {
      g.end(g.add("Not", {g.add("Less", {cast(g.add("Relu", {a}), float16), cast(c, float16)})}));
      CHECK(applied<less>(g) == 0);
    }
    SECTION("of what is not") {
      g.end(g.add("Not", {g.add("Less", {g.add("Relu", {a}), c})}));
      CHECK(applied<less>(g) == 1);
    }
  }
  SECTION("the result itself, of what is widened") {
    auto const a = g.in("a", {4}, element_type::float16), c = g.in("c", {4}, element_type::float16);
    g.end(g.add("Not", {g.add("Less", {cast(g.add("Relu", {a}), float32), cast(c, float32)})}));
    CHECK(applied<less>(g) == 1);
  }
  SECTION("the result itself, of what is widened and taken back") {
    auto const a = g.in("a", {4}, element_type::float16), c = g.in("c", {4}, element_type::float16);
    g.end(g.add("Not", {g.add("Less", {cast(cast(g.add("Relu", {a}), float32), float16), c})}));
    CHECK(applied<less>(g) == 1);
  }
  SECTION("a place") {
    g.end(g.add("ArgMax", {cast(g.add("Exp", {g.in("a")}), float16)}, {{"axis", 1}}));
    CHECK(refusal<largest>(g) == "element type");
  }
  SECTION("a choice among halves") {
    auto const a = g.in("a", {4}), c = g.in("c", {4}), h = g.in("h", {4}, element_type::float16);
    auto const condition = g.add("Less", {cast(g.add("Relu", {a}), float16), cast(c, float16)});
    g.end(g.add("Abs", {g.add("Where", {condition, h, h})}));
    CHECK(refusal<chosen>(g) == "element type");
  }
}

TEST_CASE("a Cast from a type that nobody knows may round") {
  static constexpr auto factored =
      fuse::rule<"factored">(abs(x) * y + abs(x) * z).through<"Cast">().replace((y + z) * abs(x));
  for (auto const type : {element_type::unknown, element_type::float16}) {
    sketch g;
    auto const c = g.add("Cast", {g.add("Abs", {g.in("a", {4}, type)})}, {{"to", float32}});
    g.end(g.add("Add", {g.add("Mul", {c, g.in("c", {4})}), g.add("Mul", {c, g.in("d", {4})})}));
    if (type == element_type::unknown)
      CHECK(refusal<factored>(g) == "element type");
    else
      CHECK(fuse::rewrite<factored>(g).rule("factored")->matched != 0);
  }
}

TEST_CASE("two roots of a rule are two values") {
  constexpr auto t = tanh(sigmoid(exp(x)));
  static constexpr auto both =
      fuse::rule<"both">(roots(t * y, t * z)).replace(op<"Max">(x, y, z), op<"Min">(x, y, z)).at_equal_cost();
  sketch g;
  auto const a = g.in("a"), c = g.in("c");
  auto const product = g.add("Mul", {g.add("Tanh", {g.add("Sigmoid", {g.add("Exp", {a})})}), c});
  g.end(product);
  CHECK(refusal<both>(g) == "roots");
}

TEST_CASE("a constant that the element type does not hold is refused") {
  static constexpr auto folded =
      fuse::rule<"folded">((tanh(x) * y) * z).where(is_constant<"y">, is_constant<"z">).replace(tanh(x) * fold(y * z));
  static constexpr auto divided =
      fuse::rule<"divided">(tanh(x) * scalar<"s">).replace(relu(x) * scalar<"s">).at_equal_cost();
  static constexpr auto number = fuse::rule<"number">(tanh(abs(abs(x)))).replace(relu(x) * 70000.0).at_equal_cost();
  auto const same = [](element_type type, double each) {
    return fuse::make_tensor(type, {8}, std::vector<double>{each, 1, 1, 1, 1, 1, 1, 2});
  };
  auto const product = [&](element_type type, double one, double other) {
    sketch g;
    auto const t = g.add("Tanh", {g.in("a", {4, 8}, type)});
    g.end(g.add("Mul", {g.add("Mul", {t, g.constant(same(type, one))}), g.constant(same(type, other))}));
    return g;
  };
  SECTION("beyond a half") {
    auto g = product(element_type::float16, 300, 300);
    CHECK(refusal<folded>(g) == "right side");
  }
  SECTION("beyond a float") {
    auto g = product(element_type::float32, 1e30, -1e30);
    CHECK(refusal<folded>(g) == "right side");
  }
  SECTION("beyond a double") {
    auto g = product(element_type::float64, 1e300, 1e300);
    CHECK(refusal<folded>(g) == "right side");
  }
  SECTION("0 in a float") {
    auto g = product(element_type::float32, 1e-30, 1e-30);
    CHECK(refusal<folded>(g) == "right side");
  }
  SECTION("0 in a double") {
    auto g = product(element_type::float64, 1e-300, 1e-300);
    CHECK(refusal<folded>(g) == "right side");
  }
  SECTION("that is 0 itself, or infinite itself") {
    for (double const each : {0.0, -std::numeric_limits<double>::infinity()}) {
      auto g = product(element_type::float16, each, 300);
      CHECK(applied<folded>(g) == 1);
    }
  }
  SECTION("as a captured number") {
    for (auto const type : {element_type::float16, element_type::float32}) {
      sketch g;
      auto const small = g.constant(fuse::make_tensor(type, {}, std::vector<double>{1e-5}));
      g.end(g.add("Div", {g.add("Tanh", {g.in("a", {4}, type)}), small}));
      auto const report = fuse::rewrite<divided>(g);
      CHECK(report.applied() == (type == element_type::float16 ? 0 : 1));
    }
  }
  SECTION("as a number of the right side") {
    for (auto const type : {element_type::float16, element_type::float32}) {
      sketch g;
      g.end(g.add("Tanh", {g.add("Abs", {g.add("Abs", {g.in("a", {4}, type)})})}));
      auto const report = fuse::rewrite<number>(g);
      CHECK(report.applied() == (type == element_type::float16 ? 0 : 1));
    }
  }
}

TEST_CASE("what is infinite gets below no sum of products") {
  static constexpr auto before = fuse::rule<"before">(relu(op<"MatMul">(x, y) * scalar<"s">))
                                     .replace(op<"MatMul">(x * scalar<"s">, y))
                                     .at_equal_cost();
  static constexpr auto into = fuse::rule<"into">(op<"MatMul">(x, y) * w)
                                   .where(is_constant<"y">, is_constant<"w">)
                                   .replace(op<"MatMul">(x, fold(y * along<-1>(w))));
  static constexpr auto summed = fuse::rule<"summed">(relu(sum(x) * y)).replace(sum(x * y)).at_equal_cost();
  static constexpr auto spread = fuse::rule<"spread">((tanh(x) + y) * z)
                                     .where(is_constant<"y">, is_constant<"z">)
                                     .replace(tanh(x) * z + fold(y * z))
                                     .at_equal_cost();
  static constexpr auto scaled = fuse::rule<"scaled">(op<"Gemm">(x, y, z) * scalar<"s">)
                                     .replace(op<"Gemm">(x, y, z).attr<"alpha">(scalar<"s">).attr<"beta">(scalar<"s">));
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (float const each : {2.0f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    bool const finite = each == 2.0f;
    auto const contents = [&](std::size_t count) { return std::vector<float>(count, each); };
    sketch number;
    auto const product = number.add("MatMul", {number.in("a", {4, 8}), number.in("b", {8, 8})});
    number.end(number.add("Relu", {number.add("Mul", {product, number.scalar(each)})}));
    CHECK(applied<before>(number) == (finite ? 1 : 0));
    sketch folded;
    auto const weights = folded.constant(fuse::make_tensor<float>({8, 2}, std::vector<float>(16, 0.5f)));
    auto const factor = folded.constant(fuse::make_tensor<float>({2}, contents(2)));
    folded.end(folded.add("Mul", {folded.add("MatMul", {folded.in("a", {4, 8}), weights}), factor}));
    CHECK(applied<into>(folded) == (finite ? 1 : 0));
    sketch reduced;
    auto const sum_of = reduced.add("ReduceSum", {reduced.in("a", {4, 8})}, {{"axes", std::vector<std::int64_t>{-1}}});
    reduced.end(reduced.add("Relu", {reduced.add("Mul", {sum_of, reduced.scalar(each)})}));
    CHECK(applied<summed>(reduced) == (finite ? 1 : 0));
    sketch apart;
    auto const shift = apart.constant(fuse::make_tensor<float>({2}, std::vector{-0.5f, 0.5f}));
    auto const shifted = apart.add("Add", {apart.add("Tanh", {apart.in("a", {4, 2})}), shift});
    apart.end(apart.add("Mul", {shifted, apart.constant(fuse::make_tensor<float>({2}, contents(2)))}));
    CHECK(applied<spread>(apart) == (finite ? 1 : 0));
    sketch told;
    auto const layer = told.add("Gemm", {told.in("a", {4, 8}), told.in("b", {8, 2}), told.in("c", {2})});
    told.end(told.add("Mul", {layer, told.scalar(each)}));
    CHECK(applied<scaled>(told) == (finite ? 1 : 0));
    // It was there before.
    sketch kept;
    auto const there = kept.constant(fuse::make_tensor<float>({8, 2}, contents(16)));
    auto const halved = kept.add("Mul", {kept.add("MatMul", {kept.in("a", {4, 8}), there}), kept.scalar(0.5f)});
    kept.end(kept.add("Relu", {halved}));
    CHECK(applied<before>(kept) == 1);
  }
  SECTION("but where a selection gave it to a sum before") {
    static constexpr auto selected = fuse::rule<"selected">(relu(relu(where(x, tanh(y), scalar<"s">) + z)))
                                         .replace(tanh(y) + (where(x, 0, scalar<"s">) + z))
                                         .at_equal_cost();
    static constexpr auto alone = fuse::rule<"alone">(relu(relu(where(x, tanh(y), scalar<"s">))))
                                      .replace(tanh(y) + where(x, 0, scalar<"s">))
                                      .at_equal_cost();
    bool const in_sum = GENERATE(true, false);
    sketch g;
    auto const condition = g.in("c", {4, 8}, element_type::boolean);
    auto const least = g.scalar(-infinity);
    auto const chosen = g.add("Where", {condition, g.add("Tanh", {g.in("a", {4, 8})}), least});
    auto const v = in_sum ? g.add("Add", {chosen, g.in("b", {4, 8})}) : chosen;
    g.end(g.add("Relu", {g.add("Relu", {v})}));
    if (in_sum)
      CHECK(applied<selected>(g) == 1);
    else
      CHECK(refusal<alone>(g) == "right side");
  }
}

TEST_CASE("what is selected by nothing, or repeated, is nothing") {
  static constexpr auto masked = fuse::rule<"masked">(relu(relu(relu(relu(tanh(x) + optional(cast(y).attr<"to">(1)))))))
                                     .replace(tanh(x) + expand(where(y, 0.0, -1.0), list(4, 8)));
  bool const there = GENERATE(true, false);
  sketch g;
  auto const t = g.add("Tanh", {g.in("a", {4, 8})});
  auto const by = there ? g.add("Cast", {g.in("c", {1, 8}, element_type::boolean)}, {{"to", 1}}) : graph::value{};
  auto v = there ? g.add("Add", {t, by}) : t;
  for (int i = 0; i < 4; ++i) v = g.add("Relu", {v});
  g.end(v);
  CHECK(applied<masked>(g, {.trust_shapes = true}) == 1);
  CHECK(ops(g) == (there ? "Where Expand Tanh Add" : "Tanh"));
}

TEST_CASE("the constants of a row together are held by its element type") {
  static constexpr auto scaled = fuse::rule<"scaled">(relu(tanh(x) * y * z))
                                     .where(is_constant<"y">, is_constant<"z">)
                                     .replace(tanh(x) * row(y * z, x));
  for (double const each : {1.0, 1e-30, 1e30}) {
    sketch g;
    auto const t = g.add("Tanh", {g.in("a")});
    auto const factor = fuse::make_tensor(element_type::float32, {8}, std::vector<double>(8, each));
    g.end(g.add("Relu", {g.add("Mul", {g.add("Mul", {t, g.constant(factor)}), g.constant(factor)})}));
    CHECK(fuse::rewrite<scaled>(g).applied() == (each == 1.0 ? 1 : 0));
  }
}

TEST_CASE("integers that a double does not hold are not rounded") {
  static constexpr auto folded =
      fuse::rule<"folded">((abs(x) + y) + z).where(is_constant<"y">, is_constant<"z">).replace(abs(x) + fold(y + z));
  static constexpr auto added =
      fuse::rule<"added">(abs(x) + scalar<"s">).replace(relu(x) + scalar<"s">).at_equal_cost();
  constexpr std::int64_t large = 9007199254740993;  // 2^53 + 1
  SECTION("folded") {
    for (auto const& [one, other] : {std::pair{large, std::int64_t{0}},
                                     {std::int64_t{0}, large},
                                     {large / 2 + 1, large / 2 + 2},
                                     {std::int64_t{1} << 40, std::int64_t{3}}}) {
      sketch g;
      auto const a = g.add("Abs", {g.in("a", {2}, element_type::int64)});
      g.end(
          g.add("Add", {g.add("Add", {a, g.constant({one, std::int64_t{5}})}), g.constant({other, std::int64_t{1}})}));
      if (other == 3) {
        REQUIRE(applied<folded>(g) == 1);
        auto const sum = g.constant(g.operands(last(g))[1]);
        CHECK(sum.integer(0) == (std::int64_t{1} << 40) + 3);
        CHECK(sum.integer(1) == 6);
      } else {
        CHECK(refusal<folded>(g) == "right side");
      }
    }
  }
  SECTION("captured as a number") {
    for (auto const number : {large, std::int64_t{7}}) {
      sketch g;
      auto const a = g.add("Abs", {g.in("a", {2}, element_type::int64)});
      g.end(g.add("Sub", {a, g.scalar<std::int64_t>(number)}));
      auto const report = fuse::rewrite<added>(g);
      CHECK(report.applied() == (number == 7 ? 1 : 0));
    }
  }
  SECTION("captured as it stands") {
    sketch g;
    auto const a = g.add("Abs", {g.in("a", {2}, element_type::int64)});
    g.end(g.add("Add", {a, g.scalar<std::int64_t>(large)}));
    REQUIRE(applied<added>(g) == 1);
    CHECK(g.constant(g.operands(last(g))[1]).integer(0) == large);
  }
  SECTION("unsigned and beyond what is signed: nobody knows what follows") {
    sketch g;
    auto const number = [&g](std::uint64_t n) { return g.scalar<std::uint64_t>(n); };
    auto const wrapped = g.add("Sub", {number(128), number(std::uint64_t{1} << 63)});
    auto const a = g.add("Abs", {g.in("a", {4}, element_type::uint64)});
    g.end(g.add("Add", {a, g.add("Max", {wrapped, number(65536)})}));
    CHECK(fuse::rewrite<added>(g).rule("added")->matched == 0);
  }
}

TEST_CASE("what a slot held in a try that failed is not written") {
  static constexpr auto number =
      fuse::rule<"number">(abs(relu(exp(x) + optional(scalar<"s"> * tanh(y)) + rest<"more">)))
          .where<"y is a row">(pred<"y">([](auto v) { return v.rank() == 1; }))
          .replace(op<"LeakyRelu">(op<"Max">(x, rest<"more">)).attr<"alpha">(scalar<"s">))
          .at_equal_cost();
  static constexpr auto axis =
      fuse::rule<"axis">(abs(relu(exp(x) + optional(op<"Softmax">(y).attr<"axis">(param<"axis">)) + rest<"more">)))
          .where<"y is a row">(pred<"y">([](auto v) { return v.rank() == 1; }))
          .replace(op<"Softmax">(op<"Max">(x, rest<"more">)).attr<"axis">(param<"axis">))
          .at_equal_cost();
  sketch g;
  auto const a = g.add("Exp", {g.in("a", {8})}), c = g.in("c", {2, 8});
  auto const end = [&](graph::value v) { g.end(g.add("Abs", {g.add("Relu", {g.add("Add", {a, v})})})); };
  SECTION("a number") {
    end(g.add("Mul", {g.scalar(5.0f), g.add("Tanh", {c})}));
    REQUIRE(applied<number>(g) == 1);
    CHECK(g.attribute(last(g), "alpha") == nullptr);
  }
  SECTION("an axis") {
    end(g.add("Softmax", {c}, {{"axis", 0}}));
    REQUIRE(applied<axis>(g) == 1);
    CHECK(g.attribute(last(g), "axis") == nullptr);
  }
}

TEST_CASE("a parameter that is not known is not written") {
  static constexpr auto softmax =
      fuse::rule<"softmax">(exp(x) / sum(exp(x))).replace(op<"Softmax">(x).attr<"axis">(param<"axes">));
  static constexpr auto mean_of_sum =
      fuse::rule<"mean-of-sum">(mean(x) + mean(y)).replace(mean(x + y).attr<"axes">(param<"axes">)).at_equal_cost();
  sketch g;
  SECTION("no axes") {
    auto const e = g.add("Exp", {g.in("a")});
    g.end(g.add("Div", {e, g.add("ReduceSum", {e}, {{"noop_with_empty_axes", 1}})}));
    auto const report = fuse::rewrite<softmax>(g);
    CHECK(report.applied() == 0);
    CHECK(to_text(report).find("the parameter 'axis' of Softmax would be no number") != std::string::npos);
  }
  SECTION("no axes to begin with") {
    g.end(g.add("Add", {g.add("ReduceMean", {g.in("a", {})}), g.add("ReduceMean", {g.in("c", {})})}));
    CHECK(refusal<mean_of_sum>(g) == "right side");
  }
}

TEST_CASE("old operator sets repeat elements where they are told to, and count axes from the first") {
  static constexpr auto factored = fuse::rule<"factored">(x * y + x * z).replace(x * (y + z)).at_equal_cost();
  static constexpr auto scaled = fuse::rule<"scaled">(mean(x * scalar<"s">))
                                     .replace(mean(x).attr<"axes">(param<"axes">) * scalar<"s">)
                                     .at_equal_cost();
  for (int const version : {6, 7}) {
    for (graph::dims const& shape : {graph::dims{4, 8}, graph::dims{8}}) {
      sketch g(version);
      auto const a = g.in("a"), c = g.in("c", shape), d = g.in("d", shape);
      auto const product = [&](graph::value v) {
        if (version < 7 && shape.size() == 1) return g.add("Mul", {a, v}, {{"broadcast", 1}});
        return g.add("Mul", {a, v});
      };
      g.end(g.add("Add", {product(c), product(d)}));
      if (version == 7 || shape.size() == 2)
        CHECK(applied<factored>(g) == 1);
      else
        CHECK(refusal<factored>(g) == "right side");
    }
  }
  static constexpr auto normed =
      fuse::rule<"normed">(relu(tanh(abs(x)) + w)).replace(layer_norm(x, w).attr<"axis">(-1));
  for (int const version : {6, 7}) {
    sketch g(version);
    auto const t = g.add("Tanh", {g.add("Abs", {g.in("a")})});
    g.end(g.add("Relu", {g.add("Add", {t, g.in("w", {8})}, {})}));
    CHECK(fuse::rewrite<normed>(g).applied() == (version == 6 ? 0 : 1));
  }
  for (int const version : {9, 11}) {
    sketch g(version);
    g.end(g.add("ReduceMean", {g.add("Mul", {g.in("a"), g.scalar(2.0f)})}, {{"axes", {1}}}));
    CHECK(fuse::rewrite<scaled>(g).applied() == 1);
    auto const* axes = g.attribute(*g.nodes().begin(), "axes");
    REQUIRE(axes != nullptr);
    CHECK(std::get<std::vector<std::int64_t>>(axes->content) == std::vector<std::int64_t>{version == 9 ? 1 : -1});
  }
}

TEST_CASE("what several rewrites need is one constant, in each scope and element type") {
  static constexpr auto shifted = fuse::rule<"shifted">(tanh(abs(x))).replace(x + 0.25);
  for (bool const unlike : {false, true}) {
    sketch g;
    for (int i = 0; i < 3; ++i) {
      auto const type = unlike && i == 0 ? element_type::float16 : element_type::float32;
      g.output(g.add("Tanh", {g.add("Abs", {g.in("a" + std::to_string(i), {4, 8}, type)})}), "y" + std::to_string(i));
    }
    CHECK(applied<shifted>(g) == 3);
    std::vector<std::uint32_t> constants;
    for (auto n : g.nodes())
      for (auto v : g.operands(n))
        if (g.constant(v)) constants.push_back(v.id);
    std::sort(constants.begin(), constants.end());
    constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
    CHECK(constants.size() == (unlike ? 2 : 1));
  }
}

TEST_CASE("what several rewrites need of moved or selected elements is one node") {
  constexpr auto turn = [](fuse::expression const& of) { return op<"Transpose">(of); };
  static constexpr auto turned =
      fuse::rule<"turned">(abs(abs(abs(turn(matmul(x, y)))))).replace(abs(matmul(turn(y), turn(x)))).at_equal_cost();
  static constexpr auto otherwise =
      fuse::rule<"otherwise">(relu(relu(relu(turn(matmul(x, y))))))
          .replace(relu(matmul(turn(y).attr<"perm">(list(1, 0)), turn(x).attr<"perm">(list(1, 0)))))
          .at_equal_cost();
  static constexpr auto negated =
      fuse::rule<"negated">(abs(abs(abs(x - y)))).replace(abs(x + op<"Neg">(y))).at_equal_cost();
  static constexpr auto root = fuse::rule<"root">(turn(op<"Neg">(op<"Neg">(x)))).replace(turn(x));
  static constexpr auto both = fuse::rule_set<turned, otherwise>;
  fuse::rewrite_options checked;
  checked.check = &fuse::check_by_evaluation<>;
  sketch g;
  auto const shared = g.in("y", {4, 64});
  auto const thrice = [&](std::string_view op, graph::value v, std::string_view name) {
    for (int i = 0; i < 3; ++i) v = g.add(op, {v});
    g.output(v, name);
  };
  auto const product = [&](std::string_view name) {
    return g.add("Transpose", {g.add("MatMul", {g.in(name, {64, 4}), shared})});
  };
  SECTION("of the same attributes") {
    for (auto const* name : {"a", "b", "c"}) thrice("Abs", product(name), std::string("of ") + name);
    auto const report = fuse::rewrite<turned>(g, checked);
    UNSCOPED_INFO(to_text(report));
    CHECK(report.applied() == 3);
    CHECK(report.notes.empty());  // each was checked
    CHECK(count(g, "Transpose") == 4);
    CHECK(count(g, "MatMul") == 3);
  }
  SECTION("of others it is another one") {
    thrice("Abs", product("a"), "of a");
    thrice("Relu", product("b"), "of b");
    CHECK(applied<both>(g, checked) == 2);
    CHECK(count(g, "Transpose") == 4);
  }
  SECTION("what computes is repeated, as the rules say") {
    for (auto const* name : {"a", "b"})
      thrice("Abs", g.add("Sub", {g.in(name, {4, 64}), shared}), std::string("of ") + name);
    CHECK(applied<negated>(g, checked) == 2);
    CHECK(count(g, "Neg") == 2);
  }
  SECTION("what takes a root's place is no other's") {
    for (auto const* name : {"a", "b"}) g.output(g.add("Transpose", {g.add("Neg", {g.add("Neg", {shared})})}), name);
    CHECK(applied<root>(g, checked) == 2);
    CHECK(ops(g) == "Transpose Transpose");
  }
  SECTION("in each body its own") {
    auto const n = g.append("If", {g.in("condition", {}, element_type::boolean)});
    auto const a = g.in("a", {64, 4});
    for (auto const* name : {"then_branch", "else_branch"}) {
      g.append_to(g.add_body(n, name));
      thrice("Abs", g.add("Transpose", {g.add("MatMul", {a, shared})}), name);
    }
    g.append_to(graph::main_body);
    g.output(g.result(n), "b");
    CHECK(applied<turned>(g, checked) == 2);
    for (auto const branch : g.bodies(n)) {
      std::string all;
      for (auto const of : g.nodes(branch)) all += std::string(g.op(of)) + ' ';
      CHECK(all == "Transpose Transpose MatMul Abs ");
    }
  }
  SECTION("of a selection, what it selects counts for each") {
    static constexpr auto summed = fuse::rule<"summed">(relu(relu(where(x, tanh(y), scalar<"s">) + z)))
                                       .replace(tanh(y) + (where(x, 0, scalar<"s">) + z))
                                       .at_equal_cost();
    static constexpr auto alone = fuse::rule<"alone">(relu(relu(where(x, tanh(y), scalar<"s">))))
                                      .replace(tanh(y) + where(x, 0, scalar<"s">))
                                      .at_equal_cost();
    static constexpr auto set = fuse::rule_set<summed, alone>;
    auto const condition = g.in("condition", {4, 64}, element_type::boolean);
    auto const least = g.scalar(-std::numeric_limits<float>::infinity());
    auto const selected = [&](std::string_view of) {
      return g.add("Where", {condition, g.add("Tanh", {g.in(of, {4, 64})}), least});
    };
    auto const first = selected("a"), second = selected("b");
    for (auto const v : {second, g.add("Add", {first, shared})})
      g.output(g.add("Relu", {g.add("Relu", {v})}), v == second ? "alone" : "summed");
    auto const report = fuse::rewrite<set>(g);
    CHECK(report.rule("summed")->applied == 1);
    CHECK(refused(report, "alone") == "right side");
  }
}

}  // namespace rewrite_right_sides
